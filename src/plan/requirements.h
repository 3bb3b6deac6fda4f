// What refuses an offer before any model is run: the job's requirements, the age of the price, what is known of it.
#pragma once

#include <optional>

#include "plan/plan.h"

namespace tare {

// The first requirement an offer does not meet, as a refusal; nullopt = it may be tried. Unknown delivery refuses only
// what the job requires ("dedicated" of an offer whose tenancy is unknown).
std::optional<Refusal> check_requirements(const PlanRequest& request, const Offer& offer, const NodeType& node_type,
                                          int gpus);

}  // namespace tare
