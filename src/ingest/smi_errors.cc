#include "ingest/smi_errors.h"

#include <array>
#include <utility>

#include "ingest/scan.h"

namespace tare {

std::optional<SmiError> smi_error(std::string_view line) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kErrors = {{
      {"NVIDIA-SMI has failed because", "driver-not-running"},
      {"couldn't communicate with the NVIDIA driver", "driver-not-running"},
      {"Driver/library version mismatch", "version-mismatch"},
      {"Failed to initialize NVML", "nvml-not-initialised"},
      {"NVML library version:", "nvml-library-version"},
      {"No devices were found", "no-devices"},
      {"Unable to determine the device handle for", "gpu-lost"},
      {"GPU is lost", "gpu-lost"},
      {"infoROM is corrupted", "inforom-corrupted"},
      {"Reboot the system to recover this GPU", "gpu-lost"},
      {"is not a supported device", "not-supported"},
      {"nvidia-smi: command not found", "no-nvidia-smi"},
      {"NVIDIA-SMI couldn't find libnvidia-ml.so", "no-nvml-library"},
      {"Unable to retrieve NVLink information", "no-nvlink-information"},
      {"GPU access blocked by the operating system", "access-blocked"},
  }};
  for (const auto& [text, what] : kErrors) {
    if (contains(line, text)) return SmiError{what};
  }
  return std::nullopt;
}

}  // namespace tare
