// What dcgmi prints in boxes: discovery -l, topo, health, stats, and any other as tables[].
//
// Facts of discovery: gpu_count, gpus[] (index, name, bus_id, uuid), nvswitch_count, cpu_count. Of topo: gpu or group,
// cpu_affinity, peers[] with each GPU's connections, nvlinks and links[]. Of health: overall, incidents[]. Of stats:
// gpus[] with their rows. Topology as JSON (-j) gives the same as its table.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_dcgmi_discovery(const Head& head);
int recognise_dcgmi_topo(const Head& head);
int recognise_dcgmi_health(const Head& head);
int recognise_dcgmi_stats(const Head& head);
int recognise_dcgmi_other(const Head& head);
std::unique_ptr<LineReader> open_dcgmi_tables();

int recognise_dcgmi_json(const Head& head);
void read_dcgmi_json(std::string_view text, Reading& reading);

}  // namespace tare
