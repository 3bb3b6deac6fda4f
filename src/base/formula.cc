#include "base/formula.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/formula_parser.h"
#include "base/quantity.h"

namespace tare {
namespace {

// Numbers as they are.
struct Numbers {
  using Value = double;
  static double constant(double value) { return value; }
  static double input(const FormulaInput& input) { return input.value; }
  static double apply(FormulaOp op, double x, double y = 0) { return tare::apply(op, x, y); }
};

// Money to the cent, whole numbers in full, the rest to six digits; with the unit unless it is "1".
std::string with_unit(double value, std::string_view unit) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  std::string text;
  if (unit == "USD" && std::fabs(value) >= 0.01) {
    text = format_usd(value, 2);
    text.erase(text.find('$'), 1);
  } else if (value == std::floor(value) && std::fabs(value) <= kLargestExact) {
    text = format_count(value);
  } else {
    text = fmt::format("{:.6g}", value);
  }
  return unit.empty() || unit == "1" ? text : fmt::format("{} {}", text, unit);
}

std::string origin(const FormulaInput& input) {
  if (!input.assumed) return input.source.empty() ? std::string() : fmt::format("({})", input.source);
  return input.source.empty() ? std::string("(assumed)") : fmt::format("(assumed: {})", input.source);
}

}  // namespace

Result<double> evaluate(const Formula& formula) {
  Numbers numbers;
  FormulaParser<Numbers> parser(formula, numbers);
  Result<double> value = parser.run();
  if (value && !std::isfinite(*value)) {
    return fail(parser.error("formula-not-finite", fmt::format("the result is not finite ({})", *value),
                             "look for a division by zero among the inputs"));
  }
  return value;
}

std::string render(const Formula& formula) {
  std::string result =
      fmt::format("{} = {} = {}\n", formula.id, formula.expression, with_unit(formula.value, formula.unit));
  std::vector<std::string> values;
  std::size_t widest = 0;
  for (const FormulaInput& input : formula.inputs) {
    values.push_back(fmt::format("{} = {}", input.name, with_unit(input.value, input.unit)));
    widest = std::max(widest, values.back().size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string from = origin(formula.inputs[i]);
    result += from.empty() ? fmt::format("  {}\n", values[i]) : fmt::format("  {:<{}}   {}\n", values[i], widest, from);
  }
  if (!formula.note.empty()) result += fmt::format("  note: {}\n", formula.note);
  return result;
}

}  // namespace tare
