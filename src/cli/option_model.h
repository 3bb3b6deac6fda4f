// The step model behind an option, for what is asked of it later: formulas and the roofline.
#pragma once

#include "plan/plan.h"

namespace tare {

// On the cluster that the option was evaluated on: one of the request's own by its name, else made from the offer.
Result<Cluster> cluster_of(const PlanOption& option, const PlanRequest& request, const Catalog& catalog);

StepModel model_of(const PlanOption& option, const Cluster& cluster, const PlanRequest& request,
                   const Catalog& catalog);

}  // namespace tare
