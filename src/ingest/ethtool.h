// ethtool (settings, -i, -S) and mlxlink: speed, link and error counters of one or several interfaces.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_ethtool(const Head& head);
std::unique_ptr<LineReader> open_ethtool();

}  // namespace tare
