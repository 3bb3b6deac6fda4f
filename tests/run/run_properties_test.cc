// What holds for every run, whatever the numbers.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "run/round_catalog.h"
#include "run/run.h"

namespace tare {
namespace {

using test::round_catalog;
using test::set;

// low · (high/low)^u with u uniform: the size of a thing rather than its value.
double log_uniform(double low, double high) { return low * std::pow(high / low, *rc::gen::inRange(0, 100001) / 1e5); }

RunInput any_run() {
  RunInput input;
  input.tokens = log_uniform(1e6, 1e14);
  input.tokens_per_step = log_uniform(1e3, 1e8);
  input.step_time_s = log_uniform(1e-3, 1e3);
  input.nodes = *rc::gen::inRange(1, 4000);
  input.gpus = input.nodes * *rc::gen::element(1, 4, 8);
  input.checkpoint_bytes = log_uniform(1e6, 1e14);
  input.data_bytes = *rc::gen::element(0.0, 1e9, 1e14);
  input.checkpoint.every = *rc::gen::element(CheckpointPolicy::Every::kAuto, CheckpointPolicy::Every::kSteps,
                                             CheckpointPolicy::Every::kSeconds);
  input.checkpoint.value = log_uniform(1, 1e5);
  input.checkpoint.async = *rc::gen::arbitrary<bool>();
  input.checkpoint.store =
      *rc::gen::element(CheckpointStore::kShared, CheckpointStore::kLocal, CheckpointStore::kMemory);
  input.linked_gpus = *rc::gen::arbitrary<bool>();
  input.purchase = *rc::gen::element(Purchase::kOnDemand, Purchase::kSpot, Purchase::kReserved, Purchase::kOwned);
  input.generation = *rc::gen::element(GpuGeneration::kAmpere, GpuGeneration::kHopper, GpuGeneration::kUnknown);
  input.host = *rc::gen::element("vm", "bare_metal");
  input.kernel_busy_ratio = *rc::gen::inRange(0, 101) / 100.0;
  input.node_power_w = 10000;
  return input;
}

Catalog any_catalog() {
  Catalog catalog = round_catalog();
  const double rate = log_uniform(1e-7, 1e-2);
  set(catalog, "gpu_failures_per_gpu_h", rate, rate / 2, rate * 2);
  set(catalog, "rsc1_failures", 8 * rate, 4 * rate, 16 * rate);
  set(catalog, "planned_int_rate", log_uniform(1e-8, 1e-5), 0, 2e-5);
  set(catalog, "fw_downtime", log_uniform(1e3, 1e6));
  const double detect_s = log_uniform(1, 1e4);
  set(catalog, "detect_time", detect_s, detect_s / 3, detect_s * 3);
  return catalog;
}

RC_GTEST_PROP(RunProperties, PartsSumToTheWallAndGoodputIsAShare, ()) {
  const auto run = estimate_run(any_run(), any_catalog());
  if (!run.finishes) {
    RC_ASSERT(run.goodput_ratio == 0.0);
    RC_ASSERT(std::isinf(run.wall_s));
    return;
  }
  const double sum = run.productive_s + run.startup_s + run.checkpoint_stall_s + run.failure_lost_s + run.maintenance_s;
  RC_ASSERT(std::fabs(sum - run.wall_s) <= 1e-9 * run.wall_s);
  RC_ASSERT(run.goodput_ratio > 0);
  RC_ASSERT(run.goodput_ratio <= 1);
  RC_ASSERT(run.startup_s >= 0);
  RC_ASSERT(run.checkpoint_stall_s >= 0);
  RC_ASSERT(run.failure_lost_s >= 0);
  RC_ASSERT(run.maintenance_s >= 0);
  RC_ASSERT(run.checkpoints >= 1);
  RC_ASSERT(run.wall_low_s.value() <= run.wall_s);
  RC_ASSERT(run.wall_low_s.value() >= run.productive_s);
  if (run.wall_high_s) RC_ASSERT(*run.wall_high_s >= run.wall_s);
}

// The fixed point itself: as many failures as the wall time has room for, each with its loss, make the wall time.
RC_GTEST_PROP(RunProperties, FailuresHappenInWallTime, ()) {
  const auto run = estimate_run(any_run(), any_catalog());
  if (!run.finishes) return;
  const double once = run.productive_s + run.startup_s + run.checkpoint_stall_s;
  const double again = once + run.wall_s / run.mtti_s * run.loss_per_failure_s + run.maintenance_s;
  RC_ASSERT(std::fabs(again - run.wall_s) <= 1e-9 * run.wall_s);
}

RC_GTEST_PROP(RunProperties, MoreFailuresAreNeverQuicker, ()) {
  const RunInput input = any_run();
  Catalog catalog = any_catalog();
  const auto before = estimate_run(input, catalog);
  const double factor = 1 + *rc::gen::inRange(0, 1000) / 300.0;
  set(catalog, "gpu_failures_per_gpu_h", factor * parameter(catalog, "gpu_failures_per_gpu_h").base);
  set(catalog, "rsc1_failures", factor * parameter(catalog, "rsc1_failures").base);
  const auto after = estimate_run(input, catalog);
  RC_ASSERT(after.wall_s >= before.wall_s * (1 - 1e-12));
}

RC_GTEST_PROP(RunProperties, SlowerRestartsAndStallsAreNeverQuicker, ()) {
  const RunInput input = any_run();
  Catalog catalog = any_catalog();
  const auto before = estimate_run(input, catalog);
  const char* const id =
      *rc::gen::element("detect_time", "requeue_rented_s", "spare_swap_s", "driver_init_s", "compile_warmup_s",
                        "provision_vm_s", "image_pull_bytes", "planned_int_rate", "fw_downtime");
  set(catalog, id, 2 * parameter(catalog, id).base);
  RC_ASSERT(estimate_run(input, catalog).wall_s >= before.wall_s);
}

// No node draws more than its rating, nor less than it does idle.
RC_GTEST_PROP(RunProperties, EnergyIsBetweenIdleAndRating, ()) {
  const RunInput input = any_run();
  const auto run = estimate_run(input, any_catalog());
  if (!run.finishes) return;
  const double full_j = input.nodes * input.node_power_w.value() * run.wall_s;
  RC_ASSERT(run.it_energy_j <= 0.8 * full_j * (1 + 1e-12));
  RC_ASSERT(run.it_energy_j >= 0.2 * full_j * (1 - 1e-12));
}

}  // namespace
}  // namespace tare
