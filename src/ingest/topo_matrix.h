// nvidia-smi topo -m, -mp and -p2p, and what looks like them: npu-smi, rocm-smi, amd-smi, mthreads-gmi, mx-smi and
// others. Several in one file, or interleaved with a prefix for each host, are all read.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_topo_matrix(const Head& head);
std::unique_ptr<LineReader> open_topo_matrix();

}  // namespace tare
