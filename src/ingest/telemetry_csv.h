// Measurements of GPUs as CSV: "nvidia-smi --query-gpu=… --format=csv" (once or over time, with units, without, without
// a header), and what exporters and scripts write (DCGM fields or plain names, wide or one metric per row).
//
// Facts: columns[], row_count, rounds, first_time, last_time, series[] and rows[] as TelemetryTable gives them, and for
// --query-gpu gpus[]: each GPU's latest values under the general names (gpu_fields.h); processes[] for
// --query-compute-apps. A file may hold several: runs[].
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_smi_csv(const Head& head);
std::unique_ptr<LineReader> open_smi_csv();

int recognise_gpu_csv(const Head& head);
std::unique_ptr<LineReader> open_gpu_csv();

}  // namespace tare
