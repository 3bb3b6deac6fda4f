// lspci: plain, -n, -nn, -k, -v to -vvv, also what grep left of it. Links, NUMA node, ACS and error bits of each
// device.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_lspci(const Head& head);
std::unique_ptr<LineReader> open_lspci();

}  // namespace tare
