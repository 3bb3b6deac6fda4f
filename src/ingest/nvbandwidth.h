// NVIDIA's nvbandwidth: its text and its JSON (-j).
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_nvbandwidth(const Head& head);
std::unique_ptr<LineReader> open_nvbandwidth();

int recognise_nvbandwidth_json(const Head& head);
void read_nvbandwidth_json(std::string_view text, Reading& reading);

}  // namespace tare
