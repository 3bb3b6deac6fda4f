// A step and its memory as JSON: base units, the unit in the key.
#pragma once

#include "base/json_fwd.h"
#include "perf/step.h"

namespace tare {

// {step_time_s, compute_s, …}: the step and its parts, which sum to it.
Json to_json(const Step& step);

// {per_gpu_bytes, capacity_bytes, parts {weights_bytes, …}}: the parts sum to per_gpu_bytes.
Json to_json(const Memory& memory, double capacity_bytes);

// Name and value of each part of the memory, in a fixed order: for tables, JSON and sums.
std::vector<std::pair<std::string_view, double>> named_parts(const Memory& memory);

}  // namespace tare
