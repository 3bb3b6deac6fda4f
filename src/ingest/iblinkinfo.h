// iblinkinfo and ibqueryerrors: every link of a fabric with its width, speed and state; counters of errors by port.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_iblinkinfo(const Head& head);
std::unique_ptr<LineReader> open_iblinkinfo();

}  // namespace tare
