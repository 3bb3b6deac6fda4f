// Units that training logs print behind or inside a name, and the names of what is said of a run as a whole.
// Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/date.h"
#include "ingest/step_series.h"

namespace tare {

// What a unit measures: a value's unit counts only where it fits the field.
enum class UnitClass : std::uint8_t {
  kNone,
  kTime,
  kMemory,
  kPercent,
  kMultiplier,  // K, M, B: thousands of whatever it is
  kTokensPerS,
  kTokensPerSPerGpu,
  kSamplesPerS,
  kStepsPerS,
  kTimePerStep,
  kTflops,
};

struct PrintedUnit {
  UnitClass of = UnitClass::kNone;
  StepUnit unit;
  double multiplier = 1;  // of the value itself: "14.2K" is 14200
};

// "ms", "GiB", "%", "K", "samples/sec" …; false for anything else.
bool find_printed_unit(std::string_view text, PrintedUnit& unit);
// The suffix of a fact's name ("ms", "gib").
bool find_unit(std::string_view suffix, StepUnit& unit);
StepUnit default_unit(StepField field);
UnitClass class_of(StepField field);

// gpus, nodes, tensor_parallel … in the order of their slots (StepKey).
std::span<const std::string_view> run_fact_names();

// The first "2024-05-01 12:00:00(,123)" (also with T, /, or as 05/01/2024) of a line, in seconds since 1970-01-01 of
// the log's own time zone; NaN when there is none in its first 160 bytes.
double parse_log_time(std::string_view line);
// "2024-05-01T12:00:00".
std::string format_log_time(double seconds);

}  // namespace tare
