// What the way a node is delivered does to a step, axis by axis, each from parameters with a low and a high.
//
//   host         bare metal 0; VM: whole-GPU passthrough loses a share t of throughput, so a step takes 1/(1 − t) of
//   the
//                time: ratio t/(1 − t); a host nobody states is taken as bare metal, its range reaches to the VM's
//                a VM also adds a latency to each wait for the host (host_syncs_per_step · vm_sync_latency_s:
//                microseconds a step; collectives poll and pay none) and a jitter, which the slowest rank turns into
//                waiting
//   packaging    a container shares the host's kernel: 0 … 1 %
//   GPU share    MIG: a slice is a smaller GPU (SMs and memory by its share, no link to others) and an overhead;
//                time slicing: 1/k of the time less the switching, MPS likewise: ratio k/(1 − t) − 1
//   tenancy      a shared node: neighbours on the same memory take their part of PCIe and host bandwidth
//   PCIe         generation and width are the node type's: a VM does not retrain the link
//   fabric       what a virtual network costs belongs to the fabric's own rate and latency, not to the delivery
// The three ratios multiply: T = T0 · (1 + host) · (1 + packaging) · (1 + share) + syncs. Never one flat number.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace tare {

struct Machine;

struct DeliveryEffect {
  double host_ratio = 0;              // 0.015 = the whole step 1.5 % longer: VM against bare metal
  double network_slowdown_ratio = 0;  // 0.05 = the links between nodes 5 % slower
  double jitter_ratio = 0;            // standard deviation of a rank's step, relative
  double packaging_ratio = 0;
  double gpu_share_ratio = 0;
  double sync_s = 0;  // of one step: waits for the host
};

// (1 + host)(1 + packaging)(1 + share) − 1.
double slowdown_ratio(const DeliveryEffect& effect);

// Which value of every parameter to take; an end that is not known is the base.
enum class ParameterEnd { kLow, kBase, kHigh };

DeliveryEffect delivery_effect(const Catalog& catalog, const Delivery& delivery,
                               ParameterEnd end = ParameterEnd::kBase);

// Sets the effect, and makes of the machine's GPUs the slices and of its host links the shares that are delivered.
// Precondition: a machine without a delivery.
void apply_delivery(Machine& machine, const Catalog& catalog, const Delivery& delivery,
                    ParameterEnd end = ParameterEnd::kBase);

// The parameter behind the share of throughput that an axis takes; empty where it takes none.
std::string host_tax_parameter(const std::string& host);            // virt_tax_vm, virt_tax_unknown
std::string packaging_tax_parameter(const std::string& packaging);  // ct_tax
std::string gpu_share_tax_parameter(const std::string& gpu_share);  // mig_tax, timeslice_tax, mps_tax

// The catalog parameters a delivery may ask for: a test checks that the shipped catalog has them all.
const std::vector<std::string>& delivery_parameter_ids();

}  // namespace tare
