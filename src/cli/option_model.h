// The step model behind an option, for what is asked of it later: formulas and the roofline.
#pragma once

#include <vector>

#include "cli/inputs.h"
#include "plan/plan.h"

namespace tare {

// On the cluster that the option was evaluated on: one of the request's own by its name, else made from the offer.
Result<Cluster> cluster_of(const PlanOption& option, const PlanRequest& request, const Catalog& catalog);

StepModel model_of(const PlanOption& option, const Cluster& cluster, const PlanRequest& request,
                   const Catalog& catalog);

// Every choice in full, drawn together; `uncertainty`, if not null, is how they compare. Errors of a choice name it.
Result<std::vector<PlanOption>> estimate_all(const PlanRequest& request, const std::vector<Choice>& choices,
                                             const Catalog& catalog, Uncertainty* uncertainty);

}  // namespace tare
