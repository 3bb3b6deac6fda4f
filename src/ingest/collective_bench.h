// What scripts print that time a collective from PyTorch: the all_reduce_bench.py of BigScience and of the ML
// Engineering book. Bits and bytes are told apart by the unit that is printed.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_collective_bench(const Head& head);
std::unique_ptr<LineReader> open_collective_bench();

}  // namespace tare
