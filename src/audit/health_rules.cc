#include <vector>

#include "audit/health_parts.h"

namespace tare {

std::span<const Rule> health_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part :
         {xid_rules, kernel_rules, pcie_log_rules, gpu_state_rules, gpu_speed_rules, nvlink_rules, diag_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
