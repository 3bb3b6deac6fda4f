#include "run/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/run_formulas.h"
#include "run/timeline.h"

namespace tare {
namespace {

struct WallRange {
  std::optional<double> low_s, high_s;
};

// Each parameter at either end while the others stay; the swings add up as independent ones do.
WallRange wall_range(const RunInput& input, const LoadedRates& rates, const Timeline& base) {
  double below = 0;
  double above = 0;
  double least_productive = base.productive_s;  // a delivery may take less than its base
  for (const RatedParameter& p : rates.parameters) {
    if (p.low == p.high) continue;
    RunRates at_low = rates.base;
    RunRates at_high = rates.base;
    at_low.*p.rate = p.low;
    at_high.*p.rate = p.high;
    const Timeline low = make_timeline(input, at_low), high = make_timeline(input, at_high);
    const double wall_at_low = low.wall_s, wall_at_high = high.wall_s;
    least_productive = std::min({least_productive, low.productive_s, high.productive_s});
    const double down = std::max(0.0, base.wall_s - std::min(wall_at_low, wall_at_high));
    const double up = std::max(0.0, std::max(wall_at_low, wall_at_high) - base.wall_s);
    below += down * down;
    above += up * up;
  }
  WallRange range;
  range.low_s = std::max(least_productive, base.wall_s - std::sqrt(below));
  if (std::isfinite(above)) range.high_s = base.wall_s + std::sqrt(above);
  return range;
}

// What happens only to a run that ends.
void add_wall(Run& run, const RunInput& input, const Timeline& t, const LoadedRates& rates) {
  run.finishes = true;
  run.wall_s = t.wall_s;
  run.failures = t.wall_s / t.mtti_s;
  run.hardware_failures = t.wall_s * input.gpus * t.failures.sum_per_gpu_h / 3600;
  run.failure_lost_s = run.failures * t.loss_s;
  run.planned_interruptions = t.wall_s * input.gpus * rates.base.planned_per_gpu_h / 3600;
  run.maintenance_s = t.wall_s * t.maintenance_ratio;
  run.gpu_hours = t.wall_s * input.gpus / 3600;
  run.goodput_ratio = t.productive_s / t.wall_s;
  const WallRange range = wall_range(input, rates, t);
  run.wall_low_s = range.low_s;
  run.wall_high_s = range.high_s;
}

void add_endless(Run& run) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  run.finishes = false;
  run.wall_s = run.failures = run.hardware_failures = run.failure_lost_s = run.gpu_hours = kEndless;
  run.planned_interruptions = run.maintenance_s = kEndless;
  run.goodput_ratio = 0;
}

}  // namespace

Run estimate_run(const RunInput& input, const Catalog& catalog) {
  const LoadedRates rates = load_rates(input, catalog);
  const Timeline t = make_timeline(input, rates.base);

  Run run;
  run.steps = t.steps;
  run.productive_s = t.productive_s;
  run.startup_s = t.startup_s;
  run.checkpoint_stall_s = t.checkpoint_stall_s;
  run.mtti_s = t.mtti_s;
  run.checkpoint_interval_s = t.interval_s;
  run.checkpoint_block_s = t.block_s;
  run.checkpoint_durable_s = t.durable_s;
  run.restart_s = t.restart_s;
  run.loss_per_failure_s = t.loss_s;
  run.checkpoint_bytes = input.checkpoint_bytes;
  run.data_bytes = input.data_bytes;
  run.checkpoints = t.checkpoints;
  if (t.finishes()) {
    add_wall(run, input, t, rates);
  } else {
    add_endless(run);
  }
  run.formulas = run_formulas(input, rates, t, run);
  if (t.finishes() && input.node_power_w) {
    run.formulas.push_back(it_energy_formula(input, catalog, t, run));
    run.it_energy_j = run.formulas.back().value;
  }
  return run;
}

}  // namespace tare
