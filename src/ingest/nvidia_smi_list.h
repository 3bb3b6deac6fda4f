// "nvidia-smi -L" and "nvidia-smi nvlink -s|-e|-c|-R|-p|-gt": a line for each GPU, then a line for each link (or MIG
// device).
//
// Facts: gpu_count, gpus[] with index, name, uuid, mig_devices[], and links[] with what is said of each; links_per_gpu,
// active_links, inactive_links, link_gb_per_s, sum_per_gpu_gb_per_s where all GPUs agree, and per GPU.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_smi_nvlink(const Head& head);
int recognise_smi_list(const Head& head);
std::unique_ptr<LineReader> open_smi_list();

}  // namespace tare
