#include "ingest/families.h"

namespace tare {

std::span<const Format> fio_formats() { return {}; }

}  // namespace tare
