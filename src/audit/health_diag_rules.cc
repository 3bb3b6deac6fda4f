#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/gpu_seen.h"
#include "audit/health_parts.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

std::set<std::int64_t> gpus_in(const FactRecord& facts, std::string_view list) {
  std::set<std::int64_t> gpus;
  if (const std::vector<Fact>* const items = facts.find_list(list)) {
    for (const Fact& item : *items) {
      if (const auto number = item.number()) gpus.insert(static_cast<std::int64_t>(*number));
    }
  }
  return gpus;
}

bool has_failed(const FactRecord& test) { return test.text("result") == "Fail"; }

// All that the test complains of is that NVLinks are down.
bool only_links_down(const FactRecord& test) {
  const std::vector<const FactRecord*> warnings = records_of(test, "warnings");
  return !warnings.empty() && std::all_of(warnings.begin(), warnings.end(), [](const FactRecord* warning) {
    const std::string text = to_lower(warning->text("text"));
    return contains(text, "nvlink link") && contains(text, "down") && !contains(text, "thermal");
  });
}

std::vector<std::string> names_of(const std::set<std::int64_t>& gpus) {
  std::vector<std::string> names;
  names.reserve(gpus.size());
  for (const std::int64_t gpu : gpus) names.push_back(fmt::format("GPU{}", gpu));
  return names;
}

// Why a test failed, by its words.
struct Reason {
  std::string_view mark;
  const char* cause;
  const char* fix;
};
constexpr Reason kReasons[] = {
    {"thermal violation", "The GPU overheats under the test and slows itself: cooling of this GPU or node.",
     "check fans, air, coolant and the heat sink's paste; compare with the GPUs that pass"},
    {"clocks event", "The clock was lowered during the test, by heat or power.",
     "nvidia-smi -q -d PERFORMANCE during the test"},
    {"double-bit", "Uncorrectable memory errors.", "reset the GPU; if it fails again have it replaced"},
    {"uncorrectable", "Uncorrectable memory errors.", "reset the GPU; if it fails again have it replaced"},
    {"row remap", "Rows of memory wait to be remapped or cannot be.",
     "reset the GPU, test again; then have it replaced"},
    {"replay", "The PCIe link repeats packets.", "reseat the card or riser"},
    {"bandwidth", "A link is slower than it should be: generation, lanes, ACS or another job at the same time.",
     "nothing else may run during the test; then compare LnkSta with LnkCap"},
    {"stress level", "The GPU did not reach the expected performance: heat, power, or another job at the same time.",
     "nothing else may run during the test; then nvidia-smi -q -d PERFORMANCE"},
    {"persistence", "Persistence mode is off.", "nvidia-smi -pm 1"},
    {"fabric", "The NVLink fabric is not ready.", "systemctl status nvidia-fabricmanager"},
    {"nvlink", "An NVLink is down or counts errors.", "nvidia-smi nvlink -s; then reset all GPUs of the node"},
};

void failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("dcgmi diag")) {
    for (const FactRecord* const test : records_of(*seen.facts, "tests")) {
      if (!has_failed(*test) || only_links_down(*test)) continue;
      std::set<std::int64_t> gpus = gpus_in(*test, "failed_gpus");
      if (gpus.empty()) gpus = gpus_in(*seen.facts, "gpus_named_in_warnings");
      const std::vector<std::string> names = names_of(gpus);
      const std::string who = names.empty() ? "the node" : list_names(names);
      const std::vector<const FactRecord*> warnings = records_of(*test, "warnings");
      std::string words;
      for (const FactRecord* const warning : warnings) words += to_lower(warning->text("text"));
      const bool setup = test->text("section") == "Deployment";
      Finding finding = make_finding(
          rule, FindingSeverity::kHigh,
          {names.size() == 1 ? "gpu" : "node", names.empty() ? node_of(seen) : list_names(names), node_of(seen)},
          fmt::format("{} fails DCGM's test \"{}\"", who, test->text("name")));
      if (const auto seconds = seen.facts->number("thermal_violation_s"); seconds && contains(words, "thermal")) {
        finding.title += fmt::format(": {:.1f} s too hot", *seconds);
        finding.measured = fmt::format("{:.1f} s over its temperature", *seconds);
        finding.expected = "0 s";
      }
      finding.evidence.push_back(evidence_of(seen, test->line, fmt::format("{}: Fail", test->text("name"))));
      for (const FactRecord* const warning : warnings) {
        if (finding.evidence.size() < 4)
          finding.evidence.push_back(evidence_of(seen, warning->line, std::string(warning->text("text"))));
      }
      const auto* const reason = std::find_if(std::begin(kReasons), std::end(kReasons),
                                              [&](const Reason& one) { return contains(words, one.mark); });
      finding.cause = reason != std::end(kReasons) ? reason->cause
                      : setup                      ? "The installation is not as DCGM wants it."
                                                   : "The GPU does not do what the test asks of it.";
      if (reason != std::end(kReasons)) finding.fix.emplace_back(reason->fix);
      finding.fix.push_back(fmt::format("again on this GPU alone: dcgmi diag -r 3 -i {}; if it stays: drain, then RMA",
                                        gpus.empty() ? std::string("<gpu>") : std::to_string(*gpus.begin())));
      finding.confidence = 0.85;
      if (setup) finding.severity = FindingSeverity::kMedium;
      if (!gpus.empty() && !setup) {
        finding.loss = whole_gpus_lost(static_cast<double>(gpus.size()), "GPUs that fail the test");
      } else {
        finding.loss_unknown = "how many GPUs it concerns is not known";
      }
      add_once(findings, std::move(finding));
    }
  }
}

void links_alarm(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("dcgmi diag")) {
    for (const FactRecord* const test : records_of(*seen.facts, "tests")) {
      if (!has_failed(*test) || !only_links_down(*test)) continue;
      const Accelerator* const known = observed.accelerator_beside(seen);
      const bool fabric = known != nullptr && has_nvlink_fabric(*known);
      Finding finding = make_finding(
          rule, fabric ? FindingSeverity::kHigh : FindingSeverity::kLow, {"node", node_of(seen), node_of(seen)},
          fabric
              ? fmt::format("DCGM's test \"{}\" fails: NVLinks are down", test->text("name"))
              : fmt::format("DCGM's test \"{}\" fails over NVLinks that PCIe cards may not have", test->text("name")));
      finding.evidence.push_back(evidence_of(seen, test->line, fmt::format("{}: Fail", test->text("name"))));
      finding.cause =
          fabric ? "The board has NVLinks, and they are down."
                 : "Old DCGM (2.x) counts missing NVLinks of PCIe cards as failed: without a bridge it is a false "
                   "alarm. With bridges or SXM boards the links are really down.";
      finding.fix = {"nvidia-smi nvlink -s, and nvidia-smi -L for the product: does it have links at all",
                     "PCIe card without a bridge: update DCGM; nothing is broken"};
      finding.confidence = known != nullptr ? 0.9 : 0.6;
      if (fabric) finding.loss_unknown = "how much slower PCIe is for this job is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void passed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("dcgmi diag")) {
    const std::vector<std::string> passes = texts_of(*seen.facts, "passed_tests");
    if (passes.empty() || !texts_of(*seen.facts, "failed_tests").empty()) continue;
    const auto level = seen.facts->integer("level");
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"node", node_of(seen), node_of(seen)},
                                   fmt::format("DCGM's diagnosis{} passes: it does not look at NVLink's state",
                                               level ? fmt::format(" at level {}", *level) : ""));
    finding.evidence.push_back(evidence_of(seen, seen.facts->line, "passed: " + list_names(passes, 6)));
    finding.cause =
        "Levels 1 and 2 test the installation, memory and PCIe for a short time. They pass with every NVLink down, "
        "and say nothing of heat or power under long load, of network cards, or of links between nodes.";
    finding.fix = {"nvidia-smi nvlink -s for the links; dcgmi diag -r 3 for load; nccl-tests between nodes"};
    finding.confidence = 0.9;
    add_once(findings, std::move(finding));
  }
}

void watches(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("dcgm")) {
    const std::vector<const FactRecord*> incidents = records_of(*seen.facts, "incidents");
    const std::string overall = to_lower(seen.facts->text("overall"));
    if (incidents.empty() && (overall.empty() || overall == "healthy")) continue;
    const bool failure = contains(overall, "fail");
    Finding finding = make_finding(
        rule, failure ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"node", node_of(seen), node_of(seen)},
        fmt::format("DCGM's health watches report {}", overall.empty() ? "incidents" : overall));
    for (const FactRecord* const one : incidents) {
      if (finding.evidence.size() >= 4) break;
      std::string text;
      for (const auto& [name, value] : one->members()) {
        if (!value.text().empty()) text += (text.empty() ? "" : "; ") + std::string(value.text());
      }
      finding.evidence.push_back(evidence_of(seen, one->line, text.substr(0, 300)));
    }
    if (finding.evidence.empty())
      finding.evidence.push_back(evidence_of(seen, line_of(*seen.facts, "overall"), "Overall: " + overall));
    finding.cause = "A watch of DCGM (memory, PCIe, NVLink, heat, power, driver) saw something since it was set.";
    finding.fix = {"dcgmi health -c for the incident; then dcgmi diag -r 3 on that GPU"};
    finding.confidence = 0.85;
    finding.loss_unknown = "what the incident took is not known";
    add_once(findings, std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"health.diag-failed", "DCGM's diagnosis fails", "A GPU fails a test, with the reason that DCGM gives.",
     "NVIDIA DCGM "
     "user guide",
     failed},
    {"health.diag-links", "DCGM complains of NVLinks that may not exist",
     "On PCIe cards without a bridge it is a false alarm of old versions.", "NVIDIA/DCGM#49", links_alarm},
    {"health.diag-passed", "What a passing diagnosis does not prove", "It passes with all NVLinks down.",
     "NVIDIA/DCGM#198", passed},
    {"health.dcgm-incident", "DCGM's health watches report", "Incidents that dcgmi health lists.",
     "NVIDIA DCGM user guide", watches},
};

}  // namespace

std::span<const Rule> diag_rules() { return kRules; }

}  // namespace tare
