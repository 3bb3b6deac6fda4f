#include "audit/topology_rules.h"

#include <utility>

namespace tare {
namespace {

// Abilities of -p2p stand in the same shape; a matrix of them says nothing of paths.
bool shows_paths(const FactRecord& facts) { return !facts.has("p2p_everywhere") && facts.find_list("gpus") != nullptr; }

}  // namespace

std::vector<TopoMatrix> topo_matrices(const Observed& observed) {
  std::vector<TopoMatrix> matrices;
  for (const Seen& seen : observed.of_kind("topo")) {
    std::vector<const FactRecord*> all = records_of(*seen.facts, "topologies");
    if (all.size() < 2) all = {seen.facts};
    for (const FactRecord* const facts : all) {
      if (!shows_paths(*facts)) continue;
      TopoMatrix matrix{seen, facts};
      if (const std::string_view host = facts->text("source"); !host.empty()) matrix.seen.node = host;
      matrices.push_back(std::move(matrix));
    }
  }
  return matrices;
}

bool is_nvidia(const TopoMatrix& matrix) {
  const std::string_view vendor = matrix.facts->text("vendor");
  return vendor == "NVIDIA" || (vendor.empty() && matrix.facts->text("device_prefix") == "GPU");
}

std::string_view link_between(const FactRecord& from, std::string_view to) {
  const FactRecord* const links = from.find_record("links");
  return links == nullptr ? std::string_view() : links->text(to);
}

std::optional<int> nvlinks_of(std::string_view link) {
  if (!link.starts_with("NV") || link.size() < 3 || link.size() > 5) return std::nullopt;
  int count = 0;
  for (const char c : link.substr(2)) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + (c - '0');
  }
  return count;
}

bool shows_nvlink(const TopoMatrix& matrix) { return is_true(*matrix.facts, "nvlink"); }

Finding finding_of(const Rule& rule, FindingSeverity severity, const TopoMatrix& matrix, std::string text) {
  Finding finding = make_finding(rule, severity, {"node", matrix.seen.node, matrix.seen.node}, "");
  if (!text.empty()) {
    const std::vector<const FactRecord*> gpus = matrix.gpus();
    finding.evidence.push_back(evidence_of(matrix.seen, gpus.empty() ? 0 : gpus.front()->line, std::move(text)));
  }
  return finding;
}

std::span<const Rule> topology_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part : {topology_nvlink_rules, topology_matrix_rules, topology_numa_rules, topology_inventory_rules,
                            pcie_link_rules, pcie_device_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
