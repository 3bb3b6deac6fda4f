// A gang whose traffic runs in groups: every group on as few domains as can be.
//
// m groups of g units each (hosts of one data-parallel or expert-parallel group) lie on innermost domains (leaves) of
// c_i free units. The spread of a group is the number of leaves it touches; what is made small is their sum, after no
// more groups than needed cross from one outer domain (pod) into another.
//
//   Leaves and groups form a graph with an edge where a group has units in a leaf. Without cycles, which never help,
//   edges = leaves + groups − components, so a component of one leaf holds ⌊c/g⌋ groups at one edge each, and whatever
//   is beyond comes of the remainders r = c mod g: a group put together of a leaves' remainders costs a edges. What is
//   left of a remainder that was not used up stays in the pool.
//
// Groups are put together of the fewest remainders first: the largest, then always the smallest that still lets the
// largest others complete it. While that is above the bound it is done again with exact sums first, then with random
// choices (of a fixed seed). The bound takes D = m − Σ⌊c/g⌋ groups and the A largest remainders whose sum reaches D·g:
// spread ≥ m + A − D. (Tests hold the result against an integer program: at most 5 % above on a real topology.)
#pragma once

#include <vector>

#include "place/gang.h"

namespace tare {

struct GroupPart {
  int domain = 0;  // innermost, as the state numbers it
  int units = 0;
};

struct GroupPlacement {
  std::vector<std::vector<GroupPart>> groups;
  std::vector<std::vector<GangShare>> shares;  // the nodes of each group, those of one domain side by side
  int spread = 0;                              // sum over groups of the innermost domains touched
  int crossing = 0;                            // groups that touch more than one outer domain
  int bound = 0;                               // spread is not below
};

// False when that many units are not free. Preconditions: groups, group_units, gpus_per_unit ≥ 1.
bool place_groups(const ClusterState& state, int groups, int group_units, int gpus_per_unit, GroupPlacement& placement);

// Groups as a placement in a given order of nodes has them: each run of `group_units` units is one.
int spread_in_order(const ClusterState& state, const std::vector<GangShare>& shares, int group_units);

}  // namespace tare
