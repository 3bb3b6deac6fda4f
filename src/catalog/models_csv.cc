// models.csv -> ModelArchitecture.
#include <fmt/format.h>

#include "catalog/tables.h"

namespace tare {
namespace {

void read_mixture(TableReader& row, ModelArchitecture& m) {
  m.experts = row.count("experts").value_or(0);
  m.top_k = row.count("top_k").value_or(0);
  m.expert_ffn_hidden = row.count("expert_ffn_hidden").value_or(0);
  m.shared_experts = row.count("shared_experts").value_or(0);
  m.shared_expert_ffn_hidden = row.count("shared_expert_ffn_hidden").value_or(0);
  m.first_dense_layers = row.count("first_dense_layers").value_or(0);
  m.router_bias = row.flag("router_bias").value_or(false);
}

void read_latent_attention(TableReader& row, ModelArchitecture& m) {
  m.mla_q_rank = row.count("mla_q_rank").value_or(0);
  m.mla_kv_rank = row.count("mla_kv_rank").value_or(0);
  m.mla_nope_head_dim = row.count("mla_nope_head_dim").value_or(0);
  m.mla_rope_head_dim = row.count("mla_rope_head_dim").value_or(0);
  m.mla_v_head_dim = row.count("mla_v_head_dim").value_or(0);
}

void read_norms(TableReader& row, ModelArchitecture& m) {
  m.rms_norm = row.word("norm", {"rmsnorm", "layernorm"}, "rmsnorm") == "rmsnorm";
  m.norms_per_layer = row.count("norms_per_layer").value_or(2);
  m.norm_bias = row.flag("norm_bias").value_or(false);
  m.final_norm = row.flag("final_norm").value_or(true);
  m.embedding_norm = row.flag("embedding_norm").value_or(false);
  m.qk_norm = row.flag("qk_norm").value_or(false);
}

ModelArchitecture read_row(TableReader& row) {
  ModelArchitecture m;
  m.id = row.require_id("id");
  m.name = row.text("name").empty() ? m.id : row.text("name");
  m.family = row.text("family");
  m.layers = row.require_count("layers");
  m.hidden = row.require_count("hidden");
  m.ffn_hidden = row.count("ffn_hidden").value_or(0);
  m.heads = row.require_count("heads");
  m.kv_heads = row.count("kv_heads").value_or(m.heads);
  m.head_dim = row.count("head_dim").value_or(m.heads > 0 ? m.hidden / m.heads : 0);
  m.vocab = row.require_count("vocab");
  m.gated_mlp = row.flag("gated_mlp").value_or(false);
  m.tied_embeddings = row.flag("tied_embeddings").value_or(false);
  m.learned_positions = row.count("learned_positions").value_or(0);
  m.qkv_bias = row.flag("qkv_bias").value_or(false);
  m.attention_out_bias = row.flag("attention_out_bias").value_or(false);
  m.mlp_bias = row.flag("mlp_bias").value_or(false);
  m.lm_head_bias = row.flag("lm_head_bias").value_or(false);
  read_norms(row, m);
  m.attention_window = row.count("attention_window").value_or(0);
  m.window_every = row.count("window_every").value_or(1);
  read_mixture(row, m);
  read_latent_attention(row, m);
  m.attention_sinks = row.flag("attention_sinks").value_or(false);
  m.max_sequence_length = row.count("max_sequence_length").value_or(0);
  m.published_params = row.number("published_params");
  m.published_active_params = row.number("published_active_params");
  m.source = row.source();
  return m;
}

}  // namespace

std::vector<ModelArchitecture> read_models(const CsvTable& table, const std::string& file,
                                           DiagnosticList& diagnostics) {
  std::vector<ModelArchitecture> rows;
  TableReader row(table, file, diagnostics, {"id", "layers", "hidden", "heads", "vocab"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    const std::size_t before = row.errors();
    ModelArchitecture model = read_row(row);
    if (row.errors() == before) {
      for (const std::string& what : check_dimensions(model)) {
        row.error("id", "inconsistent-model", fmt::format("'{}': {}", model.id, what));
      }
    }
    rows.push_back(std::move(model));
  }
  return rows;
}

}  // namespace tare
