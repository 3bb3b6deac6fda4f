// The run of the log with most steps beside the prediction of --job.
#pragma once

#include <optional>

#include "audit/observed.h"
#include "audit/run_against_prediction.h"

namespace tare {

// nullopt without a prediction, or without a log that has step times.
std::optional<RunAudit> run_of(const Observed& observed);

}  // namespace tare
