// MLPerf result logs: ":::MLLOG {"time_ms": …, "event_type": …, "key": …, "value": …, "metadata": {…}}", one a line,
// alone or between a program's own lines.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_mlperf_log(const Head& head);
std::unique_ptr<LineReader> open_mlperf_log();

}  // namespace tare
