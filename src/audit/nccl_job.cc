#include "audit/nccl_job.h"

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {

Reach reach_of(const FactRecord& facts) {
  const std::optional<double> nodes = facts.number("node_count");
  if (nodes && *nodes >= 1) return *nodes > 1 ? Reach::kSeveralNodes : Reach::kOneNode;
  if (facts.number("host_count").value_or(0) > 1) return Reach::kSeveralNodes;
  const std::optional<double> ranks = facts.number("rank_count");
  if (facts.number("host_count") != 1 || !ranks) return Reach::kUnknown;
  // The log of one node shows its processes; ranks beyond those are elsewhere.
  const double here = std::max(facts.number("process_count").value_or(0), facts.number("devices_per_host").value_or(0));
  const bool listed = facts.text("rank_count_from") == "the list of devices";
  return listed || *ranks <= std::max(here, 1.0) ? Reach::kOneNode : Reach::kUnknown;
}

const Accelerator* accelerator_of(const Observed& observed, const Seen& seen) {
  if (const FactRecord* const gpus = seen.facts->find_record("gpus")) {
    for (const auto& [name, count] : gpus->members()) {
      if (const Accelerator* const found = accelerator_named(observed.catalog(), name)) return found;
    }
  }
  return observed.accelerator_beside(seen);
}

bool is_consumer_card(const Accelerator& accelerator) {
  return accelerator.id.starts_with("RTX") && accelerator.id.size() > 3 && accelerator.id[3] >= '0' &&
         accelerator.id[3] <= '9' && accelerator.id[4] >= '0' && accelerator.id[4] <= '9' &&
         accelerator.id.find("Ada") == std::string::npos;
}

bool has_link_domain(const Accelerator* accelerator) { return accelerator != nullptr && accelerator->link_domain > 2; }

std::optional<double> gpus_of_job(const Observed& observed, const Seen& seen) {
  for (const char* const name : {"rank_count", "ranks"}) {
    if (const std::optional<double> ranks = seen.facts->number(name); ranks && *ranks > 0) return ranks;
  }
  return observed.gpus_beside(seen);
}

std::string setting_words(const Setting& setting) { return setting.name + "=" + setting.value; }

std::vector<Setting> settings_of(const FactRecord& facts) {
  std::vector<Setting> settings;
  for (const char* const source : {"env", "shell_env", "environment"}) {
    const FactRecord* const record = facts.find_record(source);
    if (record == nullptr) continue;
    for (const auto& [name, fact] : record->members()) {
      const std::optional<double> number = fact.number();
      const std::string value = number ? std::to_string(static_cast<long long>(*number)) : std::string(fact.text());
      settings.push_back(
          {name, value, fact.line > 0 ? fact.line : record->line, source != std::string_view("shell_env")});
    }
  }
  return settings;
}

std::optional<Setting> setting_of(const FactRecord& facts, std::string_view name) {
  for (Setting& setting : settings_of(facts)) {
    if (setting.name == name) return std::move(setting);
  }
  return std::nullopt;
}

bool is_set_to_one(const FactRecord& facts, std::string_view name) {
  const std::optional<Setting> setting = setting_of(facts, name);
  return setting && (setting->value == "1" || equals_ignoring_case(setting->value, "true"));
}

Subject job_of(const Seen& seen) { return {"job", "NCCL job", seen.node}; }

std::int64_t line_of_fact(const FactRecord& facts, std::string_view name) {
  const Fact* const fact = facts.find(name);
  if (fact == nullptr) return facts.line;
  if (const FactRecord* const record = fact->as_record(); record != nullptr && record->line > 0) return record->line;
  return fact->line > 0 ? fact->line : facts.line;
}

}  // namespace tare
