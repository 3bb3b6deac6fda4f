// A transformer's dimensions, as its public configuration states them, and the parameters they add up to.
//
// With h = hidden, d = head_dim, a = heads, g = kv_heads, f = ffn_hidden, V = vocab, per layer:
//   attention  h·a·d + 2·h·g·d + a·d·h (+ biases), or the MLA form with its latent ranks
//   MLP        (2 or, gated, 3)·h·f;  MoE: router h·E + E·(2|3)·h·f_expert + shared experts
//   norms      norms_per_layer·h (·2 with bias)
// plus embedding V·h, learned positions, final norm, and the LM head V·h when not tied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/source.h"

namespace tare {

struct ModelArchitecture {
  std::string id;
  std::string name;
  std::string family;
  int layers = 0;
  int hidden = 0;
  int ffn_hidden = 0;  // dense MLP
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int vocab = 0;
  bool gated_mlp = false;
  bool tied_embeddings = false;
  int learned_positions = 0;  // 0 = rotary or ALiBi
  bool qkv_bias = false, attention_out_bias = false, mlp_bias = false, lm_head_bias = false;
  bool rms_norm = true;
  int norms_per_layer = 2;
  bool norm_bias = false, final_norm = true, embedding_norm = false, qk_norm = false;
  int attention_window = 0;  // tokens; 0 = full
  int window_every = 1;      // 1: every layer is windowed, 2: every second one
  int experts = 0;           // 0 = dense
  int top_k = 0;
  int expert_ffn_hidden = 0;
  int shared_experts = 0;
  int shared_expert_ffn_hidden = 0;  // total width
  int first_dense_layers = 0;
  bool router_bias = false;
  int mla_q_rank = 0;   // 0 with mla_kv_rank > 0: direct query projection
  int mla_kv_rank = 0;  // 0 = no MLA
  int mla_nope_head_dim = 0, mla_rope_head_dim = 0, mla_v_head_dim = 0;
  bool attention_sinks = false;
  int max_sequence_length = 0;  // 0 = not stated
  std::optional<double> published_params, published_active_params;
  Source source;

  bool is_moe() const { return experts > 0; }
  bool is_mla() const { return mla_kv_rank > 0; }
};

struct ParameterCount {
  double total = 0;            // everything in the checkpoint
  double active = 0;           // touched by one token: top_k of the experts, embedding rows counted whole
  double embedding = 0;        // input embedding + learned positions
  double head = 0;             // LM head matrix (also when tied: it is computed with)
  double per_layer_dense = 0;  // one layer's attention, norms and dense MLP (or shared experts + router in MoE layers)
  double experts_per_layer = 0;  // all routed experts of one MoE layer
};

ParameterCount count_parameters(const ModelArchitecture& model);

// What is inconsistent in the dimensions (heads not divisible by kv_heads, zero sizes, top_k > experts …); empty if
// nothing.
std::vector<std::string> check_dimensions(const ModelArchitecture& model);

}  // namespace tare
