// The arithmetic of a run on plain numbers: cheap enough to be repeated for every end of every range.
#pragma once

#include "run/run_rates.h"

namespace tare {

struct Timeline {
  double steps = 0, productive_s = 0, startup_s = 0;
  double block_s = 0;     // δ
  double durable_s = 0;   // W
  double mtti_s = 0;      // M
  double interval_s = 0;  // T
  double interval_steps = 0;
  double checkpoints = 0, checkpoint_stall_s = 0;
  double load_s = 0;  // a checkpoint read back
  double restart_s = 0;
  double rework_s = 0;    // work lost at an interruption
  double loss_s = 0;      // L
  double loss_ratio = 0;  // L ÷ M; at 1 and above the run never ends
  double wall_s = 0;

  bool finishes() const { return loss_ratio < 1; }
};

Timeline make_timeline(const RunInput& input, const RunRates& rates);

}  // namespace tare
