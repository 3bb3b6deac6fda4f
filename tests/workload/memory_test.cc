#include "workload/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "workload/workload_examples.h"

namespace tare {
namespace {

constexpr double kMib = 1024.0 * 1024;

// Megatron-LM of the paper: fused softmax and activations, dropout.
Workload megatron_gpt(ModelArchitecture model, AttentionKernel attention) {
  Workload workload;
  workload.model = std::move(model);
  workload.sequence_length = 2048;
  workload.global_batch = 512;
  workload.attention = attention;
  workload.stack.fused_elementwise = true;
  workload.stack.dropout = true;
  workload.stack.fragmentation_ratio = 0;
  return workload;
}

double layer_bytes(const TensorBytes& t, const Workload& w, int tp, bool sequence_parallel) {
  return w.sequence_length * (t.replicated / (sequence_parallel ? tp : 1) + t.split / tp);
}

// Korthikanti et al. 2022, table 2, per layer with b = 1:
//   no parallelism sbh(34 + 5as/h); tensor sbh(10 + 24/t + 5as/(ht)); with sequence parallel sbh/t·(34 + 5as/h);
//   selective sbh(10 + 24/t) and 34sbh/t; full 2sbh.
TEST(LayerActivations, KorthikantiTableTwo) {
  const Workload w = megatron_gpt(gpt(96, 12288, 96, 51200), AttentionKernel::kStandard);
  const ActivationBytes a = dense_layer_activations(w);
  const double s = 2048, h = 12288, heads = 96, sbh = s * h;
  for (const int t : {1, 2, 8}) {
    const double core = 5 * heads * s / h;
    EXPECT_NEAR(layer_bytes(a.kept_none, w, t, false), sbh * (10 + 24.0 / t + core / t), 1);
    EXPECT_NEAR(layer_bytes(a.kept_none, w, t, true), sbh / t * (34 + core), 1);
    EXPECT_NEAR(layer_bytes(a.kept_selective, w, t, false), sbh * (10 + 24.0 / t), 1);
    EXPECT_NEAR(layer_bytes(a.kept_selective, w, t, true), sbh / t * 34, 1);
    EXPECT_NEAR(layer_bytes(a.kept_full, w, t, false), 2 * sbh, 1);
  }
}

// Flash attention keeps what selective recompute keeps, and 4 bytes of statistics per head.
TEST(LayerActivations, FlashIsSelectiveWithStatistics) {
  const Workload w = megatron_gpt(gpt(96, 12288, 96, 51200), AttentionKernel::kFlash2);
  const ActivationBytes a = dense_layer_activations(w);
  EXPECT_DOUBLE_EQ(layer_bytes(a.kept_none, w, 8, true), 2048.0 / 8 * (34 * 12288 + 4 * 96));
}

// Megatron-LM's theoretical_memory_usage.py: sbh(18 + 4f/h)/t per layer under selective recompute and sequence
// parallelism. Per layer and GPU of the paper's four models: 204, 102, 170 and 212.5 MiB.
TEST(LayerActivations, MegatronTheoreticalUsage) {
  const struct {
    int layers, hidden, heads, batch;
    double mib;
  } rows[] = {
      {48, 6144, 64, 4, 204.0}, {96, 12288, 96, 1, 102.0}, {105, 20480, 128, 1, 170.0}, {128, 25600, 160, 1, 212.5}};
  for (const auto& row : rows) {
    const Workload w = megatron_gpt(gpt(row.layers, row.hidden, row.heads, 51200), AttentionKernel::kStandard);
    EXPECT_NEAR(row.batch * layer_bytes(dense_layer_activations(w).kept_selective, w, 8, true) / kMib, row.mib, 1e-6);
  }
}

// A Llama layer in fused kernels, per token: both norms' inputs and outputs 8h, Q, K, V, output 2(2a + 2g)d,
// gate, up and their product 6f, statistics 4a.
TEST(LayerActivations, GatedAndGrouped) {
  Workload w = megatron_gpt(llama(32, 4096, 14336, 32, 8, 128256), AttentionKernel::kFlash2);
  w.stack.dropout = false;
  const TensorBytes fused = dense_layer_activations(w).kept_none;
  EXPECT_DOUBLE_EQ(fused.replicated, 8.0 * 4096);
  EXPECT_DOUBLE_EQ(fused.split, 2.0 * (2 * 4096 + 2 * 1024) + 6.0 * 14336 + 4 * 32);
  // Eager: RMSNorm keeps 4h of fp32 and the normalised 2h for 2h of input, and the SiLU's output stays.
  w.stack.fused_elementwise = false;
  const TensorBytes eager = dense_layer_activations(w).kept_none;
  EXPECT_DOUBLE_EQ(eager.replicated, 2.0 * (4 + 2 + 2) * 4096);
  EXPECT_DOUBLE_EQ(eager.split - fused.split, 2.0 * 14336);
  // SDPA on repeated keys and values keeps them in full width.
  w.stack.expands_kv = true;
  EXPECT_DOUBLE_EQ(dense_layer_activations(w).kept_none.split - eager.split, 2.0 * 2 * (4096 - 1024));
}

TEST(LayerActivations, ExpertsCopyTheirTokens) {
  Workload w = megatron_gpt(deepseek_v3(), AttentionKernel::kFlash2);
  w.stack.dropout = false;
  const ActivationBytes dense = dense_layer_activations(w);
  const ActivationBytes moe = moe_layer_activations(w);
  // Router logits and probabilities 8E, top_k inputs and outputs 4h each; columns 6(top_k·fe + fs) for 6f.
  EXPECT_DOUBLE_EQ(moe.kept_none.replicated - dense.kept_none.replicated, 8.0 * 256 + 4.0 * 7168 * 8);
  EXPECT_DOUBLE_EQ(moe.kept_none.split - dense.kept_none.split, 6.0 * (8 * 2048 + 2048 - 18432));
}

// Frozen GEMMs without an adapter need no input: of a fused Llama layer with LoRA on q and v there stay the norm
// inputs, the input of q and v, the heads, gate and up.
TEST(LayerActivations, LoraKeepsWhatItReads) {
  Workload w = megatron_gpt(llama_2_7b(), AttentionKernel::kFlash2);
  w.stack.dropout = false;
  w.method = Method::kLora;
  w.lora.key = w.lora.output = w.lora.mlp = false;
  const TensorBytes kept = dense_layer_activations(w).kept_none;
  EXPECT_DOUBLE_EQ(kept.replicated, 2.0 * 3 * 4096);
  EXPECT_DOUBLE_EQ(kept.split, 2.0 * 4 * 4096 + 2.0 * 2 * 11008 + 4 * 32);
}

// Rajbhandari et al. 2020 (ZeRO), figure 1: 7.5B parameters on 64 GPUs, mixed precision Adam with 16-bit gradients
// (2 + 2 + 12 bytes): 120, 31.4, 16.6 and 1.9 GB of states.
TEST(States, ZeroPaperFigureOne) {
  Workload w = megatron_gpt(gpt(1, 8, 1, 8), AttentionKernel::kFlash2);
  w.stack.gradient_bytes = 2;
  // One huge embedding, head tied: 7.5e9 parameters but for a few hundred.
  w.model.vocab = 1 << 24;
  w.model.hidden = 447;
  w.model.head_dim = 447;
  w.model.ffn_hidden = 0;
  const double expected[] = {120e9, 31.4e9, 16.6e9, 1.9e9};
  for (int stage = 0; stage <= 3; ++stage) {
    Parallelism p;
    p.dp = 64;
    p.zero_stage = stage;
    const Memory m = peak_memory(w, p);
    const double states = m.weights_bytes + m.gradients_bytes + m.optimizer_bytes;
    EXPECT_NEAR(states / expected[stage], 1, 0.02) << stage;
  }
}

TEST(States, ExpertsHaveTheirOwnDataGroup) {
  Workload w = megatron_gpt(deepseek_v3(), AttentionKernel::kFlash2);
  Parallelism p;
  p.dp = 64;
  p.ep = 64;
  p.zero_stage = 1;
  const Memory m = peak_memory(w, p);
  // Every expert is held once among the 64 ranks: its optimizer states are not divided again.
  const double experts = 58.0 * 256 * 3 * 7168 * 2048 / 64;
  EXPECT_GT(m.optimizer_bytes, 12 * experts);
  EXPECT_LT(m.optimizer_bytes, 12 * experts * 1.1);
}

// Whole experts lie on a rank when ep > 1: tp = 8 with ep = 8 over the same eight GPUs leaves each an eighth of the
// experts, as tp = 8 alone does, and not a sixty-fourth.
TEST(States, ExpertParallelRanksAreTakenFromTensorParallelOnes) {
  const Workload w = megatron_gpt(deepseek_v3(), AttentionKernel::kFlash2);
  Parallelism p;
  p.tp = 8;
  const double without = peak_memory(w, p).weights_bytes;
  p.ep = 8;
  EXPECT_DOUBLE_EQ(peak_memory(w, p).weights_bytes, without);
}

TEST(States, OffloadMovesThemToTheHost) {
  const Workload w = megatron_gpt(llama_2_7b(), AttentionKernel::kFlash2);
  Parallelism p;
  const Memory on_gpu = peak_memory(w, p);
  p.offload = Offload::kOptimizer;
  const Memory offloaded = peak_memory(w, p);
  EXPECT_EQ(offloaded.optimizer_bytes, 0);
  EXPECT_DOUBLE_EQ(offloaded.host_bytes, on_gpu.optimizer_bytes);
  EXPECT_DOUBLE_EQ(offloaded.weights_bytes, on_gpu.weights_bytes);
  p.offload = Offload::kParameters;
  const Memory all = peak_memory(w, p);
  EXPECT_DOUBLE_EQ(all.host_bytes, on_gpu.optimizer_bytes + on_gpu.weights_bytes + on_gpu.gradients_bytes);
  EXPECT_GT(all.gathered_bytes, 0);
}

// QLoRA: 4.127 bits per base parameter of the layers (NF4, double quantisation), embedding and head in bf16.
TEST(States, QloraBase) {
  Workload w = megatron_gpt(llama_2_7b(), AttentionKernel::kFlash2);
  w.stack.states = "pure";
  w.method = Method::kQlora;
  w.lora.rank = 1;
  const Memory m = peak_memory(w, Parallelism{});
  const double layers = 32 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008);
  const double edges = 2.0 * 32000 * 4096;
  EXPECT_NEAR(m.weights_bytes / (layers * 4.127 / 8 + edges * 2), 1, 0.005);
}

// 1F1B: p micro-batches on the first stage; interleaved p(1 + (p − 1)/(pv)) (Korthikanti et al. 2022, sec. 4.2.3).
TEST(Activations, InFlightOnTheFirstStage) {
  Workload w = megatron_gpt(gpt(96, 12288, 96, 64), AttentionKernel::kFlash2);
  Parallelism p;
  p.tp = 8;
  p.pp = 8;
  p.sequence_parallel = true;
  const double per_layer = layer_bytes(dense_layer_activations(w).kept_none, w, 8, true);
  const double working = layer_bytes(dense_layer_activations(w).working_none, w, 8, true);
  EXPECT_NEAR(peak_memory(w, p).activations_bytes, 8 * 12 * per_layer + working, 1e3);
  p.vpp = 3;
  EXPECT_NEAR(peak_memory(w, p).activations_bytes, 8 * 12 * per_layer * (1 + 7.0 / 24) + working, 1e3);
  p.vpp = 1;
  w.global_batch = 3;  // fewer micro-batches than stages
  EXPECT_NEAR(peak_memory(w, p).activations_bytes, 3 * 12 * per_layer + working, 1e3);
}

TEST(Activations, LogitsAreOnTheLastStage) {
  Workload w = megatron_gpt(llama_2_7b(), AttentionKernel::kFlash2);
  w.model.vocab = 256000;
  Parallelism p;
  p.pp = 4;
  p.recompute = Recompute::kFull;
  p.micro_batch = 4;
  const Memory m = peak_memory(w, p);
  EXPECT_DOUBLE_EQ(m.logits_bytes, 10.0 * 256000 * 2048 * 4);
  w.stack.fused_cross_entropy = true;
  EXPECT_LT(peak_memory(w, p).total_bytes, m.total_bytes);
}

TEST(Activations, PartialRecomputeLiesBetween) {
  const Workload w = megatron_gpt(llama_2_7b(), AttentionKernel::kFlash2);
  Parallelism p;
  p.recompute = Recompute::kFull;
  const double all = peak_memory(w, p).activations_bytes;
  p.recompute_layers = 16;
  const double half = peak_memory(w, p).activations_bytes;
  p.recompute = Recompute::kNone;
  const double none = peak_memory(w, p).activations_bytes;
  EXPECT_LT(all, half);
  EXPECT_LT(half, none);
}

Workload any_workload() {
  Workload w;
  const int shape = *rc::gen::inRange(0, 3);
  w.model = shape == 0 ? gpt(48, 6144, 64, 51200) : shape == 1 ? llama(80, 8192, 28672, 64, 8, 128256) : deepseek_v3();
  w.method = *rc::gen::element(Method::kPretrain, Method::kFull, Method::kLora, Method::kQlora);
  w.sequence_length = *rc::gen::element(512, 4096, 32768);
  w.global_batch = 1024;
  w.precision = *rc::gen::element(Precision::kBf16, Precision::kFp8, Precision::kFp32);
  w.attention = *rc::gen::element(AttentionKernel::kStandard, AttentionKernel::kFlash2);
  w.stack.fused_elementwise = *rc::gen::arbitrary<bool>();
  w.stack.dropout = *rc::gen::arbitrary<bool>();
  w.stack.fused_cross_entropy = *rc::gen::arbitrary<bool>();
  w.stack.fp8_gather = *rc::gen::arbitrary<bool>();
  w.stack.selective_share = *rc::gen::element(0.0, 0.41);
  w.stack.states = *rc::gen::element(std::string("mixed"), std::string("fp32"), std::string("pure"));
  w.stack.fragmentation_ratio = 0.05;
  w.stack.fixed_memory_bytes = 1e9;
  return w;
}

Parallelism any_parallelism() {
  Parallelism p;
  p.tp = *rc::gen::element(1, 2, 4, 8);
  p.pp = *rc::gen::element(1, 2, 4, 8);
  p.vpp = p.pp > 1 ? *rc::gen::element(1, 2) : 1;
  p.cp = *rc::gen::element(1, 2);
  p.dp = *rc::gen::element(1, 8, 64);
  p.ep = *rc::gen::element(1, p.dp);
  p.zero_stage = *rc::gen::inRange(0, 4);
  p.micro_batch = *rc::gen::element(1, 2, 4);
  p.recompute = *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
  p.sequence_parallel = *rc::gen::arbitrary<bool>();
  p.offload = *rc::gen::element(Offload::kNone, Offload::kOptimizer, Offload::kParameters);
  return p;
}

double without_gathered(const Memory& m) {
  return m.weights_bytes + m.gradients_bytes + m.optimizer_bytes + m.activations_bytes + m.logits_bytes;
}

RC_GTEST_PROP(MemoryProperties, PartsAreNotNegativeAndSumUp, ()) {
  const Memory m = peak_memory(any_workload(), any_parallelism());
  for (const double part : {m.weights_bytes, m.gradients_bytes, m.optimizer_bytes, m.activations_bytes, m.logits_bytes,
                            m.gathered_bytes, m.framework_bytes, m.fragmentation_bytes, m.host_bytes}) {
    RC_ASSERT(part >= 0);
  }
  const double sum = without_gathered(m) + m.gathered_bytes + m.framework_bytes + m.fragmentation_bytes;
  RC_ASSERT(std::abs(sum - m.total_bytes) <= 1e-9 * sum);
}

RC_GTEST_PROP(MemoryProperties, NeverLessForALargerMicroBatch, ()) {
  const Workload w = any_workload();
  Parallelism p = any_parallelism();
  const double before = peak_memory(w, p).total_bytes;
  p.micro_batch *= 2;
  RC_ASSERT(peak_memory(w, p).total_bytes >= before * (1 - 1e-12));
}

RC_GTEST_PROP(MemoryProperties, ZeroNeverMoreApartFromGathered, ()) {
  const Workload w = any_workload();
  Parallelism p = any_parallelism();
  p.zero_stage = *rc::gen::inRange(0, 3);
  p.pp = 1;  // with pp the fuller stage may be the other one
  p.vpp = 1;
  const double before = without_gathered(peak_memory(w, p));
  p.zero_stage += 1;
  RC_ASSERT(without_gathered(peak_memory(w, p)) <= before * (1 + 1e-12));
}

RC_GTEST_PROP(MemoryProperties, TensorParallelNeverMoreApartFromGathered, ()) {
  const Workload w = any_workload();
  Parallelism p = any_parallelism();
  p.pp = 1;
  p.vpp = 1;
  const double before = without_gathered(peak_memory(w, p));
  p.tp *= 2;
  RC_ASSERT(without_gathered(peak_memory(w, p)) <= before * (1 + 1e-12));
}

RC_GTEST_PROP(MemoryProperties, StrongerRecomputeKeepsNoMore, ()) {
  const Workload w = any_workload();
  for (const ActivationBytes& a : {dense_layer_activations(w), moe_layer_activations(w)}) {
    const auto sum = [](const TensorBytes& t) { return t.replicated + t.split; };
    RC_ASSERT(sum(a.kept_selective) <= sum(a.kept_none));
    RC_ASSERT(sum(a.kept_full) <= sum(a.kept_selective));
  }
}

}  // namespace
}  // namespace tare
