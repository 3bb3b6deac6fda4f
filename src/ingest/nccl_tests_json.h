// Collective measurements as data: nccl-tests' own JSON (-J), the JSON and CSV rows of rccl-tests (-Z).
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_nccl_tests_json(const Head& head);
void read_nccl_tests_json(std::string_view text, Reading& reading);

}  // namespace tare
