// [parallelism] of a job file: the split of the model that is pinned instead of searched.
#pragma once

#include "base/toml_document.h"
#include "workload/job.h"

namespace tare {

// Reads the table into job.parallelism and completes job.search.gpus or dp from one another. Needs the model, the batch
// and the sizes of the search.
void read_parallelism(TomlTable& table, Job& job);

}  // namespace tare
