// Any bytes as published rows: rows, or errors that can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ingest/throughput_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto rows = tare::read_throughput_rows(std::string(reinterpret_cast<const char*>(data), size), "fuzz.csv");
  if (!rows && (!tare::has_error(rows.error()) || tare::render(rows.error()).empty())) std::abort();
  return 0;
}
