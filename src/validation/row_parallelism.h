// How a published row split its model, and the batch it ran.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "ingest/throughput_rows.h"
#include "perf/machine.h"
#include "workload/parallelism.h"
#include "workload/workload.h"

namespace tare {

// Why a row cannot be predicted: unknown_gpu, unknown_method, unknown_precision, unknown_peak, no_architecture,
// no_gpu_count, no_parallelism, bad_parallelism, no_batch, no_target.
struct RowSkip {
  std::string reason;
};

// The degrees, the ZeRO stage and the micro-batch, with `workload.global_batch` set on the way. Precondition: row.gpus;
// `workload` has everything else. `assumed` gains a line for whatever the row does not state.
tl::expected<Parallelism, RowSkip> parallelism_of(const ThroughputRow& row, const Machine& machine, Workload& workload,
                                                  std::vector<std::string>& assumed);

}  // namespace tare
