#include "validation/validate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv.h"
#include "catalog/embedded.h"
#include "workload/flops.h"

namespace tare {
namespace {

struct Weighted {
  double value = 0, weight = 0;
};

// The smallest value with at least `share` of the weight at or below it.
double quantile(std::vector<Weighted> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double total = 0;
  for (const Weighted& v : values) total += v.weight;
  double below = 0;
  for (const Weighted& v : values) {
    below += v.weight;
    if (below >= share * total * (1 - 1e-12)) return v.value;
  }
  return values.back().value;
}

ErrorSummary summarise(std::string name, const std::vector<const RowPrediction*>& rows) {
  ErrorSummary summary;
  summary.name = std::move(name);
  summary.rows = static_cast<int>(rows.size());
  std::set<std::string> clusters;
  std::vector<Weighted> absolute, signed_errors, baseline;
  for (const RowPrediction* row : rows) {
    clusters.insert(row->cluster);
    absolute.push_back({std::abs(row->error_ratio), row->weight});
    signed_errors.push_back({row->error_ratio, row->weight});
    if (row->baseline_error_ratio) baseline.push_back({std::abs(*row->baseline_error_ratio), row->weight});
  }
  summary.clusters = static_cast<int>(clusters.size());
  summary.median_abs_error_ratio = quantile(absolute, 0.5);
  summary.p90_abs_error_ratio = quantile(absolute, 0.9);
  summary.bias_ratio = quantile(signed_errors, 0.5);
  if (!baseline.empty()) {
    summary.baseline_median_abs_error_ratio = quantile(baseline, 0.5);
    summary.baseline_p90_abs_error_ratio = quantile(baseline, 0.9);
  }
  return summary;
}

std::vector<ErrorSummary> summarise_by(const std::vector<RowPrediction>& predictions, std::string RowPrediction::*key) {
  std::map<std::string, std::vector<const RowPrediction*>> groups;
  for (const RowPrediction& row : predictions) groups[row.*key].push_back(&row);
  std::vector<ErrorSummary> summaries;
  for (const auto& [name, rows] : groups) summaries.push_back(summarise(name, rows));
  return summaries;
}

double mfu_of(const RowSetup& setup) {
  const double peak = peak_flops(setup.machine, setup.workload.precision);
  return setup.measured_tokens_per_s_per_gpu * model_flops_per_token(setup.workload) / peak;
}

using Baseline = std::map<std::pair<std::string, std::string>, double>;

// data/catalog/baseline_mfu.csv, which a test holds equal to baseline_of(tests/published/published.csv).
Baseline shipped_baseline() {
  Baseline baseline;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name != "baseline_mfu.csv") continue;
    const Result<CsvTable> table = CsvTable::parse(std::string(file.text), "baseline_mfu.csv");
    if (!table) return baseline;
    Diagnostics diagnostics;
    for (std::size_t i = 0; i < table->rows(); ++i) {
      baseline[{std::string(table->field(i, "gpu")), std::string(table->field(i, "precision"))}] =
          table->number(i, "mfu_ratio", diagnostics).value_or(0);
    }
  }
  return baseline;
}

void add_baseline(RowPrediction& prediction, const RowSetup& setup, const Baseline& baseline) {
  const auto found = baseline.find({prediction.gpu, prediction.precision});
  if (found == baseline.end()) return;
  prediction.baseline_error_ratio = found->second / mfu_of(setup) - 1;
}

void set_weights(std::vector<RowPrediction>& predictions) {
  std::map<std::string, int> sizes;
  for (const RowPrediction& row : predictions) ++sizes[row.cluster];
  for (RowPrediction& row : predictions) row.weight = 1.0 / sizes[row.cluster];
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
    StepModel model(setup->workload, setup->machine);
    RowPrediction prediction;
    prediction.id = row.id;
    prediction.source_group = row.source_group;
    prediction.gpu = setup->machine.gpu;
    prediction.precision = row.precision;
    prediction.cluster = row.replicate_cluster.empty() ? row.id : row.replicate_cluster;
    prediction.measured_tokens_per_s_per_gpu = setup->measured_tokens_per_s_per_gpu;
    prediction.predicted_tokens_per_s_per_gpu = model.evaluate(setup->parallelism).tokens_per_s_per_gpu;
    prediction.error_ratio = prediction.predicted_tokens_per_s_per_gpu / prediction.measured_tokens_per_s_per_gpu - 1;
    add_baseline(prediction, *setup, baseline);
    prediction.assumed = std::move(setup->assumed);
    report.predictions.push_back(std::move(prediction));
  }
  report.predicted = static_cast<int>(report.predictions.size());
  set_weights(report.predictions);
  std::vector<const RowPrediction*> all;
  for (const RowPrediction& row : report.predictions) all.push_back(&row);
  report.overall = summarise("all", all);
  report.by_gpu = summarise_by(report.predictions, &RowPrediction::gpu);
  report.by_source_group = summarise_by(report.predictions, &RowPrediction::source_group);
  return report;
}

Result<RowExplanation> explain_row(const std::string& csv_text, const std::string& file, const std::string& id,
                                   const Catalog& catalog) {
  const Result<std::vector<ThroughputRow>> rows = read_throughput_rows(csv_text, file);
  if (!rows) return tl::unexpected(rows.error());
  const auto row = std::find_if(rows->begin(), rows->end(), [&](const ThroughputRow& r) { return r.id == id; });
  if (row == rows->end()) return fail("unknown-row", "no row with id '" + id + "' in " + file);
  tl::expected<RowSetup, RowSkip> setup = set_up_row(*row, catalog);
  if (!setup) return fail("row-skipped", "row " + id + " cannot be predicted: " + setup.error().reason);
  StepModel model(setup->workload, setup->machine);
  RowExplanation explanation{*row, *setup, model.evaluate(setup->parallelism), 0, model.explain(setup->parallelism)};
  explanation.measured_step_time_s =
      tokens_per_step(setup->workload) / (setup->measured_tokens_per_s_per_gpu * gpus(setup->parallelism));
  return explanation;
}

Result<std::vector<BaselineMfu>> baseline_of(const std::string& csv_text, const std::string& file, const Catalog& catalog) {
  const Result<std::vector<ThroughputRow>> rows = read_throughput_rows(csv_text, file);
  if (!rows) return tl::unexpected(rows.error());
  std::map<std::pair<std::string, std::string>, std::vector<Weighted>> groups;
  for (const ThroughputRow& row : *rows) {
    if (const auto setup = set_up_row(row, catalog)) groups[{setup->machine.gpu, row.precision}].push_back({mfu_of(*setup), 1});
  }
  std::vector<BaselineMfu> baseline;
  for (const auto& [key, values] : groups) {
    baseline.push_back({key.first, key.second, static_cast<int>(values.size()), quantile(values, 0.5)});
  }
  return baseline;
}

std::string to_csv(const std::vector<BaselineMfu>& baseline) {
  std::string text = "gpu,precision,rows,mfu_ratio\n";
  for (const BaselineMfu& b : baseline) {
    char number[32];
    std::snprintf(number, sizeof number, "%.6f", b.mfu_ratio);
    text += b.gpu + "," + b.precision + "," + std::to_string(b.rows) + "," + number + "\n";
  }
  return text;
}

}  // namespace tare
