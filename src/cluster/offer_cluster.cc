// Clusters of an offer: as many of its nodes as asked for.
#include <algorithm>

#include <fmt/format.h>

#include "cluster/cluster.h"

namespace tare {
namespace {

// Modules of a baseboard are joined by their links as soon as an instance holds several; whether cards are is not
// known.
bool is_module(const Accelerator& accelerator) {
  return accelerator.form_factor != "pcie" && accelerator.link_domain > 1;
}

NodeType made_of(const Catalog& catalog, const Offer& offer) {
  NodeType type;
  type.id = offer.provider + '/' + offer.instance;
  type.provider = offer.provider;
  type.instance = offer.instance;
  type.gpu = offer.gpu;
  type.gpus = offer.gpus;
  type.nic_kind = "unknown";
  if (offer.gpus == 1) type.nvlink_domain = 1;
  if (const Accelerator* accelerator = find_accelerator(catalog, offer.gpu)) {
    type.pcie_generation = accelerator->pcie_generation;
    type.pcie_lanes = accelerator->pcie_lanes;
    if (offer.gpus > 1 && is_module(*accelerator)) {
      type.nvlink_domain = std::min(offer.gpus, accelerator->link_domain);
      type.intra_node_bytes_per_s = accelerator->link_bytes_per_s;
    }
  }
  type.source.text = "made of the offer: its GPU and count";
  type.source.evidence = "unknown";
  return type;
}

// Nodes that share one link domain, in order: a rack of NVL72 is 18 nodes of 4.
void group_domains(const NodeType& type, Cluster& cluster) {
  const int domain = type.nvlink_domain.value_or(1);
  if (type.gpus < 1 || domain <= type.gpus) return;
  const std::size_t nodes_per_domain = static_cast<std::size_t>(std::max(1, domain / type.gpus));
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const std::size_t number = i / nodes_per_domain;
    if (number == cluster.nvlink_domains.size()) cluster.nvlink_domains.emplace_back();
    cluster.nvlink_domains[number].push_back(static_cast<int>(i));
    cluster.nodes[i].nvlink_domain = static_cast<int>(number);
  }
}

}  // namespace

NodeType node_type_of(const Catalog& catalog, const Offer& offer) {
  const NodeType* known = offer.node_type.empty() ? nullptr : find_node_type(catalog, offer.node_type);
  if (known == nullptr) return made_of(catalog, offer);
  NodeType type = *known;
  type.delivery = offer.delivery;  // the offer is what is bought
  return type;
}

Result<Cluster> cluster_from_offer(const Catalog& catalog, const Offer& offer, int nodes,
                                   std::optional<AssumedFabric> assumed) {
  if (!offer.node_type.empty() && find_node_type(catalog, offer.node_type) == nullptr) {
    return fail(unknown_node_type(catalog, offer.node_type));
  }
  if (nodes < 1) return fail("out-of-range", fmt::format("expected at least 1 node, found {}", nodes));
  Cluster cluster;
  cluster.name = offer.id;
  cluster.offer = offer;
  cluster.delivery = offer.delivery;
  NodeType type = node_type_of(catalog, offer);
  cluster.nodes.reserve(static_cast<std::size_t>(nodes));
  Leaf leaf{"leaf1", {}, std::nullopt};
  for (int i = 0; i < nodes; ++i) {
    cluster.nodes.push_back({fmt::format("n{}", i + 1), 0, -1});
    leaf.nodes.push_back(i);
  }
  cluster.leaves.push_back(std::move(leaf));
  group_domains(type, cluster);
  const bool in_one_domain = cluster.nvlink_domains.size() == 1;
  if (nodes > 1 && !in_one_domain && !has_known_fabric(type)) {
    if (!assumed) {
      return fail("no_known_fabric", fmt::format("no source states the network between nodes of {}", type.id),
                  "--assume-fabric states it, such as --assume-fabric 400Gb/s");
    }
    type.inter_node_bytes_per_s_per_gpu = assumed->bytes_per_s_per_gpu;
    cluster.fabric_assumed = true;
  }
  cluster.node_types.push_back({std::move(type), {}});
  return cluster;
}

}  // namespace tare
