// Nodes for a gang: all of its units at once, on as few domains as can be.
//
// A unit is what must lie on one node: a whole node (gpus_per_unit = its GPUs) or a part of one (a tensor-parallel
// group of 2 GPUs). A node with f GPUs free holds ⌊f / gpus_per_unit⌋ units. The spread of a placement is the number of
// domains it touches at each depth, and of nodes; the least spread is the one with the fewest outermost domains, among
// those the fewest of the next depth, and so on, nodes last (they tell something only where a node can hold several
// units). As one number, with weights w that put each depth above all deeper ones together:
//
//   cost = Σ_depths w_d · domains_d + w_node · nodes
//
// The least cost of j units below a domain is a staircase in j: a knapsack of the staircases of its children, each of
// which opens at w of its depth. Staircases are folded bottom-up, so the optimum is exact, for trees of any shape, at
// O(children · j · steps) per domain. Three things come before it: the search starts in the deepest domains that hold
// the whole gang (the optimum lies in one of them); each is skipped when its bound is no better than the best found;
// and a greedy placement that reaches the bound is taken as it is. The bound takes the largest domains of each depth
// for themselves. Past a limit of work the greedy placement is returned beside the bound, with `exact` false.
//
// What fits on one node takes the tightest one of all. Other ties go to domains with more preferred nodes, then to the
// fuller ones (best fit), then to the order of the topology. Within a node's domain preferred nodes go first where that
// costs no further node.
//
// Thread safety: one placer per thread (it keeps its memory between calls; none is allocated once it has grown).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "place/cluster_state.h"

namespace tare {

struct GangRequest {
  int units = 1;
  int gpus_per_unit = 8;
  int within_depth = 0;  // all of it in one domain of this depth; 0 = anywhere
  // With block_units > 0 the gang is units ÷ block_units blocks, each in one domain of block_depth (a multiple of it).
  int block_units = 0;
  int block_depth = 0;
};

struct GangShare {
  int node = 0;  // as the topology numbers it
  int units = 0;
  bool operator==(const GangShare&) const = default;
};

struct GangPlacement {
  std::vector<GangShare> shares;  // in the order of the tree: nodes of one domain side by side
  std::vector<int> spread;        // domains touched, by depth (the first is 1: the cluster)
  int nodes = 0;
  std::vector<int> bound;  // the least spread is not below this one; equal to it when exact
  int nodes_bound = 0;
  bool exact = false;  // of least spread, proven
};

// Why a gang does not fit.
struct CannotFit {
  int units = 0;  // asked for
  int gpus_per_unit = 0;
  int fitting = 0;   // the most that fit under the same constraints
  int anywhere = 0;  // that fit without them
  // Units that would be there otherwise: of unusable nodes those that their free GPUs hold.
  int busy = 0, forbidden = 0, unhealthy = 0;
  int nodes_busy = 0, nodes_forbidden = 0, nodes_unhealthy = 0, nodes_too_small = 0;
  long long stranded_gpus = 0;       // free on usable nodes, in pieces smaller than a unit
  std::vector<std::string> nearest;  // changes under which it fits, the smallest first
};

// Throws nothing; the same inputs give the same placement.
class GangPlacer {
 public:
  // Precondition: units ≥ 1, gpus_per_unit ≥ 1, depths within the state's, block_units divides units.
  // False when it does not fit; `placement` is then unspecified. The state is not changed.
  bool place(const ClusterState& state, const GangRequest& request, GangPlacement& placement);

  // For a request that place() said no to.
  CannotFit why_not(const ClusterState& state, const GangRequest& request);

 private:
  struct Stairs {  // of a domain: steps_[first, last)
    int first = 0, last = 0;
  };
  struct Stair {
    int reach = 0;  // what it holds, in the domain's grains
    double cost = 0;
  };
  // Units that are counted together at a depth: the blocks' at block_depth and above it.
  int grain(int depth) const { return request_.block_units > 0 && depth <= request_.block_depth ? block_ : 1; }
  int ratio(int depth) const { return depth < depths_ - 1 ? grain(depth) / grain(depth + 1) : grain(depth); }
  int depth_of(int domain) const { return depth_of_[static_cast<std::size_t>(domain)]; }
  int capacity(int domain) const { return capacity_[static_cast<std::size_t>(domain)]; }
  int needed(int depth) const { return request_.units / grain(depth); }
  bool is_innermost(int domain) const { return depth_of(domain) == depths_ - 1; }

  bool place_on_one_node(GangPlacement& placement);
  int tightest_node() const;  // slot of the node that it leaves least free; -1 when none holds it
  void start(const ClusterState& state, const GangRequest& request);
  void set_capacities();
  void set_weights();
  void count_reasons(CannotFit& reasons) const;
  void name_changes(CannotFit& reasons) const;
  int most_fitting() const;  // units, under the constraints
  bool find_candidates();
  void order(std::vector<int>& domains) const;
  void count_preferred();
  void try_candidate(int domain, GangPlacement& best);
  bool improve(int domain, double bound);
  double cost_of(const std::vector<int>& spread, int nodes) const;
  void set_bound(int root);
  int fewest_domains(int root, int depth);
  int fewest_nodes(int root) const;

  // Greedy: largest child first, the last one the smallest that suffices.
  void pick_greedily(int domain, int need);
  // The knapsack.
  double work(int root) const;
  void fold(int domain, int need);
  void fill_row(int domain, int need, std::size_t row);
  void fill_row_of_nodes(int domain, int need, std::size_t row);
  void add_child(int need, int child, std::size_t from, std::size_t to);
  void pick_exactly(int domain, int need);
  void pick_equal_children(int domain, int need);
  bool has_equal_children(int domain) const;
  void pick_nodes(int domain, int units);
  void take(int slot, int units);
  void measure(GangPlacement& placement);

  const ClusterState* state_ = nullptr;
  GangRequest request_;
  int depths_ = 0, block_ = 1;
  bool counts_nodes_ = false;
  double node_weight_ = 0;
  std::vector<double> weights_;  // by depth
  std::vector<int> units_of_free_;
  std::vector<int> depth_of_, capacity_;  // by domain, capacity in its grains
  std::vector<int> candidates_, sorted_, slots_;
  std::vector<std::vector<int>> children_;  // scratch, one for each depth
  std::vector<Stairs> steps_of_;            // by domain
  std::vector<Stair> steps_;
  std::vector<double> rows_;  // a stack
  std::size_t rows_top_ = 0;
  std::vector<int> preferred_;    // by domain: preferred nodes with room; empty when there are none
  std::vector<GangShare> taken_;  // slots, while a placement is made
  GangPlacement trial_;
  double best_cost_ = 0;
  double open_cost_ = 0;  // bound of what was not solved exactly
  double least_bound_ = 0;
  std::vector<int> bound_;  // of the least cost
  int nodes_bound_ = 0;
};

}  // namespace tare
