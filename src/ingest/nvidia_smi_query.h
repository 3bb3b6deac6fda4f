// "nvidia-smi -q" (all of it, or -d SECTION, or what grep left of it): sections by indentation, "Key : value".
//
// Facts: timestamp, driver, cuda, attached_gpus, gpus[] with the general names (gpu_fields.h), and in each GPU
// `details` with every value under its sections. A file may hold several outputs: see set_snapshots.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_smi_query(const Head& head);
std::unique_ptr<LineReader> open_smi_query();

}  // namespace tare
