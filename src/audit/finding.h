// What an audit finds: one record a finding, with where it was seen, what it costs and what to do.
//
// Severity is what it takes from the work, not how sure it is: high stops work or corrupts it, medium slows it by a
// tenth or more or wastes GPUs, low is worth an hour of somebody's time, info is said so that nobody is alarmed by it
// or is misled by a measurement. Confidence is how sure the rule is that the cause is the one it names. Thread safety:
// plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/formula.h"
#include "base/json_fwd.h"

namespace tare {

enum class FindingSeverity { kInfo, kLow, kMedium, kHigh };
std::string_view name_of(FindingSeverity severity);  // "info", "low", "medium", "high"
std::optional<FindingSeverity> parse_finding_severity(std::string_view text);

struct Evidence {
  std::string file;
  std::int64_t line = 0;  // 0 = of the file as a whole
  std::string text;       // what it says there, in the file's words or as a fact
};

// What a finding is about.
struct Subject {
  std::string kind;  // cluster, node, gpu, link, nic, disk, rank, job, bill, file
  std::string name;  // "GPU3", "mlx5_0", "job 4711"
  std::string node;  // where known
};

// Dollars a day while it lasts: a rate. Unknown where no price or no loss is known, with the reason.
struct DailyCost {
  std::optional<double> low_usd, base_usd, high_usd;
  Formula formula;      // of the base
  std::string unknown;  // "no price known of the GPU"
};

struct Finding {
  std::string rule_id;
  FindingSeverity severity = FindingSeverity::kInfo;
  double confidence = 1;
  Subject subject;
  std::string title;  // one line: what is wrong, with its numbers
  std::string cause;  // why, in a sentence or two
  std::vector<Evidence> evidence;
  std::string expected, measured;  // with units; empty where it makes no sense
  // What it loses while it lasts, in GPU-h/day (priced by the audit) or in USD/day (audit/loss.h). None: not known,
  // with the reason, or nothing at all where the reason is empty.
  std::optional<Formula> loss;
  std::string gpu;           // product name of the GPUs that it loses, where the rule knows it; prices it
  std::string loss_unknown;  // "how much of a step is communication is not known"
  DailyCost cost_usd_per_day;
  std::vector<std::string> fix;           // commands or steps
  std::vector<std::string> references;    // the rule's: public threads and manuals (make_finding)
  std::vector<std::string> consequences;  // rule ids that this one explains on the same node
  std::vector<std::string> nodes;         // that it spans, where they are several: a cause on any of them explains it
  int caused_by = -1;                     // index of the finding that explains this one; set by group_findings
};

// What tells findings of one rule and subject apart: the node, else the file it is seen in.
std::string place_of(const Finding& finding);

Json to_json(const DailyCost& cost);
Json to_json(const Finding& finding);

}  // namespace tare
