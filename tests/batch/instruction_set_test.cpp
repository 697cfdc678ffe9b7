#include "kempe/instruction_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "kempe/batch.hpp"
#include "kempe/robots.hpp"

namespace kempe {
namespace {

TEST(InstructionSet, IsTheOneThatTheEnvironmentAsksFor) {
  const char* asked = std::getenv("KEMPE_ISA");
  if (asked != nullptr) {
    EXPECT_STREQ(instructionSet(), asked);
  }
  constexpr std::array<std::string_view, 3> kKnown{"baseline", "v3", "v4"};
  EXPECT_EQ(std::count(kKnown.begin(), kKnown.end(), instructionSet()), 1);
}

TEST(InstructionSet, HasRoomForTwiceAsManyFloats) {
  const Model model = robots::load("four_bar");
  const int lanes = Batch(model).lanes(), lanesF = BatchF(model).lanes();
  EXPECT_TRUE(lanesF == 2 * lanes || (lanesF == 1 && lanes == 1)) << lanes << ", " << lanesF;
}

/// The library chooses once in a process: these start one each.
class InstructionSetDeathTest : public ::testing::Test {
 protected:
  InstructionSetDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Says which set is chosen where KEMPE_ISA is `asked`, or why there is none.
  template <typename Choose>
  [[noreturn]] static void choose(const char* asked, const Choose& choice) {
    setenv("KEMPE_ISA", asked, 1);
    try {
      choice();
      std::cerr << instructionSet();
      std::exit(0);
    } catch (const std::runtime_error& error) {
      std::cerr << error.what();
      std::exit(3);
    }
  }
};

TEST_F(InstructionSetDeathTest, AnUnknownOneIsAnsweredWithTheKnownOnes) {
  const char* expected =
      "KEMPE_ISA=nonsense: no such instruction set. Use one of baseline.*, or unset it";
  EXPECT_EXIT(choose("nonsense", [] { (void)instructionSet(); }), ::testing::ExitedWithCode(3),
              expected);
  EXPECT_EXIT(choose("nonsense", [] { (void)robots::load("four_bar"); }),
              ::testing::ExitedWithCode(3), expected);
  EXPECT_EXIT(choose("V3", [] { (void)instructionSet(); }), ::testing::ExitedWithCode(3),
              "KEMPE_ISA=V3: no such");
}

TEST_F(InstructionSetDeathTest, TheLeastIsAlwaysThere) {
  EXPECT_EXIT(choose("baseline", [] { (void)robots::load("four_bar"); }),
              ::testing::ExitedWithCode(0), "^baseline$");
}

TEST_F(InstructionSetDeathTest, AnEmptyWordAsksForNone) {
  EXPECT_EXIT(choose("", [] { (void)robots::load("four_bar"); }), ::testing::ExitedWithCode(0),
              "^(baseline|v3|v4)$");
}

}  // namespace
}  // namespace kempe
