#include <fmt/format.h>

#include "training_cases.h"

namespace tare {
namespace {

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium, kHigh = FindingSeverity::kHigh;

double wobble(int step) { return 0.004 * ((step * 7) % 5 - 2); }

std::string paced(const OfStep& seconds, int from = 300, int to = 340) {
  return training_log(from, to, seconds, always(2.5));
}

// A line every `step_s` seconds, and `pause_s` more before every `every`-th.
std::string stamped(double step_s, double pause_s, int every, int steps = 30) {
  std::string text;
  double at = 0;
  for (int step = 1; step <= steps; ++step) {
    at += step_s + (step % every == 0 ? pause_s : 0);
    const int seconds = static_cast<int>(at);
    text += fmt::format("2026-02-{:02} {:02}:{:02}:{:02} step={} loss=2.5 step_time_s={:.3f} lr=0.0001\n",
                        1 + seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, step, step_s);
  }
  return text;
}

std::string saved(double seconds) {
  std::string text;
  for (int part = 0; part < 3; ++part) {
    text += training_log(1 + part * 20, 20 + part * 20, always(2), always(2.5));
    text += fmt::format("Finished saving the checkpoint in {:.2f} seconds.\n", seconds);
  }
  return text;
}

std::string robot(const OfStep& data, int from) {
  std::string text;
  for (int step = from; step < from + 12; ++step) {
    text += fmt::format(
        "INFO 2026-07-11 08:20:13 ts/train.py:232 step:{} loss:1.05 grdn:4.4 lr:1.8e-06 updt_s:0.400 data_s:{:.3f}\n",
        step, data(step));
  }
  return text;
}

std::string of_ranks(int stopped, int at) {
  std::string text;
  for (int step = 1; step <= 20; ++step) {
    for (int rank = 0; rank < 4; ++rank) {
      if (rank == stopped && step > at) continue;
      text += fmt::format("[rank{}]: step={} loss=2.5 step_time_s=1.0 lr=0.0001\n", rank, step);
    }
  }
  return text;
}

std::string heartbeats(int step, int total, int hours) {
  std::string text = fmt::format(
      " iteration {:8}/{:8} | consumed samples: 640 | elapsed time per iteration (ms): 20000.0 | learning rate: "
      "1.0E-04 | "
      "global batch size: 64 | lm loss: 2.5E+00 | loss scale: 1.0 | number of skipped iterations: 0 | number of nan "
      "iterations: 0 |\n",
      step, total);
  for (int hour = 0; hour <= hours; ++hour)
    text += fmt::format("[2026-03-04 {:02}:10:00] watchdog: job 77 is running\n", hour);
  return text;
}

std::string bar(int at, int total, const std::string& left, const std::string& rate) {
  return fmt::format("Training: {:3}%|#   | {}/{} [3:20:00<{}, {}, loss=2.41]\n", at * 100 / total, at, total, left,
                     rate);
}

std::string trainer(double samples_per_s, int batch) {
  std::string text = fmt::format("  \"train_batch_size\": {},\n  \"train_micro_batch_size_per_gpu\": 4\n", batch);
  for (int rank = 0; rank < 8; ++rank) {
    text += fmt::format(
        "{{'train_runtime': 600.5, 'train_samples_per_second': {}, 'train_steps_per_second': 0.01, 'epoch': 1.0}}\n",
        samples_per_s);
  }
  return text;
}

std::vector<RuleCase> series_cases() {
  const auto drops = [](int step) { return (step < 320 ? 5.0 : 5.6) + wobble(step); };
  const auto flat = [](int step) { return 5.0 + wobble(step); };
  const auto grows = [](int step) { return 5.0 + 0.05 * (step - 300); };
  const auto spikes = [](int step) { return step % 8 == 0 ? 11.0 : 2.0 + wobble(step); };
  const auto uneven = [](int step) { return step * step % 17 == 4 ? 9.0 : 2.0 + wobble(step); };
  const auto warm = [](int step) { return step == 1 ? 40.0 : 2.0; };
  // A batch that grows takes longer, and is no slower.
  std::string ramp;
  for (int step = 300; step < 330; ++step) {
    ramp += fmt::format("step={} loss=2.5 step_time_s={} global_batch_size={}\n", step, 2 + 0.1 * (step - 300),
                        64 * (20 + step - 300) / 20);
  }
  // No step time and no stamp: the rate alone.
  std::string rates;
  for (int step = 300; step < 330; ++step) {
    rates += fmt::format("{{\"step\": {}, \"loss\": 2.5, \"tokens_per_second\": {}}}\n", step,
                         (step < 318 ? 42000 : 35000) + step % 3);
  }
  return {
      {"training.throughput-drop",
       "OfTheTokens",
       {{"t.jsonl", rates}},
       true,
       kMedium,
       "t.jsonl",
       "35001 tokens/s after 42001"},
      {"training.throughput-drop",
       "ATenth",
       {{"t.log", paced(drops)}},
       true,
       kMedium,
       "t.log",
       "12.0 % longer from step 320"},
      {"training.throughput-drop", "Flat", {{"t.log", paced(flat)}}, false},
      {"training.throughput-drop", "ASlope", {{"t.log", paced(grows)}}, false},
      {"training.step-time-drift", "ByTwoFifths", {{"t.log", paced(grows)}}, true, kMedium, "t.log", "grows 40 %"},
      {"training.step-time-drift", "Flat", {{"t.log", paced(flat)}}, false},
      {"training.step-time-drift", "ADrop", {{"t.log", paced(drops)}}, false},
      {"training.step-time-drift", "TheBatchGrows", {{"t.log", ramp}}, false},
      {"training.periodic-spikes", "EveryEighth", {{"t.log", paced(spikes)}}, true, kMedium, "t.log", "every 8 steps"},
      {"training.periodic-spikes", "Uneven", {{"t.log", paced(uneven)}}, false},
      {"training.jitter", "Uneven", {{"t.log", paced(uneven)}}, true, kMedium, "t.log", "at no fixed distance"},
      {"training.jitter", "Even", {{"t.log", paced(spikes)}}, false},
      {"training.first-step", "Compiles", {{"t.log", paced(warm, 1, 12)}}, true, kInfo, "t.log", "40 s where 2 s"},
      {"training.first-step", "Resumed", {{"t.log", paced(flat)}}, false},
      {"training.single-step", "WarmUp", {{"t.log", paced(warm, 1, 1)}}, true, kInfo, "t.log", "warm-up"},
      {"training.single-step", "OneLine", {{"t.log", paced(flat, 77, 77)}}, true, kInfo, "t.log", "no spread"},
      {"training.single-step", "Forty", {{"t.log", paced(flat)}}, false},
      {"training.no-throughput",
       "LossesOnly",
       {{"t.jsonl", "{\"step\": 10, \"loss\": 2.5}\n{\"step\": 20, \"loss\": 2.4}\n{\"step\": 30, \"loss\": 2.4}\n"}},
       true,
       kInfo,
       "t.jsonl",
       "3 steps and no time"},
      {"training.no-throughput", "Timed", {{"t.log", paced(flat)}}, false},
  };
}

std::vector<RuleCase> wait_cases() {
  const auto dry = [](int step) { return step % 4 == 0 ? 4.5 : 0.001; };
  const auto first_only = [](int step) { return step == 1 ? 9.0 : 0.002; };
  return {
      {"training.data-stall", "WorkersRunDry", {{"t.log", robot(dry, 20)}}, true, kHigh, "t.log", "waits for data"},
      {"training.data-stall", "FirstBatchOnly", {{"t.log", robot(first_only, 1)}}, false},
      {"training.hang",
       "HeartbeatsForHours",
       {{"t.log", heartbeats(700, 5000, 3)}},
       true,
       kHigh,
       "t.log",
       "no step for 3.0 h and more after step 700"},
      {"training.hang", "Done", {{"t.log", heartbeats(5000, 5000, 3)}}, false},
      {"training.gap",
       "ThreeHours",
       {{"t.log", stamped(20, 10800, 15, 29)}},
       true,
       kMedium,
       "t.log",
       "no step for 3.0 h"},
      {"training.gap", "Pauses", {{"t.log", stamped(20, 120, 5)}}, false},
      {"training.pauses",
       "EveryFifth",
       {{"t.log", stamped(20, 120, 5)}},
       true,
       kMedium,
       "t.log",
       "about every 5 steps"},
      {"training.pauses", "None", {{"t.log", stamped(20, 0, 5)}}, false},
      {"training.checkpoint-stall", "AFifth", {{"t.log", saved(10)}}, true, kMedium, "t.log", "20 % of the time"},
      {"training.checkpoint-stall", "Quick", {{"t.log", saved(0.5)}}, false},
      {"training.rank-stopped", "OneOfFour", {{"t.log", of_ranks(2, 9)}}, true, kMedium, "rank 2", "no step after 9"},
      {"training.rank-stopped", "CutInTheMiddle", {{"t.log", of_ranks(2, 19)}}, false},
      {"training.restart",
       "BackToTheCheckpoint",
       {{"t.log", paced(always(2), 300, 335) + paced(always(2), 321, 360)}},
       true,
       kMedium,
       "t.log",
       "15 steps done again"},
      {"training.restart", "GoesOn", {{"t.log", paced(always(2), 300, 335) + paced(always(2), 336, 360)}}, false},
      {"training.eta",
       "SevenWeeks",
       {{"t.log", bar(300, 106000, "1174:30:00", "40.00s/it")}},
       true,
       kMedium,
       "t.log",
       "48.9 days remain"},
      {"training.eta", "Tomorrow", {{"t.log", bar(300, 3000, "30:00:00", "40.00s/it")}}, false},
      {"training.slow-micro-batch",
       "AMinute",
       {{"t.log", trainer(0.5, 32)}},
       true,
       kLow,
       "t.log",
       "a micro-batch 64 s"},
      {"training.slow-micro-batch", "ASecond", {{"t.log", trainer(30, 32)}}, false},
  };
}

}  // namespace

std::vector<RuleCase> training_pace_cases() {
  std::vector<RuleCase> all = series_cases();
  const std::vector<RuleCase> waits = wait_cases();
  all.insert(all.end(), waits.begin(), waits.end());
  return all;
}

}  // namespace tare
