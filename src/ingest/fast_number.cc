#include "ingest/fast_number.h"

#include <cmath>
#include <system_error>

#include <fast_float/fast_float.h>

namespace tare {

const char* parse_number_slowly(const char* at, const char* end, double& value) {
  const auto [behind, error] = fast_float::from_chars(at, end, value);
  if (error != std::errc() || !std::isfinite(value)) return nullptr;
  return behind;
}

}  // namespace tare
