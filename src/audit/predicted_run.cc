#include "audit/predicted_run.h"

namespace tare {

PredictedRun predicted_run(const PlanOption& option, const Job& job, const std::string& on) {
  PredictedRun run;
  run.job = job.name;
  run.on = on;
  run.parallelism = to_text(option.parallelism);
  run.gpus = option.gpus;
  run.step_time_s = option.step.step_time_s;
  run.tokens_per_step = tokens_per_step(job);
  run.tokens_per_s_per_gpu = option.step.tokens_per_s_per_gpu;
  run.mfu_ratio = option.step.mfu_ratio;
  if (option.step.model_flops_per_gpu > 0) {
    run.flops_ratio = option.step.hardware_flops_per_gpu / option.step.model_flops_per_gpu;
  }
  const StepParts& parts = option.step.parts;
  run.recompute_s = parts.recompute_s;
  run.communication_s =
      parts.tp_exposed_s + parts.cp_exposed_s + parts.ep_exposed_s + parts.pp_p2p_s + parts.dp_exposed_s;
  run.bubble_s = parts.pp_bubble_s + parts.pp_imbalance_s;
  run.data_s = parts.data_stall_s;
  run.goodput_ratio = option.run.goodput_ratio;
  return run;
}

}  // namespace tare
