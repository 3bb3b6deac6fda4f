#include "cost/lines.h"

namespace tare {

LineDraft compliance_line(const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  LineDraft line;
  line.id = "compliance";
  line.expression = "gpus * (" + held.hours_expression +
                    ") * log_bytes_per_gpu_h * log_retention_months * archive_usd_per_byte_month";
  line.inputs = held.inputs;
  line.inputs.push_back(fixed_input("gpus", input.gpus, "GPU", "cluster"));
  line.inputs.push_back(parameter_range("log_bytes_per_gpu_h", parameter(catalog, "log_volume")));
  line.inputs.push_back(parameter_range("log_retention_months", parameter(catalog, "log_retention")));
  line.inputs.push_back(parameter_range("archive_usd_per_byte_month", parameter(catalog, "archive_price")));
  line.note = "logs and metrics, kept as long as they have to be";
  if (input.certified) {
    line.expression += " + audit_usd_per_year / 8760 * (" + held.hours_expression + ")";
    line.inputs.push_back(parameter_range("audit_usd_per_year", parameter(catalog, "audit_cost")));
    line.note += "; the hours' share of the yearly audit that the job asks for";
  }
  return line;
}

}  // namespace tare
