// AMD's rocm-smi: the concise table of every release, the "GPU[0] : name: value" lines of -a and single options,
// --json and --csv.
//
// Facts: gpu_count, gpus[] with every value as printed (temperature_sensor_edge_c, gpu_use_pct,
// vram_total_memory_bytes) and the general names beside it where there is one (temp_c, power_w, util_pct, name);
// driver.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_rocm_smi(const Head& head);
std::unique_ptr<LineReader> open_rocm_smi();

int recognise_rocm_smi_json(const Head& head);
void read_rocm_smi_json(std::string_view text, Reading& reading);

}  // namespace tare
