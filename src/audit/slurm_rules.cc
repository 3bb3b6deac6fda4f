#include "audit/slurm_rules.h"

#include <utility>

namespace tare {

Subject subject_of_output(const Seen& seen, std::string_view kind, std::string name) {
  return {std::string(kind), std::move(name), seen.node};
}

std::span<const Rule> slurm_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part : {slurm_node_rules, slurm_partition_rules, slurm_gres_rules, slurm_config_rules,
                            slurm_job_rules, slurm_reading_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
