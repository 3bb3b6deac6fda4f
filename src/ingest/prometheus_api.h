// What Prometheus answers over HTTP: {"status": …, "data": {"resultType": "vector"|"matrix"|…, "result": […]}}, whole,
// cut or quoted in part (a single {"metric": …, "value": …}).
//
// Facts: status, error, result_type, series_count (0: there is no data, which is not a value of 0),
// complete_series_count, series[] with every label, value and time, or for ranges the statistics and first and last;
// for metrics of GPUs also gpus[] as of dcgm_exporter.h.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_prometheus_api(const Head& head);
void read_prometheus_api(std::string_view text, Reading& reading);

}  // namespace tare
