#include "cost/waterfall.h"

#include <gtest/gtest.h>

#include "cost/bill_fixture.h"

namespace tare {
namespace {

using Bars = std::vector<std::pair<std::string, double>>;

Bars bars_of(const BillInput& input, double billed_gpu_hours) {
  Bars bars;
  for (const Formula& bar : waterfall_hours(input, billed_gpu_hours)) {
    EXPECT_DOUBLE_EQ(evaluate(bar).value_or(-1), bar.value) << bar.id;
    bars.emplace_back(bar.id.substr(std::string("waterfall.").size()), bar.value);
  }
  return bars;
}

// 36 GPUs for 1,000 s are 10 GPU-hours; of the wall 100 s start-up, 50 lost, 50 stalled, 800 of steps.
BillInput ten_gpu_hours() {
  BillInput input;
  input.gpus = 40;
  input.gpus_used = 36;
  input.run.wall_s = 1000;
  input.run.startup_s = 100;
  input.run.failure_lost_s = 50;
  input.run.checkpoint_stall_s = 50;
  input.run.productive_s = 800;
  input.step_time_s = 10;
  return input;
}

void expect_bars(const Bars& bars, const Bars& expected) {
  ASSERT_EQ(bars.size(), expected.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    EXPECT_EQ(bars[i].first, expected[i].first);
    EXPECT_NEAR(bars[i].second, expected[i].second, 1e-12) << bars[i].first;
  }
}

// Of the step's 10 s: 1 s bubble, 3 s communication, 4 s above the kernels' peak, 2 s useful; 8 GPU-hours of steps.
TEST(Waterfall, ByHand) {
  BillInput input = ten_gpu_hours();
  input.step_time_after_removal_s = {{"data", 10}, {"bubble", 9}, {"comm_dp", 6}, {"kernel", 2}};
  expect_bars(bars_of(input, 12), {{"unallocated", 2},
                                   {"startup", 1},
                                   {"failures", 0.5},
                                   {"maintenance", 0},
                                   {"checkpoint", 0.5},
                                   {"data", 0},
                                   {"bubble", 0.8},
                                   {"comm_dp", 2.4},
                                   {"kernel", 3.2},
                                   {"useful", 1.6}});
}

// Without recomputation the step is longer, since communication had hidden behind it: no bar below zero, and the next
// one is measured from the shortest step so far, so that all still add up.
TEST(Waterfall, ARemovalThatLengthensTheStepHasABarOfZero) {
  BillInput input = ten_gpu_hours();
  input.step_time_after_removal_s = {{"comm_tp", 8}, {"recompute", 9}, {"kernel", 5}};
  expect_bars(bars_of(input, 10), {{"unallocated", 0},
                                   {"startup", 1},
                                   {"failures", 0.5},
                                   {"maintenance", 0},
                                   {"checkpoint", 0.5},
                                   {"comm_tp", 1.6},
                                   {"recompute", 0},
                                   {"kernel", 2.4},
                                   {"useful", 4}});
}

TEST(Waterfall, WithoutRemovalsTheStepIsUseful) {
  const Bars bars = bars_of(ten_gpu_hours(), 10);
  EXPECT_EQ(bars.back().first, "useful");
  EXPECT_NEAR(bars.back().second, 8, 1e-12);
}

// The money: each bar its share of the rent by GPU-hours, to the cent.
TEST(Waterfall, MoneyFollowsGpuHours) {
  test::BillCase c(Purchase::kOnDemand);
  c.input.step_time_after_removal_s = {{"bubble", 9}, {"kernel", 4}};
  const Bill bill = c.bill();
  const double rent = test::line_usd(bill, "rent");
  for (const WaterfallBar& bar : bill.waterfall) {
    if (bar.gpu_hours <= 0) continue;
    EXPECT_NEAR(bar.amount.usd, rent * bar.gpu_hours / bill.billed_gpu_hours, 0.011) << bar.id;
  }
  EXPECT_NEAR(test::find_bar(bill, "useful")->gpu_hours, 100000.0 * 64 / 3600 * 0.4, 1e-6);
}

}  // namespace
}  // namespace tare
