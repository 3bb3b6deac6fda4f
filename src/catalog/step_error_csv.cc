// step_error.csv -> StepError.
#include "catalog/tables.h"

namespace tare {

std::vector<StepError> read_step_errors(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics) {
  std::vector<StepError> rows;
  TableReader row(table, file, diagnostics, {"id", "sigma_log"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    StepError error;
    error.id = row.require_id("id");
    error.sigma_log = row.number("sigma_log").value_or(0);
    if (row.view("sigma_log").empty()) row.require_text("sigma_log");
    error.rows = row.count("rows").value_or(0);
    error.clusters = row.count("clusters").value_or(0);
    error.source = row.source();
    rows.push_back(std::move(error));
  }
  return rows;
}

double step_error_sigma(const std::vector<StepError>& errors, std::string_view kind, std::string_view what) {
  double fallback = 0;
  for (const StepError& error : errors) {
    const std::string_view id = error.id;
    if (!id.starts_with(kind) || id.size() <= kind.size() || id[kind.size()] != '/') continue;
    const std::string_view rest = id.substr(kind.size() + 1);
    if (rest == what) return error.sigma_log;
    if (rest == "all") fallback = error.sigma_log;
  }
  return fallback;
}

}  // namespace tare
