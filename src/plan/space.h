// The parallelisms a search tries for one workload on one machine.
//
// Stated, so that "exact over the space" means something:
//   tp           divides the heads (and widths), up to the NVLink domain or the node, whichever is larger
//   pp, vpp      pp·vpp divides the layers, or the layers + 2 (the ends hold embedding and head instead of a layer);
//                vpp ≤ 16
//   cp           powers of two while a rank keeps at least 1,024 tokens of a sequence (cp 1 always)
//   ep           divides the experts and tp·cp·dp
//   micro-batch  every divisor up to 128 of what a data-parallel rank gets
//   ZeRO         0–3 (2 needs every micro-batch's gradients reduced at once and is left out with pipelines)
//   recompute    none, selective, full; with partial_recompute also full for 1 … n layers of a stage
//   sequence parallelism  with tp > 1: on and off
//   offload      none, optimizer
//   schedule     1F1B, interleaved with vpp > 1 (zero-bubble only where SpaceLimits names it: few frameworks have it)
// Lists given in SpaceLimits replace the default ones.
#pragma once

#include <vector>

#include "perf/step.h"
#include "plan/plan.h"

namespace tare {

// One value for what a layer's cost depends on, and the pipelines it can run under.
struct SpaceGroup {
  int tp = 1, cp = 1, ep = 1, micro_batch = 1;
  bool sequence_parallel = false;
  std::vector<int> pp;
};

struct Space {
  int gpus = 1;
  int layers = 1;
  int global_batch = 1;
  std::vector<SpaceGroup> groups;           // in enumeration order
  std::vector<std::vector<int>> vpp_of_pp;  // by pp; empty = that pp is not possible
  std::vector<int> zero_stages;
  std::vector<Recompute> recompute;
  bool partial_recompute = false;
  std::vector<Offload> offload;
  std::vector<PipelineSchedule> schedule;  // with vpp = 1
  long long size = 0;                      // configurations
  long long indivisible = 0;               // combinations of degrees that do not divide
};

Space make_space(const Workload& workload, const Machine& machine, const SpaceLimits& limits);

// Calls f(parallelism) for every configuration of a group, in a fixed order.
template <typename F>
void for_each_in_group(const Space& space, const SpaceGroup& group, F&& f);

}  // namespace tare

#include "plan/space_inl.h"
