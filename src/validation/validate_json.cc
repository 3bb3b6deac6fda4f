#include "validation/validate_json.h"

#include "base/json.h"
#include "perf/step_json.h"
#include "workload/job_json.h"

namespace tare {
namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// The error of no rows is unknown, not zero.
Json figures(const ErrorSummary& summary) {
  const auto known = [&](double value) { return summary.rows > 0 ? Json(value) : Json(nullptr); };
  return {{"rows", summary.rows},
          {"clusters", summary.clusters},
          {"median_abs_error_ratio", known(summary.median_abs_error_ratio)},
          {"p90_abs_error_ratio", known(summary.p90_abs_error_ratio)},
          {"bias_ratio", known(summary.bias_ratio)},
          {"baseline_median_abs_error_ratio", or_null(summary.baseline_median_abs_error_ratio)},
          {"baseline_p90_abs_error_ratio", or_null(summary.baseline_p90_abs_error_ratio)}};
}

Json named_figures(const std::vector<ErrorSummary>& summaries) {
  Json list = Json::array();
  for (const ErrorSummary& summary : summaries) {
    Json one = {{"name", summary.name}};
    one.update(figures(summary));
    list.push_back(std::move(one));
  }
  return list;
}

Json prediction_json(const RowPrediction& row) {
  return {{"id", row.id},
          {"measured_tokens_per_s_per_gpu", row.measured_tokens_per_s_per_gpu},
          {"predicted_tokens_per_s_per_gpu", row.predicted_tokens_per_s_per_gpu},
          {"error_ratio", row.error_ratio},
          {"assumed", row.assumed}};
}

}  // namespace

Json to_json(const ValidationReport& report) {
  Json skipped = Json::object();
  for (const auto& [reason, count] : report.skipped) skipped[reason] = count;
  Json predictions = Json::array();
  for (const RowPrediction& row : report.predictions) predictions.push_back(prediction_json(row));
  return {{"format_version", "1.0"},
          {"rows", report.rows},
          {"predicted", report.predicted},
          {"skipped", std::move(skipped)},
          {"overall", figures(report.overall)},
          {"by_gpu", named_figures(report.by_gpu)},
          {"by_source_group", named_figures(report.by_source_group)},
          {"predictions", std::move(predictions)}};
}

Json to_json(const RowExplanation& explanation) {
  return {{"id", explanation.row.id},
          {"model", explanation.row.model_name},
          {"gpu", explanation.setup.machine.gpu},
          {"gpus", explanation.setup.machine.gpus},
          {"parallelism", to_json(explanation.setup.parallelism)},
          {"measured_step_time_s", explanation.measured_step_time_s},
          {"predicted_step_time_s", explanation.step.step_time_s},
          {"step", to_json(explanation.step)},
          {"assumed", explanation.setup.assumed}};
}

}  // namespace tare
