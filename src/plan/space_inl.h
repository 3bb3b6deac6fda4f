// The loops of plan/space.h. Order: pp, vpp, schedule, ZeRO, offload, recompute (cheapest first).
#pragma once

#include "plan/space.h"

namespace tare {

inline int recompute_steps(const Space& space, int pp) {
  return space.partial_recompute ? (space.layers + pp - 1) / pp : 1;
}

template <typename F>
void for_each_in_pipeline(const Space& space, const SpaceGroup& group, int pp, int vpp, PipelineSchedule schedule,
                          F&& f) {
  Parallelism p;
  p.tp = group.tp;
  p.cp = group.cp;
  p.ep = group.ep;
  p.micro_batch = group.micro_batch;
  p.sequence_parallel = group.sequence_parallel;
  p.pp = pp;
  p.vpp = vpp;
  p.schedule = schedule;
  p.dp = space.gpus / (group.tp * group.cp * pp);
  for (const int zero : space.zero_stages) {
    if (zero > 0 && p.dp * p.cp == 1) continue;
    if (zero == 2 && pp > 1) continue;
    p.zero_stage = zero;
    for (const Offload offload : space.offload) {
      p.offload = offload;
      for (const Recompute recompute : space.recompute) {
        p.recompute = recompute;
        const int steps = recompute == Recompute::kFull ? recompute_steps(space, pp) : 1;
        for (int k = 1; k <= steps; ++k) {
          p.recompute_layers = k == steps ? -1 : k;
          f(static_cast<const Parallelism&>(p));
        }
      }
    }
  }
}

template <typename F>
void for_each_in_group(const Space& space, const SpaceGroup& group, F&& f) {
  for (const int pp : group.pp) {
    const int per_rank = space.global_batch / (space.gpus / (group.tp * group.cp * pp)) / group.micro_batch;
    for (const int vpp : space.vpp_of_pp[static_cast<std::size_t>(pp)]) {
      if (vpp > 1 && per_rank % pp != 0) continue;  // interleaving runs micro-batches in rounds of pp
      if (vpp > 1) {
        for_each_in_pipeline(space, group, pp, vpp, PipelineSchedule::kInterleaved, f);
      } else if (pp == 1) {
        for_each_in_pipeline(space, group, pp, vpp, PipelineSchedule::kOneForwardOneBackward, f);
      } else {
        for (const PipelineSchedule schedule : space.schedule) for_each_in_pipeline(space, group, pp, vpp, schedule, f);
      }
    }
  }
}

}  // namespace tare
