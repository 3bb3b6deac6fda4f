// lsblk: its table with any columns, its pairs (-P), its JSON (-J).
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_lsblk(const Head& head);
std::unique_ptr<LineReader> open_lsblk();

int recognise_lsblk_json(const Head& head);
void read_lsblk_json(std::string_view text, Reading& reading);

}  // namespace tare
