#include "audit/collective_rules.h"

namespace tare {

std::span<const Rule> collective_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto subject :
         {collective_result_rules, collective_speed_rules, collective_shape_rules, collective_copy_rules}) {
      const std::span<const Rule> rules = subject();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
