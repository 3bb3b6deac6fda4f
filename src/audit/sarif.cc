#include "audit/sarif.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr const char* kSchema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr const char* kDocs = "https://github.com/tare-project/tare/blob/main/docs/audit/";

const char* level_of(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::kHigh:
      return "error";
    case FindingSeverity::kMedium:
      return "warning";
    case FindingSeverity::kLow:
    case FindingSeverity::kInfo:
      break;
  }
  return "note";
}

// A path as a URI reference: what is not unreserved, or a separator, is percent-encoded.
std::string uri_of(std::string_view path) {
  static constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

Json location_of(const Evidence& evidence) {
  Json physical = {{"artifactLocation", {{"uri", uri_of(evidence.file)}}}};
  if (evidence.line > 0) {
    physical["region"] = {{"startLine", evidence.line}, {"snippet", {{"text", as_text(evidence.text)}}}};
  }
  return {{"physicalLocation", std::move(physical)}};
}

// The rule's heading on its family's page: GitHub's anchors have no dots.
std::string page_of(std::string_view rule_id) {
  const std::size_t dot = rule_id.find('.');
  std::string anchor(rule_id);
  std::erase(anchor, '.');
  return fmt::format("{}{}.md#{}", kDocs, rule_id.substr(0, dot), anchor);
}

Json rule_json(const Rule& rule) {
  return {{"id", rule.id},
          {"shortDescription", {{"text", rule.title}}},
          {"fullDescription", {{"text", rule.why}}},
          {"helpUri", page_of(rule.id)}};
}

Json result_json(const Finding& finding, std::size_t rule_index) {
  Json locations = Json::array();
  for (const Evidence& evidence : finding.evidence) locations.push_back(location_of(evidence));
  std::string message = finding.title;
  if (!finding.cause.empty()) message += ". " + finding.cause;
  Json properties = to_json(finding);
  for (const char* const key : {"rule_id", "evidence", "title"}) properties.erase(key);
  // What stays the same from one audit to the next: viewers match results by it.
  const std::string identity = fmt::format("{}|{}|{}", finding.rule_id, place_of(finding), finding.subject.name);
  return {{"ruleId", finding.rule_id},
          {"ruleIndex", rule_index},
          {"level", level_of(finding.severity)},
          {"rank", 100 * finding.confidence},
          {"message", {{"text", as_text(message)}}},
          {"locations", std::move(locations)},
          {"partialFingerprints", {{"ruleAndSubject/v1", as_text(identity)}}},
          {"properties", std::move(properties)}};
}

}  // namespace

Json to_sarif(const AuditReport& report, const std::string& version) {
  std::vector<std::string> used;
  Json rules_json = Json::array();
  Json results = Json::array();
  for (const Finding& finding : report.findings) {
    auto found = std::find(used.begin(), used.end(), finding.rule_id);
    if (found == used.end()) {
      if (const Rule* const rule = find_rule(finding.rule_id)) rules_json.push_back(rule_json(*rule));
      used.push_back(finding.rule_id);
      found = used.end() - 1;
    }
    results.push_back(result_json(finding, static_cast<std::size_t>(found - used.begin())));
  }
  return {{"$schema", kSchema},
          {"version", "2.1.0"},
          {"runs",
           {{{"tool", {{"driver", {{"name", "tare"}, {"version", version}, {"rules", std::move(rules_json)}}}}},
             {"results", std::move(results)}}}}};
}

}  // namespace tare
