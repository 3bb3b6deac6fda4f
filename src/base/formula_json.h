// Formulas as JSON: the "explain" list of every answer.
#pragma once

#include "base/formula.h"
#include "base/json_fwd.h"

namespace tare {

// {id, value, unit, expression, inputs: [{name, value, unit, source, assumed}], note}
Json to_json(const Formula& formula);
Json to_json(const std::vector<Formula>& formulas);

}  // namespace tare
