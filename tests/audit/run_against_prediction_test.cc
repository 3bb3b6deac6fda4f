#include "audit/run_against_prediction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/predicted_comm.h"
#include "base/json.h"
#include "perf/perf_examples.h"

namespace tare {
namespace {

double gpu_h(const RunAudit& run, std::string_view id) {
  for (const RunBar& bar : run.waterfall) {
    if (bar.id == id) return bar.gpu_h;
  }
  ADD_FAILURE() << "no bar " << id;
  return -1;
}

StepSeries series_of(const std::vector<std::pair<int, double>>& step_and_time, double step_s, double first_s) {
  StepSeriesBuilder builder;
  StepSeries& series = builder.series();
  series.units[index_of(StepField::kStepTime)] = {"s", 1};
  series.units[index_of(StepField::kDataTime)] = {"s", 1};
  bool first = true;
  for (const auto& [step, time] : step_and_time) {
    StepRow row;
    row.step = step;
    row.time = time;
    row[StepField::kStepTime] = first ? first_s : step_s;
    row[StepField::kDataTime] = 1;
    builder.add(row, 1u << index_of(StepField::kStepTime) | 1u << index_of(StepField::kDataTime));
    first = false;
  }
  StepSeries made = builder.finish();
  made.run["gpus"] = {36, 1, ""};
  return made;
}

PredictedRun predicted() {
  PredictedRun run;
  run.gpus = 36;
  run.tokens_per_step = 36'000;
  run.step_time_s = 8;
  run.tokens_per_s_per_gpu = 125;
  run.mfu_ratio = 0.5;
  run.flops_ratio = 1.25;
  run.usd_per_gpu_h = 3;
  return run;
}

// 36 GPUs: a second is 0.01 GPU-hours. Steps of 10 s, the first 25 s; steps 1 … 5 end at 25, 35, 45, 55, 65 s; then a
// stop of 100 s, step 6 at 175 s; a failure: step 4 again at 285 s, 100 s of it restart; 5, 6 and 7 at 295, 305, 315 s.
//   span      = 315 - 25 + 25 = 315 s
//   stepping  = 25 + 9 * 10 = 115 s; steps 4, 5 and 6 again: 30 s; startup 15 s; what counts: 70 s
//   stop 100 s, restart 100 s: 115 + 100 + 100 = 315 s, nothing between
//   rate      = 36,000 tokens / 10 s / 36 = 100: 0.8 of the predicted; MFU 0.4
//   useful    = 0.4 * 70 = 28 s; recompute 28 * 0.25 = 7 s; data 1 s of each 10: 7 s; the rest 28 s
TEST(RunAgainstPrediction, LaysOutWhatWasHeld) {
  const StepSeries series = series_of(
      {{1, 25}, {2, 35}, {3, 45}, {4, 55}, {5, 65}, {6, 175}, {4, 285}, {5, 295}, {6, 305}, {7, 315}}, 10, 25);
  const RunAudit run = compare_run(measure_run(series, 0), predicted());
  EXPECT_NEAR(run.held_gpu_h, 3.15, 1e-9);
  EXPECT_NEAR(gpu_h(run, "useful"), 0.28, 1e-9);
  EXPECT_NEAR(gpu_h(run, "recompute"), 0.07, 1e-9);
  EXPECT_NEAR(gpu_h(run, "data"), 0.07, 1e-9);
  EXPECT_NEAR(gpu_h(run, "below_peak"), 0.28, 1e-9);
  EXPECT_NEAR(gpu_h(run, "redone"), 0.30, 1e-9);
  EXPECT_NEAR(gpu_h(run, "restart"), 1.00, 1e-9);
  EXPECT_NEAR(gpu_h(run, "stop"), 1.00, 1e-9);
  EXPECT_NEAR(gpu_h(run, "startup"), 0.15, 1e-9);
  EXPECT_NEAR(gpu_h(run, "between"), 0, 1e-9);
  ASSERT_TRUE(run.calibration_ratio && run.measured.goodput_ratio);
  EXPECT_NEAR(*run.calibration_ratio, 0.8, 1e-9);
  EXPECT_NEAR(*run.measured.goodput_ratio, 70.0 / 315, 1e-9);
  EXPECT_EQ(run.measured.restarts, 1);
  EXPECT_EQ(run.measured.redone_steps, 3);
  double hours = 0;
  long long cents = 0;
  for (const RunBar& bar : run.waterfall) {
    hours += bar.gpu_h;
    cents += std::llround(*bar.usd * 100);
  }
  EXPECT_NEAR(hours, run.held_gpu_h, 1e-12);
  EXPECT_EQ(cents, 945);
  EXPECT_DOUBLE_EQ(*run.held_usd, 9.45);
}

// Saves that the log times are taken out of the stops: 60 of 100 s.
TEST(RunAgainstPrediction, CheckpointsAreTakenOutOfStops) {
  const StepSeries series = series_of({{1, 10}, {2, 20}, {3, 130}, {4, 140}}, 10, 10);
  const RunAudit run = compare_run(measure_run(series, 60), predicted());
  EXPECT_NEAR(gpu_h(run, "checkpoint"), 0.60, 1e-9);
  EXPECT_NEAR(gpu_h(run, "stop"), 0.40, 1e-9);
}

// Without time stamps there is no span: held are the steps.
TEST(RunAgainstPrediction, WithoutTimeStampsGoodputIsUnknown) {
  const StepSeries series = series_of({{1, kNotSaid}, {2, kNotSaid}, {3, kNotSaid}}, 10, 10);
  const RunAudit run = compare_run(measure_run(series, 0), predicted());
  EXPECT_NEAR(run.held_gpu_h, 0.30, 1e-9);
  EXPECT_FALSE(run.measured.goodput_ratio);
  EXPECT_TRUE(to_json(run)["measured"]["goodput_ratio"].is_null());
}

// One node: nothing crosses the network. Two: gradients do, and at half the rate of the network the step is longer by
// the share.
TEST(PredictedComm, SlowerLinksLengthenTheStepByTheShare) {
  const Workload workload = test::small_gpt();
  const StepModel node(workload, test::hgx_like(8), {}, default_constants());
  const CommShares inside = comm_shares(node, {.tp = 8});
  EXPECT_EQ(inside.inter_node, 0);
  EXPECT_GT(inside.intra_node, 0);
  StepModel copy(node);
  const Step step = copy.evaluate({.tp = 8});
  EXPECT_LE(inside.intra_node, step.parts.tp_exposed_s / step.step_time_s * 1.01);

  const Parallelism two{.tp = 8, .dp = 2};
  Machine machine = test::hgx_like(16);
  StepModel model(workload, machine, {}, default_constants());
  const CommShares shares = comm_shares(model, two);
  EXPECT_GT(shares.inter_node, 0);
  machine.between_nodes.bytes_per_s /= 2;
  StepModel slower(workload, machine, {}, default_constants());
  const double before = model.step_time_s(two);
  EXPECT_NEAR(slower.step_time_s(two), before * (1 + shares.inter_node), 1e-9 * before);
}

}  // namespace
}  // namespace tare
