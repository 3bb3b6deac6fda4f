// A concrete cluster: nodes of one or more types and the fabric between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace tare {

// A leaf switch and what hangs below it.
struct Leaf {
  std::string name;
  std::vector<int> nodes;                    // indices into Cluster::nodes
  std::optional<double> uplink_bytes_per_s;  // per direction, all uplinks together; nullopt = non-blocking
};

struct Disk {
  std::string name;
  std::optional<double> read_iops;
  double read_bytes_per_s = 0, write_bytes_per_s = 0, bytes = 0;
};

struct ClusterNodeType {
  NodeType type;  // numbers as catalog::NodeType; id = the name in the file
  std::vector<Disk> disks;
};

struct ClusterNode {
  std::string name;
  int type = 0;            // index into Cluster::node_types
  int nvlink_domain = -1;  // index of the domain that spans nodes (NVL72), or -1: its node alone
};

struct Cluster {
  std::string name;
  std::vector<ClusterNodeType> node_types;
  std::vector<ClusterNode> nodes;
  std::vector<Leaf> leaves;
  std::vector<std::vector<int>> nvlink_domains;  // node indices of each domain that spans nodes
  Delivery delivery;
  std::optional<Offer> offer;  // what it costs; nullopt = unknown
  std::string fabric_kind = "fat_tree";
  bool fabric_assumed = false;  // --assume-fabric gave it, no source did
  Diagnostics warnings;         // of the file; the cluster is usable all the same
};

// Reads a cluster file (docs/cluster-file.md). All errors carry their place.
Result<Cluster> parse_cluster(std::string text, const std::string& file, const Catalog& catalog);

// What stands in for an unknown fabric under --assume-fabric.
struct AssumedFabric {
  double bytes_per_s_per_gpu = 0;  // per direction
};

// The cluster of `nodes` nodes of an offer: one leaf, non-blocking, unless the node type says otherwise.
// Errors: "no_known_fabric" (nodes > 1 and no bandwidth known), "unknown-node-type".
Result<Cluster> cluster_from_offer(const Catalog& catalog, const Offer& offer, int nodes,
                                   std::optional<AssumedFabric> assumed = {});

// The node type of an offer: its catalog entry, or one made of the offer's own GPU and count (no fabric, no known links
// for single GPUs: single-GPU rows never form an NVLink domain).
NodeType node_type_of(const Catalog& catalog, const Offer& offer);

}  // namespace tare
