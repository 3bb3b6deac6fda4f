// The parts of the topology family, and the matrices that they share. Internal to the family.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> topology_nvlink_rules();
std::span<const Rule> topology_matrix_rules();
std::span<const Rule> topology_numa_rules();
std::span<const Rule> topology_inventory_rules();
std::span<const Rule> pcie_link_rules();
std::span<const Rule> pcie_device_rules();

// One topology matrix that shows paths (not abilities, as -p2p does): a file may hold several.
struct TopoMatrix {
  Seen seen;  // of the file; its node is the matrix's own where the file names hosts
  const FactRecord* facts = nullptr;

  std::vector<const FactRecord*> gpus() const { return records_of(*facts, "gpus"); }
  bool partial() const { return is_true(*facts, "partial"); }
};
std::vector<TopoMatrix> topo_matrices(const Observed& observed);

// NVIDIA's, or nobody says whose and the devices are called GPU.
bool is_nvidia(const TopoMatrix& matrix);
// The link between two devices as the matrix prints it; empty when it is not there.
std::string_view link_between(const FactRecord& from, std::string_view to);
// 12 of "NV12"; nullopt for other links.
std::optional<int> nvlinks_of(std::string_view link);
bool shows_nvlink(const TopoMatrix& matrix);  // some pair has NV#

// A finding about the matrix as a whole, with its first line as evidence where `text` is not empty.
Finding finding_of(const Rule& rule, FindingSeverity severity, const TopoMatrix& matrix, std::string text);

}  // namespace tare
