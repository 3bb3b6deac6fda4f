#include <gtest/gtest.h>

#include <fmt/format.h>

#include "training_cases.h"

namespace tare {
namespace {

std::string on_gpus(int gpus) { return fmt::format("GPU: NVIDIA A100-SXM4-80GB\nworld_size: {}\n", gpus); }

double a100_price() { return usual_price_usd_per_gpu_h(shipped_catalog(), "A100-SXM4-80GB")->base; }

TEST(TrainingRules, ADropOfThePaceCostsItsPartOfAllGpus) {
  const auto seconds = [](int step) { return step < 420 ? 4.0 : 5.0; };
  const AuditReport report = audit_files({{"t.log", on_gpus(64) + training_log(400, 440, seconds, always(2.5))}});
  const Finding& finding = only(report, "training.throughput-drop");
  // 4 s of work take 5 s: 1 - 4/5 = 0.2 of 64 GPUs, 0.2 * 64 * 24 = 307.2 GPU-hours a day.
  ASSERT_TRUE(finding.loss);
  EXPECT_NEAR(finding.loss->value, 307.2, 1e-9);
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, 307.2 * a100_price(), 1e-6);
}

TEST(TrainingRules, AHangCostsTheWholeJob) {
  std::string log = on_gpus(32);
  log +=
      " iteration 100/5000 | consumed samples: 640 | elapsed time per iteration (ms): 9000.0 | learning rate: 1.0E-04 "
      "| "
      "global batch size: 64 | lm loss: 2.5E+00 | loss scale: 1.0 | number of skipped iterations: 0 | number of nan "
      "iterations: 0 |\n[2026-03-04 02:10:00] watchdog: alive\n[2026-03-04 04:10:00] watchdog: alive\n";
  const AuditReport report = audit_files({{"t.log", log}});
  const Finding& finding = only(report, "training.hang");
  // 32 GPUs, 24 hours a day.
  EXPECT_NEAR(*finding.cost_usd_per_day.base_usd, 32 * 24 * a100_price(), 1e-6);
}

TEST(TrainingRules, WaitsForDataCostTheirShare) {
  std::string log = "world_size: 8\n";
  for (int step = 20; step < 30; ++step) {
    log += fmt::format(
        "INFO 2026-07-11 08:20:13 ts/train.py:232 step:{} loss:1.0 grdn:4.4 lr:1e-06 updt_s:0.300 data_s:0.100\n",
        step);
  }
  const AuditReport report = audit_files({{"t.log", log}});
  const Finding& finding = only(report, "training.data-stall");
  // 0.1 of 0.3 + 0.1 s: a quarter of 8 GPUs, 0.25 * 8 * 24 = 48 GPU-hours a day; which GPU they are is not said.
  ASSERT_TRUE(finding.loss);
  EXPECT_NEAR(finding.loss->value, 48, 1e-9);
  EXPECT_FALSE(finding.cost_usd_per_day.base_usd);
  EXPECT_FALSE(finding.cost_usd_per_day.unknown.empty());
}

TEST(TrainingRules, TheBubbleIsTheTextbooks) {
  const std::string log =
      "pipeline_model_parallel_size: 4\ntensor_model_parallel_size: 1\nworld_size: 8\nmicro_batch_size: 1\n"
      "global_batch_size: 12\n" +
      training_log(10, 20, always(4), always(2.5));
  const AuditReport report = audit_files({{"t.log", log}});
  const Finding& finding = only(report, "training.pipeline-bubble");
  // Two pipelines of 4 stages with 6 micro-batches each: 3 / (6 + 3) = 1/3 of 8 GPUs = 64 GPU-hours a day.
  ASSERT_TRUE(finding.loss);
  EXPECT_NEAR(finding.loss->value, 64, 1e-9);
}

TEST(TrainingRules, WithoutTheNumberOfGpusTheLossIsUnknown) {
  const auto seconds = [](int step) { return step < 420 ? 4.0 : 5.0; };
  const AuditReport report = audit_files({{"t.log", training_log(400, 440, seconds, always(2.5))}});
  const Finding& finding = only(report, "training.throughput-drop");
  EXPECT_FALSE(finding.loss);
  EXPECT_FALSE(finding.loss_unknown.empty());
}

TEST(TrainingRules, WhatFollowsFromAFailureStandsUnderIt) {
  const AuditReport report = audit_files(
      {{"t.log", training_log(50, 60, always(2), [](int s) { return 2.5 - 0.001 * s; }) +
                     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB.\n"
                     "Traceback (most recent call last):\n"
                     "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE)\n"}});
  ASSERT_EQ(report.findings.size(), 3U);
  EXPECT_EQ(report.findings[0].rule_id, "training.out-of-memory");
  EXPECT_EQ(report.findings[1].caused_by, 0);
  EXPECT_EQ(report.findings[2].caused_by, 0);
}

}  // namespace
}  // namespace tare
