// A job's data in its step, its start and its bill, end to end.
#include <gtest/gtest.h>

#include "base/file.h"
#include "plan/plan.h"

namespace tare {
namespace {

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

PlanOption option_of(const Job& job) {
  PlanRequest request;
  request.job = job;
  request.job.search.offers = {"aws/p5.48xlarge/us-east-1/on_demand"};
  request.as_of = *parse_date("2026-12-01");
  request.threads = 1;
  return make_plan(request, catalog()).value().options.at(0);
}

Job example() {
  static const char* const kFile = "examples/llama-13b-64xh100.toml";
  return parse_job(read_file(kFile).value(), kFile, catalog()).value();
}

// 120 GB of tokens on eight nodes with 30 TB of disks each: nothing that a step would wait for.
TEST(PlanData, TextNeverStallsATunedCluster) {
  const PlanOption option = option_of(example());
  ASSERT_TRUE(option.data);
  EXPECT_EQ(option.data->local_ratio, 1);
  EXPECT_LT(option.data->read_s, 0.001);
  EXPECT_EQ(option.step.parts.data_stall_s, 0);
}

// 10 PB of video do not fit on 243 TB of disks: the rest comes from the store, 1 TB a step at 18 GB/s: 57 s. Staged is
// what fits: 243 TB ÷ (8 · 2 GB/s) = 15,200 s.
TEST(PlanData, DataThatDoNotFitStallTheStep) {
  Job job = example();
  job.data.bytes = 1e16;
  const PlanOption option = option_of(job);
  EXPECT_NEAR(option.data->local_ratio, 0.0243, 1e-4);
  EXPECT_NEAR(option.data->read_s, 57, 1);
  EXPECT_GT(option.step.parts.data_stall_s, 0);
  EXPECT_NEAR(option.run.startup_s, 15200, 600);
  EXPECT_NEAR(option.step.step_time_s, option.data->read_s, 1e-6 * option.data->read_s);
  double bar = 0;
  for (const WaterfallBar& b : option.bill.waterfall) bar += b.id == "data" ? b.amount.usd : 0;
  EXPECT_GT(bar, 0);
}

TEST(PlanData, NothingStatedNothingRead) {
  Job job = example();
  job.data = {};
  const PlanOption option = option_of(job);
  EXPECT_FALSE(option.data);
  EXPECT_EQ(option.step.parts.data_stall_s, 0);
}

// 120 GB from another cloud: 10.80 USD of its egress on the bill.
TEST(PlanData, TheWayToTheJobIsALine) {
  Job job = example();
  job.data.at = "gcp/us-central1";
  const PlanOption option = option_of(job);
  double line = 0;
  for (const BillLine& l : option.bill.lines) line += l.id == "data_transfer" ? l.amount.usd : 0;
  EXPECT_NEAR(line, 10.80, 0.01);
}

// The bill by the FLOPs it buys: total ÷ (tokens · model FLOPs per token ÷ 3.6e18).
TEST(PlanData, EffectivePriceOfTheBill) {
  const PlanOption option = option_of(example());
  ASSERT_FALSE(option.effective_price.expression.empty());
  const double flops = option.step.model_flops_per_gpu * 64 * option.run.steps;
  EXPECT_NEAR(option.effective_price.value, option.bill.total.usd / (flops / 3.6e18), 1e-6);
  // Per GPU-hour 6.88; 0.989 PFLOP/s at 46 % MFU and its goodput: around 15 to 17.
  EXPECT_GT(option.effective_price.value, 14);
  EXPECT_LT(option.effective_price.value, 19);
}

}  // namespace
}  // namespace tare
