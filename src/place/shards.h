// Shards of a data set on the nodes' disks, so that the slowest disk is done as early as can be.
//
// All shards have s bytes; disk i reads r_i bytes per second and has room for m_i shards. A pass over the data takes
//
//   T = max_i n_i · s / r_i,   Σ n_i = shards,   0 ≤ n_i ≤ m_i
//
// and the next shard always goes where it ends first, (n_i + 1) · s / r_i least: for equal shards that is the optimum.
// Its bound is the linear program's, shards · s / Σ r_i over disks that are not full: the whole shards of the optimum
// keep it at most one shard of the fastest disk above. Round robin, what sharders do today, stands beside it.
//
// Which shards: disks of a node take runs of neighbouring numbers, so that a sampler that deals shards out in order
// finds what a rank reads next on its own node. The disk that would be done last with its shards alone and writes
// slowest of its node is where a checkpoint's part goes (checkpoint_disk), where a node has several.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

namespace tare {

struct ShardDisk {
  int node = 0;
  double read_bytes_per_s = 0;   // > 0
  double write_bytes_per_s = 0;  // 0 = not known
  double bytes = 0;              // 0 = not known: no limit
};

struct ShardPlan {
  std::vector<int> disk_of;    // of each shard: index into the disks
  std::vector<int> shards_of;  // of each disk: how many
  double read_s = 0;           // of one pass, the slowest disk
  double bound_s = 0;          // of any placement, shards divided at will
  double round_robin_s = 0;    // NaN where a disk would overflow
  double shard_bytes = 0;
  std::vector<int> checkpoint_disk;  // of each node in the disks: the index of a disk
  // If the node with the most shards fails: their bytes come from the shared store again.
  double failed_node_bytes = 0;
};

// Empty disk_of when the disks have no room for all of it. Preconditions: shards ≥ 1, shard_bytes > 0, disks not empty,
// nodes of the disks numbered from 0 and in ascending order.
ShardPlan place_shards(int shards, double shard_bytes, const std::vector<ShardDisk>& disks);

}  // namespace tare
