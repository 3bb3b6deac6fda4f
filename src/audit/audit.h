// The audit: every rule over what was observed, findings grouped under their causes, priced, sorted.
//
// Cost: what a finding loses (GPU-hours a day, audit/loss.h) times the price of a GPU-hour. The price is the one given,
// else the median of the catalog's on-demand offers of that GPU between their quartiles, marked as assumed. A finding
// that is the consequence of another one costs nothing of its own: the loss stands at its cause. Pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/gpu_use.h"
#include "audit/loss.h"
#include "audit/rule.h"
#include "audit/run_against_prediction.h"
#include "base/json_fwd.h"

namespace tare {

struct AuditReport {
  std::vector<Finding> findings;  // by severity, then cost, then place; consequences directly behind their cause
  int files = 0, nodes = 0;
  int unrecognised = 0;
  std::optional<RunAudit> run;  // with --job: the longest log beside its prediction
  std::optional<GpuUse> use;    // with --prometheus: GPU-hours by job, user and node
  DailyCost cost_usd_per_day;   // the sum over findings with a known cost; unknown where none has one
};

AuditReport run_audit(const Observed& observed);

// Marks the findings that another one explains (Finding::consequences, on a node that both are about), and gives a
// cause of unknown loss the measured one of its dearest consequence.
void group_findings(std::vector<Finding>& findings);

// A GPU-hour over the catalog's on-demand offers of the accelerator: the median, with its quartiles as low and high;
// nullopt when none has a price.
std::optional<LossRange> usual_price_usd_per_gpu_h(const Catalog& catalog, const std::string& accelerator_id);

// Against an earlier report (its JSON): rule and subject tell which findings are the same.
struct AuditDifference {
  std::vector<std::size_t> fresh;  // indices of findings that the baseline lacks
  std::vector<std::string> fixed;  // titles of those that are gone
};
AuditDifference compare_with_baseline(const AuditReport& report, const Json& baseline);

Json to_json(const AuditReport& report);

}  // namespace tare
