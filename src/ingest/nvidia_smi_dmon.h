// "nvidia-smi dmon" and "nvidia-smi pmon": a "# gpu  pwr …" line with the columns, one with the units, then rows.
//
// Any -s set of columns, -o D/T (date and time in front), --format csv; several runs in one file. Facts of a run:
// command, interval_s, columns[], rounds, gpus_listed[], series[], rows[] as TelemetryTable gives them; names carry the
// unit (pwr_w, sm_pct, rxpci_mb_per_s). Two runs and more stand in runs[]; the first also at the top.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_smi_dmon(const Head& head);
std::unique_ptr<LineReader> open_smi_dmon();
int recognise_smi_pmon(const Head& head);

}  // namespace tare
