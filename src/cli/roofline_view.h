// estimate --roofline.
#pragma once

#include "base/json_fwd.h"
#include "perf/roofline.h"
#include "report/table.h"

namespace tare {

Table roofline_table(const std::vector<RooflineRow>& rows);
Json to_json(const std::vector<RooflineRow>& rows);

}  // namespace tare
