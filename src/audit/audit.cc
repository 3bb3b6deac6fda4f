#include "audit/audit.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "audit/run_rules.h"
#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

// A GPU-hour's price at a finding; the reason where there is none.
Result<FormulaInput> price_at(const Finding& finding, const Observed& observed) {
  const AuditSetting& setting = observed.setting();
  if (setting.usd_per_gpu_h) {
    return FormulaInput{"usd_per_gpu_h", *setting.usd_per_gpu_h, "USD/GPU-h", setting.price_source, false};
  }
  const std::string file = finding.evidence.empty() ? std::string() : finding.evidence.front().file;
  const Accelerator* const named = accelerator_named(observed.catalog(), finding.gpu);
  const Accelerator* const gpu = named != nullptr ? named : observed.accelerator_at(finding.subject.node, file);
  if (gpu == nullptr) return fail("no-price", "no file says which GPU it is: give --on");
  const std::optional<LossRange> usual = usual_price_usd_per_gpu_h(observed.catalog(), gpu->id);
  if (!usual) return fail("no-price", "no offer of " + gpu->id + " has a price: give --on");
  return FormulaInput{"usd_per_gpu_h", usual->base, "USD/GPU-h", "catalog: median on-demand price of " + gpu->id, true,
                      usual->low,      usual->high};
}

void price_finding(Finding& finding, const Observed& observed) {
  DailyCost& cost = finding.cost_usd_per_day;
  if (!finding.loss) {
    cost.unknown = finding.loss_unknown;
    return;
  }
  cost.formula = *finding.loss;
  cost.formula.id = "audit.cost_usd_per_day";
  if (finding.loss->unit != "USD/day") {
    const Result<FormulaInput> price = price_at(finding, observed);
    if (!price) {
      cost.unknown = price.error().front().text;
      return;
    }
    cost.formula.unit = "USD/day";
    cost.formula.expression = finding.loss->expression + " * usd_per_gpu_h";
    cost.formula.inputs.push_back(*price);
    cost.formula.value = finding.loss->value * price->value;
  }
  const LossRange range = range_of(cost.formula);
  cost.low_usd = range.low;
  cost.base_usd = range.base;
  cost.high_usd = range.high;
}

void add_cost(DailyCost& sum, const DailyCost& cost) {
  if (!cost.base_usd) return;
  sum.low_usd = sum.low_usd.value_or(0) + *cost.low_usd;
  sum.base_usd = sum.base_usd.value_or(0) + *cost.base_usd;
  sum.high_usd = sum.high_usd.value_or(0) + *cost.high_usd;
}

// By severity, then cost, then where it was seen; consequences behind their cause.
void sort_findings(std::vector<Finding>& findings) {
  const auto weight = [](const Finding& finding) {
    return std::tuple(-static_cast<int>(finding.severity), -finding.cost_usd_per_day.base_usd.value_or(0));
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < findings.size(); ++i) order.push_back(i);
  const auto root = [&](std::size_t i) {
    return findings[i].caused_by < 0 ? i : static_cast<std::size_t>(findings[i].caused_by);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t x = root(a), y = root(b);
    if (x == y) return (a == x) > (b == y);
    const auto wx = weight(findings[x]), wy = weight(findings[y]);
    return wx != wy ? wx < wy : x < y;
  });
  std::vector<int> place(findings.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  std::vector<Finding> sorted;
  for (const std::size_t i : order) {
    sorted.push_back(std::move(findings[i]));
    int& cause = sorted.back().caused_by;
    if (cause >= 0) cause = place[static_cast<std::size_t>(cause)];
  }
  findings = std::move(sorted);
}

std::string identity(const std::string& rule, const std::string& node, const std::string& name) {
  return rule + '\n' + node + '\n' + name;
}

}  // namespace

std::optional<LossRange> usual_price_usd_per_gpu_h(const Catalog& catalog, const std::string& accelerator_id) {
  std::vector<double> prices;
  for (const Offer& offer : catalog.offers) {
    const bool counts = offer.gpu == accelerator_id && offer.purchase == Purchase::kOnDemand && offer.suspect.empty();
    if (counts && offer.price_usd_per_h && offer.gpus > 0) prices.push_back(price_usd_per_gpu_h(offer));
  }
  if (prices.empty()) return std::nullopt;
  std::sort(prices.begin(), prices.end());
  const auto at = [&](double share) {  // linear between order statistics
    const double place = share * static_cast<double>(prices.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, prices.size() - 1);
    return prices[below] + (place - static_cast<double>(below)) * (prices[above] - prices[below]);
  };
  return LossRange{at(0.25), at(0.5), at(0.75)};
}

namespace {

std::vector<std::string> nodes_of(const Finding& finding) {
  std::vector<std::string> places;
  if (!finding.subject.node.empty()) places.push_back("node " + finding.subject.node);
  for (const std::string& node : finding.nodes) places.push_back("node " + node);
  return places;
}

std::vector<std::string> file_of(const Finding& finding) {
  if (finding.evidence.empty()) return {};
  return {"file " + finding.evidence.front().file};
}

// Where a cause acts: on its node or nodes, else on all that its file tells of, whatever node that is on.
std::vector<std::string> reach_of(const Finding& cause) {
  std::vector<std::string> places = nodes_of(cause);
  return places.empty() ? file_of(cause) : places;
}

// A cause whose own loss nobody knows costs what the dearest of its consequences was measured to: they are one loss.
void give_losses_to_causes(std::vector<Finding>& findings) {
  std::vector<const Finding*> dearest(findings.size());
  for (const Finding& finding : findings) {
    if (finding.caused_by < 0 || !finding.loss) continue;
    const auto cause = static_cast<std::size_t>(finding.caused_by);
    if (findings[cause].loss) continue;
    if (dearest[cause] == nullptr || finding.loss->value > dearest[cause]->loss->value) dearest[cause] = &finding;
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (dearest[i] == nullptr) continue;
    findings[i].loss = dearest[i]->loss;
    findings[i].gpu = dearest[i]->gpu;
    findings[i].loss_unknown.clear();
  }
}

}  // namespace

void group_findings(std::vector<Finding>& findings) {
  std::unordered_map<std::string, std::vector<std::size_t>> by_place;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (const std::string& place : nodes_of(findings[i])) by_place[place].push_back(i);
    for (const std::string& place : file_of(findings[i])) by_place[place].push_back(i);
  }
  // Of several causes the one that takes the most explains the rest.
  std::vector<std::size_t> causes;
  causes.reserve(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!findings[i].consequences.empty()) causes.push_back(i);
  }
  const auto taken = [&](std::size_t i) { return findings[i].loss ? findings[i].loss->value : 0; };
  std::stable_sort(causes.begin(), causes.end(), [&](std::size_t a, std::size_t b) { return taken(a) > taken(b); });
  for (const std::size_t cause : causes) {
    const std::vector<std::string>& explains = findings[cause].consequences;
    if (findings[cause].caused_by >= 0) continue;
    for (const std::string& place : reach_of(findings[cause])) {
      for (const std::size_t other : by_place[place]) {
        if (other == cause || findings[other].caused_by >= 0) continue;
        if (std::find(explains.begin(), explains.end(), findings[other].rule_id) == explains.end()) continue;
        findings[other].caused_by = static_cast<int>(cause);
      }
    }
  }
  // A consequence of a consequence stands under the first cause.
  for (Finding& finding : findings) {
    while (finding.caused_by >= 0 && findings[static_cast<std::size_t>(finding.caused_by)].caused_by >= 0) {
      finding.caused_by = findings[static_cast<std::size_t>(finding.caused_by)].caused_by;
    }
  }
  give_losses_to_causes(findings);
}

// What is the same on many nodes and alarms nobody is said once.
void fold_infos(std::vector<Finding>& findings) {
  constexpr std::size_t kFew = 3;
  std::unordered_map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const bool plain = finding.severity == FindingSeverity::kInfo && !finding.loss && !finding.subject.node.empty();
    if (plain) alike[finding.rule_id + '\n' + finding.title].push_back(i);
  }
  std::vector<char> gone(findings.size(), 0);
  for (const auto& [key, members] : alike) {
    if (members.size() <= kFew) continue;
    Finding& first = findings[members.front()];
    std::vector<std::string> nodes;
    for (const std::size_t i : members) {
      nodes.push_back(findings[i].subject.node);
      if (i != members.front()) gone[i] = 1;
    }
    first.subject = {"cluster", std::to_string(members.size()) + " nodes", ""};
    first.cause += " The same on " + list_names(nodes) + ".";
  }
  std::size_t at = 0;
  std::erase_if(findings, [&](const Finding&) { return gone[at++] != 0; });
}

AuditReport run_audit(const Observed& observed) {
  AuditReport report;
  report.files = static_cast<int>(observed.files().size());
  report.nodes = static_cast<int>(observed.node_count());
  report.unrecognised = static_cast<int>(std::count_if(observed.files().begin(), observed.files().end(),
                                                       [](const FileFacts& file) { return file.readings.empty(); }));
  for (const Rule& rule : rules()) rule.check(rule, observed, report.findings);
  fold_infos(report.findings);
  group_findings(report.findings);
  for (Finding& finding : report.findings) {
    if (finding.caused_by >= 0) {
      finding.cost_usd_per_day.unknown = "counted at its cause";
      continue;
    }
    price_finding(finding, observed);
    add_cost(report.cost_usd_per_day, finding.cost_usd_per_day);
  }
  sort_findings(report.findings);
  report.run = observed.once(run_of);
  for (const Seen& seen : observed.of_format("Prometheus server")) report.use = gpu_use_of(*seen.facts);
  return report;
}

AuditDifference compare_with_baseline(const AuditReport& report, const Json& baseline) {
  struct Before {
    std::string identity, title;
    bool seen = false;
  };
  std::vector<Before> before;
  const auto text = [](const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (baseline.is_object() && baseline.contains("findings") && baseline["findings"].is_array()) {
    for (const Json& finding : baseline["findings"]) {
      if (!finding.is_object()) continue;
      const Json subject = finding.value("subject", Json::object());
      std::string place = text(subject, "node");
      const Json evidence = finding.value("evidence", Json::array());
      if (place.empty() && !evidence.empty() && evidence[0].is_object()) place = text(evidence[0], "file");
      before.push_back({identity(text(finding, "rule_id"), place, text(subject, "name")), text(finding, "title")});
    }
  }
  AuditDifference difference;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    const std::string id = identity(finding.rule_id, as_text(place_of(finding)), as_text(finding.subject.name));
    const auto found =
        std::find_if(before.begin(), before.end(), [&](const Before& one) { return !one.seen && one.identity == id; });
    if (found == before.end()) {
      difference.fresh.push_back(i);
    } else {
      found->seen = true;
    }
  }
  for (const Before& one : before) {
    if (!one.seen) difference.fixed.push_back(one.title);
  }
  return difference;
}

Json to_json(const AuditReport& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(to_json(finding));
  return {{"format_version", "1.0"},
          {"files", report.files},
          {"nodes", report.nodes},
          {"unrecognised", report.unrecognised},
          {"cost_usd_per_day", to_json(report.cost_usd_per_day)},
          {"run", report.run ? to_json(*report.run) : Json(nullptr)},
          {"use", report.use ? to_json(*report.use) : Json(nullptr)},
          {"findings", std::move(findings)}};
}

}  // namespace tare
