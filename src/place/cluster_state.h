// Which GPUs of a cluster are free, kept as jobs come and go: what gangs are placed on.
//
// Nodes are the leaves of a tree: a root, and one depth for each level of the topology from the outermost (spine, pod)
// to the innermost (leaf switch, NVLink domain). A domain is known by its path, so that two pods may both have a "leaf
// 1". Nodes stand in the order of that tree, hence every domain is one run of slots. Each domain keeps how many of its
// usable nodes have 0, 1, 2 … GPUs free: occupy() and release() cost one update per depth, and what fits below a domain
// is read off without a look at its nodes.
//
// Callers name nodes by their index in the topology; slots are for loops over domains.
// Thread safety: a plain value; concurrent reads are safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"

namespace tare {

struct PlaceLevel {
  std::string name;         // "spine", "leaf", "NVLink domain"
  std::vector<int> domain;  // of each node; equal numbers below different parents are different domains
};

struct PlaceTopology {
  std::vector<int> gpus;           // of each node, 0 to kMostGpusPerNode
  std::vector<PlaceLevel> levels;  // outermost first; may be empty
};
constexpr int kMostGpusPerNode = 64;

// The nodes of one type of a cluster with its leaves and NVLink domains, or all of them (type -1: nodes of another type
// have 0 GPUs otherwise). A level that tells nothing apart is left out.
PlaceTopology place_topology(const Cluster& cluster, int type = -1);

enum class NodeUse : std::uint8_t { kUsable, kForbidden, kUnhealthy };

class ClusterState {
 public:
  struct Domain {
    int parent = -1;
    int first_child = 0, last_child = 0;  // domains of the next depth; none at the innermost
    int first_slot = 0, last_slot = 0;
  };

  explicit ClusterState(const PlaceTopology& topology);

  int nodes() const { return static_cast<int>(gpus_.size()); }
  int depths() const { return static_cast<int>(depth_begin_.size()) - 1; }  // 1 + levels
  const std::string& level_name(int depth) const { return names_[static_cast<std::size_t>(depth)]; }
  int domains() const { return static_cast<int>(domains_.size()); }
  int depth_begin(int depth) const { return depth_begin_[static_cast<std::size_t>(depth)]; }
  const Domain& domain(int id) const { return domains_[static_cast<std::size_t>(id)]; }
  // How many usable nodes of a domain have f GPUs free, for f = 0 … most_gpus().
  std::span<const std::int32_t> free_counts(int domain) const {
    return {counts_.data() + static_cast<std::size_t>(domain) * stride_, stride_};
  }
  int most_gpus() const { return static_cast<int>(stride_) - 1; }

  int node_at(int slot) const { return node_at_[static_cast<std::size_t>(slot)]; }
  int slot_of(int node) const { return slot_of_[static_cast<std::size_t>(node)]; }
  int innermost_of(int node) const { return innermost_[at(node)]; }  // its domain at the last depth
  int gpus(int node) const { return gpus_[at(node)]; }
  int free_gpus(int node) const { return free_[at(node)]; }
  NodeUse use(int node) const { return use_[at(node)]; }
  bool is_preferred(int node) const { return preferred_[at(node)] != 0; }
  int free_at(int slot) const { return free_[static_cast<std::size_t>(slot)]; }
  bool usable_at(int slot) const { return use_[static_cast<std::size_t>(slot)] == NodeUse::kUsable; }
  bool preferred_at(int slot) const { return preferred_[static_cast<std::size_t>(slot)] != 0; }

  // Precondition of occupy: 0 ≤ gpus ≤ free_gpus(node); of release: 0 ≤ gpus ≤ gpus(node) − free_gpus(node).
  void occupy(int node, int gpus) { change(at(node), -gpus); }
  void release(int node, int gpus) { change(at(node), gpus); }
  void set_use(int node, NodeUse use);
  void set_preferred(int node, bool preferred);
  int preferred_nodes() const { return preferred_nodes_; }

 private:
  std::size_t at(int node) const { return static_cast<std::size_t>(slot_of_[static_cast<std::size_t>(node)]); }
  void change(std::size_t slot, int by);
  void count(std::size_t slot, int by);
  void build_depths(const PlaceTopology& topology);

  std::vector<std::string> names_;
  std::vector<Domain> domains_;  // depth by depth, the children of a domain side by side
  std::vector<int> depth_begin_;
  std::vector<std::int32_t> counts_;
  std::size_t stride_ = 1;
  std::vector<int> node_at_, slot_of_;
  // By slot.
  std::vector<int> innermost_;
  std::vector<std::uint8_t> gpus_, free_, preferred_;
  std::vector<NodeUse> use_;
  int preferred_nodes_ = 0;
};

}  // namespace tare
