// What a plan's option says of a run, in the terms that a log is compared in.
#pragma once

#include <string>

#include "audit/run_against_prediction.h"
#include "plan/plan.h"

namespace tare {

// `on`: the cluster or offer, as people name it. Without the price. Pure function.
PredictedRun predicted_run(const PlanOption& option, const Job& job, const std::string& on);

}  // namespace tare
