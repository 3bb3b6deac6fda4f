// A job on its nodes: which, which GPU each rank gets, and what that is worth in seconds and dollars.
//
// The first node type of the cluster on which the job fits is taken. Candidates are the gang of least spread
// (place/gang.h) and gangs whose groups of neighbouring ranks lie within leaves (place/group_spread.h), each under
// every layout (place/rank_map.h); the one with the shortest step is chosen, the first of equal ones. Beside it stands
// the naive one: the first free nodes of the file, ranks in Megatron's order; and the bound, the fastest layout if
// leaves cost nothing.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "place/gang.h"
#include "place/rank_map.h"
#include "place/shards.h"
#include "plan/plan.h"

namespace tare {

struct BusyNode {
  int node = 0;
  int gpus = 0;  // in use
};

struct PlaceRequest {
  PlanRequest plan;  // the job, and what is searched when it pins no parallelism
  int gpus = 0;
  std::vector<BusyNode> busy;
  std::vector<int> forbidden, unhealthy, preferred;  // indices into Cluster::nodes
};

struct PlaceChoice {
  std::string nodes;  // "first free", "least spread", "groups of 4 nodes"
  std::string layout;
  double step_time_s = 0;
};

struct PlacedShards {
  ShardPlan plan;
  std::vector<ShardDisk> disks;  // that the plan's numbers mean
  std::vector<int> disk_node, disk_number;
};

struct JobPlacement {
  PlanOption predicted;
  PlanOption naive;
  double bound_step_time_s = 0;
  std::vector<int> nodes;  // of the cluster, in the order of the ranks' GPUs
  SeatOrder seats;
  RankLayout layout;
  std::vector<RankSeat> ranks;
  std::vector<PlaceChoice> choices;  // all that were scored, the fastest first
  GangPlacement gang;                // of least spread
  std::vector<std::string> levels;   // names of its depths
  int leaves = 0, naive_leaves = 0;
  double oversubscription = 1, naive_oversubscription = 1;
  std::optional<PlacedShards> shards;  // when the job says its data and the nodes their disks
  double decision_s = 0;               // of choosing nodes and order, without the search of the parallelism
};

using PlaceOutcome = std::variant<JobPlacement, CannotFit>;

// Errors: those of plan/plan.h's estimate(); a size that no node type holds is a CannotFit.
Result<PlaceOutcome> place_job(const PlaceRequest& request, const Catalog& catalog, const Cluster& cluster);

// The cluster of these nodes alone, all of one type, in this order; leaves and domains without nodes are dropped.
Cluster only_nodes(const Cluster& cluster, const std::vector<int>& nodes);

}  // namespace tare
