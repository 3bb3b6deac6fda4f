#include "base/formula_json.h"

#include "base/json.h"

namespace tare {

Json to_json(const Formula& formula) {
  Json inputs = Json::array();
  for (const FormulaInput& input : formula.inputs) {
    inputs.push_back({{"name", input.name},
                      {"value", input.value},
                      {"unit", input.unit},
                      {"source", input.source},
                      {"assumed", input.assumed}});
    if (input.low) inputs.back()["low"] = *input.low;
    if (input.high) inputs.back()["high"] = *input.high;
  }
  return {{"id", formula.id},
          {"value", formula.value},
          {"unit", formula.unit},
          {"expression", formula.expression},
          {"inputs", std::move(inputs)},
          {"note", formula.note}};
}

Json to_json(const std::vector<Formula>& formulas) {
  Json json = Json::array();
  for (const Formula& formula : formulas) json.push_back(to_json(formula));
  return json;
}

}  // namespace tare
