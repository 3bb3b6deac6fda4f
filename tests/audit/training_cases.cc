#include "rule_case.h"

namespace tare {

std::span<const RuleCase> training_cases() { return {}; }

}  // namespace tare
