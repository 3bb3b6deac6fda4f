#include <fmt/format.h>

#include "rule_case.h"

namespace tare {
namespace {

// 1,000 tokens a second and GPU on 8 GPUs, 16,384 tokens a step: 2.048 s.
void predict(AuditSetting& setting) {
  PredictedRun run;
  run.job = "pretrain";
  run.on = "lab";
  run.parallelism = "dp8";
  run.gpus = 8;
  run.tokens_per_step = 16'384;
  run.step_time_s = 2.048;
  run.tokens_per_s_per_gpu = 1'000;
  run.mfu_ratio = 0.4;
  run.goodput_ratio = 0.97;
  run.usd_per_gpu_h = 2;
  setting.predicted = run;
}

std::string line(int step, int second, double step_s) {
  return fmt::format(
      "{{\"step\": {}, \"timestamp\": \"2026-04-05T{:02}:{:02}:{:02}\", \"step_time_s\": {}, \"loss\": 2.5, "
      "\"global_batch\": 8, \"world_size\": 8, \"sequence_length\": 2048}}\n",
      step, 6 + second / 3600, second / 60 % 60, second % 60, step_s);
}

// Steps of 4 s after one another; `stop_s` before step 20, or a fall back to step 10 there.
std::string run_log(double step_s, int stop_s, bool falls_back) {
  std::string text;
  int now = 0;
  for (int step = 1; step <= 40; ++step) {
    now += static_cast<int>(step_s);
    if (step == 20) now += stop_s;
    text += line(falls_back && step >= 20 ? step - 10 : step, now, step_s);
  }
  return text;
}

}  // namespace

std::span<const RuleCase> run_cases() {
  const auto medium = FindingSeverity::kMedium, low = FindingSeverity::kLow, info = FindingSeverity::kInfo;
  static const std::vector<RuleCase> cases = {
      {"run.slower-than-predicted",
       "AtHalfItsRate",
       {{"train.jsonl", run_log(4, 0, false)}},
       true,
       medium,
       "pretrain",
       "512 tokens per second and GPU, 51 %",
       predict},
      {"run.slower-than-predicted",
       "AsPredicted",
       {{"train.jsonl", run_log(2, 0, false)}},
       false,
       info,
       "",
       "",
       predict},
      {"run.slower-than-predicted",
       "WithinTheModelsError",  // 2 s of 2.2: 91 %
       {{"train.jsonl", run_log(2.2, 0, false)}},
       false,
       info,
       "",
       "",
       predict},
      {"run.slower-than-predicted",
       "AFifthSlower",  // 2 s of 2.5: 80 %
       {{"train.jsonl", run_log(2.5, 0, false)}},
       true,
       low,
       "pretrain",
       "",
       predict},
      {"run.slower-than-predicted", "WithoutAPrediction", {{"train.jsonl", run_log(4, 0, false)}}, false},
      {"run.restarts",
       "FallsBackTenSteps",
       {{"train.jsonl", run_log(2, 60, true)}},
       true,
       medium,
       "pretrain",
       "1 restart: 10 steps done again",
       predict},
      {"run.restarts", "GoesOn", {{"train.jsonl", run_log(2, 60, false)}}, false, info, "", "", predict},
      {"run.stops",
       "OneOfAMinute",
       {{"train.jsonl", run_log(2, 60, false)}},
       true,
       medium,
       "pretrain",
       "1 stop of together 60.0 s",
       predict},
      {"run.stops", "OneOfFiveSeconds", {{"train.jsonl", run_log(2, 5, false)}}, true, low, "pretrain", "", predict},
      {"run.stops", "None", {{"train.jsonl", run_log(2, 0, false)}}, false, info, "", "", predict},
      {"run.another-job",
       "OnOtherGpus",
       {{"train.jsonl", run_log(2, 0, false)}},
       true,
       info,
       "pretrain",
       "8 GPUs, predicted for 64",
       [](AuditSetting& setting) {
         predict(setting);
         setting.predicted->gpus = 64;
       }},
      {"run.another-job", "ThisOne", {{"train.jsonl", run_log(2, 0, false)}}, false, info, "", "", predict},
  };
  return cases;
}

}  // namespace tare
