#include "rule_case.h"

namespace tare {

std::span<const RuleCase> telemetry_cases() { return {}; }

}  // namespace tare
