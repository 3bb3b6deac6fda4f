#include "ingest/families.h"

namespace tare {

std::span<const Format> dmesg_formats() { return {}; }

}  // namespace tare
