// "dcgmi dmon": "#Entity  GRACT …", a line "ID", then rows "GPU 0  0.99 …" (GPU-I, GPU-CI, Switch, CPU …).
//
// Facts as TelemetryTable gives them; entity_type and entity tell the device; columns get the names of dcgm_fields.h.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_dcgmi_dmon(const Head& head);
std::unique_ptr<LineReader> open_dcgmi_dmon();

}  // namespace tare
