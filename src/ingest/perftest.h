// perftest: ib_write_bw, ib_read_bw, ib_send_bw and their _lat, with the columns as the header names them.
#pragma once

#include "ingest/format.h"

namespace tare {

int recognise_perftest(const Head& head);
std::unique_ptr<LineReader> open_perftest();

}  // namespace tare
