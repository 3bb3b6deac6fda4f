#include "audit/kubernetes_rules.h"

#include <utility>

#include "audit/gpu_seen.h"
#include "base/text.h"

namespace tare {

std::vector<KubeNode> kube_nodes(const Observed& observed) {
  std::vector<KubeNode> nodes;
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    const std::vector<const FactRecord*> records = records_of(*seen.facts, "nodes");
    for (const FactRecord* const record : records) {
      KubeNode node{&seen, record, std::string(record->text("name"))};
      if (node.name.empty() && records.size() == 1) node.name = seen.node;
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

Finding node_finding(const Rule& rule, FindingSeverity severity, const KubeNode& node, std::string title,
                     std::string_view member, std::string text) {
  Finding finding = make_finding(rule, severity, {"node", node.name, node.name}, std::move(title));
  finding.evidence.push_back(evidence_of(*node.seen, line_of(*node.facts, member), std::move(text)));
  finding.gpu = node.facts->text("gpu_product");
  return finding;
}

std::optional<double> kube_quantity(const Fact* fact) {
  if (fact == nullptr) return std::nullopt;
  if (const auto number = fact->number()) return number;
  struct Suffix {
    std::string_view text;
    double factor;
  };
  static constexpr Suffix kSuffixes[] = {
      {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}, {"m", 1e-3}, {"k", 1e3},
      {"M", 1e6},     {"G", 1e9},        {"T", 1e12},
  };
  const std::string_view text = trim(fact->text());
  for (const Suffix& suffix : kSuffixes) {
    if (!text.ends_with(suffix.text)) continue;
    const auto number = Fact::parsed(text.substr(0, text.size() - suffix.text.size())).number();
    return number ? std::optional<double>(*number * suffix.factor) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> resource_of(const FactRecord& record, std::string_view map, std::string_view resource) {
  const FactRecord* const resources = record.find_record(map);
  return resources == nullptr ? std::nullopt : kube_quantity(resources->find(resource));
}

bool says_true(const FactRecord& record, std::string_view member) {
  return is_true(record, member) || equals_ignoring_case(record.text(member), "true");
}

}  // namespace tare
