// Ranks of a job on the GPUs of its nodes: which order costs the least time.
//
// The GPUs stand in an order (nodes of one leaf side by side); a layout says which axis runs fastest along it. tp is
// always the innermost, so that it stays inside the NVLink domain as far as it fits; cp, dp and pp follow in any order.
// Where a group crosses leaves its ring leaves each of them a few times only, which is what an order is about:
//
//   flows_l = edges of all rings of one kind (dp·cp, cp, pp, tp) out of leaf l, in the order of their seats, each times
//             the ring's ranks on the node that it leaves (as many NICs carry it); of an all-to-all of n ranks, k of
//             them in the leaf, k·(n − k)/(n − 1)
//   oversubscription = max over leaves of flows_l · network rate per GPU ÷ uplink_l, at least 1; one of tp, cp and
//                      experts together, one of dp·cp (gradients and weights), one of pp
//   gpus_per_leaf    = the largest block of neighbouring ranks (tp; tp·next; …; the experts' group) of which every copy
//               lies in one leaf
//
// These go into the machine of the step model (perf/machine.h), which scores the order. Worked example: 8 nodes of
// 8 GPUs at 50 GB/s below two leaves of 4 with uplinks of 200 GB/s, dp over the nodes. In leaf order each of 8 rings
// leaves a leaf once: 8 · 50 / 200 = 2. With the leaves taking turns it leaves it 4 times: 8.
//
// Rank numbers are Megatron's: tp fastest, then cp, dp, pp, whatever the layout.
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "perf/step.h"

namespace tare {

// The GPUs that a job takes, in order.
struct SeatOrder {
  std::vector<int> node;        // of each seat: index into the nodes they were made of
  std::vector<int> gpu;         // within its node
  std::vector<int> leaf;        // index into uplinks
  std::vector<double> uplinks;  // bytes per second and direction; 0 = non-blocking
};

// The first `gpus` GPUs of these nodes of a cluster, in the order given.
SeatOrder seats_of(const Cluster& cluster, const std::vector<int>& nodes, int gpus);

// Megatron's first, then the other orders of cp, dp and pp; those that axes of size 1 make equal are left out.
std::vector<RankLayout> layouts_of(const Parallelism& parallelism);
std::string to_text(const RankLayout& layout);  // "tp-cp-dp-pp", the fastest first

struct RankSeat {
  int rank = 0;
  int tp = 0, cp = 0, ep = 0, dp = 0, pp = 0;
  int seat = 0;
};

// In the order of ranks.
std::vector<RankSeat> rank_seats(const Parallelism& parallelism, const RankLayout& layout);

// The step model's machine with the leaves as this order meets them.
Machine in_order(Machine machine, const SeatOrder& seats, const Parallelism& parallelism, const RankLayout& layout);

// The largest of its oversubscriptions.
double most_asked(const Machine& machine);

// The same without leaves: no order of the same GPUs is faster in the model.
Machine without_leaves(Machine machine);

}  // namespace tare
