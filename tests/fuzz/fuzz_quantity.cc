// A dimension and any text: a finite value that can be shown, or one error that can. Also the small parsers beside it.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/date.h"
#include "base/quantity.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto dimension = static_cast<tare::Dimension>(data[0] % 7);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);

  const auto value = tare::parse_quantity(text, dimension);
  if (value) {
    if (!std::isfinite(*value)) std::abort();
    for (const std::string& shown :
         {tare::format_duration(*value), tare::format_bytes(*value), tare::format_gib(*value),
          tare::format_bits_per_s(*value), tare::format_count(*value), tare::format_si(*value)}) {
      if (shown.empty()) std::abort();
    }
    tare::format_usd(*value, 2);
  } else if (tare::find_not_text(tare::render(value.error())) != std::string::npos) {
    std::abort();
  }

  if (const auto date = tare::parse_date(text); date && tare::format_date(*date) != text) std::abort();
  if (tare::expand_range(text, 1000).size() > 1000) std::abort();
  const std::size_t half = text.size() / 2;
  tare::glob_matches(text.substr(0, half), text.substr(half));
  tare::did_you_mean(text, {"tokens", "model", "deadline"});
  return 0;
}
