// dmidecode: the machine, its board and BIOS, its processors and memory modules.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_dmidecode(const Head& head);
std::unique_ptr<LineReader> open_dmidecode();

}  // namespace tare
