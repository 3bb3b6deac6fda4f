// A rule: what it looks for, and the function that finds it. A family has <family>_rules.cc, and
// <family>_<subject>_rules.cc where it is large; docs/audit/<prefix of the id>.md explains each rule under its id,
// tests/audit/<family>_cases.cc has where it speaks and where it does not.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "audit/finding.h"
#include "audit/observed.h"

namespace tare {

struct Rule {
  std::string_view id;         // "link.acs-enabled": family and kebab-case name
  std::string_view title;      // one line
  std::string_view why;        // what it does to the work, and how it is seen
  std::string_view reference;  // public thread or manual: "nccl#949"; several separated by ", "
  void (*check)(const Rule& rule, const Observed& observed, std::vector<Finding>& findings);
};

// All rules, by family.
std::span<const Rule> rules();
const Rule* find_rule(std::string_view id);

// The families, one <family>_rules.cc each.
std::span<const Rule> topology_rules();    // topo matrices, PCIe trees, links, NUMA
std::span<const Rule> network_rules();     // InfiniBand, RoCE, Ethernet ports; NCCL's choice of transport
std::span<const Rule> health_rules();      // Xid, ECC, NVLink errors, throttling, fans, kernel messages
std::span<const Rule> telemetry_rules();   // utilisation, power and counters over time: waste and broken counters
std::span<const Rule> waste_rules();       // GPU-hours over days, by job, user and node
std::span<const Rule> collective_rules();  // nccl-tests and its kin against what the fabric can do
std::span<const Rule> storage_rules();     // fio, block devices
std::span<const Rule> training_rules();    // training logs and traces
std::span<const Rule> slurm_rules();       // scheduler's configuration and state, jobs lost
std::span<const Rule> kubernetes_rules();
std::span<const Rule> billing_rules();
std::span<const Rule> run_rules();  // a run beside its prediction, with --job
// Who is late, who is missing. The last, for it looks for causes among what the others found.
std::span<const Rule> rank_rules();

// A finding of the rule about `subject`, with the file's line as its first evidence.
Finding make_finding(const Rule& rule, FindingSeverity severity, Subject subject, std::string title);
Evidence evidence_of(const Seen& seen, std::int64_t line, std::string text);

// "GPU0, GPU3, GPU5, GPU6 and 2 more".
std::string list_names(const std::vector<std::string>& names, std::size_t most = 4);

}  // namespace tare
