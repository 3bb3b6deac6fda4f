// From a published row to the model's inputs, with every assumption said.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "ingest/throughput_rows.h"
#include "perf/machine.h"
#include "validation/row_parallelism.h"
#include "workload/workload.h"

namespace tare {

struct RowSetup {
  Workload workload;
  Machine machine;
  Parallelism parallelism;
  double measured_tokens_per_s_per_gpu = 0;
  std::vector<std::string> assumed;  // "recompute = full (deepspeed)", one a line
};

tl::expected<RowSetup, RowSkip> set_up_row(const ThroughputRow& row, const Catalog& catalog);

}  // namespace tare
