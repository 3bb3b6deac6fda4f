#include "ingest/families.h"

namespace tare {

std::span<const Format> billing_formats() { return {}; }

}  // namespace tare
