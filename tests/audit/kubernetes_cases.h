// The parts of the Kubernetes family's cases.
#pragma once

#include <vector>

#include "rule_case.h"

namespace tare {

std::vector<RuleCase> kubernetes_pod_cases();

}  // namespace tare
