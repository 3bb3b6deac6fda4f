#include "cost/waterfall.h"

#include <algorithm>

namespace tare {

std::vector<std::pair<std::string, double>> waterfall_hours(const BillInput& input, double billed_gpu_hours) {
  const Run& run = input.run;
  const double gpu_hours_per_s = input.gpus_used / 3600.0;
  const double productive = run.productive_s * gpu_hours_per_s;

  std::vector<std::pair<std::string, double>> bars;
  bars.emplace_back("unallocated", std::max(0.0, billed_gpu_hours - run.wall_s * gpu_hours_per_s));
  bars.emplace_back("startup", run.startup_s * gpu_hours_per_s);
  bars.emplace_back("failures", run.failure_lost_s * gpu_hours_per_s);
  bars.emplace_back("checkpoint", run.checkpoint_stall_s * gpu_hours_per_s);

  double left_s = input.step_time_s;
  for (const auto& [id, step_s] : input.step_time_after_removal_s) {
    const double after_s = std::clamp(step_s, 0.0, left_s);
    bars.emplace_back(id, productive * ((left_s - after_s) / input.step_time_s));
    left_s = after_s;
  }
  bars.emplace_back("useful", productive * (left_s / input.step_time_s));
  return bars;
}

}  // namespace tare
