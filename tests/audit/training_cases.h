// The parts of the training family's cases, and the logs they are made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rule_case.h"

namespace tare {

using OfStep = std::function<double(int)>;

// "step=7 loss=2.5 step_time_s=1.25 lr=0.0001" and `rest`, for steps from … to, `every` so many.
std::string training_log(int from, int to, const OfStep& seconds, const OfStep& loss, const std::string& rest = "",
                         int every = 1);
OfStep always(double value);

std::vector<RuleCase> training_pace_cases();
std::vector<RuleCase> training_learning_cases();
std::vector<RuleCase> training_event_cases();

}  // namespace tare
