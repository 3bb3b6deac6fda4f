// ibv_devinfo, plain and -v: devices, ports, speeds and what the verbs layer says of them.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_ibv_devinfo(const Head& head);
std::unique_ptr<LineReader> open_ibv_devinfo();

}  // namespace tare
