// The Prometheus text of dcgm-exporter: one line per metric and GPU (or MIG instance, process, link).
//
// Facts: driver, gpu_count, host_count, gpus[] — one record per GPU and MIG instance, with its labels and every metric
// under the name of dcgm_fields.h —, metrics[] with help, type, series, min and max, and mig_instances[]. Blank values
// (dcgm_fields.h) are unknown. A GPU that is partitioned has a record for each instance: gpu_count counts it once.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_dcgm_exporter(const Head& head);
std::unique_ptr<LineReader> open_dcgm_exporter();

}  // namespace tare
