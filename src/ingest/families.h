// The families of formats: one <family>_formats.cc each, which lists the formats of its kind.
#pragma once

#include <span>

#include "ingest/format.h"

namespace tare {

std::span<const Format> topo_formats();
std::span<const Format> nvidia_smi_formats();
std::span<const Format> dcgm_formats();
std::span<const Format> nccl_tests_formats();
std::span<const Format> nccl_debug_formats();
std::span<const Format> fio_formats();
std::span<const Format> hw_inventory_formats();
std::span<const Format> infiniband_formats();
std::span<const Format> dmesg_formats();
std::span<const Format> training_log_formats();
std::span<const Format> trace_formats();  // flight recorder, profiler
std::span<const Format> slurm_formats();
std::span<const Format> kubernetes_formats();
std::span<const Format> billing_formats();

}  // namespace tare
