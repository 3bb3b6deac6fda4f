#include "perf/step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/perf_examples.h"
#include "workload/flops.h"

namespace tare {
namespace {

using test::exact_constants;
using test::hgx_like;
using test::round_machine;
using test::small_gpt;
using test::workload_of;

Step step_of(const Workload& workload, const Machine& machine, const Parallelism& p,
             const StepConstants& constants = exact_constants(), RankLayout layout = {}) {
  EXPECT_FALSE(check_divisibility(workload, machine, p)) << to_text(p);
  return StepModel(workload, machine, layout, constants).evaluate(p);
}

Step step_of(const Workload& workload, const Parallelism& p) { return step_of(workload, round_machine(gpus(p)), p); }

RankCost cost_of(const Workload& workload, const Parallelism& p) {
  StepModel model(workload, round_machine(gpus(p)), {}, exact_constants());
  return model.rank_cost(p);
}

TEST(Step, PartsSumToTheStep) {
  for (const Parallelism& p : {Parallelism{}, Parallelism{.tp = 4, .pp = 4, .dp = 4},
                               Parallelism{.tp = 2, .pp = 2, .cp = 2, .dp = 8, .zero_stage = 1}}) {
    const Step step = step_of(small_gpt(), hgx_like(gpus(p)), p, default_constants());
    double total = 0;
    for (const auto& [name, value] : named_parts(step.parts)) total += value;
    EXPECT_NEAR(total, step.step_time_s, 1e-12 * step.step_time_s);
  }
}

// One GPU: 64 micro-batches of eight layers and the ends, then the optimizer; nothing else.
TEST(Step, OnOneGpuComputesAndUpdates) {
  const Workload workload = small_gpt();
  const Step step = step_of(workload, {});
  const RankCost cost = cost_of(workload, {});
  const double layer = cost.layer.forward_s + cost.layer.backward_s;
  EXPECT_DOUBLE_EQ(step.parts.compute_s, 64 * (8 * layer + cost.edge.head_s + cost.edge.embedding_s));
  EXPECT_DOUBLE_EQ(step.parts.compute_s + step.parts.optimizer_s, step.step_time_s);
}

TEST(Step, RatesFollowFromTheTime) {
  const Workload workload = small_gpt();
  const Step step = step_of(workload, {.dp = 8});
  EXPECT_DOUBLE_EQ(step.tokens_per_s, 64 * 1024 / step.step_time_s);
  EXPECT_DOUBLE_EQ(step.tokens_per_s_per_gpu, step.tokens_per_s / 8);
  EXPECT_DOUBLE_EQ(step.mfu_ratio, model_flops_per_token(workload) * 64 * 1024 / 8 / (step.step_time_s * 100e12));
  EXPECT_DOUBLE_EQ(step.mfu_ratio, step.hfu_ratio);  // nothing is recomputed
}

// A recomputed layer runs its forward once more: m·layers·forward.
TEST(Step, FullRecomputeIsOneMoreForward) {
  const Workload workload = small_gpt();
  const Step none = step_of(workload, {});
  const Step full = step_of(workload, {.recompute = Recompute::kFull});
  const double forward = cost_of(workload, {}).layer.forward_s;
  EXPECT_DOUBLE_EQ(full.parts.recompute_s, 64 * 8 * forward);
  EXPECT_DOUBLE_EQ(full.step_time_s, none.step_time_s + full.parts.recompute_s);
  EXPECT_DOUBLE_EQ(full.mfu_ratio * full.step_time_s, none.mfu_ratio * none.step_time_s);
  EXPECT_GT(full.hfu_ratio, full.mfu_ratio);
}

TEST(Step, RecomputeOfSomeLayers) {
  const Step all = step_of(small_gpt(), {.recompute = Recompute::kFull});
  const Step two = step_of(small_gpt(), {.recompute = Recompute::kFull, .recompute_layers = 2});
  EXPECT_DOUBLE_EQ(two.parts.recompute_s, all.parts.recompute_s * 2 / 8);
}

// The pipeline fills and drains: (p−1)/(v·m) of the time on a stage, m = 64/dp micro-batches.
TEST(Step, BubbleOfAPipeline) {
  const auto bubble_share = [](const Step& step) { return step.parts.pp_bubble_s / step.parts.compute_s; };
  EXPECT_DOUBLE_EQ(bubble_share(step_of(small_gpt(), {.pp = 4, .dp = 4})), 3.0 / 16);
  EXPECT_DOUBLE_EQ(bubble_share(step_of(small_gpt(), {.pp = 4, .vpp = 2, .dp = 4})), 3.0 / 2 / 16);
  Parallelism zero_bubble{.pp = 4, .dp = 4};
  zero_bubble.schedule = PipelineSchedule::kZeroBubble;
  EXPECT_DOUBLE_EQ(bubble_share(step_of(small_gpt(), zero_bubble)), 1.0 / 16);
}

// The last of four stages holds two layers and the whole head; the mean one two layers and a quarter of the ends.
TEST(Step, HeadOnTheLastStageSetsThePace) {
  const Parallelism p{.pp = 4, .dp = 4};
  const RankCost cost = cost_of(small_gpt(), p);
  const double mean_ends = (cost.edge.head_s + cost.edge.embedding_s) / 4;
  EXPECT_NEAR(step_of(small_gpt(), p).parts.pp_imbalance_s, 16 * (cost.edge.head_s - mean_ends), 1e-12);
}

// 1,024 tokens of width 1,024 in 2 bytes: 2 MiB to the next stage and a gradient as large back, for each micro-batch
// and chunk. Two stages four GPUs apart stay in the node (100 GB/s); of four such stages some boundary leaves it, and
// stages eight apart always do (10 GB/s).
TEST(Step, ActivationsGoToTheNextStage) {
  const double message = 2097152;
  EXPECT_DOUBLE_EQ(step_of(small_gpt(), {.pp = 2, .dp = 4}).parts.pp_p2p_s, 16 * 2 * message / 100e9);
  EXPECT_DOUBLE_EQ(step_of(small_gpt(), {.pp = 4, .dp = 4}).parts.pp_p2p_s, 16 * 2 * message / 10e9);
  EXPECT_DOUBLE_EQ(step_of(small_gpt(), {.pp = 4, .dp = 8}).parts.pp_p2p_s, 8 * 2 * message / 10e9);
  EXPECT_DOUBLE_EQ(step_of(small_gpt(), {.pp = 4, .vpp = 2, .dp = 8}).parts.pp_p2p_s, 8 * 4 * message / 10e9);
}

double parameters_of(const Workload& workload) { return count_parameters(workload.model).total; }

// All-reduce of 4-byte gradients over 8 ranks of a node, none of it hidden: 2·7/8·4Ψ at 100 GB/s.
TEST(Step, GradientsAreReduced) {
  Workload workload = small_gpt();
  workload.stack.dp_overlap = false;
  const double expected = 2 * 7.0 / 8 * 4 * parameters_of(workload) / 100e9;
  EXPECT_NEAR(step_of(workload, {.dp = 8}).parts.dp_exposed_s, expected, 1e-12);
}

// ZeRO 1: reduce-scatter of gradients (4 bytes), all-gather of weights (2 bytes).
TEST(Step, ShardedOptimizersScatterAndGather) {
  Workload workload = small_gpt();
  workload.stack.dp_overlap = false;
  const double expected = 7.0 / 8 * (4 + 2) * parameters_of(workload) / 100e9;
  EXPECT_NEAR(step_of(workload, {.dp = 8, .zero_stage = 1}).parts.dp_exposed_s, expected, 1e-12);
}

// ZeRO 3: weights gathered forward and backward, gradients scattered, for each of the eight micro-batches.
TEST(Step, ShardedWeightsAreGatheredForEveryMicroBatch) {
  Workload workload = small_gpt();
  workload.stack.dp_overlap = false;
  const double expected = 8 * 7.0 / 8 * (4 + 2 * 2) * parameters_of(workload) / 100e9;
  EXPECT_NEAR(step_of(workload, {.dp = 8, .zero_stage = 3}).parts.dp_exposed_s, expected, 1e-12);
}

// Work w beside traffic t takes (w^q + t^q)^(1/q): with q = 2 and w = t, √2·w, so (√2 − 1)·t shows.
TEST(Step, OverlappedTrafficShowsWhatDoesNotFit) {
  StepTerms terms;
  terms.micro_batches = 1;
  terms.peak_flops = 1;
  terms.dp_overlap_norm = 2;
  terms.dp_work_s = terms.dp_traffic_s = 3;
  EXPECT_NEAR(parts_of(terms).dp_exposed_s, 3 * (std::sqrt(2.0) - 1), 1e-12);
  terms.dp_overlap_norm = 1;
  EXPECT_NEAR(parts_of(terms).dp_exposed_s, 3, 1e-12);
  terms.dp_traffic_s = 0;
  EXPECT_EQ(parts_of(terms).dp_exposed_s, 0);
}

// 28 bytes a parameter, a share of it on each rank; PCIe and host memory when it is offloaded.
TEST(Step, OptimizerStreamsItsStates) {
  Workload workload = small_gpt();
  Machine machine = round_machine(8);
  machine.memory_bytes_per_s = 1e12;
  const double psi = parameters_of(workload);
  EXPECT_NEAR(step_of(workload, machine, {.dp = 8}).parts.optimizer_s, 28 * psi / 1e12, 1e-12);
  EXPECT_NEAR(step_of(workload, machine, {.dp = 8, .zero_stage = 1}).parts.optimizer_s, 28 * psi / 8 / 1e12, 1e-12);
  StepConstants constants = exact_constants();
  constants.host_memory_bytes_per_s = 14e9;
  const Step step = step_of(workload, machine, {.dp = 8, .offload = Offload::kOptimizer}, constants);
  EXPECT_NEAR(step.parts.optimizer_s, psi * (4 + 2) / 25e9 + 28 * psi / 14e9, 1e-9);
}

// A step cannot be shorter than reading its data.
TEST(Step, StallsForItsData) {
  Workload workload = small_gpt();
  workload.data_bytes_per_step = 1e9;
  Machine machine = round_machine(8);
  EXPECT_EQ(step_of(workload, machine, {.dp = 8}).parts.data_stall_s, 0);  // bandwidth unknown
  machine.storage_bytes_per_s = 1e6;
  EXPECT_NEAR(step_of(workload, machine, {.dp = 8}).step_time_s, 1000, 1e-9);
  machine.storage_bytes_per_s = 1e12;
  EXPECT_EQ(step_of(workload, machine, {.dp = 8}).parts.data_stall_s, 0);
}

// The slowest of n normal ranks is σ·√(2 ln n) late.
TEST(Step, WaitsForTheSlowestRank) {
  Machine machine = round_machine(64);
  machine.delivery.jitter_ratio = 0.01;
  const Step step = step_of(small_gpt(), machine, {.dp = 64});
  EXPECT_NEAR(step.parts.straggler_s,
              0.01 * std::sqrt(2 * std::log(64.0)) * (step.step_time_s - step.parts.straggler_s), 1e-12);
  EXPECT_EQ(step_of(small_gpt(), {}).parts.straggler_s, 0);
}

// A VM is measured against bare metal by whole steps: its ratio stretches all of it.
TEST(Step, DeliveryStretchesTheStep) {
  Machine machine = round_machine(8);
  const double before = step_of(small_gpt(), machine, {.dp = 8}).step_time_s;
  machine.delivery.host_ratio = 0.02;
  const Step step = step_of(small_gpt(), machine, {.dp = 8});
  EXPECT_DOUBLE_EQ(step.parts.delivery_s, 0.02 * before);
  EXPECT_DOUBLE_EQ(step.step_time_s, 1.02 * before);
}

// Links between nodes 10 % slower; a copy of the model does not slow them again.
TEST(Step, DeliverySlowsTheNetwork) {
  Workload workload = small_gpt();
  workload.stack.dp_overlap = false;
  Machine machine = round_machine(16);
  const double before = step_of(workload, machine, {.dp = 16}).parts.dp_exposed_s;
  machine.delivery.network_slowdown_ratio = 0.1;
  StepModel model(workload, machine, {}, exact_constants());
  EXPECT_NEAR(model.evaluate({.dp = 16}).parts.dp_exposed_s, 1.1 * before, 1e-12);
  EXPECT_NEAR(StepModel(model).evaluate({.dp = 16}).parts.dp_exposed_s, 1.1 * before, 1e-12);
}

RankLayout tp_outermost() { return {{Axis::kCp, Axis::kDp, Axis::kPp, Axis::kTp}}; }

// GPT-3 on 512 GPUs: its tensor-parallel traffic over one network link instead of NVLink.
TEST(Step, RankLayoutDecidesWhichLinksAreUsed) {
  const Workload workload = workload_of(gpt(96, 12288, 96, 51200), 2048, 1536);
  const Parallelism p{.tp = 8, .pp = 8, .dp = 8};
  const Step inner = step_of(workload, hgx_like(512), p, default_constants());
  const Step outer = step_of(workload, hgx_like(512), p, default_constants(), tp_outermost());
  EXPECT_GT(outer.parts.tp_exposed_s, 4 * inner.parts.tp_exposed_s);
  EXPECT_GT(outer.step_time_s, inner.step_time_s);
  EXPECT_LT(outer.parts.dp_exposed_s, inner.parts.dp_exposed_s);  // that one now stays in the node
}

// Layers are kept by degrees and strides: the order in which parallelisms are asked for changes nothing.
TEST(Step, CachedLayersAreTheSame) {
  const Workload workload = small_gpt();
  StepModel model(workload, hgx_like(64), tp_outermost(), default_constants());
  std::vector<Parallelism> all;
  for (const int tp : {1, 2, 4, 8}) {
    for (const int pp : {1, 2, 4, 8}) {
      for (const int micro : {1, 2, 4, 8}) {
        if (64 % (64 / tp / pp * micro) == 0)
          all.push_back({.tp = tp, .pp = pp, .dp = 64 / tp / pp, .micro_batch = micro});
      }
    }
  }
  for (int round = 0; round < 2; ++round) {
    for (const Parallelism& p : all) {
      StepModel fresh(workload, hgx_like(64), tp_outermost(), default_constants());
      EXPECT_EQ(model.evaluate(p).step_time_s, fresh.evaluate(p).step_time_s) << to_text(p);
    }
  }
}

TEST(Step, ACopyIsIndependent) {
  auto original = std::make_unique<StepModel>(small_gpt(), hgx_like(8));
  StepModel copy(*original);
  const double time = original->evaluate({.dp = 8}).step_time_s;
  original.reset();
  EXPECT_EQ(copy.evaluate({.dp = 8}).step_time_s, time);
}

TEST(Step, MemoryIsTheWorkloads) {
  const Parallelism p{.tp = 2, .pp = 2, .dp = 4};
  EXPECT_EQ(step_of(small_gpt(), p).memory.total_bytes, peak_memory(small_gpt(), p).total_bytes);
}

// Nothing but the model's own FLOPs at the dense peak is left when every cause is gone.
TEST(Step, WithoutAllCausesOnlyTheUsefulWorkIsLeft) {
  Machine machine = hgx_like(64);
  machine.delivery = {0.02, 0.05, 0.01};
  StepModel model(small_gpt(), machine);
  const Parallelism p{.tp = 2, .pp = 4, .dp = 8, .recompute = Recompute::kFull};
  const Step step = model.evaluate(p);
  EXPECT_DOUBLE_EQ(model.step_time_s(p, (1u << 12) - 1), step.model_flops_per_gpu / step.peak_flops);
}

// fp32 and tf32 were once timed at the 16-bit peak and rated at their own: more than all of it.
TEST(Step, WideTypesKeepBelowTheirPeak) {
  for (const Precision precision : {Precision::kFp32, Precision::kTf32}) {
    Workload workload = small_gpt();
    workload.precision = precision;
    const Step step = step_of(workload, hgx_like(8), {.dp = 8}, default_constants());
    EXPECT_GT(step.mfu_ratio, 0);
    EXPECT_LT(step.mfu_ratio, 1);
  }
}

}  // namespace
}  // namespace tare
