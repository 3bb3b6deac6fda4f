// A bill as JSON. Amounts are objects, {"usd": 1.0, "low_usd": …, "high_usd": …}; rates are plain numbers.
#pragma once

#include "base/json_fwd.h"
#include "cost/bill.h"

namespace tare {

// An end of a range that is not known is left out.
Json to_json(const Amount& amount);

// total, usd_per_million_tokens, billed_gpu_hours, lines[], waterfall[], unknown[] (only when there is something in
// it). Without a bill the total's usd is null.
Json to_json(const Bill& bill);

}  // namespace tare
