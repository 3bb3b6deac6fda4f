#include "catalog/model_architecture.h"

#include <fmt/format.h>

namespace tare {
namespace {

double bias(bool present, double width) { return present ? width : 0.0; }

double mla_attention_parameters(const ModelArchitecture& m) {
  const double h = m.hidden;
  const double a = m.heads;
  const double query_width = a * (m.mla_nope_head_dim + m.mla_rope_head_dim);
  const double q_rank = m.mla_q_rank;
  const double kv_rank = m.mla_kv_rank;
  // With a latent: down projection, its norm, up projection. Without: one direct projection.
  const double query = m.mla_q_rank > 0 ? h * q_rank + q_rank + q_rank * query_width : h * query_width;
  // The rotary key is shared by all heads and skips the latent; the latent's norm has kv_rank weights.
  const double key_value =
      h * (kv_rank + m.mla_rope_head_dim) + kv_rank + kv_rank * a * (m.mla_nope_head_dim + m.mla_v_head_dim);
  const double output = a * m.mla_v_head_dim * h + bias(m.attention_out_bias, h);
  return query + key_value + output;
}

double attention_parameters(const ModelArchitecture& m) {
  const double sinks = bias(m.attention_sinks, m.heads);
  if (m.is_mla()) return mla_attention_parameters(m) + sinks;
  const double h = m.hidden;
  const double query_width = double(m.heads) * m.head_dim;
  const double kv_width = double(m.kv_heads) * m.head_dim;
  const double projections = h * query_width + 2 * h * kv_width + query_width * h;
  const double biases = bias(m.qkv_bias, query_width + 2 * kv_width) + bias(m.attention_out_bias, h);
  const double qk_norms = bias(m.qk_norm, (m.norm_bias ? 2.0 : 1.0) * 2 * m.head_dim);
  return projections + biases + qk_norms + sinks;
}

double mlp_parameters(const ModelArchitecture& m, double ffn_hidden) {
  const double inputs = m.gated_mlp ? 2 : 1;
  const double h = m.hidden;
  return (inputs + 1) * h * ffn_hidden + bias(m.mlp_bias, inputs * ffn_hidden + h);
}

}  // namespace

ParameterCount count_parameters(const ModelArchitecture& m) {
  const double h = m.hidden;
  const double vocab = m.vocab;
  const double norm = m.norm_bias ? 2 * h : h;
  const double layers = m.layers;
  const double moe_layers = m.is_moe() ? layers - m.first_dense_layers : 0;
  const double dense_layers = layers - moe_layers;

  const double every_layer = attention_parameters(m) + m.norms_per_layer * norm;
  const double dense_mlp = mlp_parameters(m, m.ffn_hidden);
  const double router = m.is_moe() ? h * m.experts + bias(m.router_bias, m.experts) : 0;
  const double shared = m.shared_expert_ffn_hidden > 0 ? mlp_parameters(m, m.shared_expert_ffn_hidden) : 0;
  const double expert = m.is_moe() ? mlp_parameters(m, m.expert_ffn_hidden) : 0;
  const double moe_rest = router + shared;

  ParameterCount count;
  count.embedding = vocab * h + double(m.learned_positions) * h;
  count.head = vocab * h;
  count.per_layer_dense = every_layer + (m.is_moe() ? moe_rest : dense_mlp);
  count.experts_per_layer = m.experts * expert;

  const double norms = (m.final_norm ? norm : 0) + (m.embedding_norm ? norm : 0);
  const double head = (m.tied_embeddings ? 0 : count.head) + bias(m.lm_head_bias, vocab);
  const double rest = count.embedding + norms + head + layers * every_layer + dense_layers * dense_mlp;
  count.total = rest + moe_layers * (moe_rest + count.experts_per_layer);
  count.active = rest + moe_layers * (moe_rest + m.top_k * expert);
  return count;
}

namespace {

// A size that a transformer cannot do without, with its upper bound: no one's model, but no overflow either.
struct Size {
  const char* name;
  int value;
  bool required;
};
constexpr int kLargestSize = 100'000'000;

void check_sizes(const ModelArchitecture& m, std::vector<std::string>& wrong) {
  const bool needs_ffn = !m.is_moe() || m.first_dense_layers > 0;
  const Size sizes[] = {
      {"layers", m.layers, true},
      {"hidden", m.hidden, true},
      {"ffn_hidden", m.ffn_hidden, needs_ffn},
      {"heads", m.heads, true},
      {"kv_heads", m.kv_heads, true},
      {"head_dim", m.head_dim, true},
      {"vocab", m.vocab, true},
      {"learned_positions", m.learned_positions, false},
      {"norms_per_layer", m.norms_per_layer, false},
      {"attention_window", m.attention_window, false},
      {"experts", m.experts, false},
      {"top_k", m.top_k, m.is_moe()},
      {"expert_ffn_hidden", m.expert_ffn_hidden, m.is_moe()},
      {"shared_experts", m.shared_experts, false},
      {"shared_expert_ffn_hidden", m.shared_expert_ffn_hidden, m.shared_experts > 0},
      {"first_dense_layers", m.first_dense_layers, false},
      {"mla_q_rank", m.mla_q_rank, false},
      {"mla_kv_rank", m.mla_kv_rank, false},
      {"mla_nope_head_dim", m.mla_nope_head_dim, m.is_mla()},
      {"mla_rope_head_dim", m.mla_rope_head_dim, false},
      {"mla_v_head_dim", m.mla_v_head_dim, m.is_mla()},
      {"max_sequence_length", m.max_sequence_length, false},
  };
  for (const Size& size : sizes) {
    if (size.value < 0) wrong.push_back(fmt::format("{} is negative", size.name));
    if (size.value == 0 && size.required) wrong.push_back(fmt::format("{} is zero or missing", size.name));
    if (size.value > kLargestSize) wrong.push_back(fmt::format("{} = {} is beyond any model", size.name, size.value));
  }
}

}  // namespace

std::vector<std::string> check_dimensions(const ModelArchitecture& m) {
  std::vector<std::string> wrong;
  check_sizes(m, wrong);
  if (!wrong.empty()) return wrong;
  if (m.kv_heads > m.heads || m.heads % m.kv_heads != 0) {
    wrong.push_back(fmt::format("heads = {} is not a multiple of kv_heads = {}", m.heads, m.kv_heads));
  }
  if (m.window_every < 1) wrong.push_back(fmt::format("window_every = {} is below 1", m.window_every));
  if (m.window_every > 1 && m.attention_window == 0) {
    wrong.push_back("window_every is given without attention_window");
  }
  if (m.first_dense_layers > m.layers) {
    wrong.push_back(fmt::format("first_dense_layers = {} is more than layers = {}", m.first_dense_layers, m.layers));
  }
  if (m.top_k > m.experts) wrong.push_back(fmt::format("top_k = {} is more than experts = {}", m.top_k, m.experts));
  if (!m.is_moe() && (m.expert_ffn_hidden > 0 || m.shared_experts > 0 || m.shared_expert_ffn_hidden > 0)) {
    wrong.push_back("expert sizes are given without experts");
  }
  if (!m.is_mla() && (m.mla_q_rank > 0 || m.mla_nope_head_dim > 0 || m.mla_rope_head_dim > 0 || m.mla_v_head_dim > 0)) {
    wrong.push_back("mla sizes are given without mla_kv_rank");
  }
  return wrong;
}

}  // namespace tare
