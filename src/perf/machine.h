// The cluster as the step model sees it: a few numbers per GPU and a link per distance.
#pragma once

#include "catalog/accelerator.h"
#include "cluster/cluster.h"
#include "perf/delivery.h"

namespace tare {

enum class LinkKind { kNvlink, kXgmi, kPcie, kNetwork };

struct Link {
  LinkKind kind = LinkKind::kNetwork;
  double bytes_per_s = 0;  // per GPU and direction
  double latency_s = 0;    // of one hop
};

struct Machine {
  std::string gpu;  // accelerator id
  GpuGeneration generation = GpuGeneration::kUnknown;
  bool server_part = true;  // SXM/OAM/superchip (not a PCIe consumer card)
  double peak_fp16_flops = 0, peak_bf16_flops = 0, peak_fp8_flops = 0, peak_fp4_flops = 0;  // 0 = not native
  double peak_fp32_flops = 0, peak_tf32_flops = 0;
  double memory_bytes = 0;
  double memory_bytes_per_s = 0;
  double tdp_w = 0;
  int sm_count = 0;
  int gpus_per_node = 1;
  int domain_gpus = 1;             // GPUs in one NVLink domain
  int gpus = 1;                    // in the cluster
  Link in_domain;                  // NVLink, xGMI or, without either, PCIe
  Link in_node;                    // between domains of one node (PCIe)
  Link between_nodes;              // 0 bytes/s = unknown
  double oversubscription = 1;     // of leaf uplinks, ≥ 1
  double dp_oversubscription = 0;  // what data-parallel traffic alone meets, where a rank order is known; 0 = the same
  double pp_oversubscription = 0;  // and pipeline traffic
  int gpus_per_leaf = 0;           // 0 = one leaf
  double host_bytes_per_s = 0;     // PCIe or C2C, per GPU and direction
  double host_memory_bytes = 0;    // per GPU; 0 = unknown
  double storage_bytes_per_s = 0;  // reads of the whole cluster from where the data lies; 0 = unknown
  DeliveryEffect delivery;
};

// Bytes per second and direction that PCIe moves in practice: 85 % of the line rate after encoding and packet headers;
// 16 lanes when they are not known, 0 for an unknown generation.
double pcie_bytes_per_s(int generation, int lanes);

// The fields of one accelerator; unknown ones stay 0.
void set_accelerator(Machine& machine, const Accelerator& accelerator);

// The machine that `nodes` nodes of one type form, without what a delivery does to it.
Machine machine_of_node(const Accelerator& accelerator, const NodeType& type, int nodes);

// The machine that the cluster's (first) node type forms, as delivered; bare_machine is the same hardware before it is.
Machine bare_machine(const Catalog& catalog, const Cluster& cluster);
Machine make_machine(const Catalog& catalog, const Cluster& cluster);

// What a part runs a job's precision in: itself, or the next wider format that it has.
Precision effective_precision(const Machine& machine, Precision precision);

// The dense peak of effective_precision().
double peak_flops(const Machine& machine, Precision precision);

}  // namespace tare
