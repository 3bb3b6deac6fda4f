// Forward declaration of the JSON value (insertion order kept, so output is stable and readable).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tare {
using Json = nlohmann::ordered_json;
}  // namespace tare
