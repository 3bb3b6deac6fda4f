// A line of the ledger before it is rounded: a formula whose inputs may have ranges.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/formula.h"
#include "catalog/parameter.h"

namespace tare {

struct RangedInput {
  FormulaInput input;
  std::string cause;                // what the range belongs to; inputs of one cause move together over all lines
  std::optional<double> low, high;  // of the input's value
  bool open_above = false;          // how far it may rise is not known
};

// Plain inputs, and those behind which a parameter stands.
RangedInput fixed_input(std::string name, double value, std::string unit, std::string source, bool assumed = false);
RangedInput parameter_range(std::string name, const CostParameter& parameter);

// The input with its range.
FormulaInput formula_input(const RangedInput& ranged);

struct LineDraft {
  std::string id;
  std::string expression;
  std::vector<RangedInput> inputs;
  std::string note;
  bool gpu_time = false;
};

// Where the value of a line, or a sum of them, goes when one cause moves to either end: differences from the base.
struct Swing {
  double at_low = 0, at_high = 0;
};
using Swings = std::map<std::string, Swing>;

struct EvaluatedLine {
  LineDraft draft;
  Formula formula;
  Swings swings;
  bool open_above = false;
};

// The value with its swings. Errors as evaluate(): not finite (a parameter of zero in a denominator).
Result<EvaluatedLine> evaluate_line(LineDraft draft);

// base − √Σ(falls²) and base + √Σ(rises²): causes are independent of each other. Never below zero.
struct Range {
  double low = 0;
  std::optional<double> high;  // nullopt: open above
};
Range range_of(double base, const Swings& swings, bool open_above);

void add_swings(Swings& sum, const Swings& swings);

}  // namespace tare
