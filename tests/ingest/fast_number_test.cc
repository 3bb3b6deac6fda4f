#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "ingest/fast_number.h"

namespace tare {
namespace {

double parsed(const std::string& text, std::size_t* used = nullptr) {
  double value = -12345;
  const char* const end = parse_number(text.data(), text.data() + text.size(), value);
  if (used != nullptr) *used = end == nullptr ? 0 : static_cast<std::size_t>(end - text.data());
  return end == nullptr ? std::nan("") : value;
}

TEST(FastNumber, ReadsWhatLogsPrint) {
  EXPECT_EQ(parsed("0"), 0);
  EXPECT_EQ(parsed("-3.5"), -3.5);
  EXPECT_EQ(parsed("1.258695E+01"), 12.58695);
  EXPECT_EQ(parsed("1e-05"), 1e-05);
  EXPECT_EQ(parsed(".5"), 0.5);
  EXPECT_EQ(parsed("5."), 5);
  EXPECT_EQ(parsed("12345678901234567890123"), 12345678901234567890123.0);
  EXPECT_EQ(parsed("0.30000000000000004"), 0.30000000000000004);
  EXPECT_TRUE(std::isnan(parsed("")));
  EXPECT_TRUE(std::isnan(parsed("-")));
  EXPECT_TRUE(std::isnan(parsed("nan")));
  EXPECT_TRUE(std::isnan(parsed("1e999")));
}

TEST(FastNumber, StopsBehindTheNumber) {
  std::size_t used = 0;
  EXPECT_EQ(parsed("12ms", &used), 12);
  EXPECT_EQ(used, 2u);
  EXPECT_EQ(parsed("3e, next", &used), 3);
  EXPECT_EQ(used, 1u);
  EXPECT_EQ(parsed("123456789.25|", &used), 123456789.25);
  EXPECT_EQ(used, 12u);
}

RC_GTEST_PROP(FastNumber, IsExact, (double value, int digits)) {
  RC_PRE(std::isfinite(value));
  const std::string shortest = fmt::format("{}", value);
  RC_ASSERT(parsed(shortest) == std::stod(shortest));
  const std::string rounded = fmt::format("{:.{}e}", value, std::abs(digits % 20));
  RC_ASSERT(parsed(rounded) == std::strtod(rounded.c_str(), nullptr) || std::isnan(parsed(rounded)));
}

RC_GTEST_PROP(FastNumber, ReadsEveryWhole, (std::int64_t value)) {
  RC_ASSERT(parsed(std::to_string(value)) == static_cast<double>(value));
}

}  // namespace
}  // namespace tare
