#include "cli/validate_view.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/explain.h"
#include "cli/option_tables.h"

namespace tare {
namespace {

constexpr double kChartBand = 0.1;  // lines at ±10 %

std::string maybe_percent(const std::optional<double>& ratio) { return ratio ? percent(*ratio) : "?"; }

Cell maybe_cell(const std::optional<double>& ratio) {
  return ratio ? number_cell(percent(*ratio), *ratio) : Cell("?", "");
}

// A model that loses against its baseline must be seen.
Tone tone_of(const ErrorSummary& summary) {
  if (!summary.baseline_median_abs_error_ratio) return Tone::kPlain;
  return summary.median_abs_error_ratio < *summary.baseline_median_abs_error_ratio ? Tone::kPlain : Tone::kBad;
}

Row summary_row(const ErrorSummary& summary, const std::string& name, RowKind kind = RowKind::kPlain) {
  Row row;
  row.kind = kind;
  row.tone = tone_of(summary);
  row.cells = {name,
               number_cell(std::to_string(summary.rows), summary.rows),
               number_cell(std::to_string(summary.clusters), summary.clusters),
               number_cell(percent(summary.median_abs_error_ratio), summary.median_abs_error_ratio),
               number_cell(percent(summary.p90_abs_error_ratio), summary.p90_abs_error_ratio),
               number_cell(fmt::format("{:+.1f} %", summary.bias_ratio * 100), summary.bias_ratio),
               maybe_cell(summary.baseline_median_abs_error_ratio),
               maybe_cell(summary.baseline_p90_abs_error_ratio)};
  return row;
}

Table summary_table(const ValidationReport& report, const std::vector<ErrorSummary>& groups, const std::string& title) {
  const Align right = Align::kRight;
  Table table;
  table.columns = {{"name", title, Align::kLeft, Importance::kEssential, 16},
                   {"rows", "rows", right, Importance::kUseful},
                   {"clusters", "clusters", right, Importance::kImportant},
                   {"median_abs_error_ratio", "median\nerror", right},
                   {"p90_abs_error_ratio", "P90", right},
                   {"bias_ratio", "bias", right, Importance::kImportant},
                   {"baseline_median_abs_error_ratio", "baseline\nmedian", right},
                   {"baseline_p90_abs_error_ratio", "baseline\nP90", right, Importance::kUseful}};
  for (const ErrorSummary& group : groups) table.rows.push_back(summary_row(group, group.name));
  table.rows.push_back(summary_row(report.overall, "all", RowKind::kTotal));
  return table;
}

Table skipped_table(const ValidationReport& report) {
  Table table;
  table.columns = {{"reason", "not predicted: reason", Align::kLeft, Importance::kEssential, 30},
                   {"rows", "rows", Align::kRight}};
  for (const auto& [reason, count] : report.skipped) {
    table.rows.push_back({{reason, number_cell(std::to_string(count), count)}});
  }
  return table;
}

void add_summaries(Document& document, const ValidationReport& report) {
  document.heading("By GPU");
  document.table(summary_table(report, report.by_gpu, "GPU"));
  document.heading("By source");
  document.table(summary_table(report, report.by_source_group, "source group"));
  document.text(
      "Each replicate cluster counts once. Baseline: the median MFU of the published rows of that GPU and precision.",
      Tone::kFaint);
}

}  // namespace

Table predictions_table(const std::vector<RowPrediction>& predictions) {
  const Align right = Align::kRight;
  Table table;
  table.columns = {{"id", "row"},
                   {"measured_tokens_per_s_per_gpu", "measured", right},
                   {"predicted_tokens_per_s_per_gpu", "predicted", right},
                   {"error_ratio", "error", right},
                   {"assumed", "assumed", Align::kLeft, Importance::kUseful, 20}};
  for (const RowPrediction& row : predictions) {
    table.rows.push_back(
        {{row.id, number_cell(format_si(row.measured_tokens_per_s_per_gpu), row.measured_tokens_per_s_per_gpu),
          number_cell(format_si(row.predicted_tokens_per_s_per_gpu), row.predicted_tokens_per_s_per_gpu),
          number_cell(fmt::format("{:+.1f} %", row.error_ratio * 100), row.error_ratio), join(row.assumed, "; ")}});
  }
  return table;
}

Document validation_document(const ValidationReport& report, bool every_row) {
  Document document;
  std::string found = fmt::format("{} of {} rows predicted", report.predicted, report.rows);
  if (report.predicted > 0) {
    found += fmt::format("; tokens/s per GPU, median of |error| {}, P90 {} (baseline {}, {})",
                         percent(report.overall.median_abs_error_ratio), percent(report.overall.p90_abs_error_ratio),
                         maybe_percent(report.overall.baseline_median_abs_error_ratio),
                         maybe_percent(report.overall.baseline_p90_abs_error_ratio));
  }
  document.text(found, Tone::kStrong);
  if (report.predicted > 0) add_summaries(document, report);
  if (!report.skipped.empty()) {
    document.heading(fmt::format("Not predicted: {}", report.rows - report.predicted));
    document.table(skipped_table(report));
  }
  if (every_row) {
    document.heading("Rows");
    document.table(predictions_table(report.predictions));
  }
  return document;
}

void add_row(Document& document, const RowExplanation& explanation, bool formulas) {
  document.heading(fmt::format("{}: {} on {}", explanation.row.id, explanation.row.model_name, explanation.row.gpu));
  const double predicted_s = explanation.step.step_time_s;
  const double measured_s = explanation.measured_step_time_s;
  document.text(fmt::format("step predicted {}, measured {} ({:+.1f} %); {}", format_duration(predicted_s),
                            format_duration(measured_s), (predicted_s / measured_s - 1) * 100,
                            to_text(explanation.setup.parallelism)));
  document.table(step_table(explanation.step));
  if (formulas) add_formulas(document, explanation.formulas);
}

ScatterChart accuracy_chart(const ValidationReport& report) {
  ScatterChart chart;
  chart.title = fmt::format("{} rows: predicted against measured", report.predicted);
  chart.x_label = "measured tokens/s per GPU";
  chart.y_label = "predicted tokens/s per GPU";
  chart.log_axes = true;
  chart.diagonal = true;
  chart.diagonal_band_ratio = kChartBand;
  std::map<std::string, ScatterSeries> series;
  for (const RowPrediction& row : report.predictions) {
    ScatterSeries& own = series[row.gpu];
    own.name = row.gpu;
    own.points.push_back({row.measured_tokens_per_s_per_gpu, row.predicted_tokens_per_s_per_gpu,
                          fmt::format("{} {:+.1f} %", row.id, row.error_ratio * 100)});
  }
  for (auto& [gpu, own] : series) chart.series.push_back(std::move(own));
  return chart;
}

}  // namespace tare
