// Options and what their inputs leave open: all of them drawn together, so that what they share cancels out.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace tare {

// An option as it is drawn. Valid as long as the option is.
BillToDraw to_draw(const PlanOption& option, const Job& job);

// Fills `uncertainty`, the percentiles of the bills, and with a confidence asked for whether deadline and budget are
// met. Options without a known bill are passed over. The result compares those that were drawn, in their order.
Result<Uncertainty> draw_options(std::vector<PlanOption>& options, const PlanRequest& request, const Catalog& catalog);

}  // namespace tare
