#include "cli/roofline_view.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/quantity.h"
#include "cli/option_tables.h"

namespace tare {

Table roofline_table(const std::vector<RooflineRow>& rows) {
  const Align right = Align::kRight;
  Table table;
  table.columns = {{"operation", "operation"},
                   {"flops", "FLOPs", right},
                   {"bytes", "bytes", right, Importance::kImportant},
                   {"intensity_flops_per_byte", "FLOPs/byte", right},
                   {"ridge_flops_per_byte", "ridge", right, Importance::kImportant},
                   {"bound", "bound by"},
                   {"time_s", "time", right},
                   {"efficiency_ratio", "of the roof", right, Importance::kImportant}};
  for (const RooflineRow& row : rows) {
    table.rows.push_back(
        {{row.operation, number_cell(format_si(row.flops), row.flops), number_cell(format_bytes(row.bytes), row.bytes),
          number_cell(fmt::format("{:.1f}", row.intensity_flops_per_byte), row.intensity_flops_per_byte),
          number_cell(fmt::format("{:.0f}", row.ridge_flops_per_byte), row.ridge_flops_per_byte), row.bound,
          number_cell(format_duration(row.time_s), row.time_s),
          number_cell(percent(row.efficiency_ratio), row.efficiency_ratio)}});
  }
  return table;
}

Json to_json(const std::vector<RooflineRow>& rows) {
  Json json = Json::array();
  for (const RooflineRow& row : rows) {
    json.push_back({{"operation", row.operation},
                    {"flops", row.flops},
                    {"bytes", row.bytes},
                    {"intensity_flops_per_byte", row.intensity_flops_per_byte},
                    {"ridge_flops_per_byte", row.ridge_flops_per_byte},
                    {"bound", row.bound},
                    {"time_s", row.time_s},
                    {"efficiency_ratio", row.efficiency_ratio}});
  }
  return json;
}

}  // namespace tare
