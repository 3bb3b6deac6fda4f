#include "catalog/model_architecture.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

ModelArchitecture gpt() {
  ModelArchitecture m;
  m.layers = 12;
  m.hidden = 768;
  m.ffn_hidden = 3072;
  m.heads = m.kv_heads = 12;
  m.head_dim = 64;
  m.vocab = 50257;
  m.learned_positions = 1024;
  m.tied_embeddings = true;
  m.qkv_bias = m.attention_out_bias = m.mlp_bias = m.norm_bias = true;
  m.rms_norm = false;
  return m;
}

// GPT-2: per layer 12h² + 13h (4h² + 4h attention, 8h² + 5h MLP, 4h two norms with bias), then (V + s)h and 2h for the
// final norm. h = 768: 12·589824 + 13·768 = 7087872; ·12 = 85054464; (50257 + 1024)·768 = 39383808; 1536.
TEST(CountParameters, GptWithBiases) {
  const ParameterCount count = count_parameters(gpt());
  EXPECT_EQ(count.per_layer_dense, 7087872);
  EXPECT_EQ(count.embedding, 39383808);
  EXPECT_EQ(count.head, 50257.0 * 768);
  EXPECT_EQ(count.total, 85054464.0 + 39383808 + 1536);
  EXPECT_EQ(count.active, count.total);
  EXPECT_EQ(count.experts_per_layer, 0);
}

// Grouped queries, gated MLP, untied head, RMS norms: per layer h·ad + 2h·gd + ad·h + 3hf + 2h.
// h=8, a=4, g=2, d=2, f=16: 64 + 64 + 64 + 384 + 16 = 592. Two layers, V=10: 1184 + 80 + 80 + 8.
TEST(CountParameters, GroupedQueriesAndGatedMlp) {
  ModelArchitecture m;
  m.layers = 2;
  m.hidden = 8;
  m.ffn_hidden = 16;
  m.heads = 4;
  m.kv_heads = 2;
  m.head_dim = 2;
  m.vocab = 10;
  m.gated_mlp = true;
  EXPECT_EQ(count_parameters(m).per_layer_dense, 592);
  EXPECT_EQ(count_parameters(m).total, 1184 + 80 + 80 + 8);
  m.qk_norm = true;  // two norms of d weights
  EXPECT_EQ(count_parameters(m).per_layer_dense, 592 + 4);
  m.attention_sinks = true;  // one logit a head
  EXPECT_EQ(count_parameters(m).per_layer_dense, 592 + 4 + 4);
}

// One dense layer, two of experts. h=8, E=4, k=2, f_e=6, shared width 12, router bias:
// attention 4·64 = 256 and norms 16; dense MLP 3·8·16 = 384; expert 3·8·6 = 144; shared 288; router 32 + 4.
TEST(CountParameters, MixtureOfExperts) {
  ModelArchitecture m;
  m.layers = 3;
  m.hidden = 8;
  m.ffn_hidden = 16;
  m.heads = m.kv_heads = 4;
  m.head_dim = 2;
  m.vocab = 10;
  m.gated_mlp = true;
  m.experts = 4;
  m.top_k = 2;
  m.expert_ffn_hidden = 6;
  m.shared_experts = 2;
  m.shared_expert_ffn_hidden = 12;
  m.first_dense_layers = 1;
  m.router_bias = true;
  const ParameterCount count = count_parameters(m);
  const double rest = 80 + 80 + 8;
  EXPECT_EQ(count.per_layer_dense, 256 + 16 + 288 + 36);
  EXPECT_EQ(count.experts_per_layer, 4 * 144);
  EXPECT_EQ(count.total, rest + 3 * 272 + 384 + 2 * (288 + 36 + 4 * 144));
  EXPECT_EQ(count.active, rest + 3 * 272 + 384 + 2 * (288 + 36 + 2 * 144));
}

// Latent attention, h=8, a=2, ranks q=4, kv=3, nope=2, rope=1, v=2:
// query 8·4 + 4 + 4·2·3 = 60; key-value 8·(3+1) + 3 + 3·2·(2+2) = 59; output 2·2·8 = 32.
TEST(CountParameters, LatentAttention) {
  ModelArchitecture m;
  m.layers = 1;
  m.hidden = 8;
  m.ffn_hidden = 16;
  m.heads = m.kv_heads = 2;
  m.head_dim = 2;
  m.vocab = 10;
  m.mla_q_rank = 4;
  m.mla_kv_rank = 3;
  m.mla_nope_head_dim = 2;
  m.mla_rope_head_dim = 1;
  m.mla_v_head_dim = 2;
  EXPECT_EQ(count_parameters(m).per_layer_dense, 60 + 59 + 32 + 2 * 8 * 16 + 16);
  m.mla_q_rank = 0;  // a direct projection: 8·2·3
  EXPECT_EQ(count_parameters(m).per_layer_dense, 48 + 59 + 32 + 2 * 8 * 16 + 16);
}

TEST(CheckDimensions, SaysWhatIsWrong) {
  EXPECT_EQ(check_dimensions(gpt()), std::vector<std::string>{});
  ModelArchitecture m = gpt();
  m.kv_heads = 5;
  EXPECT_EQ(check_dimensions(m), std::vector<std::string>{"heads = 12 is not a multiple of kv_heads = 5"});
  m = gpt();
  m.hidden = 0;
  m.vocab = -1;
  EXPECT_EQ(check_dimensions(m), (std::vector<std::string>{"hidden is zero or missing", "vocab is negative"}));
  m = gpt();
  m.experts = 4;
  m.top_k = 8;
  m.expert_ffn_hidden = 64;
  EXPECT_EQ(check_dimensions(m), std::vector<std::string>{"top_k = 8 is more than experts = 4"});
  m = gpt();
  m.layers = 2'000'000'000;
  EXPECT_EQ(check_dimensions(m), std::vector<std::string>{"layers = 2000000000 is beyond any model"});
  m = gpt();
  m.shared_expert_ffn_hidden = 10;
  EXPECT_EQ(check_dimensions(m), std::vector<std::string>{"expert sizes are given without experts"});
  m = gpt();
  m.window_every = 2;
  EXPECT_EQ(check_dimensions(m), std::vector<std::string>{"window_every is given without attention_window"});
}

}  // namespace
}  // namespace tare
