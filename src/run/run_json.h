// A run as JSON: base units, the unit in the key.
#pragma once

#include "base/json_fwd.h"
#include "run/run.h"

namespace tare {

// What is infinite for a run that does not finish is null; what has no known end of its range is left out.
Json to_json(const Run& run);

}  // namespace tare
