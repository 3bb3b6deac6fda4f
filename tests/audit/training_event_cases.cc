#include <cmath>

#include <fmt/format.h>

#include "training_cases.h"

namespace tare {
namespace {

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium, kHigh = FindingSeverity::kHigh;

std::string with_losses(const OfStep& loss, int from = 200, int to = 240) {
  return training_log(from, to, always(2), loss);
}

std::string fp16(const OfStep& skipped, const OfStep& scale, int from) {
  std::string text;
  for (int step = from; step < from + 300; step += 10) {
    text += fmt::format(
        " iteration {:8}/   90000 | consumed samples: 640 | elapsed time per iteration (ms): 900.0 | learning rate: "
        "1.0E-04 "
        "| global batch size: 64 | lm loss: 3.1E+00 | loss scale: {:.1f} | number of skipped iterations: {:.0f} | "
        "number "
        "of nan iterations: 0 |\n",
        step, scale(step), skipped(step));
  }
  return text;
}

std::string with_rates(const OfStep& rate, int total) {
  std::string text;
  for (int step = 10; step <= 200; step += 10) {
    text += fmt::format("step={}/{} loss=2.5 step_time_s=1.0 lr={:.6f}\n", step, total, rate(step));
  }
  return text;
}

std::string with_evaluations(const OfStep& loss) {
  std::string text;
  for (int at = 100; at <= 900; at += 100) {
    text += training_log(at - 20, at, always(2), always(1.5), "", 10);
    text += fmt::format("step={} eval_loss={:.4f}\n", at, loss(at));
  }
  return text;
}

// The run, the line, and the end.
CaseFile ended_by(const std::string& line) {
  return {"t.log", training_log(50, 60, always(2), [](int s) { return 2.5 - 0.001 * s; }) + line + "\n"};
}
CaseFile among_steps(const std::string& line) {
  CaseFile file = ended_by(line);
  file.text += training_log(61, 70, always(2), [](int s) { return 2.5 - 0.001 * s; });
  return file;
}

struct Said {
  const char *rule, *what, *line;
  FindingSeverity severity;
};

}  // namespace

std::vector<RuleCase> training_learning_cases() {
  const auto nan_later = [](int step) { return step < 220 ? 2.5 : static_cast<double>(NAN); };
  const auto jumps = [](int step) { return step < 225 ? 2.4 + 0.01 * (step % 4) : 7.1; };
  const auto one_spike = [](int step) { return step == 225 ? 6.5 : 2.4 + 0.01 * (step % 4); };
  const auto noisy = [](int step) { return 1.5 + 0.3 * (step * 11 % 7); };
  const auto half = [](int step) { return step > 300 ? 6.0 : 0.0; };
  const auto search = [](int step) { return step < 30 ? 8.0 : 0.0; };
  const auto falls = [](int step) { return step < 500 ? 4096.0 : 1.0; };
  const auto ends = [](int step) { return step <= 100 ? 0.0003 : 0.0; };
  const auto best_early = [](int at) { return at <= 400 ? 2.0 - 0.001 * at : 1.6 + 0.0008 * (at - 400); };
  const auto falling = [](int at) { return 2.0 - 0.0005 * at; };
  return {
      {"training.nan-loss",
       "FromAStepOn",
       {{"t.log", with_losses(nan_later)}},
       true,
       kHigh,
       "t.log",
       "nothing is learned"},
      {"training.nan-loss", "Numbers", {{"t.log", with_losses(noisy)}}, false},
      {"training.loss-jump",
       "AndStays",
       {{"t.log", with_losses(jumps)}},
       true,
       kHigh,
       "t.log",
       "at step 225 and stays up"},
      {"training.loss-jump", "OneSpike", {{"t.log", with_losses(one_spike)}}, true, kLow, "t.log", "comes back"},
      {"training.loss-jump", "NoisyFineTuning", {{"t.log", with_losses(noisy)}}, false},
      {"training.skipped-steps",
       "SixOfTen",
       {{"t.log", fp16(half, always(64), 300)}},
       true,
       kHigh,
       "t.log",
       "are skipped"},
      {"training.skipped-steps", "OnlyTheSearch", {{"t.log", fp16(search, always(64), 10)}}, false},
      {"training.scale-search",
       "AtTheBeginning",
       {{"t.log", fp16(search, always(64), 10)}},
       true,
       kInfo,
       "t.log",
       "16 of the first steps"},
      {"training.scale-search", "None", {{"t.log", fp16(always(0), always(64), 10)}}, false},
      {"training.loss-scale",
       "ToOne",
       {{"t.log", fp16(always(0), falls, 300)}},
       true,
       kHigh,
       "t.log",
       "from 4096 to 1"},
      {"training.loss-scale", "Bf16", {{"t.log", fp16(always(0), always(1), 300)}}, false},
      {"training.lr-zero",
       "ScheduleEndsEarly",
       {{"t.log", with_rates(ends, 400)}},
       true,
       kMedium,
       "t.log",
       "from step 110"},
      {"training.lr-zero", "NotZero", {{"t.log", with_rates(always(0.0003), 400)}}, false},
      {"training.loss-constant",
       "NeverChanges",
       {{"t.log", with_losses(always(3.25))}},
       true,
       kLow,
       "t.log",
       "3.25 in all 41"},
      {"training.loss-constant", "Learns", {{"t.log", with_losses(noisy)}}, false},
      {"training.overfitting",
       "BestFiveAgo",
       {{"t.log", with_evaluations(best_early)}},
       true,
       kLow,
       "t.log",
       "5 evaluations ago"},
      {"training.overfitting", "StillFalling", {{"t.log", with_evaluations(falling)}}, false},
  };
}

std::vector<RuleCase> training_event_cases() {
  static constexpr Said kSaid[] = {
      {"training.out-of-memory", "TriedToAllocate",
       "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 0 has 1.1 GiB free.", kHigh},
      {"training.gpu-error", "IllegalAccess", "RuntimeError: CUDA error: an illegal memory access was encountered",
       kHigh},
      {"training.nccl-error", "RemoteError", "torch.distributed.DistBackendError: ncclRemoteError: a peer is gone",
       kHigh},
      {"training.collective-timeout", "Watchdog",
       "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=91, OpType=ALLREDUCE)", kHigh},
      {"training.disk-full", "Checkpoint", "OSError: [Errno 28] No space left on device: '/ckpt/step_60'", kHigh},
      {"training.loader-died", "Bus", "RuntimeError: DataLoader worker (pid 4321) is killed by signal: Bus error.",
       kHigh},
      {"training.killed", "NoHostMemory", "error: Signal 9 (SIGKILL) received by PID 771", kHigh},
      {"training.node-failure", "Scheduler", "slurmstepd: error: *** STEP 55.0 ON n3 CANCELLED DUE TO NODE FAILURE ***",
       kHigh},
      {"training.preempted", "Scheduler", "slurmstepd: error: *** JOB 55 ON n3 CANCELLED DUE TO PREEMPTION ***", kLow},
      {"training.time-limit", "Scheduler", "slurmstepd: error: *** JOB 55 ON n3 CANCELLED DUE TO TIME LIMIT ***", kLow},
      {"training.crashed", "Traceback", "Traceback (most recent call last):", kMedium},
      {"training.loader-workers", "TooMany",
       "UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in "
       "current system is 4",
       kLow},
      {"training.kernel-fallback", "NoFlash", "WARNING: flash_attn is not installed, using the math kernel", kLow},
      {"training.recompiles", "GivenUp", "torch._dynamo hit config.recompile_limit (8)", kLow},
      {"training.ddp-settings", "Unused",
       "Warning: find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters "
       "in "
       "the forward pass.",
       kLow},
      {"training.offload", "CpuAdam", "Using DeepSpeedCPUAdam as the optimizer", kInfo},
  };
  std::vector<RuleCase> cases;
  for (const Said& one : kSaid) {
    const bool warns = one.severity == kLow || one.severity == kInfo;
    cases.push_back({one.rule, one.what, {ended_by(one.line)}, true, one.severity, "t.log", ""});
    cases.push_back({one.rule, "NothingOfIt", {among_steps("saving nothing in particular")}, false});
    if (!warns && one.severity == kHigh) {
      cases.push_back({one.rule, "TheRunWentOn", {among_steps(one.line)}, true, kMedium, "t.log", "the run went on"});
    }
  }
  cases.push_back({"training.crashed", "ALibraryCaughtIt", {among_steps("Traceback (most recent call last):")}, false});
  cases.push_back({"training.offload",
                   "ATableOfWhatIsInstalled",
                   {among_steps("cpu_adam ............... [NO] ....... [OKAY]")},
                   false});
  return cases;
}

}  // namespace tare
