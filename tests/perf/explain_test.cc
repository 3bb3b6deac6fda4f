// Trust is the product: every formula that is printed gives, at its printed inputs, the printed value.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "perf/perf_examples.h"

namespace tare {
namespace {

using test::hgx_like;
using test::small_moe;
using test::workload_of;

void expect_formulas_hold(StepModel& model, const Parallelism& p) {
  const std::vector<Formula> formulas = model.explain(p);
  std::map<std::string, double> values;
  for (const Formula& formula : formulas) {
    const Result<double> value = evaluate(formula);
    ASSERT_TRUE(value) << render(formula) << render(value.error());
    EXPECT_NEAR(*value, formula.value, 1e-9 * std::abs(formula.value) + 1e-15) << to_text(p) << "\n" << render(formula);
    EXPECT_TRUE(values.emplace(formula.id, formula.value).second) << formula.id;
    for (const FormulaInput& input : formula.inputs) {
      EXPECT_FALSE(input.source.empty()) << formula.id << " " << input.name;
      EXPECT_FALSE(input.unit.empty()) << formula.id << " " << input.name;
    }
  }
  // The printed values are those of the step.
  const Step step = model.evaluate(p);
  for (const auto& [name, value] : named_parts(step.parts)) {
    ASSERT_TRUE(values.count("step." + std::string(name))) << name;
    EXPECT_DOUBLE_EQ(values.at("step." + std::string(name)), value);
  }
  EXPECT_DOUBLE_EQ(values.at("step.step_time_s"), step.step_time_s);
  EXPECT_DOUBLE_EQ(values.at("step.tokens_per_s"), step.tokens_per_s);
  EXPECT_DOUBLE_EQ(values.at("step.mfu_ratio"), step.mfu_ratio);
  EXPECT_DOUBLE_EQ(values.at("memory.total_bytes"), step.memory.total_bytes);
}

void expect_formulas_hold(const Workload& workload, const Parallelism& p) {
  Machine machine = hgx_like(gpus(p));
  machine.delivery = {0.02, 0.05, 0.01};
  machine.storage_bytes_per_s = 1e9;
  ASSERT_FALSE(check_divisibility(workload, machine, p)) << to_text(p);
  StepModel model(workload, machine);
  expect_formulas_hold(model, p);
}

std::vector<Parallelism> dense_splits() {
  std::vector<Parallelism> all = {
      {},
      {.dp = 8},
      {.tp = 8, .dp = 2, .zero_stage = 1, .sequence_parallel = true},
      {.tp = 4, .pp = 4, .dp = 2},
      {.tp = 2, .pp = 4, .vpp = 2, .dp = 2},
      {.tp = 2, .pp = 4, .dp = 2, .recompute = Recompute::kFull},
      {.pp = 2, .dp = 4, .recompute = Recompute::kFull, .recompute_layers = 2},
      {.tp = 2, .cp = 2, .dp = 4, .recompute = Recompute::kSelective},
      {.dp = 16, .zero_stage = 3, .micro_batch = 2},
      {.dp = 8, .zero_stage = 2, .offload = Offload::kOptimizer},
      {.dp = 8, .zero_stage = 3, .offload = Offload::kParameters},
      {.tp = 4, .pp = 5, .dp = 2},  // 8 + 2 layers over five stages: uneven ends
  };
  all[4].schedule = PipelineSchedule::kInterleaved;
  all[3].schedule = PipelineSchedule::kZeroBubble;
  return all;
}

TEST(Explain, DenseModels) {
  Workload workload = workload_of(llama(8, 1024, 4096, 16, 16, 32000), 2048, 64);
  workload.data_bytes_per_step = 1e6;
  for (const Parallelism& p : dense_splits()) expect_formulas_hold(workload, p);
}

TEST(Explain, ADataStall) {
  Workload workload = workload_of(llama(8, 1024, 4096, 16, 16, 32000), 2048, 64);
  workload.data_bytes_per_step = 1e12;  // 1,000 s at 1 GB/s
  for (const Parallelism& p : dense_splits()) expect_formulas_hold(workload, p);
}

TEST(Explain, StacksWithAndWithoutOverlap) {
  for (const bool on : {false, true}) {
    Workload workload = workload_of(llama(8, 1024, 4096, 16, 16, 32000), 2048, 64);
    workload.stack.dp_overlap = workload.stack.tp_overlap = on;
    for (const Parallelism& p : dense_splits()) expect_formulas_hold(workload, p);
  }
}

TEST(Explain, MixturesOfExperts) {
  const Workload workload = workload_of(small_moe(), 1024, 64);
  expect_formulas_hold(workload, {.ep = 8, .dp = 8, .zero_stage = 1});
  expect_formulas_hold(workload, {.tp = 2, .pp = 2, .ep = 8, .dp = 4, .recompute = Recompute::kFull});
  Workload deepseek = workload_of(deepseek_v3(), 4096, 1024);
  deepseek.precision = Precision::kFp8;
  expect_formulas_hold(deepseek, {.ep = 64, .dp = 64, .zero_stage = 1});
}

TEST(Explain, Adapters) {
  for (const Method method : {Method::kLora, Method::kQlora}) {
    Workload workload = workload_of(llama_2_7b(), 2048, 64);
    workload.method = method;
    expect_formulas_hold(workload, {});
    expect_formulas_hold(workload, {.tp = 2, .dp = 4, .zero_stage = 3});
  }
}

}  // namespace
}  // namespace tare
