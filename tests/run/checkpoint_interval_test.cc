#include "run/checkpoint_interval.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tare {
namespace {

// Daly's whole cost of a run of unit length: M·e^(R/M)·(e^((T + δ)/M) − 1)/T. The restart R scales it and moves no
// minimum.
double cost(double interval_s, double block_s, double mtti_s) {
  return mtti_s * std::expm1((interval_s + block_s) / mtti_s) / interval_s;
}

double cheapest_interval_s(double block_s, double mtti_s) {
  double low = 1e-6 * mtti_s;
  double high = 3 * mtti_s;
  for (int i = 0; i < 200; ++i) {  // golden section: the cost has one minimum
    const double a = low + 0.381966 * (high - low);
    const double b = low + 0.618034 * (high - low);
    (cost(a, block_s, mtti_s) < cost(b, block_s, mtti_s) ? high : low) =
        cost(a, block_s, mtti_s) < cost(b, block_s, mtti_s) ? b : a;
  }
  return (low + high) / 2;
}

// BLOOM-176B: 2.3 TB in 40 s, one of 384 GPUs lost a week.
//   √(2 · 40 · 604,800) = √48,384,000 = 6,955.86
//   · (1 + √(40/1,209,600)/3 + (40/1,209,600)/9) − 40 = 6,955.86 · 1.00192 − 40 = 6,929.2
TEST(CheckpointInterval, BloomByHand) {
  EXPECT_NEAR(young_interval_s(40, 604800), 6955.86, 0.01);
  EXPECT_NEAR(daly_interval_s(40, 604800), 6929.2, 0.1);
}

// δ = 200, M = 10,000: √(2 · 200 · 10,000) = 2,000; x = 200/20,000 = 0.01, √x = 0.1
//   2,000 · (1 + 0.1/3 + 0.01/9) − 200 = 2,000 + 66.667 + 2.222 − 200 = 1,868.889
TEST(CheckpointInterval, DalyByHand) { EXPECT_NEAR(daly_interval_s(200, 10000), 1868.889, 1e-3); }

TEST(CheckpointInterval, DalyIsNearTheMinimumOfTheWholeCost) {
  for (const double block_over_mtti : {1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0}) {
    const double mtti_s = 20000;
    const double block_s = block_over_mtti * mtti_s;
    const double best = cost(cheapest_interval_s(block_s, mtti_s), block_s, mtti_s);
    EXPECT_LT(cost(daly_interval_s(block_s, mtti_s), block_s, mtti_s), best * 1.002) << block_over_mtti;
  }
}

TEST(CheckpointInterval, YoungIsTheLimitOfDaly) {
  EXPECT_NEAR(daly_interval_s(1, 1e8) / young_interval_s(1, 1e8), 1, 1e-4);
}

TEST(CheckpointInterval, IsTheMeanTimeToInterruptionWhenAStallIsTwiceThat) {
  EXPECT_EQ(daly_interval_s(200, 100), 100);
  EXPECT_EQ(daly_interval_s(1000, 100), 100);
}

}  // namespace
}  // namespace tare
