// lspci -t, -tv, -tnn: the tree of buses.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_lspci_tree(const Head& head);
std::unique_ptr<LineReader> open_lspci_tree();

}  // namespace tare
