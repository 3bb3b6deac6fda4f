// One name for what the many outputs of nvidia-smi call differently.
//
// "nvidia-smi -q" says "PCI / GPU Link Info / PCIe Generation / Max", its XML pci/pci_gpu_link_info/pcie_gen/
// max_link_gen, --query-gpu pcie.link.gen.max: all are pcie_gen_max here. A GPU is a record with these names:
//   index, name, uuid, serial, bus_id, persistence, mig, pstate, compute_mode, ecc, fan_pct, temp_c, power_w,
//   power_limit_w, mem_used_mib, mem_total_mib, util_pct, pcie_gen_current, pcie_gen_max, pcie_width, …
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/fact.h"

namespace tare {

// Takes one value of "nvidia-smi -q" or its XML: `path` is made of snake names joined by '.'. Nothing happens for paths
// that have no general name.
void take_gpu_value(FactRecord& gpu, std::string_view path, std::string_view text, std::int64_t line);

// The general name of a --query-gpu column ("memory.used [MiB]" -> mem_used_mib), or its snake name with its unit.
std::string gpu_column_name(std::string_view column);

// What follows from the values taken: sums of ECC counters, the throttle reasons that are active.
void complete_gpu(FactRecord& gpu);

// Of all GPUs in facts.gpus: gpu_count, gpus_listed; what is equal on all of them under its own name, and where they
// differ in settings, differs.NAME = [{value, count, gpus}].
void summarise_gpus(FactRecord& facts);

// The snapshots of a file: the facts of the first, then snapshot_count and, from two, snapshots with all.
void set_snapshots(FactRecord& facts, std::vector<FactRecord> snapshots, std::int64_t count);

}  // namespace tare
