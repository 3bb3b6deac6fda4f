#include "validation/row_architecture.h"

#include <algorithm>

#include "base/text.h"

namespace tare {
namespace {

// "deepseek-v3-L4", "llama3.1-405b-proxy-7L": a truncated model; the rest of its dimensions are the whole one's.
std::string without_proxy(std::string name) {
  name = to_lower(name);
  if (const auto at = name.find("-proxy"); at != std::string::npos) name.resize(at);
  const auto at = name.rfind("-l");
  if (at != std::string::npos && at + 2 < name.size() &&
      name.find_first_not_of("0123456789", at + 2) == std::string::npos) {
    name.resize(at);
  }
  return name;
}

bool agrees(const std::optional<int>& stated, int known) { return !stated || known == 0 || *stated == known; }

// The catalog's entry of that name, if it is the same model.
const ModelArchitecture* known_model(const ThroughputRow& row, const Catalog& catalog) {
  const ModelArchitecture* known = find_model(catalog, without_proxy(row.model_name));
  if (known == nullptr) return nullptr;
  const bool same =
      agrees(row.hidden, known->hidden) && agrees(row.heads, known->heads) && agrees(row.experts, known->experts);
  return same ? known : nullptr;
}

// An MoE row's ffn_hidden is that of one expert.
bool set_mlp(const ThroughputRow& row, bool known, ModelArchitecture& model) {
  const bool moe = row.arch.empty() ? row.experts.value_or(0) > 1 || (known && model.is_moe()) : row.arch == "moe";
  if (!moe) {
    if (row.ffn_hidden || !known) model.ffn_hidden = row.ffn_hidden.value_or(4 * model.hidden);
    return true;
  }
  model.experts = row.experts.value_or(model.experts);
  model.top_k = row.top_k.value_or(model.top_k);
  model.expert_ffn_hidden = row.ffn_hidden.value_or(model.expert_ffn_hidden);
  if (!known) model.ffn_hidden = row.ffn_hidden.value_or(4 * model.hidden);
  model.first_dense_layers = std::min(model.first_dense_layers, model.layers - 1);
  return model.experts > 0 && model.top_k > 0;
}

}  // namespace

std::optional<ModelArchitecture> architecture_of(const ThroughputRow& row, const Catalog& catalog,
                                                 std::vector<std::string>& assumed) {
  // Widths far beyond any model would overflow what is derived from them.
  constexpr int kLargest = 10'000'000;
  const ModelArchitecture* known = known_model(row, catalog);
  if (known == nullptr && (!row.layers || !row.hidden || !row.heads)) return std::nullopt;
  // A truncated model must say how many layers it has left.
  if (!row.layers && known != find_model(catalog, row.model_name)) return std::nullopt;
  if (row.hidden.value_or(1) > kLargest || row.ffn_hidden.value_or(1) > kLargest) return std::nullopt;
  ModelArchitecture model;
  if (known != nullptr) model = *known;
  model.id = row.model_name;
  model.layers = row.layers.value_or(model.layers);
  model.hidden = row.hidden.value_or(model.hidden);
  model.heads = row.heads.value_or(model.heads);
  if (!row.layers) assumed.push_back("layers = " + std::to_string(model.layers) + " (catalog: " + known->id + ")");
  if (known == nullptr) {
    model.kv_heads = model.heads;
    model.head_dim = model.hidden / model.heads;
    model.vocab = 50304;
    if (!row.kv_heads) assumed.push_back("kv_heads = heads");
    if (!row.head_dim) assumed.push_back("head_dim = hidden / heads");
    if (!row.vocab) assumed.push_back("vocab = " + std::to_string(model.vocab));
    if (!row.ffn_hidden) assumed.push_back("ffn_hidden = 4 * hidden");
  }
  model.kv_heads = row.kv_heads.value_or(model.kv_heads);
  model.head_dim = row.head_dim.value_or(model.head_dim);
  model.vocab = row.vocab.value_or(model.vocab);
  model.gated_mlp = row.gated_mlp.value_or(model.gated_mlp);
  model.tied_embeddings = row.tied_embeddings.value_or(model.tied_embeddings);
  if (!set_mlp(row, known != nullptr, model) || !check_dimensions(model).empty()) return std::nullopt;
  return model;
}

}  // namespace tare
