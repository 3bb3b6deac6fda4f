// The parts of the Kubernetes family, and what they share. Internal to the family.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> kubernetes_node_rules();      // what can be allocated, MIG, readiness
std::span<const Rule> kubernetes_device_rules();    // device plugins, GPUs without CPU
std::span<const Rule> kubernetes_pod_rules();       // pods that wait or end
std::span<const Rule> kubernetes_workload_rules();  // what manifests ask for

// A node of a reading.
struct KubeNode {
  const Seen* seen = nullptr;
  const FactRecord* facts = nullptr;
  std::string name;  // the reading's node where it has none of its own; may be empty
};
std::vector<KubeNode> kube_nodes(const Observed& observed);

Finding node_finding(const Rule& rule, FindingSeverity severity, const KubeNode& node, std::string title,
                     std::string_view member, std::string text);

// A quantity of Kubernetes as a number: "31850m" 31.85, "32000Mi" in bytes.
std::optional<double> kube_quantity(const Fact* fact);
// The resource of a record's map: {"allocatable", "memory"}.
std::optional<double> resource_of(const FactRecord& record, std::string_view map, std::string_view resource);
// True for a truth value and for the words True and true.
bool says_true(const FactRecord& record, std::string_view member);

}  // namespace tare
