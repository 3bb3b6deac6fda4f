#include "audit/gpu_seen.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/loss.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kEvidence = 4;

std::string name_of_gpu(const FactRecord& gpu) {
  for (const char* const name : {"index", "gpu"}) {
    if (const auto index = gpu.integer(name)) return fmt::format("GPU{}", *index);
  }
  for (const char* const name : {"bus_id", "device", "uuid"}) {
    if (!gpu.text(name).empty()) return std::string(gpu.text(name));
  }
  return "GPU";
}

std::string host_of_gpu(const FactRecord& gpu, const Seen& seen) {
  for (const char* const name : {"hostname", "node"}) {
    if (!gpu.text(name).empty()) return std::string(gpu.text(name));
  }
  return seen.node;
}

bool is_instance(const FactRecord& gpu) { return gpu.has("gpu_i_id") || gpu.has("gpu_instance_id"); }

// Groups by host, in the order of the records.
void add_groups(const Seen& seen, const FactRecord& facts, std::vector<GpuGroup>& groups) {
  const std::size_t first = groups.size();
  std::set<std::string> partitioned;
  for (const FactRecord* const gpu : records_of(facts, "gpus")) {
    const std::string host = host_of_gpu(*gpu, seen);
    auto group = std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(),
                              [&](const GpuGroup& one) { return one.node == host; });
    if (group == groups.end()) {
      groups.push_back({&seen, host, {}});
      group = groups.end() - 1;
    }
    GpuSeen one{gpu, name_of_gpu(*gpu), is_instance(*gpu) || gpu->has("mig_devices")};
    if (is_instance(*gpu) && !partitioned.insert(host + '\n' + one.name).second) continue;
    group->gpus.push_back(std::move(one));
  }
}

// "is|are hot" for one: "is hot".
std::string agree(std::string_view text, bool one) {
  std::string agreed;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    const std::size_t bar = word.find('|');
    if (bar == std::string_view::npos) {
      agreed += word;
    } else {
      agreed += one ? word.substr(0, bar) : word.substr(bar + 1);
    }
    if (space == std::string_view::npos) break;
    agreed += ' ';
    text.remove_prefix(space + 1);
  }
  return agreed;
}

}  // namespace

std::vector<GpuGroup> gpu_groups(const Observed& observed) {
  std::vector<GpuGroup> groups;
  for (const std::string_view kind : {"nvidia-smi", "dcgm"}) {
    for (const Seen& seen : observed.of_kind(kind)) {
      const std::vector<const FactRecord*> snapshots = records_of(*seen.facts, "snapshots");
      for (const FactRecord* const snapshot : snapshots) add_groups(seen, *snapshot, groups);
      if (snapshots.empty()) add_groups(seen, *seen.facts, groups);
    }
  }
  return groups;
}

std::string node_of(const Seen& seen) {
  if (!seen.node.empty()) return seen.node;
  const std::vector<Fact>* const hosts = seen.facts->find_list("hosts");
  return hosts != nullptr && hosts->size() == 1 ? std::string(hosts->front().text()) : std::string();
}

std::optional<double> first_number(const FactRecord& facts, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto value = facts.number(name)) return value;
  }
  return std::nullopt;
}

std::optional<double> power_w(const FactRecord& gpu) {
  return first_number(gpu, {"power_w", "power_usage_w", "average_power_draw_w", "instant_power_draw_w"});
}
std::optional<double> power_limit_w(const FactRecord& gpu) {
  return first_number(gpu, {"power_limit_w", "enforced_power_limit_w"});
}
std::optional<double> util_pct(const FactRecord& gpu) { return first_number(gpu, {"util_pct", "gpu_util_pct"}); }
std::optional<double> temperature_c(const FactRecord& gpu) { return first_number(gpu, {"temp_c", "gpu_temp_c"}); }
std::optional<double> memory_used_mib(const FactRecord& gpu) {
  return first_number(gpu, {"mem_used_mib", "fb_used_mib"});
}
std::optional<double> memory_used_ratio(const FactRecord& gpu) {
  const auto used = memory_used_mib(gpu);
  auto total = first_number(gpu, {"mem_total_mib", "fb_total_mib"});
  if (const auto free = gpu.number("fb_free_mib"); !total && used && free) total = *used + *free;
  if (!used || !total || *total <= 0) return std::nullopt;
  return *used / *total;
}

std::string fact_in_words(const FactRecord& facts, std::string_view name) {
  const Fact* const fact = facts.find(name);
  if (fact == nullptr || fact->is_unknown()) return fmt::format("{}: unknown", name);
  if (const auto number = fact->number()) return fmt::format("{}: {:.10g}", name, *number);
  if (const bool* const truth = std::get_if<bool>(&fact->value)) return fmt::format("{}: {}", name, *truth);
  return fmt::format("{}: {}", name, fact->text());
}

std::int64_t line_of(const FactRecord& facts, std::string_view name) {
  const Fact* const fact = facts.find(name);
  return fact != nullptr && fact->line > 0 ? fact->line : facts.line;
}

bool says(const FactRecord& facts, std::string_view name, std::string_view word) {
  return equals_ignoring_case(facts.text(name), word);
}

bool is_data_centre(const Accelerator& gpu) {
  const std::string id = to_lower(gpu.id);
  return id.find("rtx") == std::string::npos && id.find("quadro") == std::string::npos &&
         id.find("titan") == std::string::npos && id.find("gtx") == std::string::npos;
}

bool has_nvlink_fabric(const Accelerator& gpu) { return gpu.link.starts_with("nvlink") && gpu.link != "nvlink_bridge"; }

void GpuFaults::add(const GpuSeen& gpu, std::int64_t line, std::string text) {
  names_.push_back(gpu.name);
  if (evidence_.size() < kEvidence) {
    evidence_.push_back(evidence_of(*group_->seen, line, fmt::format("{}: {}", gpu.name, text)));
  }
}

void GpuFaults::add(const GpuSeen& gpu, std::string_view fact) {
  add(gpu, line_of(*gpu.facts, fact), fact_in_words(*gpu.facts, fact));
}

std::string GpuFaults::who() const {
  if (names_.size() > 1 && names_.size() == group_->gpus.size()) return fmt::format("all {} GPUs", names_.size());
  return list_names(names_);
}

Finding GpuFaults::finding(const Rule& rule, FindingSeverity severity, std::string_view title) const {
  const bool one = names_.size() == 1;
  const bool all = names_.size() == group_->gpus.size();
  Subject subject{"gpu", who(), group_->node};
  if (!one) subject.kind = "node";
  if (!one && all && !group_->node.empty()) subject.name = group_->node;
  Finding finding = make_finding(rule, severity, std::move(subject), who() + ' ' + agree(title, one));
  finding.evidence = evidence_;
  return finding;
}

Formula GpuFaults::lost(const std::string& source) const {
  return whole_gpus_lost(static_cast<double>(names_.size()), source);
}

void add_once(std::vector<Finding>& findings, Finding finding) {
  const auto file = [](const Finding& one) { return one.evidence.empty() ? std::string() : one.evidence.front().file; };
  // A rule's findings stand together, at the end.
  for (auto one = findings.rbegin(); one != findings.rend() && one->rule_id == finding.rule_id; ++one) {
    const bool same = one->subject.node == finding.subject.node && one->subject.name == finding.subject.name;
    if (same && (!one->subject.node.empty() || file(*one) == file(finding))) return;
  }
  findings.push_back(std::move(finding));
}

}  // namespace tare
