// A GPU held below its rated power: slower clocks, less energy.
//
// Dynamic power goes as clock · voltage², and voltage about as the clock, so with g the share of its rated power that a
// GPU draws under this load, i the share it draws idle and c the cap (all of the rated power):
//
//   clock / full clock = cbrt((c − i) / (g − i))   for c < g, 1 for c ≥ g
//   draw               = min(c, g)
//
// Kernels that compute slow down with the clock; memory and links keep their rates. The cube is the textbook form of
// CMOS scaling, not a measurement of these parts: what it gives is marked as assumed.
#pragma once

#include "perf/machine.h"

namespace tare {

struct PowerCap {
  double ratio = 1;        // c
  double clock_ratio = 1;  // 0 < … ≤ 1
  double draw_ratio = 1;   // of the rated power, under load
};

// Preconditions: 0 ≤ idle_ratio < load_ratio ≤ 1. A cap at or under the idle draw lets nothing run: clock_ratio 0.
PowerCap power_cap(double ratio, double load_ratio, double idle_ratio);

// The machine at a lower clock. Precondition: clock_ratio > 0.
Machine at_clock(Machine machine, double clock_ratio);

}  // namespace tare
