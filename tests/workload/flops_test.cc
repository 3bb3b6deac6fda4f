#include "workload/flops.h"

#include <gtest/gtest.h>

#include "workload/workload_examples.h"

namespace tare {
namespace {

Workload pretrain(ModelArchitecture model, int sequence_length) {
  Workload workload;
  workload.model = std::move(model);
  workload.sequence_length = sequence_length;
  workload.global_batch = 512;
  return workload;
}

// The papers below count attention over all s keys; here a causal query sees (s + 1)/2 on average.
double scores_over_all_keys(const ForwardFlops& flops, int sequence_length) {
  return flops.attention_scores * 2 * sequence_length / (sequence_length + 1.0);
}

TEST(MeanVisibleKeys, CausalIsHalfOfTheSequence) {
  EXPECT_DOUBLE_EQ(mean_visible_keys(1, 0), 1);
  EXPECT_DOUBLE_EQ(mean_visible_keys(4, 0), (1 + 2 + 3 + 4) / 4.0);
  EXPECT_DOUBLE_EQ(mean_visible_keys(2048, 0), 1024.5);
}

TEST(MeanVisibleKeys, WindowCutsTheOlderKeys) {
  EXPECT_DOUBLE_EQ(mean_visible_keys(4, 2), (1 + 2 + 2 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(mean_visible_keys(4, 4), mean_visible_keys(4, 0));
  EXPECT_DOUBLE_EQ(mean_visible_keys(4, 100), mean_visible_keys(4, 0));
  EXPECT_NEAR(mean_visible_keys(131072, 4096), 4096, 4096 * 0.02);
}

// Narayanan et al. 2021 (SC'21), eq. 3: F = 96·B·s·l·h²·(1 + s/(6h) + V/(16·l·h)) FLOPs of a step with full recompute:
// four forwards of the layers (one forward, one again, two for the backward), three of the head.
TEST(Flops, NarayananWithFullRecompute) {
  for (const auto& [layers, hidden, heads] : {std::tuple{24, 2304, 24}, {96, 12288, 96}, {128, 25600, 160}}) {
    const double l = layers, h = hidden, s = 2048, vocab = 51200;
    const ForwardFlops flops = forward_flops_per_token(pretrain(gpt(layers, hidden, heads, 51200), 2048));
    const double layer_flops = flops.attention_projections + scores_over_all_keys(flops, 2048) + flops.mlp;
    const double published = 96 * l * h * h * (1 + s / (6 * h) + vocab / (16 * l * h));
    EXPECT_NEAR((4 * layer_flops + 3 * flops.head) / published, 1, 1e-12);
  }
}

// Korthikanti et al. 2022, appendix A: 72·B·L·s·h²·(1 + s/(6h) + V/(12·h·L)) model FLOPs of a step.
TEST(Flops, KorthikantiModelFlops) {
  const double l = 105, h = 20480, s = 2048, vocab = 51200;
  const ForwardFlops flops = forward_flops_per_token(pretrain(gpt(105, 20480, 128, 51200), 2048));
  const double counted = 3 * (flops.total() - flops.attention_scores + scores_over_all_keys(flops, 2048));
  EXPECT_NEAR(counted / (72 * l * h * h * (1 + s / (6 * h) + vocab / (12 * h * l))), 1, 1e-12);
}

// Chowdhery et al. 2022 (PaLM), appendix B: 6N + 12·L·H·Q·T per token, N without the embedding.
TEST(Flops, PalmRule) {
  const Workload workload = pretrain(llama_2_7b(), 4096);
  const double matrices = 32 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008) + 4096.0 * 32000;
  const double attention = 12.0 * 32 * 32 * 128 * 4096;
  EXPECT_NEAR(model_flops_per_token(workload) / (6 * matrices + attention * 4097 / (2 * 4096)), 1, 1e-12);
}

// DeepSeek-AI 2025 ("Insights into DeepSeek-V3", ISCA'25, table 2): training GFLOPs per token at sequence 4096, causal:
// DeepSeek-V3 250, Qwen-72B 394 (Qwen2.5), Llama-3.1-405B 2448.
TEST(Flops, PublishedPerTokenFigures) {
  EXPECT_NEAR(model_flops_per_token(pretrain(deepseek_v3(), 4096)) / 250e9, 1, 0.03);
  EXPECT_NEAR(model_flops_per_token(pretrain(llama_3_1_405b(), 4096)) / 2448e9, 1, 0.03);
}

// Mixtral 8x7B: two of eight experts: 2 FLOPs for each of the matrix parameters a token meets.
TEST(Flops, MixtureOfExperts) {
  ModelArchitecture model = llama_2_7b();
  model.kv_heads = 8;
  model.experts = 8;
  model.top_k = 2;
  model.expert_ffn_hidden = 14336;
  const ForwardFlops flops = forward_flops_per_token(pretrain(model, 4096));
  EXPECT_DOUBLE_EQ(flops.mlp, 2 * 32 * 2 * 3.0 * 4096 * 14336);
  EXPECT_DOUBLE_EQ(flops.router, 2 * 32 * 4096.0 * 8);
  model.first_dense_layers = 2;
  model.shared_expert_ffn_hidden = 1000;
  const ForwardFlops mixed = forward_flops_per_token(pretrain(model, 4096));
  EXPECT_DOUBLE_EQ(mixed.mlp, 2 * 3.0 * 4096 * (2 * 11008 + 30 * (2 * 14336 + 1000.0)));
  EXPECT_DOUBLE_EQ(mixed.router, 2 * 30 * 4096.0 * 8);
}

// Every second layer of Gemma 2 sees 4096 keys: at 8192 tokens those cost 3/4 of a full causal layer (less one key).
TEST(Flops, AlternatingWindows) {
  ModelArchitecture model = llama_2_7b();
  const double full = forward_flops_per_token(pretrain(model, 8192)).attention_scores;
  model.attention_window = 4096;
  model.window_every = 2;
  const double mixed = forward_flops_per_token(pretrain(model, 8192)).attention_scores;
  EXPECT_NEAR(mixed / full, (1 + 0.75) / 2, 1e-4);
}

// LoRA: one forward and one input-gradient pass through the frozen GEMMs (4N for 6N), attention's backward whole.
TEST(Flops, LoraSkipsTheWeightGradients) {
  Workload workload = pretrain(llama_2_7b(), 4096);
  workload.method = Method::kLora;
  workload.lora.rank = 16;
  const ForwardFlops forward = forward_flops_per_token(workload);
  const double frozen = forward.attention_projections + forward.mlp + forward.head;
  EXPECT_DOUBLE_EQ(model_flops_per_token(workload), 2 * frozen + 3 * (forward.attention_scores + forward.adapters));
  EXPECT_DOUBLE_EQ(forward.adapters, 2 * 39976960.0);  // PEFT prints 39,976,960 for r = 16 on all seven projections
  EXPECT_NEAR(2 * frozen / (4 * 6.607e9), 1, 0.001);
}

TEST(Flops, TrainedEmbeddingsAddTheHeadsWeightGradient) {
  Workload workload = pretrain(llama_2_7b(), 4096);
  workload.method = Method::kQlora;
  const double frozen = model_flops_per_token(workload);
  workload.lora.embeddings = true;
  EXPECT_DOUBLE_EQ(model_flops_per_token(workload) - frozen, 2.0 * 4096 * 32000);
}

}  // namespace
}  // namespace tare
