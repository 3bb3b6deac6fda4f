// numactl -H (--hardware): nodes, their CPUs and memory, the distances between them.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_numactl(const Head& head);
std::unique_ptr<LineReader> open_numactl();

}  // namespace tare
