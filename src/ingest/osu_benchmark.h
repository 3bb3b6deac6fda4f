// The OSU micro-benchmarks (MPI, also with CUDA, ROCm, NCCL): bandwidth, latency and collective tables.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_osu(const Head& head);
std::unique_ptr<LineReader> open_osu();

}  // namespace tare
