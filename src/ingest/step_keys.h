// The names that training programs give to what a step took and gave.
//
// One table for all of them: names are compared in lower case without blanks, '_', '-', quotes; so "elapsed time per
// iteration (ms)", "elapsed_time_per_iteration (ms)" and a name that was wrapped over two lines are one.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "ingest/step_series.h"

namespace tare {

// Where a value goes: a field of the step, one of the numbers below, or (from kRunSlot on) a fact of the run.
using StepSlot = std::uint8_t;
constexpr StepSlot kStepSlot = kStepFields;       // the number of the step
constexpr StepSlot kTotalSlot = kStepFields + 1;  // of so many
constexpr StepSlot kMicroSlot = kStepFields + 2;  // of the micro step, where the log tells the two apart
constexpr StepSlot kTimeSlot = kStepFields + 3;   // seconds or milliseconds since 1970
constexpr StepSlot kRankSlot = kStepFields + 4;
constexpr StepSlot kStepSlots = kStepFields + 5;
constexpr StepSlot kRunSlot = 64;
constexpr StepSlot kParamsSlot = kRunSlot + 21;  // "params" of run_fact_names()
constexpr StepSlot slot_of(StepField field) { return static_cast<StepSlot>(field); }

struct StepKey {
  std::string_view name;
  StepSlot slot = 0;
  StepUnit unit;            // that the name states; suffix empty: none
  bool needs_unit = false;  // means this only with a unit behind the value ("time 12ms")
  bool bare = false;        // also without ':' or '=' ("loss 2.31")
  double scale = 1;         // of the value: FLOP/s to TFLOP/s
};

// The meaning of a name as printed, or nullptr. Of a path ("train/loss") its last part counts, unless the whole is
// known; a loss under eval, val, valid or test is the evaluation's.
const StepKey* find_step_key(std::string_view name);

}  // namespace tare
