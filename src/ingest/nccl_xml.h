// The XML files of NCCL: a machine's topology (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE) and the graphs that were searched
// in it (NCCL_GRAPH_DUMP_FILE).
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_nccl_xml(const Head& head);
void read_nccl_xml(std::string_view text, Reading& reading);

}  // namespace tare
