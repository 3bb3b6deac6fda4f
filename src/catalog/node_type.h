// One instance or server type: its GPUs, their link domain, NICs, disks, and how it is delivered.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/source.h"

namespace tare {

// The three axes of a delivery and its tenancy (never one word from the seller). Text values, checked when read:
// host: bare_metal, vm, unknown; packaging: none, container, unknown; gpu_share: whole, mig, mps, time_slice;
// tenancy: dedicated, shared, unknown.
struct Delivery {
  std::string host = "unknown";
  std::string packaging = "unknown";
  std::string gpu_share = "whole";
  std::string tenancy = "unknown";
};

// The accepted words of each axis.
const std::vector<std::string>& host_names();
const std::vector<std::string>& packaging_names();
const std::vector<std::string>& gpu_share_names();
const std::vector<std::string>& tenancy_names();

struct Nic {
  std::string id;
  std::string name;
  double rate_bytes_per_s = 0;  // per direction
  std::string scope;            // port, node
  std::string transport;        // ib, roce, efa, tcp, ethernet
  Source source;
};

struct NodeType {
  std::string id;  // "aws/p5.48xlarge"
  std::string provider;
  std::string instance;
  std::string gpu;                               // an accelerator id
  int gpus = 0;                                  // per node
  std::optional<int> nvlink_domain;              // GPUs; may exceed the node (NVL72); 1 = none
  std::optional<double> intra_node_bytes_per_s;  // per GPU and direction
  int pcie_generation = 0;
  int pcie_lanes = 0;
  std::optional<int> nics;
  std::optional<double> nic_rate_bytes_per_s;
  std::string nic_kind;                                  // "IB NDR", "EFA", "RoCE", "ethernet", "unknown"
  std::optional<double> inter_node_bytes_per_s_per_gpu;  // per direction; nullopt = no known fabric
  std::optional<bool> rail_optimized;
  std::optional<int> max_cluster_nodes;
  std::optional<int> local_nvme_count;
  std::optional<double> local_nvme_bytes, local_nvme_read_bytes_per_s, local_nvme_write_bytes_per_s;
  std::optional<int> vcpus;
  std::optional<double> memory_bytes;
  Delivery delivery;
  std::optional<bool> multi_node;  // sold as a cluster of several nodes
  std::optional<double> node_power_w;
  std::optional<double> capex_low_usd, capex_base_usd, capex_high_usd;
  Source source;
};

// True where a job may span several nodes: the bandwidth between them is known.
inline bool has_known_fabric(const NodeType& node_type) { return node_type.inter_node_bytes_per_s_per_gpu.has_value(); }

}  // namespace tare
