// The table that "nvidia-smi" prints: GPUs, MIG devices, processes; drivers of 2014 to 2026.
//
// A GPU has two or three rows (the third since MIG, driver 450); widths changed in 530 and the header in 590, so rows
// are told by what stands in their cells. Facts: driver, cuda, nvidia_smi, gpu_count, gpus[] (general names, see
// gpu_fields.h), mig_devices[], processes[], errors[]; several tables in one file are snapshots[].
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_smi_table(const Head& head);
std::unique_ptr<LineReader> open_smi_table();

}  // namespace tare
