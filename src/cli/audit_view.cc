#include "cli/audit_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "cli/option_tables.h"

namespace tare {
namespace {

constexpr std::size_t kShownEvidence = 3;

Tone tone_of(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::kHigh:
      return Tone::kBad;
    case FindingSeverity::kMedium:
      return Tone::kWarning;
    case FindingSeverity::kLow:
      return Tone::kPlain;
    case FindingSeverity::kInfo:
      break;
  }
  return Tone::kFaint;
}

std::string_view word_of(FindingSeverity severity) {
  static constexpr std::array<std::string_view, 4> kWords = {"INFO", "LOW", "MEDIUM", "HIGH"};
  return kWords[static_cast<std::size_t>(severity)];
}

std::string cost_text(const DailyCost& cost) {
  if (!cost.base_usd) return {};
  std::string text = fmt::format("{} a day", dollars(*cost.base_usd));
  if (cost.low_usd && cost.high_usd && *cost.low_usd < *cost.high_usd) {
    text += fmt::format(" ({} … {})", dollars(*cost.low_usd), dollars(*cost.high_usd));
  }
  return text;
}

std::string headline(const Finding& finding, bool fresh) {
  std::string text = fmt::format("{}{}  {}", word_of(finding.severity), fresh ? " (new)" : "", as_text(finding.title));
  if (!finding.subject.name.empty()) {
    const bool on_node = !finding.subject.node.empty() && finding.subject.node != finding.subject.name;
    text +=
        fmt::format("  [{}{}]", as_text(finding.subject.name), on_node ? " on " + as_text(finding.subject.node) : "");
  }
  return text;
}

void add_evidence(Document& document, const std::vector<Evidence>& evidence, int indent) {
  for (std::size_t i = 0; i < evidence.size() && i < kShownEvidence; ++i) {
    const Evidence& seen = evidence[i];
    const std::string at = seen.line > 0 ? fmt::format("{}:{}", seen.file, seen.line) : seen.file;
    document.item(fmt::format("{}: {}", as_text(at), as_text(seen.text)), indent);
  }
  if (evidence.size() > kShownEvidence) {
    document.item(fmt::format("and {} more", evidence.size() - kShownEvidence), indent);
  }
}

std::string against_expectation(const Finding& finding) {
  std::string text;
  if (!finding.expected.empty()) text = "expected " + as_text(finding.expected);
  if (!finding.measured.empty()) text += (text.empty() ? "measured " : ", measured ") + as_text(finding.measured);
  return text;
}

void add_cost_and_fix(Document& document, const Finding& finding, int indent) {
  const DailyCost& cost = finding.cost_usd_per_day;
  if (cost.base_usd) {
    document.item("costs " + cost_text(cost), indent);
  } else if (!cost.unknown.empty()) {
    document.item("cost not known: " + as_text(cost.unknown), indent);
  }
  for (const std::string& step : finding.fix) document.item("fix: " + as_text(step), indent);
}

void add_finding(Document& document, const Finding& finding, bool fresh, bool explain) {
  const bool is_cause = finding.caused_by < 0;
  const int indent = is_cause ? 2 : 4;
  if (is_cause) {
    document.text("");
    document.text(headline(finding, fresh), tone_of(finding.severity));
  } else {
    document.item("explained by the above: " + headline(finding, fresh), 2);
  }
  add_evidence(document, finding.evidence, indent);
  if (!finding.cause.empty()) document.item("why: " + as_text(finding.cause), indent);
  if (const std::string text = against_expectation(finding); !text.empty()) document.item(text, indent);
  if (is_cause) add_cost_and_fix(document, finding, indent);
  document.item(finding.rule_id, indent);
  if (explain && finding.cost_usd_per_day.base_usd) document.verbatim(render(finding.cost_usd_per_day.formula));
}

Row run_row(const std::string& name, const std::string& unit, const std::optional<double>& measured,
            const std::optional<double>& predicted, double scale = 1) {
  const auto text = [scale](const std::optional<double>& value) {
    if (!value) return std::string("not known");
    return std::abs(*value * scale) < 1000 ? fmt::format("{:.4g}", *value * scale)
                                           : fmt::format("{:.0f}", *value * scale);
  };
  const bool both = measured && predicted && *predicted > 0;
  Row row;
  row.cells = {name, text(measured), text(predicted), unit,
               both ? fmt::format("{:.0f} %", 100 * *measured / *predicted) : ""};
  return row;
}

// The run beside its prediction, and where its GPU-hours went.
void add_run(Document& document, const RunAudit& run) {
  const MeasuredRun& m = run.measured;
  const PredictedRun& p = run.predicted;
  document.heading(
      fmt::format("{}: {} beside {} on {}", as_text(m.file), as_text(p.job), p.parallelism, as_text(p.on)));
  Table table;
  table.columns = {
      {"what", ""}, {"measured", "measured"}, {"predicted", "predicted"}, {"unit", ""}, {"ratio", "of predicted"}};
  for (const std::size_t i : {1U, 2U, 4U}) table.columns[i].align = Align::kRight;
  table.rows = {run_row("GPUs", "", m.gpus, p.gpus),
                run_row("step time", "s", m.step_time_s, p.step_time_s),
                run_row("tokens per second and GPU", "", m.tokens_per_s_per_gpu, p.tokens_per_s_per_gpu),
                run_row("MFU", "%", m.mfu_ratio, p.mfu_ratio, 100),
                run_row("waiting for data", "s of a step", m.data_s, p.data_s),
                run_row("communication", "s of a step", m.communication_s, p.communication_s),
                run_row("goodput", "%", m.goodput_ratio, p.goodput_ratio, 100),
                run_row("restarts", "", m.restarts, std::nullopt)};
  document.table(std::move(table));
  document.heading(fmt::format("Where {:.4g} GPU-hours{} went", run.held_gpu_h,
                               run.held_usd ? " and " + dollars(*run.held_usd) : std::string()));
  Table bars;
  bars.columns = {{"bar", ""}, {"gpu_h", "GPU-h"}, {"share", "share"}, {"usd", "USD"}};
  for (std::size_t i = 1; i < bars.columns.size(); ++i) bars.columns[i].align = Align::kRight;
  for (const RunBar& bar : run.waterfall) {
    if (!(bar.gpu_h > 0)) continue;
    Row row;
    row.cells = {bar.label, fmt::format("{:.4g}", bar.gpu_h), fmt::format("{:.1f} %", 100 * bar.gpu_h / run.held_gpu_h),
                 bar.usd ? dollars(*bar.usd) : ""};
    bars.rows.push_back(std::move(row));
  }
  document.table(std::move(bars));
}

void add_use(Document& document, const std::string& heading, const std::vector<UseSum>& sums, double days) {
  constexpr std::size_t kShown = 10;
  if (sums.empty()) return;
  document.heading(fmt::format("{} over {:g} days, the most idle first", heading, days));
  Table table;
  table.columns = {{"name", "held by"}, {"gpus", "GPUs"},      {"gpu_h", "GPU-h"},
                   {"idle", "idle"},    {"spare", "to spare"}, {"use", "mean use"}};
  for (std::size_t i = 1; i < table.columns.size(); ++i) table.columns[i].align = Align::kRight;
  for (std::size_t i = 0; i < sums.size() && i < kShown; ++i) {
    const UseSum& sum = sums[i];
    Row row;
    row.cells = {sum.name.empty() ? "nobody" : as_text(sum.name),
                 fmt::format("{}", sum.gpus.size()),
                 fmt::format("{:.0f}", sum.gpu_h),
                 fmt::format("{:.0f}", sum.idle_gpu_h),
                 fmt::format("{:.0f}", sum.spare_gpu_h),
                 fmt::format("{:.0f} %", 100 * sum.mean_use())};
    table.rows.push_back(std::move(row));
  }
  document.table(std::move(table));
  if (sums.size() > kShown) document.text(fmt::format("and {} more", sums.size() - kShown));
}

bool is_fresh(const std::optional<AuditDifference>& difference, std::size_t index) {
  return difference && std::count(difference->fresh.begin(), difference->fresh.end(), index) > 0;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string summary(const AuditReport& report) {
  std::array<int, 4> counts{};
  for (const Finding& finding : report.findings) ++counts[static_cast<std::size_t>(finding.severity)];
  const auto files = static_cast<std::size_t>(report.files);
  std::string text =
      report.findings.empty()
          ? fmt::format("nothing found in {}", counted(files, "file"))
          : fmt::format("{} in {}: {} high, {} medium, {} low, {} info", counted(report.findings.size(), "finding"),
                        counted(files, "file"), counts[3], counts[2], counts[1], counts[0]);
  if (report.unrecognised > 0) text += fmt::format("; {} not recognised", report.unrecognised);
  if (report.cost_usd_per_day.base_usd) {
    text += fmt::format("; {} where it can be priced", cost_text(report.cost_usd_per_day));
  }
  return text;
}

}  // namespace

Document audit_document(const AuditReport& report, const std::optional<AuditDifference>& difference, bool explain) {
  Document document;
  document.text(summary(report), Tone::kStrong);
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    add_finding(document, report.findings[i], is_fresh(difference, i), explain);
  }
  if (report.run) add_run(document, *report.run);
  if (report.use) {
    add_use(document, "GPU-hours of jobs", report.use->jobs, report.use->days);
    add_use(document, "GPU-hours of users", report.use->users, report.use->days);
    add_use(document, "GPU-hours of nodes", report.use->nodes, report.use->days);
  }
  if (difference) {
    document.heading(
        fmt::format("Against the baseline: {} new, {} fixed", difference->fresh.size(), difference->fixed.size()));
    for (const std::string& title : difference->fixed) document.text("fixed: " + as_text(title), Tone::kGood);
  }
  return document;
}

Table audit_csv(const AuditReport& report) {
  Table table;
  for (const char* const id : {"severity", "rule_id", "node", "subject", "title", "file", "line", "usd_per_day"}) {
    table.columns.push_back({id, id});
  }
  for (const Finding& finding : report.findings) {
    const bool seen = !finding.evidence.empty();
    const std::optional<double>& usd = finding.cost_usd_per_day.base_usd;
    Row row;
    row.cells = {std::string(name_of(finding.severity)),
                 finding.rule_id,
                 as_text(finding.subject.node),
                 as_text(finding.subject.name),
                 as_text(finding.title),
                 seen ? as_text(finding.evidence.front().file) : "",
                 seen ? fmt::format("{}", finding.evidence.front().line) : "",
                 usd ? fmt::format("{}", *usd) : ""};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json audit_json(const AuditReport& report, const std::optional<AuditDifference>& difference) {
  Json json = to_json(report);
  if (!difference) return json;
  for (std::size_t i = 0; i < report.findings.size(); ++i) json["findings"][i]["new"] = is_fresh(difference, i);
  json["fixed"] = difference->fixed;
  return json;
}

}  // namespace tare
