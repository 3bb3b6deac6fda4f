// fio's report for people, of the versions 1.x to 3.x, also quoted or encoded by mail.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_fio_text(const Head& head);
std::unique_ptr<LineReader> open_fio_text();

}  // namespace tare
