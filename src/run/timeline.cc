#include "run/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/checkpoint_interval.h"

namespace tare {
namespace {

// A catalog that says nothing ever fails still gets a number: thirty billion years.
constexpr double kNever_s = 1e18;

double mean_time_to_interruption_s(const RunInput& input, const RunRates& rates) {
  const double per_h = input.gpus * (rates.hardware_per_gpu_h + rates.spot_per_gpu_h);
  return per_h > 0 ? std::min(kNever_s, 3600 / per_h) : kNever_s;
}

// What every start repeats.
double init_of(const RunInput& input, const RunRates& rates) {
  const double nccl_s = std::max(0.0, rates.nccl_s + rates.nccl_s_per_doubling * std::log2(input.gpus / 64.0));
  return rates.driver_s + rates.process_s + nccl_s + rates.warmup_s + rates.vm_s;
}

// The interval that was asked for, or the best one; never shorter than a step.
double wanted_interval_s(const RunInput& input, const Timeline& t) {
  switch (input.checkpoint.every) {
    case CheckpointPolicy::Every::kSteps:
      return std::max(1.0, input.checkpoint.value) * input.step_time_s;
    case CheckpointPolicy::Every::kSeconds:
      return std::max(input.checkpoint.value, input.step_time_s);
    case CheckpointPolicy::Every::kAuto:
      break;
  }
  return std::max(input.step_time_s, daly_interval_s(t.block_s, t.mtti_s));
}

void add_checkpoints(Timeline& t, const RunInput& input) {
  const CheckpointPolicy& policy = input.checkpoint;
  const double wanted_s = wanted_interval_s(input, t);
  // A background write must end before the next begins.
  const bool floored = policy.async || policy.every == CheckpointPolicy::Every::kAuto;
  t.interval_s = floored ? std::max(t.durable_s, wanted_s) : wanted_s;
  // A count of steps that was asked for stays whole, so that 1,000 steps at every 50 are 20 checkpoints and not 21.
  const bool exact = policy.every == CheckpointPolicy::Every::kSteps && t.interval_s == wanted_s;
  t.interval_steps = exact ? std::max(1.0, policy.value) : t.interval_s / input.step_time_s;
  t.checkpoints = std::max(1.0, std::ceil(t.steps / t.interval_steps));
  // Behind the last checkpoint there is no training left to hide its write.
  t.checkpoint_stall_s = t.checkpoints * t.block_s + (policy.async ? t.durable_s : 0);
}

}  // namespace

Timeline make_timeline(const RunInput& input, const RunRates& rates) {
  Timeline t;
  t.steps = std::ceil(input.tokens / input.tokens_per_step);
  t.productive_s = t.steps * input.step_time_s * (rates.delivered_in_step / delivered_ratio(rates));

  const double init_s = init_of(input, rates);
  // Every rank looks up every shard, none of them thinking in between: the store's own rate (perf/closed_queue.h).
  const double metadata_s = input.gpus * input.data_shards * rates.metadata_ops_per_shard / rates.metadata_ops_per_s;
  const double staging_s = input.data_bytes / (input.nodes * rates.staging_bytes_per_s) + metadata_s;
  t.startup_s = rates.provision_s + rates.image_bytes / rates.image_bytes_per_s + init_s + staging_s;

  const double nodes_bytes_per_s = input.nodes * rates.node_bytes_per_s;
  t.load_s = input.checkpoint_bytes / std::min(nodes_bytes_per_s, rates.read_bytes_per_s);
  t.durable_s =
      rates.checkpoint_fixed_s + input.checkpoint_bytes / std::min(nodes_bytes_per_s, rates.write_bytes_per_s);
  t.block_s = input.checkpoint.async
                  ? rates.checkpoint_fixed_s + input.checkpoint_bytes / (input.gpus * rates.snapshot_bytes_per_s) +
                        rates.drain_ratio * t.durable_s
                  : t.durable_s;
  t.mtti_s = mean_time_to_interruption_s(input, rates);
  add_checkpoints(t, input);

  // The node that comes in for the failed one fetches its own share of the data, which takes as long as all do at once.
  t.restart_s = rates.requeue_s + init_s + t.load_s + staging_s;
  t.rework_s = std::min(t.interval_s, t.productive_s) / 2 + (input.checkpoint.async ? t.durable_s : 0);
  t.loss_s = t.rework_s + rates.detect_s + t.restart_s;
  t.loss_ratio = t.loss_s / t.mtti_s;
  t.wall_s = t.finishes() ? (t.productive_s + t.startup_s + t.checkpoint_stall_s) / (1 - t.loss_ratio)
                          : std::numeric_limits<double>::infinity();
  return t;
}

}  // namespace tare
