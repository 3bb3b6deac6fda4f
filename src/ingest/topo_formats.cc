#include "ingest/families.h"

namespace tare {

std::span<const Format> topo_formats() { return {}; }

}  // namespace tare
