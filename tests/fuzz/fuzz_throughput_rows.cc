// Any bytes as published rows: each is predicted or counted with a reason, or there are errors that can be shown.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "validation/validate.h"

namespace {

const tare::Catalog& shipped_catalog() {
  static const tare::Catalog catalog = tare::load_catalog().value();
  return catalog;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto report = tare::validate(text, "fuzz.csv", shipped_catalog());
  if (!report) {
    if (!tare::has_error(report.error()) || tare::render(report.error()).empty()) std::abort();
    return 0;
  }
  int counted = report->predicted;
  for (const auto& [reason, rows] : report->skipped) counted += rows;
  if (counted != report->rows) std::abort();
  for (const tare::RowPrediction& row : report->predictions) {
    if (!std::isfinite(row.error_ratio) || !(row.predicted_tokens_per_s_per_gpu > 0)) std::abort();
  }
  return 0;
}
