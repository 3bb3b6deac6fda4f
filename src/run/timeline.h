// The arithmetic of a run on plain numbers: cheap enough to be repeated for every end of every range.
#pragma once

#include "run/run_rates.h"

namespace tare {

// Unexpected interruptions per GPU-hour, by part.
struct FailureRates {
  double all_per_gpu_h = 0;     // as published, all parts
  double gpu_per_gpu_h = 0;     // with its memory
  double nvlink_per_gpu_h = 0;  // 0 where no link joins the GPUs
  double nic_per_gpu_h = 0;     // NICs, cables and switches; 0 within one node
  double node_per_gpu_h = 0;    // the rest: host, software, unknown
  double sum_per_gpu_h = 0;
};

struct Timeline {
  double steps = 0, productive_s = 0, startup_s = 0;
  double block_s = 0;    // δ
  double durable_s = 0;  // W
  double final_s = 0;    // the last checkpoint, to the shared store
  FailureRates failures;
  double mtti_s = 0;      // M
  double interval_s = 0;  // T
  double interval_steps = 0;
  double checkpoints = 0, checkpoint_stall_s = 0;
  double load_s = 0;  // a checkpoint read back
  double restart_s = 0;
  double rework_s = 0;    // work lost at an interruption
  double loss_s = 0;      // L
  double loss_ratio = 0;  // L ÷ M; with the maintenance's share at 1 and above the run never ends
  double planned_loss_s = 0;
  double maintenance_ratio = 0;
  double wall_s = 0;

  bool finishes() const { return loss_ratio + maintenance_ratio < 1; }
};

// Below this share of M an interval's expected rework is T/2 to within rounding.
inline constexpr double kShortInterval = 1e-6;

Timeline make_timeline(const RunInput& input, const RunRates& rates);

}  // namespace tare
