#include "workload/flops.h"

#include <algorithm>

#include "workload/layer_shape.h"

namespace tare {

namespace {

bool is_adapter_method(Method method) { return method == Method::kLora || method == Method::kQlora; }

// Layers whose attention sees only a window: every window_every-th one.
int windowed_layers(const ModelArchitecture& model) {
  return model.attention_window > 0 ? model.layers / std::max(model.window_every, 1) : 0;
}

}  // namespace

// Query i of s sees min(i, w) keys. Summed over i = 1…s: w(w+1)/2 + (s−w)·w, with w = s when there is no window.
double mean_visible_keys(int sequence_length, int window) {
  const double s = sequence_length;
  const double w = window > 0 ? std::min(double(window), s) : s;
  return (w * (w + 1) / 2 + (s - w) * w) / s;
}

ForwardFlops forward_flops_per_token(const Workload& workload) {
  const ModelArchitecture& model = workload.model;
  const LayerShape shape = layer_shape(model);
  const double top_k = model.top_k;
  ForwardFlops flops;
  // A GEMM costs two FLOPs per parameter and token.
  flops.attention_projections = 2 * model.layers * shape.attention_params;
  const double windowed = windowed_layers(model);
  const double keys = windowed * mean_visible_keys(workload.sequence_length, model.attention_window) +
                      (model.layers - windowed) * mean_visible_keys(workload.sequence_length, 0);
  // Per visible key: 2 FLOPs for each component of the query (QK^T) and of the value (PV), all heads.
  flops.attention_scores = 2 * keys * (shape.query_width + shape.output_width);
  flops.mlp = 2 * (shape.dense_layers * shape.dense_mlp_params +
                   shape.moe_layers * (top_k * shape.expert_params + shape.shared_params));
  flops.router = 2 * shape.moe_layers * shape.router_params;
  flops.head = 2.0 * model.hidden * model.vocab;
  if (is_adapter_method(workload.method)) {
    const AdapterShape adapters = adapter_shape(model, workload.lora);
    flops.adapters = 2 * (model.layers * adapters.attention_params + shape.dense_layers * adapters.dense_mlp_params +
                          shape.moe_layers * (top_k * adapters.expert_params + adapters.shared_params));
  }
  return flops;
}

// A trained GEMM has two backward products (input and weight gradient), a frozen one only the input's. Attention's two
// products have no weights: each needs the gradient of both operands, frozen or not. (With LoRA the gradient stops at
// the first adapted layer, so the embedding asks for none; the part of layer 0 below its adapters is left in: < 1/L.)
ForwardFlops backward_flops_per_token(const Workload& workload) {
  const ForwardFlops forward = forward_flops_per_token(workload);
  const double gemm = is_adapter_method(workload.method) ? 1 : 2;
  ForwardFlops backward;
  backward.attention_projections = gemm * forward.attention_projections;
  backward.attention_scores = 2 * forward.attention_scores;
  backward.mlp = gemm * forward.mlp;
  backward.router = gemm * forward.router;
  backward.head = (workload.lora.embeddings ? 2 : gemm) * forward.head;
  backward.adapters = 2 * forward.adapters;
  return backward;
}

double model_flops_per_token(const Workload& workload) {
  return forward_flops_per_token(workload).total() + backward_flops_per_token(workload).total();
}

}  // namespace tare
