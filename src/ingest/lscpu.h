// lscpu, as text and as JSON (-J).
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_lscpu(const Head& head);
std::unique_ptr<LineReader> open_lscpu();

int recognise_lscpu_json(const Head& head);
void read_lscpu_json(std::string_view text, Reading& reading);

}  // namespace tare
