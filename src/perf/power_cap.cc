#include "perf/power_cap.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tare {

PowerCap power_cap(double ratio, double load_ratio, double idle_ratio) {
  assert(idle_ratio >= 0 && idle_ratio < load_ratio && load_ratio <= 1);
  PowerCap cap;
  cap.ratio = ratio;
  cap.draw_ratio = std::min(ratio, load_ratio);
  if (ratio < load_ratio) cap.clock_ratio = std::cbrt(std::max(0.0, ratio - idle_ratio) / (load_ratio - idle_ratio));
  return cap;
}

Machine at_clock(Machine machine, double clock_ratio) {
  assert(clock_ratio > 0);
  for (double Machine::*const peak : {&Machine::peak_fp16_flops, &Machine::peak_bf16_flops, &Machine::peak_fp8_flops,
                                      &Machine::peak_fp4_flops, &Machine::peak_fp32_flops, &Machine::peak_tf32_flops}) {
    machine.*peak *= clock_ratio;
  }
  return machine;
}

}  // namespace tare
