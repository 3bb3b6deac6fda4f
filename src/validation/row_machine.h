// The machine that a published row was measured on.
#pragma once

#include <string>
#include <vector>

#include "catalog/accelerator.h"
#include "ingest/throughput_rows.h"
#include "perf/machine.h"

namespace tare {

// Precondition: row.gpus. What the row does not state (GPUs of a node, links, network) is the part's usual machine;
// `assumed` gains a line for the network, where the row spans nodes.
Machine machine_of(const ThroughputRow& row, const Accelerator& accelerator, std::vector<std::string>& assumed);

}  // namespace tare
