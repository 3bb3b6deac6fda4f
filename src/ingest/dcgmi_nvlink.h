// "dcgmi nvlink -s" (--link-status): a letter for every link, U up, D down, X disabled, _ not supported.
//
// Facts: gpus[] and nvswitches[] with links (the letters), up, down, disabled, not_supported; the sums links_up,
// links_down, …; links_up_per_gpu and so on where all GPUs agree; gpu_count, nvswitch_count.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_dcgmi_nvlink(const Head& head);
std::unique_ptr<LineReader> open_dcgmi_nvlink();

}  // namespace tare
