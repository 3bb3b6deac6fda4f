#include "audit/finding.h"

#include <array>

#include "base/formula_json.h"
#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"info", "low", "medium", "high"};

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

Json to_json(const DailyCost& cost) {
  Json json = {{"low", number_or_null(cost.low_usd)},
               {"base", number_or_null(cost.base_usd)},
               {"high", number_or_null(cost.high_usd)}};
  if (!cost.unknown.empty()) json["unknown"] = cost.unknown;
  if (cost.base_usd && !cost.formula.expression.empty()) json["formula"] = to_json(cost.formula);
  return json;
}

std::string place_of(const Finding& finding) {
  if (!finding.subject.node.empty() || finding.evidence.empty()) return finding.subject.node;
  return finding.evidence.front().file;
}

std::string_view name_of(FindingSeverity severity) { return kNames[static_cast<std::size_t>(severity)]; }

std::optional<FindingSeverity> parse_finding_severity(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<FindingSeverity>(i);
  }
  return std::nullopt;
}

Json to_json(const Finding& finding) {
  Json evidence = Json::array();
  for (const Evidence& seen : finding.evidence) {
    evidence.push_back({{"file", as_text(seen.file)}, {"line", seen.line}, {"text", as_text(seen.text)}});
  }
  Json subject = {{"kind", finding.subject.kind}, {"name", as_text(finding.subject.name)}};
  if (!finding.subject.node.empty()) subject["node"] = as_text(finding.subject.node);
  Json json = {{"rule_id", finding.rule_id},
               {"severity", name_of(finding.severity)},
               {"confidence", finding.confidence},
               {"subject", std::move(subject)},
               {"title", as_text(finding.title)},
               {"cause", as_text(finding.cause)},
               {"evidence", std::move(evidence)},
               {"expected", as_text(finding.expected)},
               {"measured", as_text(finding.measured)},
               {"cost_usd_per_day", to_json(finding.cost_usd_per_day)},
               {"fix", finding.fix},
               {"references", finding.references}};
  if (finding.caused_by >= 0) json["caused_by"] = finding.caused_by;
  return json;
}

}  // namespace tare
