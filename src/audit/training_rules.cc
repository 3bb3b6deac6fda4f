#include <vector>

#include "audit/training_run.h"

namespace tare {

std::span<const Rule> training_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part : {training_pace_rules, training_wait_rules, training_figure_rules, training_memory_rules,
                            training_learning_rules, training_parallel_rules, training_event_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
