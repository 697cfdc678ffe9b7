#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "mechanism/small_robots.hpp"

namespace kempe::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One thing done wrong to a good arm, and what the message must say.
struct Mistake {
  std::string title;
  std::function<void(Mechanism&)> make;
  std::string culprit;
  std::string remedy;

  friend std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
    return out << mistake.title;
  }
};

inline std::string titleOf(const ::testing::TestParamInfo<Mistake>& mistake) {
  return mistake.param.title;
}

inline void expectRefusal(const Mistake& mistake) {
  Mechanism robot = twoLinkArm();
  ASSERT_EQ(errorOf(robot), "");
  mistake.make(robot);
  const std::string error = errorOf(robot);
  EXPECT_TRUE(contains(error, mistake.culprit)) << error;
  EXPECT_TRUE(contains(error, mistake.remedy)) << error;
}

}  // namespace kempe::test
