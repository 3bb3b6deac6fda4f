#include "perf/step.h"

#include <algorithm>
#include <cmath>

#include "workload/flops.h"
#include "workload/layer_shape.h"

namespace tare {
namespace {

// Work and traffic side by side: perf/constants.h, dp_overlap_norm.
double overlapped_s(double work, double traffic, double norm) {
  if (traffic <= 0) return work;
  return std::pow(std::pow(work, norm) + std::pow(traffic, norm), 1 / norm);
}

int data_ranks(const Parallelism& p) { return p.dp * p.cp; }

// Sharded gradients (ZeRO 2 and 3) are reduced after every micro-batch and sharded weights gathered before each pass; a
// pipeline keeps both whole for the step, or its stages would wait for the network at every micro-batch.
bool reduces_each_micro_batch(const Parallelism& p) { return p.zero_stage >= 2 && p.pp == 1; }
bool gathers_each_pass(const Parallelism& p) { return p.zero_stage >= 3 && p.pp == 1; }

}  // namespace

std::array<std::pair<std::string_view, double>, kStepPartCount> named_parts(const StepParts& parts) {
  return {{{"compute_s", parts.compute_s},
           {"recompute_s", parts.recompute_s},
           {"tp_exposed_s", parts.tp_exposed_s},
           {"cp_exposed_s", parts.cp_exposed_s},
           {"ep_exposed_s", parts.ep_exposed_s},
           {"pp_bubble_s", parts.pp_bubble_s},
           {"pp_p2p_s", parts.pp_p2p_s},
           {"pp_imbalance_s", parts.pp_imbalance_s},
           {"dp_exposed_s", parts.dp_exposed_s},
           {"optimizer_s", parts.optimizer_s},
           {"data_stall_s", parts.data_stall_s},
           {"straggler_s", parts.straggler_s},
           {"delivery_s", parts.delivery_s}}};
}

double sum(const StepParts& p) {
  return p.compute_s + p.recompute_s + p.tp_exposed_s + p.cp_exposed_s + p.ep_exposed_s + p.pp_bubble_s + p.pp_p2p_s +
         p.pp_imbalance_s + p.dp_exposed_s + p.optimizer_s + p.data_stall_s + p.straggler_s + p.delivery_s;
}

StepParts parts_of(const StepTerms& t, unsigned without) {
  const auto kept = [without](unsigned cause) { return (without & cause) ? 0.0 : 1.0; };
  const double m = t.micro_batches;
  StepParts parts;
  parts.compute_s = (without & kWithoutKernel) ? t.model_flops / t.peak_flops : m * (t.layers * t.layer_s + t.edge_s);
  parts.recompute_s = kept(kWithoutRecompute) * m * t.recomputed_layers * t.recompute_layer_s;
  parts.tp_exposed_s =
      kept(kWithoutTp) * m *
      (t.layers * t.tp_layer_s + kept(kWithoutRecompute) * t.recomputed_layers * t.tp_recompute_s + t.tp_edge_s);
  parts.cp_exposed_s = kept(kWithoutCp) * m * t.layers * t.cp_layer_s;
  parts.ep_exposed_s = kept(kWithoutEp) * m *
                       (t.layers * t.ep_layer_s + kept(kWithoutRecompute) * t.recomputed_layers * t.ep_recompute_s);
  const double on_stage =
      parts.compute_s + parts.recompute_s + parts.tp_exposed_s + parts.cp_exposed_s + parts.ep_exposed_s;
  parts.pp_bubble_s = kept(kWithoutBubble) * t.bubble_slots * on_stage / m;
  parts.pp_imbalance_s = kept(kWithoutBubble) * m * (t.slowest_stage_s - t.stage_s);
  parts.pp_p2p_s = kept(kWithoutPp) * m * t.p2p_s;
  parts.dp_exposed_s =
      kept(kWithoutDp) * (overlapped_s(t.dp_work_s, t.dp_traffic_s, t.dp_overlap_norm) - t.dp_work_s + t.dp_extra_s);
  parts.optimizer_s = kept(kWithoutOptimizer) * t.optimizer_s;
  const double before =
      on_stage + parts.pp_bubble_s + parts.pp_imbalance_s + parts.pp_p2p_s + parts.dp_exposed_s + parts.optimizer_s;
  parts.straggler_s = kept(kWithoutStraggler) * t.straggler_ratio * before;
  parts.delivery_s = kept(kWithoutDelivery) * (t.delivery_ratio * before + t.delivery.sync_s);
  const double busy = before + parts.straggler_s + parts.delivery_s;
  parts.data_stall_s = kept(kWithoutData) * std::max(0.0, t.data_read_s - busy);
  return parts;
}

StepModel::StepModel(Workload workload, Machine machine, RankLayout layout, const StepConstants& constants)
    : workload_(std::move(workload)),
      machine_(std::move(machine)),
      layout_(layout),
      constants_(constants),
      layers_(workload_, machine_, constants_),
      memory_(workload_),
      parameters_(count_parameters(workload_.model)),
      model_flops_per_token_(model_flops_per_token(workload_)),
      trainable_(trainable_parameters(workload_)),
      cache_(256) {
  peak_precision_ = effective_precision(machine_, workload_.precision);
  peak_flops_ = peak_flops(machine_, workload_.precision);
  // (layers_ refers to machine_ and sees the slower links too.)
  machine_.between_nodes.bytes_per_s /= 1 + machine_.delivery.network_slowdown_ratio;
  machine_.delivery.network_slowdown_ratio = 0;  // a copy must not slow them again
  dp_machine_ = pp_machine_ = machine_;
  if (machine_.dp_oversubscription > 0) dp_machine_.oversubscription = machine_.dp_oversubscription;
  if (machine_.pp_oversubscription > 0) pp_machine_.oversubscription = machine_.pp_oversubscription;
  // Expected maximum of n normal deviates: σ·√(2·ln n), the slowest rank that all wait for.
  const double sigma = std::hypot(constants_.jitter_ratio, machine_.delivery.jitter_ratio);
  straggler_ratio_ = sigma * std::sqrt(2 * std::log(std::max(machine_.gpus, 1)));
}

StepModel::StepModel(const StepModel& other)
    : StepModel(other.workload_, other.machine_, other.layout_, other.constants_) {}

int StepModel::stride_of(Axis axis, const Parallelism& p) const {
  int stride = 1;
  for (const Axis inner : layout_.order) {
    if (inner == axis) break;
    switch (inner) {
      case Axis::kTp:
        stride *= p.tp;
        break;
      case Axis::kCp:
        stride *= p.cp;
        break;
      case Axis::kDp:
        stride *= p.dp;
        break;
      case Axis::kPp:
        stride *= p.pp;
        break;
    }
  }
  return stride;
}

GroupStrides StepModel::strides_of(const Parallelism& p) const {
  GroupStrides strides;
  strides.tp = stride_of(Axis::kTp, p);
  strides.cp = stride_of(Axis::kCp, p);
  // Experts lie over the ranks of tp, cp and dp, from the innermost of the three.
  strides.ep = std::min({strides.tp, strides.cp, stride_of(Axis::kDp, p)});
  return strides;
}

StepModel::Key StepModel::key_of(const Parallelism& p, const GroupStrides& strides) {
  return {1ULL | std::uint64_t(p.tp) << 1 | std::uint64_t(p.cp) << 13 | std::uint64_t(p.ep) << 25 |
              std::uint64_t(p.micro_batch) << 39 | std::uint64_t(p.sequence_parallel) << 62,
          std::uint64_t(strides.tp) | std::uint64_t(strides.cp) << 20 | std::uint64_t(strides.ep) << 40};
}

std::size_t StepModel::slot_of(const Key& key) const {
  const std::size_t mask = cache_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(((key.degrees ^ key.strides * 31) * 0x9e3779b97f4a7c15ULL) >> 20) & mask;
  while (cache_[slot].key.degrees != 0 && cache_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

const RankCost& StepModel::rank_cost(const Parallelism& p) {
  const GroupStrides strides = strides_of(p);
  const Key key = key_of(p, strides);
  std::size_t slot = slot_of(key);
  if (cache_[slot].key == key) return cache_[slot].cost;
  if (2 * ++cached_ > cache_.size()) {
    std::vector<Entry> smaller(2 * cache_.size());
    cache_.swap(smaller);
    for (const Entry& entry : smaller) {
      if (entry.key.degrees != 0) cache_[slot_of(entry.key)] = entry;
    }
    slot = slot_of(key);
  }
  cache_[slot] = {key, layers_.cost(p, strides)};
  return cache_[slot].cost;
}

double StepModel::optimizer_s(const Parallelism& p) const {
  const double shards = p.zero_stage >= 1 ? data_ranks(p) : 1;
  const double local = trainable_ / (double(p.tp) * p.pp * shards);
  const double relative = workload_.optimizer == "sgd" ? 0.45 : workload_.optimizer == "adam_8bit" ? 0.6 : 1;
  if (p.offload == Offload::kNone) {
    return constants_.step_fixed_s +
           local * constants_.optimizer_bytes * relative / (machine_.memory_bytes_per_s * constants_.optimizer_share);
  }
  // Gradients go to the host, the CPU streams the states, weights come back.
  const double host_link = machine_.host_bytes_per_s > 0 ? machine_.host_bytes_per_s : 12e9;
  return constants_.step_fixed_s + local * (workload_.stack.gradient_bytes + 2) / host_link +
         local * constants_.optimizer_bytes * relative / constants_.host_memory_bytes_per_s;
}

// Gradients and weights between the data-parallel ranks, once.
StepModel::DpTraffic StepModel::dp_traffic(const Parallelism& p) const {
  const ModelArchitecture& model = workload_.model;
  const SoftwareStack& stack = workload_.stack;
  const double moe_layers = model.is_moe() ? model.layers - model.first_dense_layers : 0;
  const double head = model.tied_embeddings ? 0 : parameters_.head;
  const double dense_layers =
      parameters_.total - parameters_.embedding - head - moe_layers * parameters_.experts_per_layer;
  const double edge = p.pp > 1 ? std::max(parameters_.embedding, parameters_.head) : parameters_.embedding + head;
  const bool frozen = workload_.method == Method::kLora || workload_.method == Method::kQlora;
  const double weight_bytes = workload_.method == Method::kQlora ? 0.52 : stack.fp8_gather ? 1 : 2;
  const AdapterShape adapter = adapter_shape(model, workload_.lora);
  const double trained_edge = frozen && !workload_.lora.embeddings ? 0 : edge;
  const double trained_dense = frozen ? model.layers * adapter.attention_params + moe_layers * adapter.shared_params +
                                            (model.layers - moe_layers) * adapter.dense_mlp_params
                                      : dense_layers;
  const double trained_experts = frozen ? model.experts * adapter.expert_params : parameters_.experts_per_layer;
  const int data_stride = std::min(stride_of(Axis::kCp, p), stride_of(Axis::kDp, p));
  DpTraffic traffic;
  const auto add = [&](double parameters, double trained, int ranks, int stride) {
    if (ranks <= 1) return;
    const GroupPlace place = place_group(dp_machine_, ranks, stride);
    const auto time = [&](Collective kind, double bytes) {
      return collective_s(kind, bytes, dp_machine_, place, constants_.dp_bus_share, constants_);
    };
    const double gradient_bytes = trained * stack.gradient_bytes;
    if (p.zero_stage == 0) {
      traffic.reduce_s += time(Collective::kAllReduce, gradient_bytes);
      return;
    }
    const double weights = (p.zero_stage >= 3 ? parameters : trained) * weight_bytes;
    traffic.reduce_s += time(Collective::kReduceScatter, gradient_bytes);
    traffic.gather_s += time(Collective::kAllGather, weights);
  };
  add((dense_layers / p.pp + edge) / p.tp, (trained_dense / p.pp + trained_edge) / p.tp, data_ranks(p), data_stride);
  if (moe_layers > 0) {
    const double split = double(p.pp) * (p.ep > 1 ? p.ep : p.tp);
    const int ranks = p.ep > 1 ? data_ranks(p) * p.tp / p.ep : data_ranks(p);
    const int stride = p.ep > 1 ? strides_of(p).ep * p.ep : data_stride;
    add(moe_layers * parameters_.experts_per_layer / split, moe_layers * trained_experts / split, ranks, stride);
  }
  return traffic;
}

const StepModel::DpTraffic& StepModel::cached_dp_traffic(const Parallelism& p) {
  DpEntry& entry = dp_cache_[static_cast<std::size_t>(p.zero_stage)];
  const std::array<int, 5> degrees = {p.tp, p.pp, p.cp, p.dp, p.ep};
  if (entry.degrees != degrees) entry = {degrees, dp_traffic(p)};
  return entry.traffic;
}

void StepModel::dp_terms(const Parallelism& p, StepTerms& t) {
  const DpTraffic& once = cached_dp_traffic(p);
  const double reduces = reduces_each_micro_batch(p) ? t.micro_batches : 1;
  const double gathers = gathers_each_pass(p) ? 2 * t.micro_batches : 1;
  double traffic = reduces * once.reduce_s + gathers * once.gather_s;
  if (p.offload == Offload::kParameters && machine_.host_bytes_per_s > 0) {
    const double local = parameters_.total / (double(p.tp) * p.pp * (p.zero_stage >= 3 ? data_ranks(p) : 1));
    traffic += t.micro_batches * 2 * 2 * local / machine_.host_bytes_per_s;
  }
  // What travels once a step has one micro-batch's work to hide behind, not the smooth stream of FSDP.
  t.dp_overlap_norm = gathers_each_pass(p) ? constants_.fsdp_overlap_norm : constants_.dp_overlap_norm;
  if (workload_.stack.dp_overlap) {
    t.dp_work_s = reduces * t.stage_s;
    t.dp_traffic_s = traffic;
  } else {
    t.dp_extra_s = traffic;
  }
}

StepTerms StepModel::terms(const Parallelism& p) {
  const RankCost& cost = rank_cost(p);
  const LayerCost& layer = cost.layer;
  const double model_layers = workload_.model.layers;
  StepTerms t;
  t.micro_batches = double(workload_.global_batch) / (double(p.dp) * p.micro_batch);
  t.layers = model_layers / p.pp;
  t.layer_s = layer.forward_s + layer.backward_s;
  const double edge_s = cost.edge.head_s + cost.edge.embedding_s;
  t.edge_s = edge_s / p.pp;
  if (p.recompute == Recompute::kSelective) {
    t.recomputed_layers = t.layers;
    t.recompute_layer_s = layer.selective_s;
  } else if (p.recompute == Recompute::kFull) {
    t.recomputed_layers = p.recompute_layers >= 0 ? std::min(double(p.recompute_layers), t.layers) : t.layers;
    t.recompute_layer_s = layer.full_s;
    t.tp_recompute_s = layer.tp_forward_s;
    t.ep_recompute_s = layer.ep_forward_s;
  }
  t.tp_layer_s = layer.tp_forward_s + layer.tp_backward_s;
  t.tp_edge_s = cost.edge.tp_s / p.pp;
  t.cp_layer_s = layer.cp_s;
  t.ep_layer_s = layer.ep_forward_s + layer.ep_backward_s;
  const double per_layer = t.layer_s + t.tp_layer_s + t.cp_layer_s + t.ep_layer_s;
  const double recompute = t.recomputed_layers * (t.recompute_layer_s + t.tp_recompute_s + t.ep_recompute_s);
  t.stage_s = t.layers * per_layer + t.edge_s + t.tp_edge_s + recompute;
  t.slowest_stage_s = t.stage_s;
  if (p.pp > 1) {
    // The last stage also runs the head. Layers that do not divide by pp leave the two ends one layer short each.
    const double most = std::ceil(t.layers);
    const double missing = most * p.pp - model_layers;
    const double first = most - (missing >= 2 ? 1 : 0), last = most - (missing >= 2 ? missing - 1 : missing);
    const double one = per_layer + recompute / t.layers;
    t.slowest_stage_s = std::max({t.stage_s, p.pp > 2 ? most * one : 0.0, first * one + cost.edge.embedding_s,
                                  std::max(last, 0.0) * one + cost.edge.head_s + cost.edge.tp_s});
    t.bubble_slots = double(p.pp - 1) / p.vpp * (p.schedule == PipelineSchedule::kZeroBubble ? 1.0 / 3 : 1.0);
    const double activation = double(p.micro_batch) * workload_.sequence_length / p.cp * workload_.model.hidden *
                              rates().element_bytes[0] / p.tp;
    // Some boundary of a pipeline longer than a node crosses the network, and the others wait for it.
    const int stride = stride_of(Axis::kPp, p), node = std::max(machine_.gpus_per_node, machine_.domain_gpus);
    int reach = stride * p.pp > node ? std::max(stride, node) : stride;
    if (machine_.gpus_per_leaf > 0 && stride * p.pp > machine_.gpus_per_leaf)
      reach = std::max(reach, machine_.gpus_per_leaf);
    const double message = point_to_point_s(activation, pp_machine_, reach, constants_.pp_bus_share, constants_);
    t.p2p_s = 2 * p.vpp * message * constants_.p2p_exposed;
  }
  dp_terms(p, t);
  t.optimizer_s = optimizer_s(p);
  if (machine_.storage_bytes_per_s > 0) t.data_read_s = workload_.data_bytes_per_step / machine_.storage_bytes_per_s;
  t.straggler_ratio = straggler_ratio_;
  t.delivery = machine_.delivery;
  t.delivery_ratio = slowdown_ratio(machine_.delivery);
  const double recomputed_flops = p.recompute == Recompute::kFull        ? layer.forward_flops
                                  : p.recompute == Recompute::kSelective ? layer.selective_flops
                                                                         : 0;
  t.hardware_flops =
      t.micro_batches * (t.layers * layer.flops + t.recomputed_layers * recomputed_flops + cost.edge.flops / p.pp);
  t.model_flops = model_flops_per_token_ * tokens_per_step(workload_) / gpus(p);
  t.peak_flops = peak_flops_;
  return t;
}

double StepModel::step_time_s(const Parallelism& p, unsigned without) { return sum(parts_of(terms(p), without)); }

Step StepModel::evaluate(const Parallelism& p) {
  const StepTerms t = terms(p);
  Step step;
  step.parts = parts_of(t);
  step.step_time_s = sum(step.parts);
  step.tokens_per_s = tokens_per_step(workload_) / step.step_time_s;
  step.tokens_per_s_per_gpu = step.tokens_per_s / gpus(p);
  step.model_flops_per_gpu = t.model_flops;
  step.hardware_flops_per_gpu = t.hardware_flops;
  step.peak_flops = t.peak_flops;
  step.peak_precision = peak_precision_;
  step.mfu_ratio = t.model_flops / (step.step_time_s * t.peak_flops);
  step.hfu_ratio = t.hardware_flops / (step.step_time_s * t.peak_flops);
  const StepParts& parts = step.parts;
  const double idle = parts.pp_bubble_s + parts.pp_imbalance_s + parts.data_stall_s + parts.straggler_s;
  step.kernel_busy_ratio = 1 - idle / step.step_time_s;
  step.memory = memory_.peak(p);
  return step;
}

}  // namespace tare
