// parameters.csv -> CostParameter.
#include "catalog/tables.h"

namespace tare {

std::vector<CostParameter> read_parameters(const CsvTable& table, const std::string& file,
                                           DiagnosticList& diagnostics) {
  std::vector<CostParameter> rows;
  TableReader row(table, file, diagnostics, {"id", "base"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    CostParameter parameter;
    parameter.id = row.require_id("id");
    parameter.group = row.text("group");
    parameter.description = row.text("description");
    parameter.unit = row.text("unit");
    parameter.low = row.signed_number("low");
    parameter.high = row.signed_number("high");
    if (row.view("base").empty()) row.require_text("base");
    const auto base = row.signed_number("base");
    parameter.base = base.value_or(0);
    parameter.source = row.source();
    check_range(row, "low", parameter.low, base, parameter.high);
    rows.push_back(std::move(parameter));
  }
  return rows;
}

}  // namespace tare
