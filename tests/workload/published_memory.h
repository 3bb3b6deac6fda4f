// Rows of tests/published/memory.csv as inputs of the memory model.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "workload/memory.h"

namespace tare {

struct PublishedMemory {
  std::string id, source_group, framework;
  Workload workload;
  Parallelism parallelism;
  std::string value_type;   // measured, oom, fits_only, closed_form
  std::string memory_kind;  // allocated, reserved, nvidia-smi, unstated, activations; empty for oom and fits_only
  double gpu_memory_bytes = 0;
  double peak_bytes = 0;
  std::string left_out;  // the reason, when the row cannot be held against the model
};

// All rows, or the diagnostics of the file.
Result<std::vector<PublishedMemory>> read_published_memory(const std::string& path, const Catalog& catalog);

// What the row's counter would show: allocated bytes; those with fragmentation (reserved, and unstated: most tools
// print the reserved peak); or everything on the card (nvidia-smi).
double predicted_bytes(const Memory& memory, const std::string& memory_kind);

}  // namespace tare
