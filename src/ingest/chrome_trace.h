// Traces of the PyTorch profiler (Kineto) and other programs in Chrome's trace event format: what the GPUs did, and for
// how long.
//
//   {"schemaVersion": 1, "distributedInfo": {"rank": 3, …}, "traceEvents": [
//     {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce…", "pid": 0, "tid": 7, "ts": 1.5, "dur": 80.1, …},
//     …
//
// Kept are totals by category and by kernel, the collectives one by one (thinned when there are many), the profiler's
// steps, and how much of the time kernels ran, NCCL ran, and NCCL ran alone. Times are in microseconds, as printed.
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace tare {

int recognise_chrome_trace(const Head& head);
void read_chrome_trace(std::string_view text, Reading& reading);

}  // namespace tare
