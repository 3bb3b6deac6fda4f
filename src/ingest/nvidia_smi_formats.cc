#include "ingest/families.h"

namespace tare {

std::span<const Format> nvidia_smi_formats() { return {}; }

}  // namespace tare
