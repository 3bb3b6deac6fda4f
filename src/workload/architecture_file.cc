#include "workload/architecture_file.h"

#include <fmt/format.h>

#include "base/toml_checks.h"

namespace tare {
namespace {

constexpr int kLargest = 100'000'000;  // beyond any model's dimension

int read_size(TomlTable& table, std::string_view key, int otherwise) {
  return read_int(table, key, 0, kLargest).value_or(otherwise);
}

int require_size(TomlTable& table, std::string_view key) {
  if (!table.has(key)) table.require_integer(key);
  return read_int(table, key, 1, kLargest).value_or(0);
}

bool read_flag(TomlTable& table, std::string_view key, bool otherwise) {
  return table.boolean(key).value_or(otherwise);
}

void read_attention(TomlTable& table, ModelArchitecture& m) {
  m.heads = require_size(table, "heads");
  m.kv_heads = read_size(table, "kv_heads", m.heads);
  m.head_dim = read_size(table, "head_dim", m.heads > 0 ? m.hidden / m.heads : 0);
  m.qkv_bias = read_flag(table, "qkv_bias", m.qkv_bias);
  m.attention_out_bias = read_flag(table, "attention_out_bias", m.attention_out_bias);
  m.qk_norm = read_flag(table, "qk_norm", m.qk_norm);
  m.attention_window = read_size(table, "attention_window", m.attention_window);
  m.window_every = read_size(table, "window_every", m.window_every);
  m.attention_sinks = read_flag(table, "attention_sinks", m.attention_sinks);
  m.mla_q_rank = read_size(table, "mla_q_rank", 0);
  m.mla_kv_rank = read_size(table, "mla_kv_rank", 0);
  m.mla_nope_head_dim = read_size(table, "mla_nope_head_dim", 0);
  m.mla_rope_head_dim = read_size(table, "mla_rope_head_dim", 0);
  m.mla_v_head_dim = read_size(table, "mla_v_head_dim", 0);
}

void read_mlp(TomlTable& table, ModelArchitecture& m) {
  m.ffn_hidden = read_size(table, "ffn_hidden", 0);
  m.gated_mlp = read_flag(table, "gated_mlp", m.gated_mlp);
  m.mlp_bias = read_flag(table, "mlp_bias", m.mlp_bias);
  m.experts = read_size(table, "experts", 0);
  m.top_k = read_size(table, "top_k", 0);
  m.expert_ffn_hidden = read_size(table, "expert_ffn_hidden", 0);
  m.shared_experts = read_size(table, "shared_experts", 0);
  m.shared_expert_ffn_hidden = read_size(table, "shared_expert_ffn_hidden", 0);
  m.first_dense_layers = read_size(table, "first_dense_layers", 0);
  m.router_bias = read_flag(table, "router_bias", m.router_bias);
}

void read_norms(TomlTable& table, ModelArchitecture& m) {
  m.rms_norm = table.one_of("norm", {"rmsnorm", "layernorm"}).value_or("rmsnorm") == "rmsnorm";
  m.norms_per_layer = read_size(table, "norms_per_layer", m.norms_per_layer);
  m.norm_bias = read_flag(table, "norm_bias", m.norm_bias);
  m.final_norm = read_flag(table, "final_norm", m.final_norm);
  m.embedding_norm = read_flag(table, "embedding_norm", m.embedding_norm);
}

}  // namespace

ModelArchitecture read_architecture(TomlTable& table) {
  ModelArchitecture m;
  m.id = table.string("id").value_or("job.architecture");
  m.name = table.string("name").value_or(m.id);
  m.layers = require_size(table, "layers");
  m.hidden = require_size(table, "hidden");
  m.vocab = require_size(table, "vocab");
  m.tied_embeddings = read_flag(table, "tied_embeddings", m.tied_embeddings);
  m.learned_positions = read_size(table, "learned_positions", m.learned_positions);
  m.lm_head_bias = read_flag(table, "lm_head_bias", m.lm_head_bias);
  m.max_sequence_length = read_size(table, "max_sequence_length", 0);
  read_attention(table, m);
  read_mlp(table, m);
  read_norms(table, m);
  m.source.text = "the job file";
  if (m.layers == 0 || m.hidden == 0 || m.vocab == 0 || m.heads == 0) return m;  // reported
  for (const std::string& what : check_dimensions(m)) {
    // The first word names the key it is about.
    const std::string key = what.substr(0, what.find(' '));
    table.error(table.has(key) ? key : std::string_view(), "inconsistent-model", what);
  }
  return m;
}

}  // namespace tare
