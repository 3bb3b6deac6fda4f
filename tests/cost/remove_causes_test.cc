// The waterfall's removals on a real step: one job, split in every way that uses one of the causes.
#include <gtest/gtest.h>

#include "cost/bill.h"

namespace tare {
namespace {

Machine eight_hgx() {
  Machine machine;
  machine.gpu = "H100-SXM5-80GB";
  machine.generation = GpuGeneration::kHopper;
  machine.peak_fp16_flops = machine.peak_bf16_flops = 989.4e12;
  machine.peak_fp8_flops = 1978.9e12;
  machine.peak_fp32_flops = 67e12;
  machine.memory_bytes = 80e9;
  machine.memory_bytes_per_s = 3.35e12;
  machine.tdp_w = 700;
  machine.sm_count = 132;
  machine.gpus_per_node = 8;
  machine.domain_gpus = 8;
  machine.gpus = 64;
  machine.in_domain = {LinkKind::kNvlink, 450e9, 2e-6};
  machine.in_node = {LinkKind::kPcie, 50e9, 5e-6};
  machine.between_nodes = {LinkKind::kNetwork, 50e9, 5e-6};
  machine.host_bytes_per_s = 50e9;
  machine.delivery = {0.015, 0, 0.01};
  return machine;
}

Workload workload_of(const char* model) {
  static const Catalog catalog = load_catalog().value();
  Workload workload;
  workload.model = *find_model(catalog, model);
  workload.sequence_length = 4096;
  workload.global_batch = 512;
  return workload;
}

std::vector<Parallelism> splits() {
  std::vector<Parallelism> all(5);
  all[0].dp = 64;
  all[0].zero_stage = 3;
  all[1] = {.tp = 2, .pp = 2, .dp = 16, .zero_stage = 1, .recompute = Recompute::kFull, .sequence_parallel = true};
  all[2] = {.tp = 8, .pp = 4, .vpp = 2, .dp = 2};
  all[2].schedule = PipelineSchedule::kInterleaved;
  all[3] = {.tp = 4, .cp = 2, .dp = 8, .recompute = Recompute::kSelective};
  all[4] = {.tp = 1, .pp = 8, .dp = 8, .recompute = Recompute::kFull};
  return all;
}

TEST(RemoveCauses, OrderOfTheBars) {
  StepModel model(workload_of("llama-2-13b"), eight_hgx());
  const char* const order[] = {"data",    "bubble",    "comm_tp",  "comm_dp",   "comm_pp", "comm_ep",
                               "comm_cp", "straggler", "delivery", "recompute", "kernel",  "optimizer"};
  const auto left = remove_causes(model, splits()[0]);
  ASSERT_EQ(left.size(), std::size(order));
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].first, order[i]);
}

// No removal makes a step longer, and what is left in the end is the model's FLOPs at the dense peak.
TEST(RemoveCauses, EachLeavesLessAndTheLastLeavesTheUsefulWork) {
  int steps = 0;
  for (const char* name : {"llama-2-13b", "mixtral-8x7b"}) {
    const Workload workload = workload_of(name);
    const Machine machine = eight_hgx();
    StepModel model(workload, machine);
    for (const Parallelism& parallelism : splits()) {
      if (check_divisibility(workload, machine, parallelism)) continue;
      ++steps;
      const Step step = model.evaluate(parallelism);
      double before = step.step_time_s;
      for (const auto& [id, left] : remove_causes(model, parallelism)) {
        EXPECT_LE(left, before * (1 + 1e-9)) << name << " " << to_text(parallelism) << " " << id;
        EXPECT_GE(left, 0) << id;
        before = left;
      }
      EXPECT_NEAR(before, step.model_flops_per_gpu / step.peak_flops, 1e-6 * before)
          << name << " " << to_text(parallelism);
    }
  }
  EXPECT_GE(steps, 8);
}

}  // namespace
}  // namespace tare
