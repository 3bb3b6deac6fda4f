#include "validation/row_machine.h"

#include <algorithm>

namespace tare {
namespace {

// What clusters of a generation are usually built with, per GPU and direction.
double default_network_bytes_per_s(const Machine& machine) {
  if (!machine.server_part) return 100e9 / 8;
  switch (machine.generation) {
    case GpuGeneration::kHopper:
    case GpuGeneration::kBlackwell:
    case GpuGeneration::kCdna3:
    case GpuGeneration::kCdna4:
      return 400e9 / 8;
    default:
      return 200e9 / 8;
  }
}

NodeType node_type_of(const ThroughputRow& row, const Accelerator& accelerator) {
  NodeType type;
  type.gpu = accelerator.id;
  const bool rack = accelerator.link_domain > 8;
  type.gpus = row.gpus_per_node.value_or(rack ? 4 : 8);
  const bool linked =
      row.intra_node_link.empty() ? accelerator.link_domain > 1 : row.intra_node_link.rfind("pcie", 0) != 0;
  type.nvlink_domain = !linked ? 1 : rack ? accelerator.link_domain : type.gpus;
  type.intra_node_bytes_per_s = accelerator.link_bytes_per_s;
  type.pcie_generation = accelerator.pcie_generation;
  type.pcie_lanes = accelerator.pcie_lanes;
  type.nic_kind = "ib";
  type.inter_node_bytes_per_s_per_gpu = row.inter_node_bytes_per_s_per_gpu;
  return type;
}

}  // namespace

Machine machine_of(const ThroughputRow& row, const Accelerator& accelerator, std::vector<std::string>& assumed) {
  const NodeType type = node_type_of(row, accelerator);
  Machine machine = machine_of_node(accelerator, type, std::max(1, *row.gpus / type.gpus));
  machine.gpus = *row.gpus;
  if (machine.between_nodes.bytes_per_s > 0) return machine;
  machine.between_nodes.bytes_per_s = default_network_bytes_per_s(machine);
  if (machine.gpus > machine.gpus_per_node) {
    const int gbit_per_s = static_cast<int>(machine.between_nodes.bytes_per_s * 8 / 1e9);
    assumed.push_back("network = " + std::to_string(gbit_per_s) + " Gb/s per GPU");
  }
  return machine;
}

}  // namespace tare
