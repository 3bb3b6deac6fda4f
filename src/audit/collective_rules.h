// The subjects of the collective family, each a file of its own: results that count or do not, bandwidth against what
// the fabric can do, the shape of the curve, copies between memories.
#pragma once

#include <span>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> collective_result_rules();
std::span<const Rule> collective_speed_rules();
std::span<const Rule> collective_shape_rules();
std::span<const Rule> collective_copy_rules();

}  // namespace tare
