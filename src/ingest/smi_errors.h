// What nvidia-smi says instead of an answer.
#pragma once

#include <optional>
#include <string_view>

namespace tare {

struct SmiError {
  std::string_view what;  // "driver-not-running", "version-mismatch", "no-devices", "gpu-lost", …
};

std::optional<SmiError> smi_error(std::string_view line);

}  // namespace tare
