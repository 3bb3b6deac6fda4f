// Any bytes: a table whose every cell can be read and pointed at, or errors that can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = tare::CsvTable::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv");
  if (!table) {
    if (!tare::has_error(table.error()) || tare::render(table.error()).empty()) std::abort();
    return 0;
  }
  for (std::size_t row = 0; row < table->rows() && row < 100; ++row) {
    for (const std::string& column : table->columns()) {
      tare::Diagnostics diagnostics;
      table->number(row, column, diagnostics);
      table->integer(row, column, diagnostics);
      if (table->field(row, column).size() > size) std::abort();
      if (tare::render(table->at(row, column, "rule", "text")).empty()) std::abort();
      tare::render(diagnostics);
    }
  }
  return 0;
}
