// A bill as JSON. Amounts are objects, {"usd": 1.0, "low_usd": …, "high_usd": …, "p10": …, "p50": …, "p90": …}; rates
// are plain numbers.
#pragma once

#include "base/json_fwd.h"
#include "cost/bill.h"

namespace tare {

// An end of a range that is not known is left out, and percentiles of what was not drawn.
Json to_json(const Amount& amount);

// total, usd_per_million_tokens, billed_gpu_hours, lines[], waterfall[], unknown[] (only when there is something in
// it). Without a bill the total's usd is null.
Json to_json(const Bill& bill);

}  // namespace tare
