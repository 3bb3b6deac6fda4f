#include "perf/power_cap.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tare {
namespace {

// With g = 0.75, i = 0.15 and c = 0.45 half of the dynamic power is left: cbrt(0.5) of the clock.
TEST(PowerCap, TheClockIsTheCubeRootOfTheDynamicPowerLeft) {
  const PowerCap cap = power_cap(0.45, 0.75, 0.15);
  EXPECT_NEAR(cap.clock_ratio, std::cbrt(0.5), 1e-12);
  EXPECT_EQ(cap.draw_ratio, 0.45);
}

TEST(PowerCap, ACapAboveTheDrawChangesNothing) {
  const PowerCap cap = power_cap(0.9, 0.75, 0.15);
  EXPECT_EQ(cap.clock_ratio, 1);
  EXPECT_EQ(cap.draw_ratio, 0.75);
}

TEST(PowerCap, NothingRunsOnTheIdleDraw) { EXPECT_EQ(power_cap(0.15, 0.75, 0.15).clock_ratio, 0); }

// Energy of compute-bound work is draw ÷ clock. With d = c − i and k the clock's constant it is (i + d) ÷ (k ·
// cbrt(d)), least where its derivative vanishes: 3·d = i + d, d = i/2. Below it the idle draw over the longer time
// wins.
TEST(PowerCap, EnergyOfComputeIsLeastAtHalfTheIdleDrawAboveIdle) {
  const auto energy = [](double c) {
    const PowerCap cap = power_cap(c, 0.75, 0.15);
    return cap.draw_ratio / cap.clock_ratio;
  };
  const double best = 0.15 + 0.15 / 2;
  EXPECT_LT(energy(best), energy(best + 0.01));
  EXPECT_LT(energy(best), energy(best - 0.01));
}

TEST(PowerCap, MemoryKeepsItsRate) {
  Machine machine;
  machine.peak_bf16_flops = 100;
  machine.memory_bytes_per_s = 7;
  const Machine slow = at_clock(machine, 0.5);
  EXPECT_EQ(slow.peak_bf16_flops, 50);
  EXPECT_EQ(slow.memory_bytes_per_s, 7);
}

}  // namespace
}  // namespace tare
