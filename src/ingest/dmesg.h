// The kernel's log and what stands beside it: dmesg in all its forms, journalctl, syslog, a crash dump of pstore, the
// log of NVIDIA's fabric manager. Of a file of any size, the events that concern a GPU node are kept; the rest is
// counted.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_dmesg(const Head& head);
std::unique_ptr<LineReader> open_dmesg();

}  // namespace tare
