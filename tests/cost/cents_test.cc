#include "cost/cents.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

// 100 cents in three equal parts: 33.3 each; one cent is over and the first of the equal remainders gets it.
TEST(Cents, LargestRemainderByHand) {
  EXPECT_EQ(share_out(100, {1, 1, 1}), (std::vector<std::int64_t>{34, 33, 33}));
  // 10 · {0.55, 0.25, 0.20} = 5.5, 2.5, 2.0: one cent is over, the earlier of .5 and .5 has it.
  EXPECT_EQ(share_out(10, {55, 25, 20}), (std::vector<std::int64_t>{6, 2, 2}));
  EXPECT_EQ(share_out(7, {0, 1, 0}), (std::vector<std::int64_t>{0, 7, 0}));
  EXPECT_EQ(share_out(7, {0, 0, 0}), (std::vector<std::int64_t>{0, 0, 7}));
  EXPECT_EQ(share_out(0, {3, 4}), (std::vector<std::int64_t>{0, 0}));
}

// 1.4 + 1.4 + 1.4 = 4.2, hence 4: one cent is over. 0.6 + 0.6 = 1.2, hence 1: each would round to 1, one must not.
TEST(Cents, RoundedPartsSumToTheRoundedSum) {
  EXPECT_EQ(round_to_sum(4, {1.4, 1.4, 1.4}), (std::vector<std::int64_t>{2, 1, 1}));
  EXPECT_EQ(round_to_sum(1, {0.6, 0.6}), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(round_to_sum(0, {0.2, 0.2}), (std::vector<std::int64_t>{0, 0}));
}

TEST(Cents, WhatIsNoMoney) {
  EXPECT_EQ(to_cents(12.345), 1235);
  EXPECT_EQ(to_cents(std::nan("")), std::nullopt);
  EXPECT_EQ(to_cents(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(to_cents(1e14), std::nullopt);
}

RC_GTEST_PROP(Cents, PartsSumToTheWholeAndEachIsWithinACent, ()) {
  const auto total = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000);
  const auto raw = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1000000)));
  const std::vector<double> weights(raw.begin(), raw.end());
  const std::vector<std::int64_t> parts = share_out(total, weights);
  RC_ASSERT(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == total);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RC_ASSERT(parts[i] >= 0);
    if (sum <= 0) continue;
    const double exact = static_cast<double>(total) * weights[i] / sum;
    RC_ASSERT(std::fabs(static_cast<double>(parts[i]) - exact) <= 1.0 + 1e-15 * static_cast<double>(total));
    if (weights[i] <= 0) RC_ASSERT(parts[i] == 0);
  }
}

}  // namespace
}  // namespace tare
