#include "place/cluster_state.h"

#include <algorithm>
#include <numeric>

namespace tare {
namespace {

// Slots in the order of the tree: by the path of domains, then by index.
std::vector<int> tree_order(const PlaceTopology& topology) {
  std::vector<int> order(topology.gpus.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    for (const PlaceLevel& level : topology.levels) {
      const int of_a = level.domain[static_cast<std::size_t>(a)], of_b = level.domain[static_cast<std::size_t>(b)];
      if (of_a != of_b) return of_a < of_b;
    }
    return false;
  });
  return order;
}

}  // namespace

PlaceTopology place_topology(const Cluster& cluster, int type) {
  PlaceTopology topology;
  for (const ClusterNode& node : cluster.nodes) {
    const int gpus = cluster.node_types[static_cast<std::size_t>(node.type)].type.gpus;
    topology.gpus.push_back(type < 0 || node.type == type ? std::clamp(gpus, 0, kMostGpusPerNode) : 0);
  }
  if (cluster.leaves.size() > 1) {
    PlaceLevel level{"leaf", std::vector<int>(cluster.nodes.size(), -1)};
    for (std::size_t i = 0; i < cluster.leaves.size(); ++i) {
      for (const int node : cluster.leaves[i].nodes) level.domain[static_cast<std::size_t>(node)] = static_cast<int>(i);
    }
    topology.levels.push_back(std::move(level));
  }
  if (!cluster.nvlink_domains.empty()) {
    PlaceLevel level{"NVLink domain", {}};
    int alone = static_cast<int>(cluster.nvlink_domains.size());
    for (const ClusterNode& node : cluster.nodes) {
      level.domain.push_back(node.nvlink_domain >= 0 ? node.nvlink_domain : alone++);
    }
    topology.levels.push_back(std::move(level));
  }
  return topology;
}

ClusterState::ClusterState(const PlaceTopology& topology) {
  node_at_ = tree_order(topology);
  const std::size_t nodes = node_at_.size();
  slot_of_.resize(nodes);
  innermost_.resize(nodes);
  for (std::size_t slot = 0; slot < nodes; ++slot) {
    slot_of_[static_cast<std::size_t>(node_at_[slot])] = static_cast<int>(slot);
    const int gpus = topology.gpus[static_cast<std::size_t>(node_at_[slot])];
    gpus_.push_back(static_cast<std::uint8_t>(std::clamp(gpus, 0, kMostGpusPerNode)));
    stride_ = std::max(stride_, gpus_.back() + std::size_t{1});
  }
  free_ = gpus_;
  preferred_.resize(nodes);
  use_.resize(nodes, NodeUse::kUsable);
  build_depths(topology);
  counts_.resize(domains_.size() * stride_);
  for (std::size_t slot = 0; slot < nodes; ++slot) count(slot, 1);
}

void ClusterState::build_depths(const PlaceTopology& topology) {
  names_ = {"cluster"};
  domains_ = {{-1, 0, 0, 0, nodes()}};
  depth_begin_ = {0, 1};
  for (const PlaceLevel& level : topology.levels) {
    names_.push_back(level.name);
    const int first = depth_begin_[depth_begin_.size() - 2], last = depth_begin_.back();
    for (int parent = first; parent < last; ++parent) {
      const Domain range = domain(parent);
      const int first_child = domains();
      int number = 0;
      for (int slot = range.first_slot; slot < range.last_slot; ++slot) {
        const int of_slot = level.domain[static_cast<std::size_t>(node_at(slot))];
        if (slot == range.first_slot || of_slot != number) domains_.push_back({parent, 0, 0, slot, slot});
        number = of_slot;
        domains_.back().last_slot = slot + 1;
      }
      domains_[static_cast<std::size_t>(parent)].first_child = first_child;
      domains_[static_cast<std::size_t>(parent)].last_child = domains();
    }
    depth_begin_.push_back(domains());
  }
  for (int id = depth_begin(depths() - 1); id < domains(); ++id) {
    std::fill(innermost_.begin() + domain(id).first_slot, innermost_.begin() + domain(id).last_slot, id);
  }
}

void ClusterState::count(std::size_t slot, int by) {
  const std::size_t free = free_[slot];
  for (int id = innermost_[slot]; id >= 0; id = domain(id).parent) {
    counts_[static_cast<std::size_t>(id) * stride_ + free] += by;
  }
}

void ClusterState::change(std::size_t slot, int by) {
  const bool counted = use_[slot] == NodeUse::kUsable;
  if (counted) count(slot, -1);
  free_[slot] = static_cast<std::uint8_t>(free_[slot] + by);
  if (counted) count(slot, 1);
}

void ClusterState::set_preferred(int node, bool preferred) {
  std::uint8_t& is = preferred_[at(node)];
  preferred_nodes_ += (preferred ? 1 : 0) - is;
  is = preferred ? 1 : 0;
}

void ClusterState::set_use(int node, NodeUse use) {
  const std::size_t slot = at(node);
  const bool was = use_[slot] == NodeUse::kUsable, is = use == NodeUse::kUsable;
  use_[slot] = use;
  if (was && !is) count(slot, -1);
  if (!was && is) count(slot, 1);
}

}  // namespace tare
