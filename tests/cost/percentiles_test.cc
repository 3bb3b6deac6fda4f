#include "cost/percentiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(Percentiles, ByHand) {
  std::vector<double> values = {5, 3, 1, 4, 2, 10, 8, 7, 9, 6};
  const Percentiles p = percentiles(values);
  EXPECT_EQ(p.p10, 1);
  EXPECT_EQ(p.p50, 5);
  EXPECT_EQ(p.p90, 9);
}

TEST(Percentiles, OfOneValue) {
  const std::vector<double> values = {-7.25};
  EXPECT_EQ(percentiles(values).p10, -7.25);
  EXPECT_EQ(percentiles(values).p90, -7.25);
}

TEST(Percentiles, InfinityIsAValue) {
  const std::vector<double> values = {1, 2, 3, 4, 5, kEndless, kEndless, kEndless, kEndless, kEndless};
  EXPECT_EQ(percentiles(values).p10, 1);
  EXPECT_EQ(percentiles(values).p50, 5);
  EXPECT_EQ(percentiles(values).p90, kEndless);
  EXPECT_EQ(percentiles(std::vector<double>{kEndless, kEndless}).p10, kEndless);
}

RC_GTEST_PROP(Percentiles, AreThoseOfTheSortedValues, ()) {
  const int scale = *rc::gen::inRange(1, 300);
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(rc::gen::map(
      rc::gen::inRange(-1000, 1001), [scale](int i) { return i == 1000 ? kEndless : std::pow(1.0 * i, 3) / scale; })));
  const Percentiles p = percentiles(values);
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t tenths) { return values[(values.size() * tenths + 9) / 10 - 1]; };
  RC_ASSERT(p.p10 == at(1));
  RC_ASSERT(p.p50 == at(5));
  RC_ASSERT(p.p90 == at(9));
}

}  // namespace
}  // namespace tare
