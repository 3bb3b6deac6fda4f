// Time of a collective by its size and by where its group sits.
//
//   t = hops·α + c·S·(n−1)/n ÷ (B·share·S/(S + S½))
// S the full buffer in bytes, n the ranks, c = 2 for all-reduce, 1 for reduce-scatter, all-gather and all-to-all;
// hops 2(n−1) for ring all-reduce, n−1 for its halves, 2·log₂n once trees win (NCCL picks the faster). A group with d
// ranks in a domain and n/d domains drives d links out of the domain at once, so B = min(in-domain link, d·network
// link) for rings; all-to-all sends (n−d)/n of its bytes over the rank's own network link. Source of the forms: Thakur
// et al. 2005; NCCL's documentation of bus bandwidth (nccl-tests PERFORMANCE.md).
#pragma once

#include "perf/constants.h"
#include "perf/machine.h"

namespace tare {

// Where a group's ranks sit: n ranks, of which `in_domain` share an NVLink (or PCIe) domain and `in_node` a node.
struct GroupPlace {
  int ranks = 1;
  int in_domain = 1;
  int in_node = 1;
  bool across_leaves = false;
};

// A group of `ranks` ranks that lie `stride` GPUs apart.
GroupPlace place_group(const Machine& machine, int ranks, int stride);

enum class Collective { kAllReduce, kReduceScatter, kAllGather, kAllToAll };

// Per-direction bandwidth of the slowest link such a group needs, per rank, and the latency of one hop across it.
struct GroupLink {
  double bytes_per_s = 0;
  double latency_s = 0;
  double local_latency_s = 0;
};
GroupLink group_link(const Machine& machine, const GroupPlace& place, bool all_to_all);

double collective_s(Collective kind, double bytes, const Machine& machine, const GroupPlace& place, double bus_share,
                    const StepConstants& constants);

// One message between two ranks `stride` GPUs apart.
double point_to_point_s(double bytes, const Machine& machine, int stride, double bus_share,
                        const StepConstants& constants);

}  // namespace tare
