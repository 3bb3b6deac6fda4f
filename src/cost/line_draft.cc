#include "cost/line_draft.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tare {
namespace {

// The formula's value with the inputs of one cause at one of their ends.
Result<double> value_at(const LineDraft& draft, const Formula& formula, const std::string& cause, bool high) {
  Formula moved = formula;
  for (std::size_t i = 0; i < draft.inputs.size(); ++i) {
    const RangedInput& ranged = draft.inputs[i];
    if (ranged.cause != cause) continue;
    moved.inputs[i].value = (high ? ranged.high : ranged.low).value_or(ranged.input.value);
  }
  return evaluate(moved);
}

}  // namespace

RangedInput fixed_input(std::string name, double value, std::string unit, std::string source, bool assumed) {
  return {{std::move(name), value, std::move(unit), std::move(source), assumed}, {}, {}, {}, false};
}

RangedInput parameter_range(std::string name, const CostParameter& parameter) {
  const bool assumed = parameter.source.evidence == "unsourced";
  return {{std::move(name), parameter.base, parameter.unit, "parameter " + parameter.id, assumed},
          parameter.id,
          parameter.low,
          parameter.high,
          false};
}

FormulaInput formula_input(const RangedInput& ranged) {
  FormulaInput input = ranged.input;
  input.low = ranged.low;
  input.high = ranged.high;
  return input;
}

Result<EvaluatedLine> evaluate_line(LineDraft draft) {
  EvaluatedLine line;
  line.formula.id = "bill." + draft.id;
  line.formula.unit = "USD";
  line.formula.expression = draft.expression;
  line.formula.note = draft.note;
  for (const RangedInput& ranged : draft.inputs) line.formula.inputs.push_back(formula_input(ranged));
  const Result<double> base = evaluate(line.formula);
  if (!base) return tl::unexpected(base.error());
  line.formula.value = *base;

  for (const RangedInput& ranged : draft.inputs) {
    line.open_above = line.open_above || ranged.open_above;
    if (ranged.cause.empty() || line.swings.contains(ranged.cause) || (!ranged.low && !ranged.high)) continue;
    const Result<double> at_low = value_at(draft, line.formula, ranged.cause, false);
    const Result<double> at_high = value_at(draft, line.formula, ranged.cause, true);
    // An end at which the line is no number any more leaves it open.
    line.open_above = line.open_above || !at_low || !at_high;
    line.swings[ranged.cause] = {at_low.value_or(*base) - *base, at_high.value_or(*base) - *base};
  }
  line.draft = std::move(draft);
  return line;
}

Range range_of(double base, const Swings& swings, bool open_above) {
  double below = 0;
  double above = 0;
  for (const auto& [cause, swing] : swings) {
    const double fall = std::min({0.0, swing.at_low, swing.at_high});
    const double rise = std::max({0.0, swing.at_low, swing.at_high});
    below += fall * fall;
    above += rise * rise;
  }
  Range range;
  range.low = std::max(0.0, base - std::sqrt(below));
  if (!open_above) range.high = base + std::sqrt(above);
  return range;
}

void add_swings(Swings& sum, const Swings& swings) {
  for (const auto& [cause, swing] : swings) {
    sum[cause].at_low += swing.at_low;
    sum[cause].at_high += swing.at_high;
  }
}

}  // namespace tare
