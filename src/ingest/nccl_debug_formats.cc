#include "ingest/families.h"

namespace tare {

std::span<const Format> nccl_debug_formats() { return {}; }

}  // namespace tare
