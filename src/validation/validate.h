// The model held against published rows.
//
// Error of a row: predicted ÷ measured − 1 of tokens/s per GPU. Rows of one replicate cluster share one weight, so a
// configuration that was published twenty times counts once. Beside the model stands a baseline: the median MFU (by
// tare's own FLOPs) of the shipped rows per (GPU, stated precision), applied to the rows given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/throughput_rows.h"
#include "perf/step.h"
#include "validation/row_setup.h"

namespace tare {

struct RowPrediction {
  std::string id;
  std::string source_group, gpu, precision, cluster;
  double measured_tokens_per_s_per_gpu = 0;
  double predicted_tokens_per_s_per_gpu = 0;
  double error_ratio = 0;                       // predicted ÷ measured − 1
  std::optional<double> baseline_error_ratio;   // nullopt: the shipped rows have no such GPU
  double weight = 1;                            // 1 ÷ rows of its cluster
  std::vector<std::string> assumed;
};

struct ErrorSummary {
  std::string name;
  int rows = 0;
  int clusters = 0;
  double median_abs_error_ratio = 0, p90_abs_error_ratio = 0;
  double bias_ratio = 0;                        // weighted median of the signed error
  std::optional<double> baseline_median_abs_error_ratio, baseline_p90_abs_error_ratio;
};

struct ValidationReport {
  int rows = 0;
  int predicted = 0;
  std::map<std::string, int> skipped;           // by reason
  ErrorSummary overall;
  std::vector<ErrorSummary> by_gpu, by_source_group;  // by name
  std::vector<RowPrediction> predictions;       // in file order
};

Result<ValidationReport> validate(const std::string& csv_text, const std::string& file, const Catalog& catalog);

// One row, part by part: the measured step time beside the predicted one and each of its parts' formulas.
struct RowExplanation {
  ThroughputRow row;
  RowSetup setup;
  Step step;
  double measured_step_time_s = 0;
  std::vector<Formula> formulas;
};
Result<RowExplanation> explain_row(const std::string& csv_text, const std::string& file, const std::string& id,
                                   const Catalog& catalog);

// The median MFU per (GPU, stated precision) of rows, for data/catalog/baseline_mfu.csv; "" is a precision of its own.
struct BaselineMfu {
  std::string gpu, precision;
  int rows = 0;
  double mfu_ratio = 0;
};
Result<std::vector<BaselineMfu>> baseline_of(const std::string& csv_text, const std::string& file, const Catalog& catalog);
std::string to_csv(const std::vector<BaselineMfu>& baseline);

}  // namespace tare
