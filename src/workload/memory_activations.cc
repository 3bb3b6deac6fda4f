#include "workload/memory_activations.h"

#include <algorithm>

#include "workload/layer_shape.h"

namespace tare {

namespace {

TensorBytes operator+(TensorBytes a, TensorBytes b) { return {a.replicated + b.replicated, a.split + b.split}; }
TensorBytes operator-(TensorBytes a, TensorBytes b) { return {a.replicated - b.replicated, a.split - b.split}; }

bool is_adapter_method(Method method) { return method == Method::kLora || method == Method::kQlora; }

// What decides whether a tensor is kept.
struct Traits {
  double e = 2;  // bytes per element
  double g = 2;  // bytes of a kept GEMM input: 1 where Transformer Engine keeps the 8-bit cast
  double h = 0;
  bool frozen = false;      // LoRA: a frozen GEMM needs its input only where an adapter reads it
  bool eager_norm = false;  // fp32 input copy and normalised output kept besides the result
  bool fused_mlp = false;   // activation and product in one kernel: the activation's output is not kept
  bool dropout = false;
  bool adapter_dropout = false;  // adapters read their own dropped-out copy of the input
  bool standard = false;         // scores kept
};

Traits traits_of(const Workload& workload) {
  const SoftwareStack& stack = workload.stack;
  Traits t;
  t.e = element_bytes(workload);
  t.g = keeps_casts(workload) ? 1 : t.e;
  t.h = workload.model.hidden;
  t.frozen = is_adapter_method(workload.method);
  t.eager_norm = workload.model.rms_norm && !stack.fused_elementwise;
  t.fused_mlp = stack.fused_elementwise;
  t.dropout = stack.dropout && !t.frozen;
  t.adapter_dropout = t.frozen && stack.adapter_dropout;
  t.standard = workload.attention == AttentionKernel::kStandard;
  return t;
}

// A norm keeps its input (the residual stream) and its output feeds a GEMM. An eager RMSNorm upcasts: it keeps 4h of
// fp32 in place of the 16-bit input, and the normalised value for its weight's gradient.
TensorBytes norm_bytes(const Traits& t, bool output_needed) {
  const double input = t.eager_norm ? 4 * t.h + (t.frozen ? 0 : t.e * t.h) : t.e * t.h;
  return {input + (output_needed ? t.g * t.h : 0), 0};
}

// The score matrix and what hangs on it, per token: all heads, all keys.
TensorBytes core_bytes(const Workload& workload, const Traits& t) {
  const double heads = workload.model.heads;
  if (!t.standard) return {0, 4 * heads};  // log-sum-exp
  const double per_score = t.dropout ? 2 * t.e + 1 : t.e;
  return {0, per_score * heads * workload.sequence_length};
}

// What an adapter behind a dropout keeps of an input: the dropped-out copy and the mask.
double dropped_copy(const Traits& t, double width) { return (t.e + 1) * width; }

TensorBytes attention_bytes(const Workload& workload, const Traits& t) {
  const ModelArchitecture& model = workload.model;
  const LayerShape shape = layer_shape(model);
  const Lora& lora = workload.lora;
  const bool expands = workload.stack.expands_kv;
  const double key_value = expands && !model.is_mla() ? 2 * shape.query_width : shape.kv_width + shape.value_width;
  const bool reads_input = lora.query || lora.key || lora.value;
  TensorBytes bytes = norm_bytes(t, !t.frozen || (reads_input && !t.adapter_dropout));
  if (t.adapter_dropout) {
    const int inputs = lora.query + lora.key + lora.value;
    bytes.replicated += inputs * dropped_copy(t, t.h);
    bytes.split += lora.output * dropped_copy(t, shape.output_width);
  }
  bytes.split += t.e * (shape.query_width + key_value + shape.output_width);
  if (model.qk_norm) bytes.split += t.e * (shape.query_width + shape.kv_width);  // before the heads' norms
  if (model.is_mla()) {
    // Latents before and after their norms: replicated, since every rank expands its own heads from them.
    bytes.replicated += t.e * 2 * (model.mla_q_rank + model.mla_kv_rank) + t.e * model.mla_rope_head_dim;
  }
  if (keeps_casts(workload)) bytes.split += t.g * shape.output_width;  // beside the kernel's own 16-bit output
  if (t.dropout) bytes.replicated += t.h;                              // mask on the residual stream
  return bytes;
}

// `width` columns of an MLP (gated: gate, up, and their product; GELU: its input and output).
double mlp_columns(const Workload& workload, const Traits& t, double width) {
  const bool product_needed = !t.frozen || (workload.lora.mlp && !t.adapter_dropout);
  const double tensors = workload.model.gated_mlp ? (t.fused_mlp ? 2 : 3) : 1;
  const double product = product_needed ? t.g * width : 0;
  const double dropped = t.adapter_dropout && workload.lora.mlp ? dropped_copy(t, width) : 0;
  const double kept = keeps_casts(workload) && workload.stack.fp8_mlp_input ? 1 : t.e;
  return tensors * kept * width + product + dropped;
}

TensorBytes dense_mlp_bytes(const Workload& workload, const Traits& t) {
  const int norms = workload.model.norms_per_layer;
  TensorBytes bytes;
  // With one norm, attention and MLP run side by side on its output; with four, each also norms what it returns.
  if (norms != 1) bytes = norm_bytes(t, !t.frozen || (workload.lora.mlp && !t.adapter_dropout));
  if (norms > 2) bytes = bytes + norm_bytes(t, false) + norm_bytes(t, false);
  if (t.adapter_dropout && workload.lora.mlp) {
    bytes.replicated += (workload.model.gated_mlp ? 2 : 1) * dropped_copy(t, t.h);
  }
  bytes.split += mlp_columns(workload, t, workload.model.ffn_hidden);
  if (t.dropout) bytes.replicated += t.h;
  return bytes;
}

// A token is copied to its top_k experts; each copy keeps the expert's input, its MLP columns and its output (whose
// weighting by the router needs it). Router: logits and probabilities in fp32. Load taken as even.
TensorBytes moe_mlp_bytes(const Workload& workload, const Traits& t) {
  const ModelArchitecture& model = workload.model;
  TensorBytes bytes = norm_bytes(t, true);
  bytes.replicated += 2 * 4.0 * model.experts;
  bytes.replicated += (t.g + t.e) * t.h * model.top_k;
  bytes.split += model.top_k * mlp_columns(workload, t, model.expert_ffn_hidden);
  bytes.split += mlp_columns(workload, t, model.shared_expert_ffn_hidden);
  return bytes;
}

// torchtitan's per-op policy keeps the layer's input, the attention kernel's output and every second GEMM's: of
// q, k, v, o, gate, up, down the 1st, 3rd, 5th and 7th.
TensorBytes per_op_bytes(const Workload& workload, const Traits& t, double mlp_width) {
  const LayerShape shape = layer_shape(workload.model);
  TensorBytes bytes;
  bytes.replicated = t.e * 2 * t.h;
  bytes.split =
      t.e * (shape.query_width + shape.value_width + shape.output_width + mlp_width) + 4.0 * workload.model.heads;
  return bytes;
}

double sum(const TensorBytes& t) { return t.replicated + t.split; }
TensorBytes larger(const TensorBytes& a, const TensorBytes& b) { return sum(a) < sum(b) ? b : a; }

// What a layer's backward holds beyond what it kept: the MLP goes first, with all that was kept and the gradients of
// its columns; then the MLP's tensors are gone and attention runs with the gradients of the heads. Of the scores two
// gradients are alive at once, in the place of the dropout's output once that has been used; a fused softmax works in
// place.
TensorBytes backward_bytes(const Workload& workload, const Traits& t, const TensorBytes& mlp, double mlp_width) {
  const LayerShape shape = layer_shape(workload.model);
  const TensorBytes columns = {2 * t.e * t.h, t.e * shape.mlp_matrices * mlp_width};
  double heads = t.e * (2 * shape.query_width + shape.kv_width + shape.value_width);
  if (t.standard) {
    const double gradients = workload.stack.fused_elementwise || t.dropout ? 1 : 2;
    heads += gradients * t.e * workload.model.heads * workload.sequence_length;
  }
  return larger(columns, TensorBytes{2 * t.e * t.h, heads} - mlp);
}

ActivationBytes by_recompute(const Workload& workload, const Traits& t, TensorBytes mlp, double mlp_width) {
  const TensorBytes core = core_bytes(workload, t);
  const TensorBytes attention = attention_bytes(workload, t);
  const TensorBytes gradients = backward_bytes(workload, t, mlp, mlp_width);
  ActivationBytes bytes;
  bytes.kept_none = attention + core + mlp;
  bytes.kept_full = {t.e * t.h, 0};
  if (workload.stack.selective_share > 0) {
    bytes.kept_selective = per_op_bytes(workload, t, mlp_width);
  } else {
    // Core attention recomputed: flash already does, so nothing changes there.
    bytes.kept_selective = t.standard ? attention + mlp : bytes.kept_none;
  }
  // Never more than without recompute: a narrow LoRA layer can already keep less than the policy would.
  if (bytes.kept_selective.replicated + bytes.kept_selective.split >
      bytes.kept_none.replicated + bytes.kept_none.split) {
    bytes.kept_selective = bytes.kept_none;
  }
  bytes.working_none = gradients;
  bytes.working_selective = gradients + (bytes.kept_none - bytes.kept_selective);
  bytes.working_full = gradients + (bytes.kept_none - bytes.kept_full);
  return bytes;
}

bool is_8bit_or_less(Precision precision) {
  return precision == Precision::kFp8 || precision == Precision::kMxfp8 || precision == Precision::kNvfp4;
}

}  // namespace

// Transformer Engine's layers (the stacks that also gather weights in 8 bit) keep a GEMM's input as it was cast;
// torchao's keep the 16-bit one and cast again.
bool keeps_casts(const Workload& workload) { return workload.stack.fp8_gather && is_8bit_or_less(workload.precision); }

double element_bytes(const Workload& workload) {
  if (workload.method == Method::kQlora) return workload.stack.qlora_element_bytes;
  return workload.precision == Precision::kFp32 || workload.precision == Precision::kTf32 ? 4 : 2;
}

ActivationBytes dense_layer_activations(const Workload& workload) {
  const Traits t = traits_of(workload);
  return by_recompute(workload, t, dense_mlp_bytes(workload, t), workload.model.ffn_hidden);
}

ActivationBytes moe_layer_activations(const Workload& workload) {
  const Traits t = traits_of(workload);
  const ModelArchitecture& model = workload.model;
  const double width = double(model.top_k) * model.expert_ffn_hidden + model.shared_expert_ffn_hidden;
  return by_recompute(workload, t, moe_mlp_bytes(workload, t), width);
}

// 16-bit logits and, unless the loss is fused, their fp32 copy and its gradient: 2 + 4 + 4.
double logit_bytes(const Workload& workload) {
  if (workload.stack.logit_bytes > 0) return workload.stack.logit_bytes;
  const double e = element_bytes(workload);
  return workload.stack.fused_cross_entropy ? e : e + 8;
}

}  // namespace tare
