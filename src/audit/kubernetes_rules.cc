#include "audit/kubernetes_rules.h"

namespace tare {

std::span<const Rule> kubernetes_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part :
         {kubernetes_node_rules, kubernetes_device_rules, kubernetes_pod_rules, kubernetes_workload_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
