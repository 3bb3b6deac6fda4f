// How far the step model is off, as the standard deviation of ln(measured ÷ predicted step time).
//
// One row of data/catalog/step_error.csv each; src/validation/step_error.h says how it is found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/source.h"

namespace tare {

struct StepError {
  std::string id;        // kind "/" of what: "stack/megatron-bridge", "generation/hopper", "own/all"
  double sigma_log = 0;  // of the part that all steps of that kind share; "own": of what is left
  int rows = 0, clusters = 0;
  Source source;
};

// Of "KIND/WHAT"; of "KIND/all" where there is no such row, 0 without either.
double step_error_sigma(const std::vector<StepError>& errors, std::string_view kind, std::string_view what);

}  // namespace tare
