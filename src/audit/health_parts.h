// The parts of the health rules, one file each.
#pragma once

#include <span>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> xid_rules();        // what NVIDIA's driver says in the kernel's log
std::span<const Rule> kernel_rules();     // processes, CPU, memory and disks in the kernel's log
std::span<const Rule> pcie_log_rules();   // PCIe and network cards in the kernel's log
std::span<const Rule> gpu_state_rules();  // memory errors, resets, settings of a GPU
std::span<const Rule> gpu_speed_rules();  // what slows a GPU: power, heat, fans, PCIe
std::span<const Rule> nvlink_rules();     // links and the fabric between GPUs
std::span<const Rule> diag_rules();       // dcgmi diag and health

}  // namespace tare
