#include "validation/baseline.h"

#include <fmt/format.h>

#include "base/csv.h"
#include "catalog/embedded.h"
#include "validation/error_summary.h"
#include "workload/flops.h"

namespace tare {

double measured_mfu(const RowSetup& setup) {
  const double peak = peak_flops(setup.machine, setup.workload.precision);
  return setup.measured_tokens_per_s_per_gpu * model_flops_per_token(setup.workload) / peak;
}

Result<std::vector<BaselineMfu>> baseline_of(const std::string& csv_text, const std::string& file,
                                             const Catalog& catalog) {
  const Result<std::vector<ThroughputRow>> rows = read_throughput_rows(csv_text, file);
  if (!rows) return tl::unexpected(rows.error());
  std::map<std::pair<std::string, std::string>, std::vector<Weighted>> groups;
  for (const ThroughputRow& row : *rows) {
    const auto setup = set_up_row(row, catalog);
    if (setup) groups[{setup->machine.gpu, row.precision}].push_back({measured_mfu(*setup), 1});
  }
  std::vector<BaselineMfu> baseline;
  baseline.reserve(groups.size());
  for (const auto& [key, values] : groups) {
    baseline.push_back({key.first, key.second, static_cast<int>(values.size()), weighted_quantile(values, 0.5)});
  }
  return baseline;
}

std::string to_csv(const std::vector<BaselineMfu>& baseline) {
  std::string text = "gpu,precision,rows,mfu_ratio\n";
  for (const BaselineMfu& b : baseline)
    text += fmt::format("{},{},{},{:.6f}\n", b.gpu, b.precision, b.rows, b.mfu_ratio);
  return text;
}

Baseline shipped_baseline() {
  Baseline baseline;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name != "baseline_mfu.csv") continue;
    const Result<CsvTable> table = CsvTable::parse(std::string(file.text), "baseline_mfu.csv");
    if (!table) return baseline;
    Diagnostics diagnostics;
    for (std::size_t i = 0; i < table->rows(); ++i) {
      const std::optional<double> mfu = table->number(i, "mfu_ratio", diagnostics);
      if (mfu) baseline[{std::string(table->field(i, "gpu")), std::string(table->field(i, "precision"))}] = *mfu;
    }
  }
  return baseline;
}

}  // namespace tare
