// "dcgmi diag -r 1|2|3|4": the table with its sections, or -j JSON, of DCGM 1 to 4.
//
// Facts: dcgm, driver, gpu_device_ids[], tests[] with section, name, result (Pass, Fail, Warn, Skip, …), results[] by
// GPU, passed_gpus[], failed_gpus[], warnings[], info[]; failed_tests[], passed_tests[] …; what warnings name
// (links_named[], thermal_violation_s).
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_dcgm_diag(const Head& head);
std::unique_ptr<LineReader> open_dcgm_diag();

int recognise_dcgm_diag_json(const Head& head);
void read_dcgm_diag_json(std::string_view text, Reading& reading);

}  // namespace tare
