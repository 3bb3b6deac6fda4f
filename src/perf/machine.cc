#include "perf/machine.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tare {
namespace {

bool is_server_part(const Accelerator& accelerator) { return !equals_ignoring_case(accelerator.form_factor, "pcie"); }

// One-way latencies of a hop, seen by a collective: kernel hand-over included.
double network_latency_s(const std::string& kind) {
  const std::string text = to_lower(kind);
  if (text.find("ib") == 0) return 6e-6;
  if (text.find("roce") != std::string::npos) return 8e-6;
  if (text.find("efa") != std::string::npos) return 18e-6;
  if (text.find("tcp") != std::string::npos || text.find("ethernet") != std::string::npos) return 30e-6;
  return 12e-6;
}

void set_links(Machine& machine, const Accelerator& accelerator, const NodeType& type) {
  const int domain = type.nvlink_domain.value_or(1);
  const int generation = type.pcie_generation > 0 ? type.pcie_generation : accelerator.pcie_generation;
  const double pcie = pcie_bytes_per_s(generation > 0 ? generation : 4, type.pcie_lanes);
  machine.host_bytes_per_s = pcie;
  // Consumer cards have no peer-to-peer transfer: every byte goes through host memory, in and out of the same link.
  const bool peer_to_peer = machine.server_part || accelerator.tdp_w.value_or(0) <= 400;
  const Link bridge{LinkKind::kPcie, peer_to_peer ? pcie : pcie / 2, 8e-6};
  machine.in_node = bridge;
  if (domain > 1) {
    const double rate = type.intra_node_bytes_per_s.value_or(accelerator.link_bytes_per_s.value_or(pcie));
    const bool amd = accelerator.vendor == "amd";
    machine.in_domain = {amd ? LinkKind::kXgmi : LinkKind::kNvlink, rate, 3e-6};
    machine.domain_gpus = domain;
  } else {
    machine.in_domain = bridge;
    machine.domain_gpus = std::max(type.gpus, 1);
  }
  machine.between_nodes = {LinkKind::kNetwork, type.inter_node_bytes_per_s_per_gpu.value_or(0),
                           network_latency_s(type.nic_kind)};
}

// All ranks wait for the tightest place: the smallest leaf bounds what stays inside one, the busiest uplink the rest.
void set_leaves(Machine& machine, const std::vector<Leaf>& leaves) {
  for (const Leaf& leaf : leaves) {
    const int gpus = static_cast<int>(leaf.nodes.size()) * machine.gpus_per_node;
    machine.gpus_per_leaf = machine.gpus_per_leaf > 0 ? std::min(machine.gpus_per_leaf, gpus) : gpus;
    if (!leaf.uplink_bytes_per_s || *leaf.uplink_bytes_per_s <= 0) continue;
    const double wanted = machine.between_nodes.bytes_per_s * gpus;
    machine.oversubscription = std::max(machine.oversubscription, wanted / *leaf.uplink_bytes_per_s);
  }
}

}  // namespace

double pcie_bytes_per_s(int generation, int lanes) {
  if (generation <= 0) return 0;
  const double per_lane = 0.985e9 * std::pow(2, generation - 3);
  return per_lane * (lanes > 0 ? lanes : 16) * 0.85;
}

void set_accelerator(Machine& machine, const Accelerator& accelerator) {
  machine.gpu = accelerator.id;
  machine.generation = accelerator.generation;
  machine.server_part = is_server_part(accelerator);
  machine.peak_fp16_flops = accelerator.peak_fp16_flops.value_or(0);
  machine.peak_bf16_flops = accelerator.peak_bf16_flops.value_or(0);
  machine.peak_fp8_flops = accelerator.peak_fp8_flops.value_or(0);
  machine.peak_fp4_flops = accelerator.peak_fp4_flops.value_or(0);
  machine.peak_fp32_flops = accelerator.peak_fp32_flops.value_or(0);
  machine.peak_tf32_flops = accelerator.peak_tf32_flops.value_or(0);
  machine.memory_bytes = accelerator.memory_bytes;
  machine.memory_bytes_per_s = accelerator.memory_bytes_per_s;
  machine.tdp_w = accelerator.tdp_w.value_or(0);
  machine.sm_count = accelerator.sm_count.value_or(0);
}

Machine machine_of_node(const Accelerator& accelerator, const NodeType& type, int nodes) {
  Machine machine;
  set_accelerator(machine, accelerator);
  machine.gpus_per_node = std::max(type.gpus, 1);
  machine.gpus = nodes * machine.gpus_per_node;
  set_links(machine, accelerator, type);
  if (type.memory_bytes) machine.host_memory_bytes = *type.memory_bytes / machine.gpus_per_node;
  if (type.local_nvme_read_bytes_per_s) {
    machine.storage_bytes_per_s = *type.local_nvme_read_bytes_per_s * type.local_nvme_count.value_or(1) * nodes;
  }
  return machine;
}

Machine bare_machine(const Catalog& catalog, const Cluster& cluster) {
  const NodeType& type = cluster.node_types.front().type;
  Machine machine = machine_of_node(*find_accelerator(catalog, type.gpu), type, static_cast<int>(cluster.nodes.size()));
  if (cluster.leaves.size() > 1) set_leaves(machine, cluster.leaves);
  return machine;
}

Machine make_machine(const Catalog& catalog, const Cluster& cluster) {
  Machine machine = bare_machine(catalog, cluster);
  apply_delivery(machine, catalog, cluster.delivery);
  return machine;
}

Precision effective_precision(const Machine& machine, Precision precision) {
  if (precision == Precision::kNvfp4 && machine.peak_fp4_flops <= 0) precision = Precision::kFp8;
  const bool eight_bit = precision == Precision::kFp8 || precision == Precision::kMxfp8;
  if (eight_bit && machine.peak_fp8_flops <= 0) precision = Precision::kBf16;
  if (precision == Precision::kBf16 && machine.peak_bf16_flops <= 0) return Precision::kFp16;
  if (precision == Precision::kFp16 && machine.peak_fp16_flops <= 0) return Precision::kBf16;
  if (precision == Precision::kTf32 && machine.peak_tf32_flops <= 0) return Precision::kFp32;
  return precision;
}

double peak_flops(const Machine& machine, Precision precision) {
  switch (effective_precision(machine, precision)) {
    case Precision::kFp32:
      return machine.peak_fp32_flops;
    case Precision::kTf32:
      return std::max(machine.peak_tf32_flops, machine.peak_fp32_flops);
    case Precision::kFp16:
      return machine.peak_fp16_flops;
    case Precision::kBf16:
      return machine.peak_bf16_flops;
    case Precision::kFp8:
    case Precision::kMxfp8:
      return machine.peak_fp8_flops;
    case Precision::kNvfp4:
      return machine.peak_fp4_flops;
  }
  return 0;
}

}  // namespace tare
