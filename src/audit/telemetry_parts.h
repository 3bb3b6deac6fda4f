// The parts of the telemetry rules, one file each.
#pragma once

#include <span>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> telemetry_load_rules();   // what a moment or some minutes show of the work
std::span<const Rule> telemetry_waste_rules();  // idle and low use over time
std::span<const Rule> telemetry_data_rules();   // what the figures cannot say, and broken counters

}  // namespace tare
