// The model held against published rows.
//
// Error of a row: predicted ÷ measured − 1 of tokens/s per GPU. Every row given is predicted or counted with the reason
// why not; none is left out for what came out. How errors are added up: error_summary.h; what stands beside them:
// baseline.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingest/throughput_rows.h"
#include "perf/step.h"
#include "validation/error_summary.h"
#include "validation/row_setup.h"

namespace tare {

struct ValidationReport {
  int rows = 0;
  int predicted = 0;
  std::map<std::string, int> skipped;  // by reason
  ErrorSummary overall;
  std::vector<ErrorSummary> by_gpu, by_source_group;  // by name
  std::vector<RowPrediction> predictions;             // in file order
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

}  // namespace tare
