#include "perf/layer.h"

#include <gtest/gtest.h>

#include "perf/perf_examples.h"
#include "workload/flops.h"

namespace tare {
namespace {

using test::exact_constants;
using test::round_machine;
using test::small_gpt;
using test::small_moe;
using test::workload_of;

RankCost cost_of(const Workload& workload, const Machine& machine, const Parallelism& p,
                 const StepConstants& constants = exact_constants()) {
  GroupStrides strides;
  strides.cp = p.tp;
  return LayerModel(workload, machine, constants).cost(p, strides);
}

// What the kernels execute over all ranks, micro-batches and layers is what the workload counts: nothing is forgotten
// and nothing counted twice. (FLOPs of one rank × ranks × micro-batches ÷ tokens = FLOPs of one token.) Only the
// low-rank projections of MLA are replicated over tp.
void expect_flops_of_the_workload(const Workload& workload, const Parallelism& p) {
  const RankCost cost = cost_of(workload, round_machine(gpus(p)), p);
  const double of_rank = workload.model.layers * cost.layer.flops + cost.edge.flops;
  const double tokens = double(p.micro_batch) * workload.sequence_length;
  const double ratio = of_rank * p.tp * p.cp / tokens / model_flops_per_token(workload);
  if (workload.model.is_mla() && p.tp > 1) {
    EXPECT_GT(ratio, 1) << to_text(p);
    EXPECT_LT(ratio, 1.1) << to_text(p);
  } else {
    EXPECT_NEAR(ratio, 1, 1e-12) << workload.model.id << " " << to_text(p);
  }
}

TEST(Layer, ExecutesTheFlopsOfTheWorkload) {
  ModelArchitecture grouped = llama(8, 1024, 4096, 16, 4, 32000);
  ModelArchitecture windowed = grouped;
  windowed.layers = 7;  // three of the seven are windowed
  windowed.attention_window = 256;
  windowed.window_every = 2;
  for (const ModelArchitecture& model : {gpt(8, 1024, 8, 4096), grouped, windowed, small_moe(), deepseek_v3()}) {
    const Workload workload = workload_of(model, 1024, 64);
    expect_flops_of_the_workload(workload, {});
    expect_flops_of_the_workload(workload, {.tp = 4, .cp = 2, .micro_batch = 2, .sequence_parallel = true});
  }
  Parallelism experts{.tp = 2, .ep = 8, .dp = 4};
  experts.sequence_parallel = true;  // the router sees each token once
  expect_flops_of_the_workload(workload_of(small_moe(), 1024, 64), experts);
}

TEST(Layer, ExecutesTheFlopsOfAdapters) {
  for (const ModelArchitecture& model : {llama_2_7b(), small_moe(), deepseek_v3()}) {
    Workload workload = workload_of(model, 1024, 64);
    workload.method = Method::kLora;
    expect_flops_of_the_workload(workload, {.tp = 2, .sequence_parallel = true});
  }
}

// Without overheads and with attention over the whole square (unfused), forward time is FLOPs ÷ peak: per token and
// layer 24h² + 4sh with h = s = 1024, 28·2²⁰ FLOPs, times 1,024 tokens.
TEST(Layer, TimeIsFlopsOverPeak) {
  Workload workload = small_gpt();
  workload.attention = AttentionKernel::kStandard;
  const LayerCost layer = cost_of(workload, round_machine(1), {}).layer;
  const double forward = 1024 * 28.0 * 1048576 / 100e12;
  EXPECT_NEAR(layer.forward_s, forward, 1e-6 * forward);
  EXPECT_NEAR(layer.backward_s, 2 * forward, 2e-6 * forward);
  EXPECT_DOUBLE_EQ(layer.gemm_s + layer.attention_s + layer.elementwise_s, layer.forward_s + layer.backward_s);
}

// A frozen matrix has no weight gradient: its backward is one product.
TEST(Layer, FrozenWeightsHaveNoGradient) {
  Workload workload = small_gpt();
  workload.attention = AttentionKernel::kStandard;
  const LayerCost trained = cost_of(workload, round_machine(1), {}).layer;
  workload.method = Method::kLora;
  workload.lora = {.rank = 1, .query = false, .key = false, .value = false, .output = false, .mlp = false};
  const LayerCost frozen = cost_of(workload, round_machine(1), {}).layer;
  EXPECT_DOUBLE_EQ(frozen.forward_s, trained.forward_s);
  EXPECT_NEAR(frozen.gemm_s, trained.gemm_s * 2 / 3, 1e-12);
}

// The tensors of a micro-batch of 1,024 tokens and width 1,024 are 2 MiB. Two all-reduces each way, 2·7/8·2 MiB at
// 100 GB/s each.
TEST(Layer, TensorParallelReducesTwiceEachWay) {
  const LayerCost layer = cost_of(small_gpt(), round_machine(8), {.tp = 8}).layer;
  const double once = 2 * 7.0 / 8 * 2097152 / 100e9;
  EXPECT_DOUBLE_EQ(layer.tp_forward_s, 2 * once);
  EXPECT_DOUBLE_EQ(layer.tp_backward_s, 2 * once);
}

TEST(Layer, OverlapShowsItsShare) {
  Workload workload = small_gpt();
  StepConstants constants = exact_constants();
  constants.tp_overlap_exposed = 0.25;
  const double shown = cost_of(workload, round_machine(8), {.tp = 8}, constants).layer.tp_forward_s;
  workload.stack.tp_overlap = true;
  EXPECT_DOUBLE_EQ(cost_of(workload, round_machine(8), {.tp = 8}, constants).layer.tp_forward_s, shown / 4);
}

// Groups that lie further apart use the slower link: eight ranks eight GPUs apart have 10 GB/s instead of 100.
TEST(Layer, StridesReachTheGroups) {
  const Workload workload = small_gpt();
  const Machine machine = round_machine(64);
  const Parallelism p{.tp = 8};
  const StepConstants constants = exact_constants();
  const LayerModel model(workload, machine, constants);
  GroupStrides apart;
  apart.tp = 8;
  EXPECT_DOUBLE_EQ(model.cost(p, apart).layer.tp_forward_s, 10 * model.cost(p, {}).layer.tp_forward_s);
}

// Keys and values of 1,024·… travel once forward and twice backward; what attention computes on the other block hides
// them, but a floor of 15 % always shows.
TEST(Layer, ContextParallelHidesBehindAttention) {
  Workload workload = small_gpt();
  workload.sequence_length = 8192;
  Machine machine = round_machine(2);
  machine.in_domain.bytes_per_s = 1e9;
  const Parallelism p{.cp = 2};
  const LayerCost slow = cost_of(workload, machine, p).layer;
  const double ring = 1.0 / 2 * 8192 * 2 * 1024 * 2 / 1e9;  // (n−1)/n of keys and values of the sequence
  EXPECT_NEAR(slow.cp_s, 3 * ring - slow.attention_s / 2, 1e-12);
  machine.in_domain.bytes_per_s = 1e12;
  const LayerCost fast = cost_of(workload, machine, p).layer;
  EXPECT_NEAR(fast.cp_s, 0.15 * 3 * ring / 1000, 1e-12);
}

// Each of 8 ranks sends its tokens' two copies to the experts and takes them back, forward; the same twice backward
// (two all-to-alls of 2 bytes). Copies: 1024·2·1024·2 bytes, 7/8 of them to other ranks.
TEST(Layer, ExpertsExchangeTokens) {
  const Workload workload = workload_of(small_moe(), 1024, 64);
  const LayerCost layer = cost_of(workload, round_machine(8), {.ep = 8, .dp = 8}).layer;
  const double once = 7.0 / 8 * 1024 * 2 * 1024 * 2 / 100e9;
  EXPECT_DOUBLE_EQ(layer.ep_forward_s, 2 * once);
  EXPECT_DOUBLE_EQ(layer.ep_backward_s, 2 * once);
}

// The fullest rank paces the step; FLOPs are those of the mean one.
TEST(Layer, ImbalanceTakesTimeButIsNoWork) {
  const Workload workload = workload_of(small_moe(), 1024, 64);
  const Parallelism p{.ep = 8, .dp = 8};
  StepConstants constants = exact_constants();
  const LayerCost even = cost_of(workload, round_machine(8), p, constants).layer;
  constants.expert_imbalance = 1.5;
  const LayerCost uneven = cost_of(workload, round_machine(8), p, constants).layer;
  EXPECT_GT(uneven.gemm_s, even.gemm_s * 1.1);
  EXPECT_DOUBLE_EQ(uneven.flops, even.flops);
}

// 10 ms to issue a layer's forward and as much backward, far more than its kernels take: the GPU waits for the CPU.
TEST(Layer, WaitsForTheCpuThatIssuesIt) {
  Workload workload = small_gpt();
  StepConstants constants = exact_constants();
  constants.issue_eager_s = 10e-3;
  constants.issue_backward = 1;
  const LayerCost layer = cost_of(workload, round_machine(1), {}, constants).layer;
  EXPECT_DOUBLE_EQ(layer.forward_s + layer.backward_s, 20e-3);
  workload.stack.cuda_graphs = true;  // replayed: nothing to issue
  EXPECT_LT(cost_of(workload, round_machine(1), {}, constants).layer.forward_s, 1e-3);
}

TEST(Layer, SelectiveRecomputeRepeatsAttentionOrAShare) {
  Workload workload = small_gpt();
  const LayerCost attention = cost_of(workload, round_machine(1), {}).layer;
  EXPECT_DOUBLE_EQ(attention.selective_s, attention.attention_s / 3);  // forward of forward + 2·forward
  workload.stack.selective_share = 0.25;
  const LayerCost share = cost_of(workload, round_machine(1), {}).layer;
  EXPECT_DOUBLE_EQ(share.selective_s, 0.25 * share.forward_s);
}

// The head over 1,024 tokens: 2·1024·1024·4096 FLOPs forward, twice that backward, and 18 trips of its logits.
TEST(Layer, HeadIsCounted) {
  const EdgeCost edge = cost_of(small_gpt(), round_machine(1), {}).edge;
  EXPECT_DOUBLE_EQ(edge.flops, 3 * 2.0 * 1024 * 1024 * 4096);
  EXPECT_NEAR(edge.head_s, edge.flops / 100e12, 1e-9);
}

}  // namespace
}  // namespace tare
