// Where a rule speaks and where it does not: every rule has at least one case of each kind (rule_cases_test.cc).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit.h"

namespace tare {

struct CaseFile {
  // Its folder, or a host in its text, says the node: "node07/dmesg.txt". An address is a Prometheus server, and the
  // text its table (fake_prometheus.h).
  const char* path;
  std::string text;  // a small input of the tool's shape, with numbers of its own
};

struct RuleCase {
  const char* rule_id;
  const char* what;  // a test's name: "OneOfEightGpusOnGen1"
  std::vector<CaseFile> files;
  bool speaks = true;
  FindingSeverity severity = FindingSeverity::kInfo;  // where it speaks
  const char* subject = "";                           // Subject::name of one of its findings
  const char* title_has = "";                         // a piece of that finding's title
  void (*set)(AuditSetting&) = nullptr;               // what --job and --on would say
};

// One <family>_cases.cc each.
std::span<const RuleCase> topology_cases();
std::span<const RuleCase> network_cases();
std::span<const RuleCase> health_cases();
std::span<const RuleCase> telemetry_cases();
std::span<const RuleCase> waste_cases();
std::span<const RuleCase> collective_cases();
std::span<const RuleCase> storage_cases();
std::span<const RuleCase> training_cases();
std::span<const RuleCase> slurm_cases();
std::span<const RuleCase> kubernetes_cases();
std::span<const RuleCase> billing_cases();
std::span<const RuleCase> run_cases();
std::span<const RuleCase> rank_cases();

// The shipped catalog, loaded once.
const Catalog& shipped_catalog();
AuditReport audit_files(const std::vector<CaseFile>& files, void (*set)(AuditSetting&) = nullptr);
std::vector<const Finding*> findings_of(const AuditReport& report, std::string_view rule_id);
// The only finding of a rule; fails, and gives an empty one, where there is none or there are several.
const Finding& only(const AuditReport& report, std::string_view rule_id);

}  // namespace tare
