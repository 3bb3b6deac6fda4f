// Logs of NCCL_DEBUG=INFO, WARN and TRACE, of NCCL 2.0 to 2.28 and RCCL: of one rank or of all, interleaved, with the
// prefixes of launchers. Any size: counts are over all lines, lists are thinned.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_nccl_log(const Head& head);
std::unique_ptr<LineReader> open_nccl_log();

}  // namespace tare
