#include "io/numbers.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <locale>
#include <random>
#include <string>

#include "io_testing.hpp"

namespace kempe::io {
namespace {

TEST(Numbers, ReadsEverySpelling) {
  EXPECT_EQ(parseNumber("1"), 1.0);
  EXPECT_EQ(parseNumber("+0."), 0.0);
  EXPECT_EQ(parseNumber("-0."), 0.0);
  EXPECT_EQ(parseNumber(".5"), 0.5);
  EXPECT_EQ(parseNumber("-.5"), -0.5);
  EXPECT_EQ(parseNumber("126e-03"), 0.126);
  EXPECT_EQ(parseNumber("1.E+2"), 100.0);
  EXPECT_EQ(parseNumber(" \t\n 2.5 \r\n"), 2.5);
  EXPECT_EQ(parseNumber("2.3617511963093135611e-114"), 2.3617511963093135611e-114);
}

TEST(Numbers, TooSmallIsZero) {
  EXPECT_EQ(parseNumber("1e-400"), 0.0);
  EXPECT_EQ(parseNumber("-1e-99999999999999999999"), 0.0);
  EXPECT_EQ(parseNumber("0." + std::string(500, '0') + "7"), 0.0);
  EXPECT_EQ(parseNumber("1" + std::string(100, '0') + "e-500"), 0.0);
  EXPECT_EQ(parseNumber("4.9406564584124654e-324"), DBL_TRUE_MIN);
}

TEST(Numbers, RefusesEverythingElse) {
  for (const char* text : {"",         " ",
                           ".",        "+",
                           "-",        "e5",
                           ".e5",      "1e",
                           "1e+",      "nan",
                           "NaN",      "-nan",
                           "inf",      "-inf",
                           "Infinity", "+-1",
                           "--1",      "1,5",
                           "1.5.2",    "0x10",
                           "1f",       "1 2",
                           "1e400",    "-1e400",
                           "1e308e",   "1e99999999999999999999",
                           "١",        "${pi}"}) {
    EXPECT_FALSE(parseNumber(text).has_value()) << text;
  }
  EXPECT_FALSE(parseNumber("1" + std::string(500, '0')).has_value());
  EXPECT_EQ(parseNumber("1e308"), 1e308);  // a double; readers have their own, lower bound
}

TEST(Numbers, IndicesArePlainDigits) {
  EXPECT_EQ(parseIndex("2"), 2);
  for (const char* text : {"", "-1", "+1", "1.0", "99999999999", "a"}) {
    EXPECT_FALSE(parseIndex(text).has_value()) << text;
  }
}

TEST(Numbers, WrittenNumbersReadBackTheSame) {
  constexpr unsigned seed = 7;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    if (std::isfinite(value)) {
      ASSERT_EQ(parseNumber(formatNumber(value)), value) << "seed " << seed << ", number " << i;
    }
  }
  EXPECT_EQ(formatNumber(-0.0), "0");
  EXPECT_EQ(formatNumber(0.1), "0.1");
}

/// A decimal comma, as German has it, without that locale being installed.
struct DecimalComma : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
};

TEST(Numbers, LocaleDoesNotMatter) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  const char* const german = std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  const std::string urdf = io_testing::robotWith("<gravity xyz=\"0 0 -1.625\"/>");
  const Mechanism mechanism = readUrdfText(urdf);
  const std::string written = writeUrdfText(mechanism);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  EXPECT_EQ(mechanism.gravity.z, -1.625) << (german != nullptr ? german : "");
  EXPECT_TRUE(io_testing::contains(written, "\"0 0 -1.625\"")) << written;
}

}  // namespace
}  // namespace kempe::io
