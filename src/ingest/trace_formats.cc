#include <array>

#include "ingest/chrome_trace.h"
#include "ingest/families.h"
#include "ingest/flight_recorder.h"

namespace tare {

std::span<const Format> trace_formats() {
  static constexpr std::array<Format, 2> kFormats = {{
      {"trace", "PyTorch profiler trace", recognise_chrome_trace, nullptr, read_chrome_trace},
      {"trace", "NCCL flight recorder", recognise_flight_recorder, nullptr, read_flight_recorder},
  }};
  return kFormats;
}

}  // namespace tare
