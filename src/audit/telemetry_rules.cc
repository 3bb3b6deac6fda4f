#include <vector>

#include "audit/telemetry_parts.h"

namespace tare {

std::span<const Rule> telemetry_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part : {telemetry_load_rules, telemetry_waste_rules, telemetry_data_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
