// lstopo's text (lstopo-no-graphics, hwloc-ls): the tree as indented lines.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_lstopo_text(const Head& head);
std::unique_ptr<LineReader> open_lstopo_text();

}  // namespace tare
