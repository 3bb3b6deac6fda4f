// fio --minimal / --output-format=terse, versions 3, 4 and 5: one line of fields a job.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_fio_terse(const Head& head);
std::unique_ptr<LineReader> open_fio_terse();

}  // namespace tare
