// From one step to the whole run: start-up, checkpoints, failures, restarts, maintenance.
//
//   productive_s  P = steps · step_time_s
//   interval      T = max(W, Daly(δ, M)), δ the blocking stall, W the time until durable, M the mean time to an
//                 interruption of this job; Daly's form is √(2δM)·(1 + √(δ/2M)/3 + δ/18M) − δ, Young's √(2δM) its limit
//                 for δ ≪ M, and M itself for δ ≥ 2M
//   rework        R = M − T/(e^(T/M) − 1) (+ W when async): work since the last checkpoint, T/2 for T ≪ M
//   loss          L = R + detection + restart, for each interruption
//   maintenance   m = rate of planned interruptions · (W + restart) + the share of a year that nodes are in a window
//   wall_s        = P + startup + stalls + wall·L/M + wall·m, interruptions happening in wall time, hence
//                 (P + startup + stalls) ÷ (1 − L/M − m). With L/M + m ≥ 1 the run never ends: `finishes` says so.
//   failures      1/M = GPUs · (GPU + NVLink + NIC + node and software faults per GPU-hour + spot reclaims)
// Sources: Young 1974, Daly 2006; parameters from data/catalog/parameters.csv. docs/bill.md has every equation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/formula.h"
#include "cluster/cluster.h"
#include "perf/step.h"

namespace tare {

struct RunInput {
  double tokens = 0;
  double tokens_per_step = 0;
  double step_time_s = 0;
  int gpus = 0;
  int nodes = 0;
  double parameters = 0;  // of the checkpoint
  double checkpoint_bytes = 0;
  CheckpointPolicy checkpoint;
  double data_bytes = 0;  // staged at the first start, a node's share at each restart; 0 = none stated
  Purchase purchase = Purchase::kOnDemand;
  GpuGeneration generation = GpuGeneration::kUnknown;
  double data_local_ratio = 1;       // of the data: what a node's own disks hold of its part, and is staged
  double data_shards = 0;            // files the data lie in; 0 = not stated
  std::string host;                  // delivery.host
  std::string packaging, gpu_share;  // of the delivery
  bool linked_gpus = true;           // NVLink or the like joins the GPUs of a node
  double kernel_busy_ratio = 1;
  std::optional<double> node_power_w;                                     // rating of one node
  int local_disks = 0;                                                    // of a node; 0 = not known, taken as one
  std::optional<double> local_write_bytes_per_s, local_read_bytes_per_s;  // of one disk; nullopt = the catalog's
};

struct Run {
  double steps = 0;
  double productive_s = 0;
  double startup_s = 0;  // the first start
  double checkpoint_stall_s = 0;
  double failures = 0;           // expected interruptions
  double hardware_failures = 0;  // of these, not spot reclaims: what an engineer looks into
  double failure_lost_s = 0;     // rework, detection, restart, over the run
  double planned_interruptions = 0;
  double maintenance_s = 0;  // planned windows and the restarts around them, over the run
  double wall_s = 0;         // the sum of the five; infinite when the run does not finish
  std::optional<double>
      wall_low_s;  // over the ranges of the parameters, taken one at a time and combined as independent
  std::optional<double> wall_high_s;  // nullopt: at the far end of some range the run does not finish
  bool finishes = true;               // false: interruptions take more than they leave; goodput 0, wall infinite
  double gpu_hours = 0;               // wall × GPUs
  double goodput_ratio = 0;           // productive ÷ wall
  double mtti_s = 0;                  // mean time to an interruption of this job
  double checkpoint_interval_s = 0;
  double checkpoint_block_s = 0;    // δ: training stands still, for each checkpoint
  double checkpoint_durable_s = 0;  // W: until it can be restarted from
  double restart_s = 0;             // from detection to training again, without the rework
  double loss_per_failure_s = 0;    // L
  double checkpoint_bytes = 0;
  double data_bytes = 0;          // as given
  double checkpoints = 0;         // written, the last at the end of the run
  double it_energy_j = 0;         // IT side, all nodes; 0 when the node's power is unknown
  std::vector<Formula> formulas;  // run.steps, run.wall_s, …
};

// Preconditions: tokens_per_step, step_time_s > 0; gpus, nodes ≥ 1.
Run estimate_run(const RunInput& input, const Catalog& catalog);

// The catalog parameters a run may ask for: a test checks that the shipped catalog has them all.
const std::vector<std::string>& run_parameter_ids();

}  // namespace tare
