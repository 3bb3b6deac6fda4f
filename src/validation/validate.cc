#include "validation/validate.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "validation/baseline.h"

namespace tare {
namespace {

// A row without a cluster is one by itself.
std::string cluster_of(const ThroughputRow& row) {
  if (!row.replicate_cluster.empty()) return row.replicate_cluster;
  return row.id.empty() ? "line " + std::to_string(row.line) : row.id;
}

RowPrediction predict(const ThroughputRow& row, RowSetup setup, const Baseline& baseline) {
  RowPrediction prediction;
  prediction.id = row.id;
  prediction.source_group = row.source_group;
  prediction.gpu = setup.machine.gpu;
  prediction.precision = row.precision;
  prediction.stack = setup.workload.stack.id;
  prediction.generation = name_of(setup.machine.generation);
  prediction.cluster = cluster_of(row);
  prediction.measured_tokens_per_s_per_gpu = setup.measured_tokens_per_s_per_gpu;
  StepModel model(setup.workload, setup.machine);
  prediction.predicted_tokens_per_s_per_gpu = model.evaluate(setup.parallelism).tokens_per_s_per_gpu;
  prediction.error_ratio = prediction.predicted_tokens_per_s_per_gpu / prediction.measured_tokens_per_s_per_gpu - 1;
  const auto found = baseline.find({prediction.gpu, prediction.precision});
  if (found != baseline.end()) prediction.baseline_error_ratio = found->second / measured_mfu(setup) - 1;
  prediction.assumed = std::move(setup.assumed);
  return prediction;
}

Diagnostic unknown_row(const std::vector<ThroughputRow>& rows, const std::string& id, const std::string& file) {
  std::vector<std::string> known;
  known.reserve(rows.size());
  for (const ThroughputRow& row : rows) known.push_back(row.id);
  const std::string near = did_you_mean(id, known);
  Diagnostic diagnostic = make_error("unknown-row", "no row with id " + in_quotes(id),
                                     near.empty() ? "" : "did you mean \"" + near + "\"?");
  diagnostic.file = file;
  return diagnostic;
}

}  // namespace

Result<ValidationReport> validate(const std::string& csv_text, const std::string& file, const Catalog& catalog) {
  const Result<std::vector<ThroughputRow>> rows = read_throughput_rows(csv_text, file);
  if (!rows) return tl::unexpected(rows.error());
  const Baseline baseline = shipped_baseline();
  ValidationReport report;
  report.rows = static_cast<int>(rows->size());
  for (const ThroughputRow& row : *rows) {
    tl::expected<RowSetup, RowSkip> setup = set_up_row(row, catalog);
    if (!setup) {
      ++report.skipped[setup.error().reason];
      continue;
    }
    RowPrediction prediction = predict(row, std::move(*setup), baseline);
    // Sizes no machine has can leave the range of a double.
    if (!std::isfinite(prediction.error_ratio) || prediction.predicted_tokens_per_s_per_gpu <= 0) {
      ++report.skipped["not_finite"];
      continue;
    }
    report.predictions.push_back(std::move(prediction));
  }
  report.predicted = static_cast<int>(report.predictions.size());
  set_weights(report.predictions);
  report.overall = summarise("all", report.predictions);
  report.by_gpu = summarise_by(report.predictions, &RowPrediction::gpu);
  report.by_source_group = summarise_by(report.predictions, &RowPrediction::source_group);
  return report;
}

Result<RowExplanation> explain_row(const std::string& csv_text, const std::string& file, const std::string& id,
                                   const Catalog& catalog) {
  const Result<std::vector<ThroughputRow>> rows = read_throughput_rows(csv_text, file);
  if (!rows) return tl::unexpected(rows.error());
  const auto row = std::find_if(rows->begin(), rows->end(), [&](const ThroughputRow& r) { return r.id == id; });
  if (row == rows->end()) return fail(unknown_row(*rows, id, file));
  tl::expected<RowSetup, RowSkip> setup = set_up_row(*row, catalog);
  if (!setup) {
    Diagnostic diagnostic =
        make_error("row-skipped", "row " + in_quotes(id) + " cannot be predicted: " + setup.error().reason,
                   "docs/validation.md says what a row needs");
    diagnostic.file = file;
    diagnostic.line = row->line;
    return fail(diagnostic);
  }
  StepModel model(setup->workload, setup->machine);
  RowExplanation explanation{*row, *setup, model.evaluate(setup->parallelism), 0, model.explain(setup->parallelism)};
  explanation.measured_step_time_s =
      tokens_per_step(setup->workload) / (setup->measured_tokens_per_s_per_gpu * gpus(setup->parallelism));
  return explanation;
}

}  // namespace tare
