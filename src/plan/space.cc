#include "plan/space.h"

#include <algorithm>
#include <iterator>

namespace tare {
namespace {

std::vector<int> divisors(int n, int limit) {
  std::vector<int> result;
  for (int d = 1; d <= std::min(n, limit); ++d) {
    if (n % d == 0) result.push_back(d);
  }
  return result;
}

bool tp_divides(const ModelArchitecture& model, int tp) {
  if (model.heads % tp != 0) return false;
  if (!model.is_mla() && model.kv_heads % tp != 0 && tp % model.kv_heads != 0) return false;
  if (model.is_moe() && model.shared_expert_ffn_hidden % tp != 0) return false;
  const bool dense_mlp = !model.is_moe() || model.first_dense_layers > 0;
  return !dense_mlp || model.ffn_hidden % tp == 0;
}

std::vector<int> tp_choices(const Workload& workload, const Machine& machine, const SpaceLimits& limits, Space& space) {
  const int limit = std::max(machine.gpus_per_node, machine.domain_gpus);
  std::vector<int> result;
  for (const int tp : limits.tp.empty() ? divisors(workload.model.heads, limit) : limits.tp) {
    if (machine.gpus % tp == 0 && tp_divides(workload.model, tp)) {
      result.push_back(tp);
    } else {
      ++space.indivisible;
    }
  }
  return result;
}

std::vector<int> cp_choices(const Workload& workload, const Machine& machine, const SpaceLimits& limits) {
  const auto divides = [&](int cp) { return cp == 1 || workload.sequence_length % (2 * cp) == 0; };
  std::vector<int> result;
  if (!limits.cp.empty()) {
    std::copy_if(limits.cp.begin(), limits.cp.end(), std::back_inserter(result), divides);
    return result;
  }
  result.push_back(1);
  for (int cp = 2; cp <= machine.gpus && workload.sequence_length / cp >= 1024; cp *= 2) {
    if (divides(cp)) result.push_back(cp);
  }
  return result;
}

std::vector<int> ep_choices(const Workload& workload, const SpaceLimits& limits) {
  if (!workload.model.is_moe()) return {1};
  const int experts = workload.model.experts;
  if (limits.ep.empty()) return divisors(experts, experts);
  std::vector<int> result;
  std::copy_if(limits.ep.begin(), limits.ep.end(), std::back_inserter(result),
               [&](int ep) { return experts % ep == 0; });
  return result;
}

// For every pp the chunk counts that cut the layers evenly.
void fill_pipelines(const Workload& workload, const SpaceLimits& limits, Space& space) {
  const int layers = workload.model.layers;
  space.vpp_of_pp.assign(static_cast<std::size_t>(layers) + 1, {});
  const auto even = [layers](int chunks) {
    return chunks <= layers && (layers % chunks == 0 || (layers + 2) % chunks == 0);
  };
  for (int pp = 1; pp <= layers; ++pp) {
    if (!limits.pp.empty() && std::find(limits.pp.begin(), limits.pp.end(), pp) == limits.pp.end()) continue;
    if (!even(pp)) continue;
    for (int vpp = 1; vpp <= (pp > 1 ? 16 : 1); ++vpp) {
      if (!limits.vpp.empty() && std::find(limits.vpp.begin(), limits.vpp.end(), vpp) == limits.vpp.end()) continue;
      if (even(pp * vpp)) space.vpp_of_pp[static_cast<std::size_t>(pp)].push_back(vpp);
    }
  }
}

// The pp values under which a group divides GPUs, batch and experts.
std::vector<int> pp_choices(const Workload& workload, const Machine& machine, const SpaceGroup& group, Space& space) {
  std::vector<int> result;
  const int rest = machine.gpus / (group.tp * group.cp);
  for (int pp = 1; pp < static_cast<int>(space.vpp_of_pp.size()) && pp <= rest; ++pp) {
    if (space.vpp_of_pp[static_cast<std::size_t>(pp)].empty()) continue;
    if (rest % pp != 0) continue;
    const long long dp = rest / pp;
    const bool batch = workload.global_batch % (dp * group.micro_batch) == 0;
    const bool experts = group.ep == 1 || (dp * group.tp * group.cp) % group.ep == 0;
    if (batch && experts) {
      result.push_back(pp);
    } else {
      ++space.indivisible;
    }
  }
  return result;
}

std::vector<int> micro_batch_choices(const Workload& workload, const SpaceLimits& limits) {
  if (!limits.micro_batch.empty()) return limits.micro_batch;
  return divisors(workload.global_batch, 128);
}

}  // namespace

Space make_space(const Workload& workload, const Machine& machine, const SpaceLimits& limits) {
  Space space;
  space.gpus = machine.gpus;
  space.layers = workload.model.layers;
  space.global_batch = workload.global_batch;
  space.zero_stages = limits.zero_stage.empty() ? std::vector<int>{0, 1, 2, 3} : limits.zero_stage;
  space.recompute = limits.recompute.empty()
                        ? std::vector<Recompute>{Recompute::kNone, Recompute::kSelective, Recompute::kFull}
                        : limits.recompute;
  space.partial_recompute = limits.partial_recompute;
  space.offload = limits.offload.empty() ? std::vector<Offload>{Offload::kNone, Offload::kOptimizer} : limits.offload;
  space.schedule = limits.schedule.empty() ? std::vector<PipelineSchedule>{PipelineSchedule::kOneForwardOneBackward}
                                           : limits.schedule;
  fill_pipelines(workload, limits, space);
  for (const int tp : tp_choices(workload, machine, limits, space)) {
    for (const int cp : cp_choices(workload, machine, limits)) {
      if ((machine.gpus / tp) % cp != 0) continue;
      for (const int ep : ep_choices(workload, limits)) {
        if (workload.model.is_moe() && ep == 1 && workload.model.expert_ffn_hidden % tp != 0) continue;
        for (const int micro : micro_batch_choices(workload, limits)) {
          for (const bool sequence_parallel : {false, true}) {
            if (sequence_parallel && tp == 1) continue;
            const int pieces = cp > 1 ? 2 * cp : 1;
            if (sequence_parallel && workload.sequence_length % (pieces * tp) != 0) continue;
            SpaceGroup group{tp, cp, ep, micro, sequence_parallel, {}};
            group.pp = pp_choices(workload, machine, group, space);
            if (!group.pp.empty()) space.groups.push_back(std::move(group));
          }
        }
      }
    }
  }
  for (const SpaceGroup& group : space.groups) {
    for_each_in_group(space, group, [&](const Parallelism&) { ++space.size; });
  }
  return space;
}

}  // namespace tare
