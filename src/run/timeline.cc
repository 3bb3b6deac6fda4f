#include "run/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/checkpoint_interval.h"

namespace tare {
namespace {

// A catalog that says nothing ever fails still gets a number: thirty billion years.
constexpr double kNever_s = 1e18;

FailureRates failure_rates(const RunInput& input, const RunRates& r) {
  FailureRates f;
  f.all_per_gpu_h = r.interruptions_per_gpu_h + r.interruptions_per_node_h / kGpusPerReportedNode;
  const double all = f.all_per_gpu_h * r.part_interrupt_gpu_h;
  f.gpu_per_gpu_h = all * ((1 - r.nvlink_ratio) / r.part_gpu_gpu_h + 1 / r.part_hbm_gpu_h);
  f.nvlink_per_gpu_h = input.linked_gpus ? all * r.nvlink_ratio / r.part_gpu_gpu_h : 0;
  f.nic_per_gpu_h = input.nodes > 1 ? all / r.part_network_gpu_h : 0;
  f.node_per_gpu_h =
      f.all_per_gpu_h *
      (1 - r.part_interrupt_gpu_h * (1 / r.part_gpu_gpu_h + 1 / r.part_hbm_gpu_h + 1 / r.part_network_gpu_h));
  f.sum_per_gpu_h = f.gpu_per_gpu_h + f.nvlink_per_gpu_h + f.nic_per_gpu_h + f.node_per_gpu_h;
  return f;
}

double mean_time_to_interruption_s(const RunInput& input, const Timeline& t, const RunRates& rates) {
  const double per_h = input.gpus * (t.failures.sum_per_gpu_h + rates.spot_per_gpu_h);
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
  const bool last_waits = policy.async || store_of(input) != CheckpointStore::kShared;
  t.checkpoint_stall_s = t.checkpoints * t.block_s + (last_waits ? t.final_s : 0);
}

// W, δ and the time to read one back, by where they lie.
void add_checkpoint_times(Timeline& t, const RunInput& input, const RunRates& rates) {
  const double bytes = input.checkpoint_bytes;
  const double grown = input.gpus * rates.store_bytes_per_s_per_gpu;
  const double nodes_bytes_per_s = input.nodes * rates.node_bytes_per_s;
  const double snapshot_s = bytes / (input.gpus * rates.snapshot_bytes_per_s);
  t.final_s = rates.checkpoint_fixed_s + bytes / std::min(nodes_bytes_per_s, std::max(rates.write_bytes_per_s, grown));
  double fixed_s = rates.checkpoint_fixed_s;
  switch (store_of(input)) {
    case CheckpointStore::kShared:
      t.durable_s = t.final_s;
      t.load_s = bytes / std::min(nodes_bytes_per_s, std::max(rates.read_bytes_per_s, grown));
      break;
    case CheckpointStore::kLocal:
      t.durable_s = fixed_s + kLocalCopies * bytes / (input.nodes * rates.disks * rates.disk_write_bytes_per_s);
      t.load_s = bytes / (input.nodes * rates.disks * rates.disk_read_bytes_per_s);
      break;
    case CheckpointStore::kMemory:
      fixed_s = 0;  // no file system to agree with
      t.load_s = bytes / (input.nodes * rates.replica_bytes_per_s);
      t.durable_s = snapshot_s + t.load_s;
      break;
  }
  t.block_s = input.checkpoint.async ? fixed_s + snapshot_s + rates.drain_ratio * t.durable_s : t.durable_s;
}

// Expected work since the last checkpoint when interruptions come at random: M − T/(e^(T/M) − 1).
double expected_rework_s(double interval_s, double mtti_s) {
  if (interval_s < kShortInterval * mtti_s) return interval_s / 2;
  return mtti_s - interval_s / (std::exp(interval_s / mtti_s) - 1);
}

}  // namespace

Timeline make_timeline(const RunInput& input, const RunRates& rates) {
  Timeline t;
  t.steps = std::ceil(input.tokens / input.tokens_per_step);
  t.productive_s = t.steps * input.step_time_s * (rates.delivered_in_step / delivered_ratio(rates));

  const double init_s = init_of(input, rates);
  // Every rank looks up every shard, none of them thinking in between: the store's own rate (perf/closed_queue.h).
  const double metadata_s = input.gpus * input.data_shards * rates.metadata_ops_per_shard / rates.metadata_ops_per_s;
  const double staging_s =
      input.data_bytes * input.data_local_ratio / (input.nodes * rates.staging_bytes_per_s) + metadata_s;
  t.startup_s = rates.provision_s + rates.image_bytes / rates.image_bytes_per_s + init_s + staging_s;

  add_checkpoint_times(t, input, rates);
  t.failures = failure_rates(input, rates);
  t.mtti_s = mean_time_to_interruption_s(input, t, rates);
  add_checkpoints(t, input);

  // The node that comes in for the failed one fetches its own share of the data, which takes as long as all do at once.
  t.restart_s = rates.requeue_s + init_s + t.load_s + staging_s;
  t.rework_s =
      expected_rework_s(std::min(t.interval_s, t.productive_s), t.mtti_s) + (input.checkpoint.async ? t.durable_s : 0);
  t.loss_s = t.rework_s + rates.detect_s + t.restart_s;
  t.loss_ratio = t.loss_s / t.mtti_s;
  // A planned stop is known before: a checkpoint is written first, and nothing has to be found out.
  t.planned_loss_s = t.durable_s + t.restart_s;
  t.maintenance_ratio =
      input.gpus * rates.planned_per_gpu_h / 3600 * t.planned_loss_s + rates.window_s_per_year / kYear_s;
  t.wall_s = t.finishes()
                 ? (t.productive_s + t.startup_s + t.checkpoint_stall_s) / (1 - t.loss_ratio - t.maintenance_ratio)
                 : std::numeric_limits<double>::infinity();
  return t;
}

}  // namespace tare
