// The parts of the topology family's cases.
#pragma once

#include <vector>

#include "rule_case.h"

namespace tare {

std::vector<RuleCase> pcie_cases();

}  // namespace tare
