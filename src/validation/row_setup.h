// From a published row to the model's inputs, with every assumption said.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "ingest/throughput_rows.h"
#include "perf/machine.h"
#include "workload/workload.h"

namespace tare {

struct RowSetup {
  Workload workload;
  Machine machine;
  Parallelism parallelism;
  double measured_tokens_per_s_per_gpu = 0;
  std::vector<std::string> assumed;
};

// Why a row cannot be predicted: no_architecture, unknown_gpu, no_batch, no_parallelism, no_target, unknown_method,
// bad_parallelism, gpu_hours_only.
struct RowSkip {
  std::string reason;
};

tl::expected<RowSetup, RowSkip> set_up_row(const ThroughputRow& row, const Catalog& catalog);

// The measured tokens/s per GPU: as stated, from the step time, or from TFLOP/s within the row's own convention.
std::optional<double> measured_tokens_per_s_per_gpu(const ThroughputRow& row, const Workload& workload);

}  // namespace tare
