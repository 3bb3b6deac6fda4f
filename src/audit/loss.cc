#include "audit/loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace tare {
namespace {

constexpr const char* kUnit = "GPU-h/day";
constexpr std::size_t kMostRanged = 8;

double value_at(const Formula& formula) {
  const Result<double> value = evaluate(formula);
  assert(value && "a loss evaluates");
  return value.value_or(0);
}

Formula loss_of(std::string id, std::string expression, std::vector<FormulaInput> inputs) {
  Formula formula;
  formula.id = std::move(id);
  formula.unit = kUnit;
  formula.expression = std::move(expression);
  formula.inputs = std::move(inputs);
  formula.value = value_at(formula);
  return formula;
}

FormulaInput gpus_input(double gpus, const std::string& source) { return {"gpus", gpus, "GPU", source, false}; }

}  // namespace

LossRange range_of(const Formula& formula) {
  std::vector<std::size_t> ranged;
  for (std::size_t i = 0; i < formula.inputs.size(); ++i) {
    if (formula.inputs[i].low && formula.inputs[i].high && ranged.size() < kMostRanged) ranged.push_back(i);
  }
  LossRange range{formula.value, formula.value, formula.value};
  Formula at = formula;
  for (std::size_t ends = 0; ends < (std::size_t{1} << ranged.size()); ++ends) {
    for (std::size_t k = 0; k < ranged.size(); ++k) {
      const FormulaInput& input = formula.inputs[ranged[k]];
      at.inputs[ranged[k]].value = (ends >> k & 1) != 0 ? *input.high : *input.low;
    }
    const double value = value_at(at);
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range;
}

Formula whole_gpus_lost(double gpus, const std::string& source) {
  return loss_of("audit.gpus_idle", "gpus * 24", {gpus_input(gpus, source)});
}

Formula share_lost(const FormulaInput& lost_ratio, double gpus, const std::string& source) {
  return loss_of("audit.share_lost", lost_ratio.name + " * gpus * 24", {lost_ratio, gpus_input(gpus, source)});
}

Formula slower_communication(const FormulaInput& comm_share, double slowdown, const std::string& slowdown_source,
                             double gpus, const std::string& gpus_source) {
  return loss_of(
      "audit.slower_communication", "(1 - 1 / (1 + " + comm_share.name + " * (slowdown - 1))) * gpus * 24",
      {comm_share, {"slowdown", std::max(1.0, slowdown), "1", slowdown_source, false}, gpus_input(gpus, gpus_source)});
}

FormulaInput known_ratio(const std::string& name, double value, const std::string& source) {
  return {name, value, "1", source, false};
}

FormulaInput assumed_ratio(const std::string& name, const LossRange& range, const std::string& source) {
  return {name, range.base, "1", source, true, range.low, range.high};
}

}  // namespace tare
