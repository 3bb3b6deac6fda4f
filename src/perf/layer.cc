#include "perf/layer.h"

#include <algorithm>
#include <cmath>

#include "perf/attention.h"
#include "workload/layer_shape.h"

namespace tare {

struct LayerModel::Accumulator {
  double gemm_forward_s = 0, gemm_backward_s = 0;
  double attention_forward_s = 0, attention_backward_s = 0;
  double elementwise_forward_s = 0, elementwise_backward_s = 0;
  double forward_flops = 0, backward_flops = 0, attention_flops = 0;
  double issue_forward_s = 0;
};

LayerModel::LayerModel(const Workload& workload, const Machine& machine, const StepConstants& constants)
    : workload_(workload),
      machine_(machine),
      constants_(constants),
      rates_(kernel_rates(machine, workload.precision, constants)),
      format_(gemm_format(workload.precision)),
      activation_bytes_(rates_.element_bytes[0]),
      block_scaled_(workload.precision == Precision::kMxfp8 || workload.precision == Precision::kNvfp4),
      frozen_(workload.method == Method::kLora || workload.method == Method::kQlora) {}

void LayerModel::add_gemm(Accumulator& sum, double m, double n, double k, double count, bool low_precision,
                          bool frozen) const {
  const GemmFormat format = low_precision ? format_ : GemmFormat::k16Bit;
  const Gemm forward{m, n, k, count, format};
  const Gemm input_gradient{m, k, n, count, format};
  const Gemm weight_gradient{k, n, m, count, format};
  sum.gemm_forward_s += gemm_s(forward, rates_);
  sum.gemm_backward_s += gemm_s(input_gradient, rates_) + (frozen ? 0 : gemm_s(weight_gradient, rates_));
  sum.forward_flops += flops(forward);
  sum.backward_flops += flops(forward) * (frozen ? 1 : 2);
  if (format != GemmFormat::k16Bit && rates_.native[static_cast<int>(format)]) {
    // Quantising the input forward, the incoming gradient (and, transposed, the saved input) backward.
    const double trips = block_scaled_ ? constants_.cast_passes_block : constants_.cast_passes_8bit;
    const double input = m * k * count * trips;
    const double gradient = m * n * count * trips;
    sum.elementwise_forward_s += input / rates_.memory_bytes_per_s;
    sum.elementwise_backward_s += (gradient + (frozen ? 0 : input)) / rates_.memory_bytes_per_s;
  }
}

void LayerModel::add_attention(Accumulator& sum, const Parallelism& p, double tokens, bool windowed) const {
  const ModelArchitecture& model = workload_.model;
  const double h = model.hidden, a = double(model.heads) / p.tp;
  const double g = std::max(double(model.kv_heads) / p.tp, 1.0);
  double qk_dim = model.head_dim, v_dim = model.head_dim;
  if (model.is_mla()) {
    qk_dim = model.mla_nope_head_dim + model.mla_rope_head_dim;
    v_dim = model.mla_v_head_dim;
    if (model.mla_q_rank > 0) {
      add_gemm(sum, tokens, model.mla_q_rank, h, 1, true, frozen_);
      add_gemm(sum, tokens, a * qk_dim, model.mla_q_rank, 1, true, frozen_);
    } else {
      add_gemm(sum, tokens, a * qk_dim, h, 1, true, frozen_);
    }
    add_gemm(sum, tokens, model.mla_kv_rank + model.mla_rope_head_dim, h, 1, true, frozen_);
    add_gemm(sum, tokens, a * (model.mla_nope_head_dim + v_dim), model.mla_kv_rank, 1, true, frozen_);
  } else {
    add_gemm(sum, tokens, (a + 2 * g) * qk_dim, h, 1, true, frozen_);
  }
  add_gemm(sum, tokens, h, a * v_dim, 1, true, frozen_);
  const AttentionShape shape{double(p.micro_batch),
                             double(workload_.sequence_length) / p.cp,
                             double(workload_.sequence_length),
                             a,
                             qk_dim,
                             v_dim,
                             windowed ? model.attention_window : 0};
  const AttentionTime time = attention_time(shape, workload_.attention, rates_, constants_);
  sum.attention_forward_s += time.forward_s;
  sum.attention_backward_s += time.backward_s;
  sum.attention_flops += time.flops;
}

void LayerModel::add_mlp(Accumulator& sum, const Parallelism& p, double tokens, bool moe) const {
  const ModelArchitecture& model = workload_.model;
  const double h = model.hidden, up = model.gated_mlp ? 2 : 1;
  const auto add = [&](double m, double width, double count) {
    add_gemm(sum, m, up * width, h, count, true, frozen_);
    add_gemm(sum, m, h, width, count, true, frozen_);
  };
  if (!moe) {
    add(tokens, double(model.ffn_hidden) / p.tp, 1);
    return;
  }
  add_gemm(sum, p.sequence_parallel ? tokens / p.tp : tokens, model.experts, h, 1, false, frozen_);
  if (model.shared_expert_ffn_hidden > 0) add(tokens, double(model.shared_expert_ffn_hidden) / p.tp, 1);
  // Over ep ranks whole experts lie on a rank; without, each expert is split over tp like a dense MLP.
  const double expert_tp = p.ep > 1 ? 1 : p.tp;
  const double local_experts = double(model.experts) / p.ep;
  const double routed = tokens * model.top_k / (p.tp / expert_tp);
  const double imbalance = p.ep > 1 ? constants_.expert_imbalance : 1;
  // The fullest rank sets the time; FLOPs are counted on the mean one.
  const double forward = sum.forward_flops, backward = sum.backward_flops;
  add(routed / local_experts * imbalance, model.expert_ffn_hidden / expert_tp, local_experts);
  sum.forward_flops = forward + (sum.forward_flops - forward) / imbalance;
  sum.backward_flops = backward + (sum.backward_flops - backward) / imbalance;
}

void LayerModel::add_elementwise(Accumulator& sum, const Parallelism& p, double tokens, bool moe) const {
  const ModelArchitecture& model = workload_.model;
  const bool fused = workload_.stack.fused_elementwise;
  const double norm_tokens = p.sequence_parallel ? tokens / p.tp : tokens;
  const double norms = norm_tokens * model.hidden *
                       (fused ? constants_.norm_passes_fused : constants_.norm_passes_eager) * model.norms_per_layer /
                       2;
  const double qkv_width = double(model.heads + 2 * model.kv_heads) * model.head_dim / p.tp;
  const double qkv = tokens * qkv_width * (fused ? constants_.qkv_passes_fused : constants_.qkv_passes_eager);
  const double width = moe ? model.top_k * model.expert_ffn_hidden + model.shared_expert_ffn_hidden : model.ffn_hidden;
  const double mlp = tokens * width / p.tp * (fused ? constants_.mlp_passes_fused : constants_.mlp_passes_eager);
  double elements = norms + qkv + mlp;
  if (moe) elements += tokens / p.tp * model.top_k * model.hidden * constants_.permute_passes;
  const double forward = elements * activation_bytes_ / rates_.memory_bytes_per_s;
  sum.elementwise_forward_s += forward;
  sum.elementwise_backward_s += 1.5 * forward;
}

void LayerModel::add_adapters(Accumulator& sum, const Parallelism& p, double tokens, bool moe) const {
  const ModelArchitecture& model = workload_.model;
  const Lora& lora = workload_.lora;
  const double h = model.hidden, q = double(model.heads) * model.head_dim, kv = double(model.kv_heads) * model.head_dim;
  const double f = moe ? model.expert_ffn_hidden : model.ffn_hidden;
  const double forward_flops = sum.forward_flops, backward_flops = sum.backward_flops;
  double adapters = 0;
  const auto add = [&](bool on, double in, double out) {
    if (!on) return;
    adapters += 1;
    add_gemm(sum, tokens, lora.rank, in / p.tp, 1, false, false);
    add_gemm(sum, tokens, out / p.tp, lora.rank, 1, false, false);
    // The adapter's output is added to the projection's: one read of the input more, three trips of the output.
    const double bytes = tokens * (in + 3 * out) / p.tp * activation_bytes_;
    sum.elementwise_forward_s += bytes / rates_.memory_bytes_per_s;
    sum.elementwise_backward_s += bytes / rates_.memory_bytes_per_s;
  };
  if (workload_.stack.lora_attention_only && lora.query && lora.key && lora.value) {
    add(true, h, q + 2 * kv);  // one adapter on the fused projection
  } else {
    add(lora.query, h, q);
    add(lora.key, h, kv);
    add(lora.value, h, kv);
  }
  add(lora.output, q, h);
  if (lora.mlp) {
    add(true, h, f);
    if (model.gated_mlp) add(true, h, f);
    add(true, f, h);
  }
  sum.issue_forward_s += adapters * constants_.issue_per_adapter_s;
  // FLOPs as the workload counts them, adapters of every routed expert included.
  const AdapterShape shape = adapter_shape(model, lora);
  const double parameters =
      shape.attention_params + (moe ? model.top_k * shape.expert_params + shape.shared_params : shape.dense_mlp_params);
  sum.forward_flops = forward_flops + 2 * tokens * parameters / p.tp;
  sum.backward_flops = backward_flops + 4 * tokens * parameters / p.tp;
  if (workload_.method == Method::kQlora) {
    // The 4-bit weights are expanded to 16 bit before each use: read 0.5 and write 2 bytes a parameter.
    const ParameterCount count = count_parameters(model);
    const double experts = moe ? count.experts_per_layer / (p.ep > 1 ? p.ep : p.tp) : 0;
    const double weights = count.per_layer_dense / p.tp + experts;
    const double expand = weights * 2.5 * constants_.dequant_passes / rates_.memory_bytes_per_s;
    sum.elementwise_forward_s += expand;
    sum.elementwise_backward_s += expand;
  }
}

void LayerModel::add_communication(LayerCost& cost, const Parallelism& p, const GroupStrides& strides, double tokens,
                                   bool moe) const {
  const ModelArchitecture& model = workload_.model;
  const double activation = tokens * model.hidden * activation_bytes_;
  if (p.tp > 1) {
    const GroupPlace place = place_group(machine_, p.tp, strides.tp);
    const double once =
        collective_s(Collective::kAllReduce, activation, machine_, place, constants_.tp_bus_share, constants_);
    // One after the attention output, one after the MLP; routed experts need none, their all-to-all brings the sum
    // home.
    const double reductions = moe && p.ep > 1 ? (model.shared_expert_ffn_hidden > 0 ? 1.5 : 1) : 2;
    const double shown = workload_.stack.tp_overlap ? constants_.tp_overlap_exposed : 1;
    cost.tp_forward_s = reductions * once * shown;
    // Sequence parallelism gathers the saved input once more, beside the input-gradient GEMM.
    cost.tp_backward_s = reductions * once * shown;
  }
  if (p.cp > 1) {
    const GroupPlace place = place_group(machine_, p.cp, strides.cp);
    const double kv_width = model.is_mla() ? model.mla_kv_rank + model.mla_rope_head_dim
                                           : 2.0 * std::max(double(model.kv_heads) / p.tp, 1.0) * model.head_dim;
    const double ring = collective_s(Collective::kAllGather, tokens * p.cp * kv_width * activation_bytes_, machine_,
                                     place, constants_.cp_bus_share, constants_);
    // Forward: keys and values travel while attention runs on the previous block; backward also brings gradients home.
    const double total = 3 * ring;
    const double hidden = cost.attention_s * (p.cp - 1) / p.cp;
    cost.cp_s = std::max(total - hidden, 0.15 * total);
  }
  if (moe && p.ep > 1) {
    const GroupPlace place = place_group(machine_, p.ep, strides.ep);
    const double copies = tokens / p.tp * model.top_k * model.hidden;
    const double dispatch_bytes = format_ == GemmFormat::k16Bit ? 2 : 1;
    // A token crosses the network once per remote node, not once per expert there (hierarchical all-to-all).
    const double nodes = std::max(double(p.ep) / place.in_node, 1.0);
    const double distinct = nodes * (1 - std::pow(1 - 1 / nodes, model.top_k)) / model.top_k;
    const double shrink = nodes > 1 ? std::min(1.0, distinct) : 1;
    const double share = place.ranks > place.in_node ? constants_.ep_network_share : constants_.ep_bus_share;
    const auto all_to_all = [&](double bytes) {
      return collective_s(Collective::kAllToAll, copies * bytes * shrink, machine_, place, share, constants_);
    };
    cost.ep_forward_s = all_to_all(dispatch_bytes) + all_to_all(2);
    cost.ep_backward_s = 2 * all_to_all(2);
  }
}

LayerCost LayerModel::one_layer(const Parallelism& p, const GroupStrides& strides, bool moe, bool windowed) const {
  const double tokens = double(p.micro_batch) * workload_.sequence_length / p.cp;
  Accumulator sum;
  add_attention(sum, p, tokens, windowed);
  add_mlp(sum, p, tokens, moe);
  add_elementwise(sum, p, tokens, moe);
  if (frozen_) add_adapters(sum, p, tokens, moe);
  LayerCost cost;
  cost.forward_s = sum.gemm_forward_s + sum.attention_forward_s + sum.elementwise_forward_s;
  cost.backward_s = sum.gemm_backward_s + sum.attention_backward_s + sum.elementwise_backward_s;
  cost.gemm_s = sum.gemm_forward_s + sum.gemm_backward_s;
  cost.attention_s = sum.attention_forward_s + sum.attention_backward_s;
  cost.elementwise_s = sum.elementwise_forward_s + sum.elementwise_backward_s;
  cost.forward_flops = sum.forward_flops + sum.attention_flops;
  cost.flops = sum.forward_flops + sum.backward_flops + 3 * sum.attention_flops;
  const double share = workload_.stack.selective_share;
  cost.selective_s = share > 0 ? share * cost.forward_s : sum.attention_forward_s;
  cost.selective_flops = share > 0 ? share * cost.forward_flops : sum.attention_flops;
  double issue = workload_.stack.cuda_graphs         ? 0
                 : workload_.stack.fused_elementwise ? constants_.issue_fused_s
                                                     : constants_.issue_eager_s;
  if (moe) issue *= constants_.issue_moe;
  if (!workload_.stack.cuda_graphs) issue += sum.issue_forward_s;
  cost.forward_issue_s = issue;
  cost.issue_s = issue * (1 + constants_.issue_backward);
  add_communication(cost, p, strides, tokens, moe);
  cost.full_s = std::max(cost.forward_s, cost.forward_issue_s - cost.tp_forward_s - cost.ep_forward_s);
  return cost;
}

namespace {

// Field by field: mean += weight · one.
void add_weighted(LayerCost& mean, const LayerCost& one, double weight) {
  mean.forward_s += weight * one.forward_s;
  mean.backward_s += weight * one.backward_s;
  mean.full_s += weight * one.full_s;
  mean.selective_s += weight * one.selective_s;
  mean.issue_s += weight * one.issue_s;
  mean.forward_issue_s += weight * one.forward_issue_s;
  mean.gemm_s += weight * one.gemm_s;
  mean.attention_s += weight * one.attention_s;
  mean.elementwise_s += weight * one.elementwise_s;
  mean.tp_forward_s += weight * one.tp_forward_s;
  mean.tp_backward_s += weight * one.tp_backward_s;
  mean.cp_s += weight * one.cp_s;
  mean.ep_forward_s += weight * one.ep_forward_s;
  mean.ep_backward_s += weight * one.ep_backward_s;
  mean.flops += weight * one.flops;
  mean.forward_flops += weight * one.forward_flops;
  mean.selective_flops += weight * one.selective_flops;
}

}  // namespace

EdgeCost LayerModel::edge(const Parallelism& p, const GroupStrides& strides) const {
  const ModelArchitecture& model = workload_.model;
  const double tokens = double(p.micro_batch) * workload_.sequence_length / p.cp;
  Accumulator sum;
  const double columns = double(model.vocab) / p.tp;
  add_gemm(sum, tokens, columns, model.hidden, 1, false, frozen_);
  // Loss over the logits: cast to fp32, maximum, exponent, sum, gradient; fused kernels keep it to one trip each way.
  const double trips = workload_.stack.fused_cross_entropy ? 4 : 18;
  EdgeCost cost;
  cost.head_s = sum.gemm_forward_s + sum.gemm_backward_s + tokens * columns * trips / rates_.memory_bytes_per_s;
  cost.flops = sum.forward_flops + sum.backward_flops;
  cost.embedding_s = streaming_s(tokens * model.hidden * activation_bytes_ * 4, rates_);
  if (p.tp > 1) {
    const GroupPlace place = place_group(machine_, p.tp, strides.tp);
    const double activation = tokens * model.hidden * activation_bytes_;
    cost.tp_s =
        2 * collective_s(Collective::kAllReduce, activation, machine_, place, constants_.tp_bus_share, constants_);
  }
  return cost;
}

RankCost LayerModel::cost(const Parallelism& p, const GroupStrides& strides) const {
  const ModelArchitecture& model = workload_.model;
  const double dense = model.is_moe() ? double(model.first_dense_layers) / model.layers : 1;
  // Whole layers, as the FLOPs count them.
  const int windowed_layers = model.attention_window > 0 ? model.layers / std::max(model.window_every, 1) : 0;
  const double windowed = double(windowed_layers) / model.layers;
  RankCost rank;
  for (const bool moe : {false, true}) {
    for (const bool window : {false, true}) {
      const double weight = (moe ? 1 - dense : dense) * (window ? windowed : 1 - windowed);
      if (weight > 0) add_weighted(rank.layer, one_layer(p, strides, moe, window), weight);
    }
  }
  // Kernels cannot run before the CPU has issued them: a layer that the GPU finishes sooner waits for it.
  LayerCost& layer = rank.layer;
  const double gpu = layer.forward_s + layer.backward_s + layer.tp_forward_s + layer.tp_backward_s + layer.cp_s +
                     layer.ep_forward_s + layer.ep_backward_s;
  if (layer.issue_s > gpu) {
    const double waiting = layer.issue_s - gpu;
    layer.forward_s += waiting * layer.forward_issue_s / layer.issue_s;
    layer.backward_s += waiting * (1 - layer.forward_issue_s / layer.issue_s);
  }
  rank.edge = edge(p, strides);
  return rank;
}

}  // namespace tare
