#include "workload/memory.h"

#include <algorithm>
#include <cmath>

#include "workload/layer_shape.h"

namespace tare {

namespace {

// NF4 with double quantisation (Dettmers et al. 2023): 4 bits, an 8-bit scale per 64 and an fp32 one per 64·256.
constexpr double kNf4BytesPerParameter = (4.0 + 8.0 / 64 + 32.0 / (64 * 256)) / 8;

// NCCL holds a few MiB of buffers for each channel, peer and protocol of every communicator: outside the allocator.
constexpr double kCommunicatorBytes = 512.0 * 1024 * 1024;

constexpr double kGatheredLayers = 2;  // FSDP: the layer that runs and the prefetched one

// Optimizer bytes per trained parameter besides the weights themselves.
double optimizer_bytes(const Workload& workload) {
  const std::string& states = workload.stack.states;
  const double master = states == "mixed" ? 4 : 0;
  const double moment = states == "pure" ? element_bytes(workload) : 4;
  if (workload.optimizer == "sgd") return master;
  if (workload.optimizer == "adam_8bit") return master + 2.0 * (1 + 4.0 / 256);  // fp32 scale per block of 256
  return master + 2 * moment;
}

// 8- and 4-bit copies of the weights, row- and column-wise, that Transformer Engine keeps beside 16-bit ones between
// micro-batches. Where weights are stored and gathered in 8 bit the two copies take the 16-bit one's place; where they
// are sharded (FSDP) they are cast again each time.
double cast_bytes(const Workload& workload) {
  if (workload.stack.states != "mixed" || workload.stack.fp8_gather) return 0;
  switch (workload.precision) {
    case Precision::kFp8:
    case Precision::kMxfp8:
      return 2;
    case Precision::kNvfp4:
      return 1;
    default:
      return 0;
  }
}

// 1F1B holds min(p, m) micro-batches on the first stage and one on the last. Interleaved (Narayanan et al. 2021): rank
// r has 2(p−r−1) + (v−1)p + 1 chunks in flight, each 1/v of a stage: p(1 + (p−1)/(pv)) stages on the first rank.
double in_flight_first(const Parallelism& p, double micro_batches) {
  const double warm = p.vpp > 1 ? p.pp * (1 + double(p.pp - 1) / (double(p.pp) * p.vpp)) : p.pp;
  return std::min(warm, micro_batches);
}

double in_flight_last(const Parallelism& p, double micro_batches) {
  if (p.pp == 1 || p.vpp <= 1) return 1;
  return std::min((double(p.vpp - 1) * p.pp + 1) / p.vpp, micro_batches);
}

double bytes_of(const TensorBytes& tensor, double replicated_share, double split_share) {
  return tensor.replicated * replicated_share + tensor.split * split_share;
}

}  // namespace

MemoryModel::MemoryModel(const Workload& workload) {
  const ModelArchitecture& model = workload.model;
  const SoftwareStack& stack = workload.stack;
  const LayerShape shape = layer_shape(model);
  const double e = element_bytes(workload);
  const double norms = double(model.norms_per_layer) * model.hidden * (model.norm_bias ? 2 : 1);

  layers_ = model.layers;
  dense_layers_ = shape.dense_layers;
  dense_layer_.dense = shape.attention_params + shape.dense_mlp_params + norms;
  moe_layer_.dense = shape.attention_params + shape.shared_params + shape.router_params + norms;
  moe_layer_.expert = model.experts * shape.expert_params;
  embedding_ = (double(model.vocab) + model.learned_positions) * model.hidden;
  head_ = double(model.vocab) * model.hidden;
  tied_ = model.tied_embeddings;

  trains_edges_ = workload.lora.embeddings;
  adapters_only_ = workload.method == Method::kLora || workload.method == Method::kQlora;
  if (adapters_only_) {
    const AdapterShape adapters = adapter_shape(model, workload.lora);
    dense_layer_adapters_.dense = adapters.attention_params + adapters.dense_mlp_params;
    moe_layer_adapters_.dense = adapters.attention_params + adapters.shared_params;
    moe_layer_adapters_.expert = model.experts * adapters.expert_params;
  }

  weight_bytes_ = stack.states == "fp32" ? 4 : e;
  cast_bytes_ = cast_bytes(workload);
  gradient_bytes_ = stack.states == "pure" ? e : stack.gradient_bytes;
  optimizer_bytes_ = optimizer_bytes(workload);
  // Frozen weights have no master to keep, so what runs in 8 bit is stored in 8 bit.
  frozen_bytes_ = workload.method == Method::kQlora ? kNf4BytesPerParameter : keeps_casts(workload) ? 1 : e;
  frozen_edge_bytes_ = e;
  gathered_weight_bytes_ = adapters_only_ ? frozen_bytes_ : e;
  if (workload.method == Method::kQlora) {
    dequantised_params_ =
        double(model.hidden) * std::max({double(model.ffn_hidden), shape.query_width, double(model.expert_ffn_hidden)});
  }

  tokens_per_sequence_ = workload.sequence_length;
  global_batch_ = workload.global_batch;
  dense_activations_ = dense_layer_activations(workload);
  if (model.is_moe()) moe_activations_ = moe_layer_activations(workload);
  logit_bytes_per_token_ = logit_bytes(workload) * model.vocab;
  boundary_bytes_per_token_ = e * model.hidden;
  whole_gradients_ = stack.whole_gradients;
  edges_apart_ = stack.edges_apart;
  keeps_stage_outputs_ = stack.keeps_stage_outputs;
  step_bytes_ = stack.step_bytes;
  reduces_copies_ = stack.step_bytes > 0 && stack.states == "mixed";
  fixed_bytes_ = stack.fixed_memory_bytes;
  fragmentation_ratio_ = stack.fragmentation_ratio;
}

Memory MemoryModel::peak(const Parallelism& p) const {
  const double micro_batches = std::max(1.0, global_batch_ / (double(p.dp) * p.micro_batch));
  const double layers = std::ceil(layers_ / p.pp);
  Stage first;
  first.layers = layers;
  first.dense_layers = std::min(dense_layers_, layers);
  first.in_flight = in_flight_first(p, micro_batches);
  first.embedding = true;
  first.head = p.pp == 1;
  Memory memory = stage_memory(p, first);
  if (p.pp > 1) {
    Stage last;
    last.layers = layers;
    last.dense_layers = std::max(0.0, dense_layers_ - layers * (p.pp - 1));
    last.in_flight = in_flight_last(p, micro_batches);
    last.head = true;
    const Memory end = stage_memory(p, last);
    if (end.total_bytes > memory.total_bytes) memory = end;
  }
  return memory;
}

Memory MemoryModel::stage_memory(const Parallelism& p, const Stage& stage) const {
  Memory memory;
  add_states(p, stage, memory);
  add_gathered(p, stage, memory);
  add_activations(p, stage, memory);
  const double allocated = memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes +
                           memory.activations_bytes + memory.logits_bytes + memory.gathered_bytes;
  const int communicators = (p.tp > 1) + (p.pp > 1) + (p.dp * p.cp > 1) + (p.ep > 1);
  memory.framework_bytes = fixed_bytes_ + kCommunicatorBytes * communicators;
  memory.fragmentation_bytes = fragmentation_ratio_ * allocated;
  memory.total_bytes = allocated + memory.framework_bytes + memory.fragmentation_bytes;
  return memory;
}

// ZeRO (Rajbhandari et al. 2020): with Ψ parameters and N data ranks, weights w·Ψ, gradients g·Ψ and optimizer o·Ψ are
// divided by N from stage 3, 2 and 1 on.
void MemoryModel::add_states(const Parallelism& p, const Stage& stage, Memory& memory) const {
  const double per_tp = 1.0 / p.tp;
  const double per_data = 1.0 / (double(p.dp) * p.cp);
  // Over ep ranks whole experts lie on a rank, taken from tp, cp and dp alike; without, each is split like a dense MLP.
  const double per_expert = p.ep > 1 ? 1.0 / p.ep : per_tp;
  const double per_expert_data = p.ep > 1 ? p.ep / (double(p.tp) * p.dp * p.cp) : per_data;
  const double moe_layers = stage.layers - stage.dense_layers;
  double edges = 0;
  if (stage.embedding) edges += embedding_;
  if (stage.head && !(stage.embedding && tied_)) edges += head_;

  const double base = (stage.dense_layers * dense_layer_.dense + moe_layers * moe_layer_.dense) * per_tp;
  const double base_experts = moe_layers * moe_layer_.expert * per_expert;
  edges *= per_tp;
  double trained = base + edges;
  double trained_experts = base_experts;
  const double weight_share = p.zero_stage >= 3 ? per_data : 1;
  const double expert_weight_share = p.zero_stage >= 3 ? per_expert_data : 1;
  if (adapters_only_) {
    memory.weights_bytes += (base * frozen_bytes_ + edges * frozen_edge_bytes_) * weight_share +
                            base_experts * frozen_bytes_ * expert_weight_share;
    trained = (stage.dense_layers * dense_layer_adapters_.dense + moe_layers * moe_layer_adapters_.dense) * per_tp;
    trained_experts = moe_layers * moe_layer_adapters_.expert * per_expert;
    if (trains_edges_) trained += edges;
  }
  if (p.zero_stage < 3) memory.weights_bytes += cast_bytes_ * (base + base_experts);
  const double shard_1 = p.zero_stage >= 1 ? per_data : 1, expert_1 = p.zero_stage >= 1 ? per_expert_data : 1;
  const double shard_2 = p.zero_stage >= 2 ? per_data : 1, expert_2 = p.zero_stage >= 2 ? per_expert_data : 1;
  memory.weights_bytes += weight_bytes_ * (trained * weight_share + trained_experts * expert_weight_share);
  memory.gradients_bytes = gradient_bytes_ * (trained * shard_2 + trained_experts * expert_2);
  if (whole_gradients_ && p.zero_stage >= 2 && global_batch_ > double(p.dp) * p.micro_batch) {
    memory.gathered_bytes += gradient_bytes_ * (trained + trained_experts) - memory.gradients_bytes;
  }
  // Copies for the step are made of the whole shard, except by ZeRO 3, which steps through its parameters in groups.
  const double optimizer_bytes = optimizer_bytes_ + (p.zero_stage < 3 ? step_bytes_ : 0);
  memory.optimizer_bytes = optimizer_bytes * (trained * shard_1 + trained_experts * expert_1);
  if (reduces_copies_ && p.pp == 1 && p.dp > 1 && p.zero_stage < 2) {
    // DeepSpeed's engine without pipeline flattens the reduced gradients beside the accumulated ones.
    memory.gathered_bytes += frozen_edge_bytes_ * (trained + trained_experts);
  }

  if (p.offload != Offload::kNone) {
    memory.host_bytes += memory.optimizer_bytes;
    memory.optimizer_bytes = 0;
  }
  if (p.offload == Offload::kParameters) {
    memory.host_bytes += memory.weights_bytes + memory.gradients_bytes;
    memory.weights_bytes = 0;
    memory.gradients_bytes = 0;
  }
}

// Layers brought together to compute with: FSDP gathers the running one and the next, reduces the last one's gradients;
// parameters offloaded to the host are brought back the same way.
void MemoryModel::add_gathered(const Parallelism& p, const Stage& stage, Memory& memory) const {
  const double per_tp = 1.0 / p.tp;
  const auto params = [&](const Parameters& layer) {
    return layer.dense * per_tp + layer.expert * (p.ep > 1 ? 1.0 / p.ep : per_tp);
  };
  const double moe_layers = stage.layers - stage.dense_layers;
  const double layer_params = params(moe_layers > 0 ? moe_layer_ : dense_layer_);
  memory.gathered_bytes += dequantised_params_ * 2 * per_tp;
  if (p.sequence_parallel && p.tp > 1) {
    // The running GEMM's input is gathered whole before it, and its gradient comes whole after it.
    memory.gathered_bytes += 2 * boundary_bytes_per_token_ * tokens_per_sequence_ * p.micro_batch / p.cp;
  }
  const bool sharded = p.zero_stage >= 3 && double(p.dp) * p.cp > 1;
  if (!sharded && p.offload != Offload::kParameters) return;
  double edges = 0;
  if (stage.embedding) edges += embedding_;
  if (stage.head && !(stage.embedding && tied_)) edges += head_;
  if (edges_apart_) edges = stage.head ? head_ : embedding_;
  edges *= per_tp;
  // A pipeline would gather again for every micro-batch: it keeps the stage's weights until the step instead.
  const double kept = sharded && p.pp > 1 ? stage.dense_layers * params(dense_layer_) + moe_layers * params(moe_layer_)
                                          : kGatheredLayers * layer_params;
  memory.gathered_bytes += kept * gathered_weight_bytes_ + edges * frozen_edge_bytes_;
  if (!adapters_only_) {
    // One layer's whole gradients in 16 bit and their copy in the type they are reduced in; the head's own.
    memory.gathered_bytes += layer_params * (frozen_edge_bytes_ + gradient_bytes_);
    if (stage.head) memory.gathered_bytes += head_ * per_tp * frozen_edge_bytes_;
  }
}

// Kept activations of every layer and micro-batch in flight, and on top the larger of two moments: the loss (logits),
// or the first layer to run backward (its gradients, and itself when it is recomputed).
void MemoryModel::add_activations(const Parallelism& p, const Stage& stage, Memory& memory) const {
  const double tokens = tokens_per_sequence_ * p.micro_batch / p.cp;
  const double split_share = 1.0 / p.tp;
  const double replicated_share = p.sequence_parallel ? split_share : 1.0;
  const double moe_layers = stage.layers - stage.dense_layers;
  const auto bytes = [&](const TensorBytes& tensor) { return bytes_of(tensor, replicated_share, split_share); };
  const auto kept = [&](const ActivationBytes& a, Recompute mode) {
    return bytes(mode == Recompute::kFull        ? a.kept_full
                 : mode == Recompute::kSelective ? a.kept_selective
                                                 : a.kept_none);
  };
  const auto working = [&](const ActivationBytes& a) {
    return bytes(p.recompute == Recompute::kFull        ? a.working_full
                 : p.recompute == Recompute::kSelective ? a.working_selective
                                                        : a.working_none);
  };
  double per_token =
      stage.dense_layers * kept(dense_activations_, p.recompute) + moe_layers * kept(moe_activations_, p.recompute);
  if (p.recompute == Recompute::kFull && p.recompute_layers >= 0 && p.recompute_layers < stage.layers) {
    // Only some layers are recomputed: the others keep everything.
    const double share = p.recompute_layers / stage.layers;
    per_token = share * per_token + (1 - share) * (stage.dense_layers * kept(dense_activations_, Recompute::kNone) +
                                                   moe_layers * kept(moe_activations_, Recompute::kNone));
  }
  double working_bytes = 0;
  if (stage.dense_layers > 0) working_bytes = working(dense_activations_);
  if (moe_layers > 0) working_bytes = std::max(working_bytes, working(moe_activations_));
  working_bytes *= tokens;
  if (p.pp > 1 && keeps_stage_outputs_) per_token += boundary_bytes_per_token_ * replicated_share;
  memory.activations_bytes = per_token * tokens * stage.in_flight;
  double logits = 0;
  if (stage.head) {
    logits = logit_bytes_per_token_ * tokens * split_share;
    // The final norm's input and output, the head's input.
    memory.activations_bytes += 2 * boundary_bytes_per_token_ * tokens * replicated_share;
  }
  if (logits > working_bytes) {
    memory.logits_bytes = logits;
  } else {
    memory.activations_bytes += working_bytes;
  }
}

Memory peak_memory(const Workload& workload, const Parallelism& parallelism) {
  return MemoryModel(workload).peak(parallelism);
}

}  // namespace tare
