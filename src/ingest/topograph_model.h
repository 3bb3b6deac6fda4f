// Models of NVIDIA topograph (tests/models/*.yaml): switches over switches, and blocks of nodes under a leaf with the
// accelerator domain they share. Out: switches[], blocks[], node_count, domains, levels.
#pragma once

#include "ingest/format.h"

namespace tare {

Format topograph_model_format();

}  // namespace tare
