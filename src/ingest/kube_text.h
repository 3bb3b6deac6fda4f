// What kubectl prints and what people paste of it: objects as JSON and YAML, "describe", "get" tables, events, labels,
// lines of a device plugin's log, in any order and cut anywhere.
#pragma once

#include "ingest/format.h"

namespace tare {

Format kube_text_format();

}  // namespace tare
