#include <fmt/format.h>

#include "audit/rule.h"

namespace tare {
namespace {

std::string gpu_name(const FactRecord& gpu) { return std::string(gpu.text("name")); }

// A NIC further than its own PCIe switch: traffic crosses the CPU, and GPUDirect is slow or off.
void nic_far(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("topo")) {
    const std::vector<const FactRecord*> gpus = records_of(*seen.facts, "gpus");
    if (seen.facts->number("nic_count").value_or(0) < 1) continue;
    std::vector<std::string> far;
    Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", seen.node, seen.node}, "");
    for (const FactRecord* const gpu : gpus) {
      const std::string_view link = gpu->text("nearest_nic_link");
      if (link != "NODE" && link != "SYS") continue;
      far.push_back(gpu_name(*gpu));
      if (finding.evidence.size() < 4) {
        finding.evidence.push_back(
            evidence_of(seen, gpu->line, fmt::format("{}: nearest NIC by {}", far.back(), link)));
      }
    }
    if (far.empty()) continue;
    finding.title = fmt::format("{} of {} GPUs have no NIC on their PCIe switch", far.size(), gpus.size());
    finding.cause = "The nearest NIC is reached through the CPU (NODE) or the other socket (SYS).";
    finding.expected = "PIX or PXB";
    finding.measured = fmt::format("NODE or SYS for {}", far.front());
    finding.fix = {"use rail-wise rank order so that these GPUs send through a neighbour (NCCL PXN)",
                   "check whether a NIC is missing from its slot: lspci | grep -i -e mellanox -e infiniband"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"topology.nic-far", "GPUs without a NIC near them",
     "A GPU whose nearest NIC is behind the CPU sends its inter-node traffic over the host bridge or the socket link.",
     "nccl#1591", nic_far},
};

}  // namespace

std::span<const Rule> topology_rules() { return kRules; }

}  // namespace tare
