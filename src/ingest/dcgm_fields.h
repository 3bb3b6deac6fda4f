// The fields of DCGM under short names that carry their unit, and the values that stand for "blank".
//
// DCGM_FI_DEV_POWER_USAGE -> power_usage_w; DCGM_FI_PROF_PIPE_TENSOR_ACTIVE -> pipe_tensor_active (a ratio). The short
// headings of "dcgmi dmon" (POWER, GPUTL, TENSO) and field numbers (155) are known too.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tare {

std::string dcgm_fact_name(std::string_view field);
// The heading of a column of "dcgmi dmon".
std::string dcgmi_column_name(std::string_view heading);

// 2147483632, 9223372036854775792 and 140737488355328 (and the few above that say why) are no measurements.
bool is_dcgm_blank(double value);

}  // namespace tare
