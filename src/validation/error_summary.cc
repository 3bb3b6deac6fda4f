#include "validation/error_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tare {
namespace {

ErrorSummary summarise_rows(std::string name, const std::vector<const RowPrediction*>& rows) {
  ErrorSummary summary;
  summary.name = std::move(name);
  summary.rows = static_cast<int>(rows.size());
  if (rows.empty()) return summary;
  std::set<std::string> clusters;
  std::vector<Weighted> absolute, signed_errors, baseline;
  for (const RowPrediction* row : rows) {
    clusters.insert(row->cluster);
    absolute.push_back({std::abs(row->error_ratio), row->weight});
    signed_errors.push_back({row->error_ratio, row->weight});
    if (row->baseline_error_ratio) baseline.push_back({std::abs(*row->baseline_error_ratio), row->weight});
  }
  summary.clusters = static_cast<int>(clusters.size());
  summary.median_abs_error_ratio = weighted_quantile(absolute, 0.5);
  summary.p90_abs_error_ratio = weighted_quantile(absolute, 0.9);
  summary.bias_ratio = weighted_quantile(signed_errors, 0.5);
  if (!baseline.empty()) {
    summary.baseline_median_abs_error_ratio = weighted_quantile(baseline, 0.5);
    summary.baseline_p90_abs_error_ratio = weighted_quantile(baseline, 0.9);
  }
  return summary;
}

}  // namespace

double weighted_quantile(std::vector<Weighted> values, double share) {
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  double total = 0;
  for (const Weighted& v : values) total += v.weight;
  // Thirds of a weight do not add up to it exactly.
  const double wanted = share * total * (1 - 1e-12);
  double below = 0;
  for (const Weighted& v : values) {
    below += v.weight;
    if (below >= wanted) return v.value;
  }
  return values.back().value;
}

void set_weights(std::vector<RowPrediction>& predictions) {
  std::map<std::string, int> sizes;
  for (const RowPrediction& row : predictions) ++sizes[row.cluster];
  for (RowPrediction& row : predictions) row.weight = 1.0 / sizes[row.cluster];
}

ErrorSummary summarise(std::string name, const std::vector<RowPrediction>& predictions) {
  std::vector<const RowPrediction*> rows;
  rows.reserve(predictions.size());
  for (const RowPrediction& row : predictions) rows.push_back(&row);
  return summarise_rows(std::move(name), rows);
}

std::vector<ErrorSummary> summarise_by(const std::vector<RowPrediction>& predictions,
                                       std::string RowPrediction::*field) {
  std::map<std::string, std::vector<const RowPrediction*>> groups;
  for (const RowPrediction& row : predictions) groups[row.*field].push_back(&row);
  std::vector<ErrorSummary> summaries;
  summaries.reserve(groups.size());
  for (const auto& [name, rows] : groups) summaries.push_back(summarise_rows(name, rows));
  return summaries;
}

}  // namespace tare
