#include "training_cases.h"

#include <fmt/format.h>

namespace tare {

OfStep always(double value) {
  return [value](int) { return value; };
}

std::string training_log(int from, int to, const OfStep& seconds, const OfStep& loss, const std::string& rest,
                         int every) {
  std::string text;
  for (int step = from; step <= to; step += every) {
    text += fmt::format("step={} loss={:.4f} step_time_s={:.4f} lr=0.0001 {}\n", step, loss(step), seconds(step), rest);
  }
  return text;
}

namespace {

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium;

std::string megatron(int step, double ms, const std::string& rest) {
  return fmt::format(
      " iteration {:8}/   90000 | consumed samples: {:12} | elapsed time per iteration (ms): {:.1f} | learning rate: "
      "1.500E-04 | global batch size:   512 | lm loss: 3.250000E+00 | loss scale: 1.0 | number of skipped iterations:  "
      " "
      "0 | number of nan iterations:   0 |{}\n",
      step, step * 512, ms, rest);
}

const std::string kL40s = "GPU: NVIDIA L40S. Max memory: 44.5 GB.\n";
const std::string kH100 = "CUDA capability of NVIDIA H100 80GB HBM3, 8 of them\n";

// A model of 7 billion parameters on H100s at so many TFLOP/s and tokens/s each.
std::string max_text(double tflops, double tokens) {
  std::string text = kH100 + "number of parameters: 7.0 billion\n";
  for (int step = 4; step < 9; ++step) {
    text +=
        fmt::format("completed step: {}, seconds: 1.900, TFLOP/s/device: {:.3f}, Tokens/s/device: {:.3f}, loss: 3.1\n",
                    step, tflops, tokens);
  }
  return text;
}

std::string toy_log(double tflops) {
  std::string text;
  for (int step = 40; step < 44; ++step) {
    text += fmt::format(
        "02/11/2025 10:00:01 [INFO|DP=0|PP=0|TP=0|node3]: iteration: {} / 50 | consumed_tokens: 20K | "
        "elapsed_time_per_iteration_ms: 35 | tokens_per_sec: 24K | tokens_per_sec_per_gpu: 3K | global_batch_size: 16 "
        "| "
        "lm_loss: 9.2 | lr: 1e-05 | model_tflops_per_gpu: {} | grad_norm: 0.4\n",
        step, tflops);
  }
  return text;
}

std::vector<RuleCase> figure_cases() {
  const std::string bare = training_log(3, 9, always(2), always(2.5));
  const auto mfu = [](double value) {
    return training_log(3, 9, always(2), always(2.5), fmt::format("mfu={}%", value));
  };
  return {
      {"training.mfu-impossible", "More", {{"train.log", mfu(131)}}, true, kLow, "train.log", "131 % cannot be"},
      {"training.mfu-impossible", "MoreThanAnyRun", {{"train.log", mfu(84.5)}}, true, kLow, "train.log", "84 %"},
      {"training.mfu-impossible",
       "OfTheGpusPeak",
       {{"t.log", max_text(1280, 30000)}},
       true,
       kLow,
       "t.log",
       "1280 TFLOP/s"},
      {"training.mfu-impossible", "Good", {{"train.log", mfu(52)}}, false},
      {"training.mfu-impossible", "Fp8BeyondTheBf16Share", {{"t.log", max_text(760, 17000)}}, false},
      {"training.mfu-peak",
       "AnotherGpus",
       {{"t.log", kL40s + "Peak FLOPS used for computing MFU: 3.120e+14\n" + mfu(20)}},
       true,
       kLow,
       "t.log",
       "share of 312 TFLOP/s"},
      {"training.mfu-peak",
       "NanoGptOfNoKnownGpu",
       {{"t.log", "iter 40: loss 3.2, time 250.00ms, mfu 31.0%\niter 50: loss 3.1, time 251.00ms, mfu 31.0%\n"}},
       true,
       kInfo,
       "t.log",
       "A100's 312"},
      {"training.mfu-peak",
       "ItsOwn",
       {{"t.log", kH100 + "Peak FLOPS used for computing MFU: 9.890e+14\n" + mfu(40)}},
       false},
      {"training.mfu-low", "SeventhOfThePeak", {{"t.log", max_text(98, 2300)}}, true, kMedium, "t.log", "9.9 %"},
      {"training.mfu-low", "Usual", {{"t.log", max_text(410, 9600)}}, false},
      {"training.toy-model", "OneMillion", {{"t.log", toy_log(0.021)}}, true, kInfo, "t.log", "about 1.2 million"},
      {"training.toy-model", "Billions", {{"t.log", toy_log(310)}}, false},
      {"training.rates-disagree",
       "SamplesOfEightRanks",
       {{"t.log", megatron(40, 8000, " samples per second: 512.0 |") +
                      megatron(41, 8000, " samples per second: 512.0 |") +
                      megatron(42, 8000, " samples per second: 512.0 |")}},
       true,
       kLow,
       "t.log",
       "8 times"},
      {"training.rates-disagree",
       "AsItShould",
       {{"t.log",
         megatron(40, 8000, " samples per second: 64.0 |") + megatron(41, 8000, " samples per second: 64.0 |")}},
       false},
      {"training.flops-disagree",
       "TokensOfAllGpus",
       {{"t.log", max_text(400, 1200)}},
       true,
       kLow,
       "t.log",
       "7.9 times"},
      {"training.flops-disagree", "Recomputed", {{"t.log", max_text(410, 7400)}}, false},
      {"training.flops-disagree", "NoFigures", {{"t.log", bare}}, false},
  };
}

std::string held(const std::string& gpu, const OfStep& gib) {
  std::string text = gpu;
  for (int step = 1; step <= 40; ++step) {
    text += fmt::format("step={} loss=2.5 step_time_s=1.0 memory={:.2f}GiB\n", step, gib(step));
  }
  return text;
}

std::vector<RuleCase> memory_cases() {
  const auto grows = [](int step) { return 20 + 0.25 * step; };
  const auto settles = [](int step) { return step < 5 ? 12.0 : 30.0; };
  const std::string flush =
      "[WARNING] [stage3.py] 2 pytorch allocator cache flushes since last step. this happens when there is high memory "
      "pressure\n";
  return {
      {"training.memory-growth", "AQuarterGibEachStep", {{"t.log", held("", grows)}}, true, kLow, "t.log", "grows"},
      {"training.memory-growth", "SettlesAfterTheFirst", {{"t.log", held("", settles)}}, false},
      {"training.memory-tight",
       "CacheFlushed",
       {{"t.log", training_log(1, 4, always(2), always(2.5)) + flush + training_log(5, 9, always(2), always(2.5))}},
       true,
       kLow,
       "t.log",
       "gave its cache back"},
      {"training.memory-tight", "Room", {{"t.log", held(kL40s, always(30))}}, false},
      {"training.memory-little", "AFifth", {{"t.log", held(kL40s, always(8))}}, true, kInfo, "t.log", "8.0 of"},
      {"training.memory-little", "TwoThirds", {{"t.log", held(kL40s, always(30))}}, false},
      {"training.memory-little", "OfNoKnownGpu", {{"t.log", held("", always(8))}}, false},
  };
}

std::string megatron_timers(double recv, double reduce, double optimizer, double input) {
  std::string text;
  for (int step = 60; step < 64; ++step) {
    text += megatron(step, 1000, "");
    text += fmt::format(
        "time (ms) | forward-compute: 300.00 | forward-recv: {:.2f} | backward-compute: 400.00 | "
        "backward-params-all-reduce: {:.2f} | optimizer: {:.2f} | batch-generator: {:.2f}\n",
        recv, reduce, optimizer, input);
  }
  return text;
}

std::string deepspeed_timers(double wait, double reduce, double step) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        "[2026-01-05 10:00:0{}] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | forward_microstep: 210.00 "
        "| "
        "backward_microstep: 430.00 | backward_allreduce_microstep: {:.2f} | step_microstep: {:.2f}{}\n",
        i, reduce, step, wait > 0 ? fmt::format(" | pipe_recv_grad: {:.2f}", wait) : "");
  }
  return text;
}

std::string sized_run(int gpus, double seconds, int batch) {
  return fmt::format("world_size: {}\nhidden_size: 4096\nnum_layers: 32\nseq_length: 4096\nglobal_batch_size: {}\n",
                     gpus, batch) +
         training_log(10, 20, always(seconds), always(2.5));
}

std::vector<RuleCase> parallel_cases() {
  const std::string settings =
      "pipeline_model_parallel_size: 8\ntensor_model_parallel_size: 2\nworld_size: 32\nmicro_batch_size: 2\n";
  const auto batch = [&](int size) {
    return settings + fmt::format("global_batch_size: {}\n", size) + training_log(10, 20, always(4), always(2.5));
  };
  return {
      {"training.pipeline-bubble",
       "WaitsInTheTimers",
       {{"t.log", megatron_timers(350, 10, 20, 4)}},
       true,
       kMedium,
       "t.log",
       "35 % of the step waits"},
      {"training.pipeline-bubble",
       "EightOverEightStages",
       {{"t.log", batch(32)}},
       true,
       kMedium,
       "t.log",
       "8 micro-batches over 8 stages"},
      {"training.pipeline-bubble", "ManyMicroBatches", {{"t.log", batch(512)}}, false},
      {"training.pipeline-bubble", "LittleWaiting", {{"t.log", megatron_timers(40, 10, 20, 4)}}, false},
      {"training.pipeline-imbalance",
       "AQuarter",
       {{"t.log", deepspeed_timers(220, 5, 12)}},
       true,
       kMedium,
       "t.log",
       "25 % of its time for gradients"},
      {"training.pipeline-imbalance", "AFewMilliseconds", {{"t.log", deepspeed_timers(20, 5, 12)}}, false},
      {"training.comm-share",
       "AllReduceInTheOpen",
       {{"t.log", megatron_timers(0, 260, 20, 4)}},
       true,
       kLow,
       "t.log",
       "26 % of the step"},
      {"training.comm-share", "Hidden", {{"t.log", megatron_timers(0, 60, 20, 4)}}, false},
      {"training.compute-bound",
       "MicrosecondsOfAllReduce",
       {{"t.log", deepspeed_timers(0, 0.04, 6)}},
       true,
       kInfo,
       "t.log",
       "compute-bound"},
      {"training.compute-bound",
       "ATimerOfZero",
       {{"t.log", deepspeed_timers(0, 0, 6)}},
       true,
       kInfo,
       "t.log",
       "not in it"},
      {"training.compute-bound", "Communicates", {{"t.log", deepspeed_timers(0, 80, 6)}}, false},
      {"training.optimizer-step",
       "AsLongAsBackward",
       {{"t.log", deepspeed_timers(0, 30, 380)}},
       true,
       kLow,
       "t.log",
       "takes 380 ms"},
      {"training.optimizer-step", "Fused", {{"t.log", deepspeed_timers(0, 30, 14)}}, false},
      {"training.batch-input",
       "AQuarterOfTheStep",
       {{"t.log", megatron_timers(0, 10, 20, 250)}},
       true,
       kMedium,
       "t.log",
       "25 % of the step fetches"},
      {"training.batch-input", "FewMilliseconds", {{"t.log", megatron_timers(0, 10, 20, 12)}}, false},
      {"training.scaling",
       "FourTimesTheGpusTwiceAsFast",
       {{"a/train.log", sized_run(8, 4, 64)}, {"b/train.log", sized_run(32, 8, 256)}},
       true,
       kMedium,
       "train.log",
       "32 GPUs give 2 times"},
      {"training.scaling",
       "NearlyLinear",
       {{"a/train.log", sized_run(8, 4, 64)}, {"b/train.log", sized_run(32, 4.2, 256)}},
       false},
  };
}

}  // namespace

std::span<const RuleCase> training_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all;
    for (const auto part : {training_pace_cases, figure_cases, memory_cases, training_learning_cases, parallel_cases,
                            training_event_cases}) {
      const std::vector<RuleCase> some = part();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return cases;
}

}  // namespace tare
