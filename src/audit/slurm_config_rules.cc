#include <set>

#include "audit/gpu_seen.h"
#include "audit/slurm_hosts.h"
#include "audit/slurm_rules.h"
#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"

#include <fmt/format.h>

namespace tare {
namespace {

bool schedules_gpus(const Seen& seen, const FactRecord& config) {
  return contains(to_lower(config.text("gres_types")), "gpu") || seen.facts->has("gres_conf_gpus");
}

Finding config_finding(const Rule& rule, FindingSeverity severity, const Seen& seen, const FactRecord& config,
                       std::string_view setting, std::string title) {
  Finding finding = make_finding(
      rule, severity, subject_of_output(seen, "cluster", std::string(config.text("cluster_name"))), std::move(title));
  const std::string_view value = config.text(setting);
  finding.evidence.push_back(
      evidence_of(seen, line_of(config, setting), fmt::format("{}: {}", setting, value.empty() ? "not set" : value)));
  return finding;
}

void devices_open(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const FactRecord* const config = seen.facts->find_record("config");
    if (config == nullptr || to_lower(config->text("constrain_devices")) != "no") continue;
    Finding finding = config_finding(rule, FindingSeverity::kMedium, seen, *config, "constrain_devices",
                                     "jobs can use GPUs that they were not given: ConstrainDevices=no");
    finding.cause =
        "Without the device cgroup only CUDA_VISIBLE_DEVICES keeps jobs apart; a job that sets it itself, or "
        "a login by ssh, takes the GPUs of others.";
    finding.fix = {"ConstrainDevices=yes in cgroup.conf, TaskPlugin=task/cgroup,task/affinity in slurm.conf",
                   "restart slurmd on all nodes"};
    finding.loss_unknown = "how often jobs share a GPU by mistake is not known";
    findings.push_back(std::move(finding));
  }
}

void gpus_unaccounted(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const FactRecord* const config = seen.facts->find_record("config");
    if (config == nullptr || !contains(to_lower(config->text("gres_types")), "gpu")) continue;
    const bool told =
        config->has("accounting_storage_tres") || config->has("slurm_version") || config->members().size() > 100;
    if (!told || contains(to_lower(config->text("accounting_storage_tres")), "gres/gpu")) continue;
    Finding finding = config_finding(rule, FindingSeverity::kLow, seen, *config, "accounting_storage_tres",
                                     "GPU-hours are not accounted: AccountingStorageTRES has no gres/gpu");
    finding.cause = "sacct, sreport and fair share see CPUs and memory only; nobody can say whose GPU-hours were lost.";
    finding.fix = {"AccountingStorageTRES=gres/gpu (and gres/gpu:TYPE where types differ), restart slurmctld",
                   "TRESBillingWeights with GRES/gpu in the partition, so that fair share counts GPUs"};
    findings.push_back(std::move(finding));
  }
}

void select_linear(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const FactRecord* const config = seen.facts->find_record("config");
    if (config == nullptr || config->text("select_type") != "select/linear" || !schedules_gpus(seen, *config)) continue;
    Finding finding = config_finding(rule, FindingSeverity::kLow, seen, *config, "select_type",
                                     "whole nodes are given out, also for one GPU: select/linear");
    finding.cause = "A job that needs one GPU blocks all of its node.";
    finding.fix = {"SelectType=select/cons_tres, SelectTypeParameters=CR_Core_Memory; drain the nodes for the change"};
    finding.loss_unknown = "how many GPUs the jobs use is not told";
    findings.push_back(std::move(finding));
  }
}

void no_binding(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const FactRecord* const config = seen.facts->find_record("config");
    if (config == nullptr || !config->has("task_plugin") || !schedules_gpus(seen, *config)) continue;
    const std::string plugins = to_lower(config->text("task_plugin"));
    if (contains(plugins, "affinity") || contains(plugins, "cgroup")) continue;
    Finding finding = config_finding(rule, FindingSeverity::kLow, seen, *config, "task_plugin",
                                     "tasks are bound to no cores: TaskPlugin has neither affinity nor cgroup");
    finding.cause = "Tasks wander between sockets, away from their GPU and its NIC.";
    finding.fix = {"TaskPlugin=task/cgroup,task/affinity", "srun --cpu-bind=verbose shows what each task got"};
    finding.loss_unknown = "what a missing binding costs depends on the job";
    findings.push_back(std::move(finding));
  }
}

void block_small(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::optional<double> base;
    if (const std::vector<Fact>* const sizes = seen.facts->find_list("block_sizes")) {
      for (const Fact& size : *sizes) {
        if (const auto number = size.number(); number && (!base || *number < *base)) base = number;
      }
    }
    if (!base) continue;
    for (const FactRecord* const block : records_of(*seen.facts, "blocks")) {
      const auto nodes = block->number("node_count");
      if (!nodes || *nodes >= *base || *nodes <= 0) continue;
      const std::string name(block->text("name"));
      Finding finding = make_finding(
          rule, FindingSeverity::kMedium, subject_of_output(seen, "cluster", name),
          fmt::format("block {} has {:.0f} nodes, the smallest BlockSizes is {:.0f}", name, *nodes, *base));
      finding.cause =
          "A block below the base size cannot hold a base block: jobs that are laid out by blocks never get "
          "its nodes.";
      finding.evidence.push_back(evidence_of(seen, block->line, fmt::format("Nodes={}", block->text("nodes"))));
      finding.expected = fmt::format("{:.0f} nodes or more", *base);
      finding.measured = fmt::format("{:.0f} nodes", *nodes);
      finding.fix = {"add the block's missing nodes, or lower BlockSizes to what every block has",
                     "scontrol reconfigure; scontrol show topology"};
      finding.loss_unknown = "which jobs wait for it is not told";
      findings.push_back(std::move(finding));
    }
  }
}

// Names that some record's list holds.
void add_names(std::set<std::string>& names, std::string_view hostlist) {
  if (says_no_host(hostlist)) return;
  for (std::string& name : expand_range(hostlist, 20'000)) names.insert(std::move(name));
}

void tree_apart(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const std::vector<const FactRecord*> switches = records_of(*seen.facts, "switches");
    std::set<std::string> below;
    for (const FactRecord* const one : switches) add_names(below, one->text("switches"));
    std::vector<std::string> roots;
    for (const FactRecord* const one : switches) {
      if (below.count(std::string(one->text("name"))) == 0) roots.emplace_back(one->text("name"));
    }
    if (roots.size() < 2 || switches.size() < 2) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, subject_of_output(seen, "cluster", roots.front()),
                     fmt::format("{} switches have none above them: {}", roots.size(), list_names(roots)));
    finding.cause =
        "The tree falls apart: Slurm takes nodes below different roots as not connected, and no job spans them.";
    finding.evidence.push_back(evidence_of(seen, switches.front()->line, "SwitchName=" + roots.front()));
    finding.confidence = 0.7;
    finding.fix = {"one top SwitchName= with Switches= over all of these, where a fabric connects them",
                   "scontrol show topology; ibnetdiscover or nvidia topograph for what is really there"};
    finding.loss_unknown = "whether jobs want to span them is not told";
    findings.push_back(std::move(finding));
  }
}

void topology_lacks(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::set<std::string> placed;
  const Seen* topology = nullptr;
  std::int64_t line = 0;
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const char* const list : {"switches", "blocks"}) {
      for (const FactRecord* const one : records_of(*seen.facts, list)) {
        add_names(placed, one->text("nodes"));
        if (topology == nullptr) line = one->line;
        topology = &seen;
      }
    }
  }
  if (topology == nullptr || placed.empty()) return;
  std::vector<std::string> missing;
  bool some = false;
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const SlurmHost& host : slurm_hosts(seen)) {
      const bool here = placed.count(host.name) > 0;
      some = some || here;
      if (!here && host.gpus.value_or(0) > 0) missing.push_back(host.name);
    }
  }
  // Nodes of another cluster share none.
  if (!some || missing.empty()) return;
  Finding finding =
      make_finding(rule, FindingSeverity::kMedium, subject_of_output(*topology, "cluster", list_names(missing)),
                   fmt::format("{} GPU nodes are not in the topology: {}", missing.size(), list_names(missing)));
  finding.cause = "Slurm places jobs by the topology: nodes outside it are given to no job that spans several nodes.";
  finding.evidence.push_back(
      evidence_of(*topology, line, "the topology lists " + std::to_string(placed.size()) + " nodes"));
  finding.fix = {"add them to their switch or block in topology.conf or topology.yaml", "scontrol reconfigure"};
  finding.loss_unknown = "which jobs wait for them is not told";
  findings.push_back(std::move(finding));
}

}  // namespace

std::span<const Rule> slurm_config_rules() {
  static const std::vector<Rule> rules = {
      {"slurm.devices-open", "Jobs can use GPUs they were not given", "two jobs on one GPU, each slow or out of memory",
       "slurm.schedmd.com/cgroup.conf.html", devices_open},
      {"slurm.gpus-unaccounted", "GPU-hours are not accounted", "nobody can say where they went",
       "slurm.schedmd.com/tres.html", gpus_unaccounted},
      {"slurm.select-linear", "Whole nodes are given out", "one GPU's job blocks a node",
       "slurm.schedmd.com/cons_tres.html", select_linear},
      {"slurm.no-binding", "Tasks are bound to no cores", "they wander away from their GPU",
       "slurm.schedmd.com/slurm.conf.html", no_binding},
      {"slurm.block-small", "A block is below the smallest block size", "jobs laid out by blocks never get its nodes",
       "slurm.schedmd.com/topology.html", block_small},
      {"slurm.tree-apart", "The switch tree has several roots", "no job spans them", "slurm.schedmd.com/topology.html",
       tree_apart},
      {"slurm.topology-lacks", "GPU nodes are not in the topology", "no job of several nodes gets them",
       "slurm.schedmd.com/topology.html", topology_lacks},
  };
  return rules;
}

}  // namespace tare
