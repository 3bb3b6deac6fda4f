// Any expression: a finite value, or one error that can be shown.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/formula.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tare::Formula formula;
  formula.id = "fuzz";
  formula.expression.assign(reinterpret_cast<const char*>(data), size);
  formula.inputs = {{"x", 2, "1", "", false}, {"tokens", 1e12, "1", "job.toml", true}};
  const auto value = tare::evaluate(formula);
  if (value) {
    if (!std::isfinite(*value)) std::abort();
    formula.value = *value;
    tare::render(formula);
  } else if (tare::find_not_text(tare::render(value.error())) != std::string::npos) {
    std::abort();
  }
  return 0;
}
