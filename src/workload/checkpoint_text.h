// When checkpoints are written, as people write it: "auto", "200 steps", "30min".
#pragma once

#include <string>
#include <string_view>

#include "workload/job.h"

namespace tare {

// `policy` with the interval that `text` says. Errors: rule "unknown-value", no place.
Result<CheckpointPolicy> parse_checkpoint_interval(std::string_view text, CheckpointPolicy policy = {});

std::string to_text(const CheckpointPolicy& policy);  // the interval: "auto", "200 steps", "30 min"

}  // namespace tare
