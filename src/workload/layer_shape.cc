#include "workload/layer_shape.h"

#include <algorithm>

namespace tare {

LayerShape layer_shape(const ModelArchitecture& model) {
  LayerShape shape;
  const double hidden = model.hidden;
  const double heads = model.heads;
  shape.dense_layers = model.is_moe() ? std::min(model.first_dense_layers, model.layers) : model.layers;
  shape.moe_layers = model.layers - shape.dense_layers;
  shape.mlp_matrices = model.gated_mlp ? 3 : 2;
  if (model.is_mla()) {
    const double query_head = model.mla_nope_head_dim + model.mla_rope_head_dim;
    const double q_rank = model.mla_q_rank;
    const double kv_rank = model.mla_kv_rank;
    const double query = q_rank > 0 ? hidden * q_rank + q_rank * heads * query_head : hidden * heads * query_head;
    const double key_value = hidden * (kv_rank + model.mla_rope_head_dim) +
                             kv_rank * heads * (model.mla_nope_head_dim + model.mla_v_head_dim);
    shape.output_width = heads * model.mla_v_head_dim;
    shape.attention_params = query + key_value + shape.output_width * hidden;
    shape.query_width = heads * query_head;
    shape.kv_width = heads * query_head;
    shape.value_width = shape.output_width;
  } else {
    shape.query_width = heads * model.head_dim;
    shape.kv_width = double(model.kv_heads) * model.head_dim;
    shape.value_width = shape.kv_width;
    shape.output_width = shape.query_width;
    shape.attention_params = hidden * (2 * shape.query_width + 2 * shape.kv_width);
  }
  shape.dense_mlp_params = shape.mlp_matrices * hidden * model.ffn_hidden;
  if (model.is_moe()) {
    shape.expert_params = shape.mlp_matrices * hidden * model.expert_ffn_hidden;
    shape.shared_params = shape.mlp_matrices * hidden * model.shared_expert_ffn_hidden;
    shape.router_params = hidden * model.experts;
  }
  return shape;
}

AdapterShape adapter_shape(const ModelArchitecture& model, const Lora& lora) {
  const LayerShape shape = layer_shape(model);
  const double rank = lora.rank;
  const double hidden = model.hidden;
  const auto mlp = [&](double width) { return lora.mlp ? shape.mlp_matrices * rank * (hidden + width) : 0.0; };
  AdapterShape adapters;
  if (lora.query) adapters.attention_params += rank * (hidden + shape.query_width);
  if (lora.key) adapters.attention_params += rank * (hidden + shape.kv_width);
  if (lora.value) adapters.attention_params += rank * (hidden + shape.value_width);
  if (lora.output) adapters.attention_params += rank * (shape.output_width + hidden);
  adapters.dense_mlp_params = mlp(model.ffn_hidden);
  if (model.is_moe()) {
    adapters.expert_params = mlp(model.expert_ffn_hidden);
    adapters.shared_params = model.shared_expert_ffn_hidden > 0 ? mlp(model.shared_expert_ffn_hidden) : 0.0;
  }
  return adapters;
}

}  // namespace tare
