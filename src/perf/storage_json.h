// How a step's data come, as JSON: base units, the unit in the key.
#pragma once

#include "base/json_fwd.h"
#include "perf/storage.h"

namespace tare {

Json to_json(const DataLoading& loading);

}  // namespace tare
