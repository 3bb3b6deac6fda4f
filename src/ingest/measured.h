// Values as tools print them, under names that tell their unit.
//
// "Power Draw : 43.89 W" is power_draw_w = 43.89; "N/A" is unknown, and has no unit to tell.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/fact.h"

namespace tare {

// "GPU T.Limit Temp" -> gpu_t_limit_temp; "pcie.link.gen.max" -> pcie_link_gen_max; "cliqueId" -> clique_id.
std::string snake_name(std::string_view name);

// The ending of a name for a unit as printed: "MiB" -> mib, "KB/s" -> kb_per_s, "%" -> pct, "bank(s)" -> banks.
// Empty for what is no unit.
std::string_view unit_ending(std::string_view unit);

// Sets name + "_" + ending when the text is a number with a known unit; a plain number, unknown or text under the name
// itself.
Fact& set_measured(FactRecord& record, std::string_view name, std::string_view text, std::int64_t line);

// A number whatever stands behind it ("16x", "35 %", "1024 MiB"), unknown for N/A, else the text ("ERR!").
Fact measured_value(std::string_view text, std::int64_t line);

}  // namespace tare
