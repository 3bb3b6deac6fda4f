// What was drawn, as JSON.
#pragma once

#include "base/json_fwd.h"
#include "cost/uncertainty.h"

namespace tare {

Json to_json(const Percentiles& percentiles);  // {p10, p50, p90}; null where infinite
// {wall_s, goodput_ratio, failures, it_energy_j, finishes_probability, deadline_probability, budget_probability,
// cheapest_probability}; amounts stand in the bill.
Json to_json(const DrawnBill& drawn);
// {draws, seed, causes, same_order_probability, cheaper[][]}
Json to_json(const Uncertainty& uncertainty);
// {usd, bars[] {cause, name, unit, low, base, high, usd_at_low, usd_at_high, assumed}}
Json to_json(const Tornado& tornado);

}  // namespace tare
