// ibstat and ibstatus: the devices of a machine, their ports, states and rates.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_ibstat(const Head& head);
std::unique_ptr<LineReader> open_ibstat();

}  // namespace tare
