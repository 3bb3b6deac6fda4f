// An option of a plan or a comparison as its bill is drawn.
#pragma once

#include "cost/uncertainty.h"
#include "plan/plan.h"

namespace tare {

// Options on one node type, size and parallelism have one configuration: what the step model is wrong about there, it
// is wrong about for all of them. The deadline and the budget are the job's. `option` must outlive the result.
BillToDraw bill_to_draw(const PlanOption& option, const Job& job, const Catalog& catalog);

}  // namespace tare
