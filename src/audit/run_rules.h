// The run of the log with most steps beside the prediction of --job.
#pragma once

#include <optional>
#include <vector>

#include "audit/observed.h"
#include "audit/run_against_prediction.h"

namespace tare {

// The training log with the most steps, more than one; nothing where there is none.
struct RunLog {
  const FileFacts* file = nullptr;
  const FactRecord* facts = nullptr;
};
RunLog longest_log(const std::vector<FileFacts>& files);

// nullopt without a prediction, or without a log that has step times.
std::optional<RunAudit> run_of(const Observed& observed);

}  // namespace tare
