#include <algorithm>
#include <map>
#include <set>

#include "audit/loss.h"
#include "audit/slurm_hosts.h"
#include "audit/slurm_rules.h"
#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"

#include <fmt/format.h>

namespace tare {
namespace {

// Of a partition's nodes out of use. Spares of some percent are usual in large clusters.
constexpr double kManyRatio = 0.1, kMostRatio = 0.5;

enum class HasGpus { kYes, kNo, kUnknown };

struct PartitionUse {
  std::string name;
  double total = 0, out = 0, draining = 0, maintenance = 0;
  std::optional<double> gpus_out = 0;
  HasGpus gpus = HasGpus::kUnknown;
  std::vector<const FactRecord*> rows;  // those out of use
  std::string out_nodes;                // to see the same nodes in another partition

  double unavailable() const { return out + draining + maintenance; }
};

HasGpus gpus_by_name(std::string_view partition) {
  const std::string name = to_lower(partition);
  for (const char* const word :
       {"gpu", "h100", "h200", "a100", "v100", "b200", "gb200", "mi300", "mi250", "l40", "dgx", "hgx"}) {
    if (contains(name, word)) return HasGpus::kYes;
  }
  for (const char* const word : {"cpu", "highmem", "bigmem", "himem", "login", "transfer"}) {
    if (contains(name, word)) return HasGpus::kNo;
  }
  return HasGpus::kUnknown;
}

double nodes_of(const FactRecord& row) {
  if (const auto count = row.number("node_count")) return *count;
  if (const auto count = row.number("nodes_total")) return *count;
  return static_cast<double>(count_hosts(row.text("node_list")));
}

void add_row(PartitionUse& use, const FactRecord& row, const std::set<std::string>& explained) {
  const double nodes = nodes_of(row);
  const HostUse state = host_use(row);
  if (state == HostUse::kUnknown) return;
  use.total += nodes;
  if (row.has("gres")) {
    if (row.number("gpus").value_or(0) > 0) use.gpus = HasGpus::kYes;
    if (use.gpus == HasGpus::kUnknown) use.gpus = HasGpus::kNo;
  }
  if (state == HostUse::kUsable || nodes == 0) return;
  use.rows.push_back(&row);
  use.out_nodes += row.text("node_list");
  use.out_nodes += ' ';
  if (state == HostUse::kDraining) use.draining += nodes;
  if (state == HostUse::kMaintenance) use.maintenance += nodes;
  if (state == HostUse::kOut) use.out += nodes;
  if (state != HostUse::kOut && state != HostUse::kMaintenance) return;
  // Nodes with a reason have findings of their own, with their loss.
  const std::vector<std::string> hosts = expand_range(row.text("node_list"), 20'000);
  const bool told =
      std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) { return explained.count(host) > 0; });
  if (told) return;
  if (!row.has("gres") || !use.gpus_out) {
    use.gpus_out.reset();
  } else {
    *use.gpus_out += nodes * row.number("gpus").value_or(0);
  }
}

std::vector<PartitionUse> partitions_of(const Seen& seen) {
  std::set<std::string> explained;
  for (const SlurmOutage& outage : slurm_outages(seen)) {
    const bool row_of_sinfo = outage.reason.empty() && outage_kind(outage) != OutageKind::kNotResponding;
    for (const SlurmHost& host : outage.members) {
      if (!row_of_sinfo) explained.insert(host.name);
    }
  }
  std::vector<PartitionUse> all;
  std::map<std::string, std::size_t> index;
  for (const FactRecord* const row : records_of(*seen.facts, "groups")) {
    const std::string name(row->text("partition"));
    if (name.empty()) continue;
    const auto [place, fresh] = index.emplace(name, all.size());
    if (fresh) {
      all.emplace_back();
      all.back().name = name;
    }
    add_row(all[place->second], *row, explained);
  }
  for (PartitionUse& use : all) {
    if (use.gpus == HasGpus::kUnknown) use.gpus = gpus_by_name(use.name);
  }
  return all;
}

FindingSeverity severity_of(const PartitionUse& use) {
  const double share = use.unavailable() / use.total;
  if (use.gpus == HasGpus::kNo) return share >= 1 ? FindingSeverity::kMedium : FindingSeverity::kLow;
  if (use.out + use.draining == 0) return share >= kMostRatio ? FindingSeverity::kMedium : FindingSeverity::kLow;
  if (share >= 1 || (share >= kMostRatio && use.gpus == HasGpus::kYes)) return FindingSeverity::kHigh;
  if (share >= kMostRatio || (share >= kManyRatio && use.gpus == HasGpus::kYes)) return FindingSeverity::kMedium;
  return FindingSeverity::kLow;
}

std::string parts_in_words(const PartitionUse& use) {
  std::vector<std::string> parts;
  if (use.out > 0) parts.push_back(fmt::format("{:.0f} drained or down", use.out));
  if (use.draining > 0) parts.push_back(fmt::format("{:.0f} draining", use.draining));
  if (use.maintenance > 0) parts.push_back(fmt::format("{:.0f} in maintenance", use.maintenance));
  return join(parts, ", ");
}

Finding partition_finding(const Rule& rule, const Seen& seen, const PartitionUse& use) {
  Finding finding = make_finding(rule, severity_of(use), subject_of_output(seen, "cluster", use.name),
                                 fmt::format("partition {}: {:.0f} of {:.0f} nodes take no new job ({})", use.name,
                                             use.unavailable(), use.total, parts_in_words(use)));
  finding.cause =
      "Nodes that drain, are down, failed or in maintenance take no new job; those that drain still run what "
      "they have.";
  for (const FactRecord* const row : use.rows) {
    if (finding.evidence.size() >= 4) break;
    finding.evidence.push_back(evidence_of(
        seen, row->line, fmt::format("{} {:.0f} {}", row->text("state"), nodes_of(*row), row->text("node_list"))));
  }
  finding.expected = "few, and spares for them";
  finding.measured = fmt::format("{:.0f} % of the nodes", 100 * use.unavailable() / use.total);
  finding.fix = {"sinfo -R: who took them out and why",
                 "scontrol update nodename=NODE state=resume for those that are well"};
  if (!use.gpus_out) {
    finding.loss_unknown = "how many GPUs these nodes have is not told";
  } else if (*use.gpus_out > 0) {
    finding.loss = whole_gpus_lost(*use.gpus_out, "GRES of the nodes drained, down or in maintenance");
  }
  return finding;
}

void nodes_unavailable(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::set<std::string> said;
    for (const PartitionUse& use : partitions_of(seen)) {
      if (use.unavailable() == 0 || use.total == 0) continue;
      // Several partitions hold the same nodes: the loss is said once.
      if (!use.out_nodes.empty() && !said.insert(use.out_nodes).second) continue;
      findings.push_back(partition_finding(rule, seen, use));
    }
  }
}

}  // namespace

std::span<const Rule> slurm_partition_rules() {
  static const std::vector<Rule> rules = {
      {"slurm.nodes-unavailable", "Part of a partition takes no new job", "jobs wait while GPUs do nothing",
       "slurm.schedmd.com/sinfo.html", nodes_unavailable},
  };
  return rules;
}

}  // namespace tare
