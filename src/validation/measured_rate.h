// The measured quantity of a published row, whatever unit its source gives it in.
#pragma once

#include <optional>

#include "ingest/throughput_rows.h"
#include "workload/workload.h"

namespace tare {

// Tokens/s per GPU: as stated, from the step time, or from TFLOP/s within the row's own convention of counting FLOPs.
// nullopt: the row has none of them, or not a positive one.
std::optional<double> measured_tokens_per_s_per_gpu(const ThroughputRow& row, const Workload& workload);

}  // namespace tare
