// The parts of the storage family's cases.
#pragma once

#include <vector>

#include "rule_case.h"

namespace tare {

std::vector<RuleCase> disk_cases();
std::vector<RuleCase> fio_cases();

}  // namespace tare
