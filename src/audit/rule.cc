#include "audit/rule.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace tare {

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto family :
         {topology_rules, network_rules, health_rules, telemetry_rules, waste_rules, collective_rules, storage_rules,
          training_rules, slurm_rules, kubernetes_rules, billing_rules, run_rules, rank_rules}) {
      const std::span<const Rule> rules = family();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

const Rule* find_rule(std::string_view id) {
  const std::span<const Rule> all = rules();
  const auto found = std::find_if(all.begin(), all.end(), [id](const Rule& rule) { return rule.id == id; });
  return found == all.end() ? nullptr : &*found;
}

Finding make_finding(const Rule& rule, FindingSeverity severity, Subject subject, std::string title) {
  Finding finding;
  finding.rule_id = rule.id;
  finding.severity = severity;
  finding.subject = std::move(subject);
  finding.title = std::move(title);
  for (const std::string_view reference : split(rule.reference, ',')) {
    if (!trim(reference).empty()) finding.references.emplace_back(trim(reference));
  }
  return finding;
}

Evidence evidence_of(const Seen& seen, std::int64_t line, std::string text) {
  return {seen.file->path, line, std::move(text)};
}

std::string list_names(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

}  // namespace tare
