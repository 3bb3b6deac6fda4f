// Failures and warnings that programs and launchers write between the steps.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "audit/training_run.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct Failure {
  std::string_view rule, kind;
  FindingSeverity severity;
  const char* title;
  const char* cause;
  std::array<const char*, 3> fix;
};

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium, kHigh = FindingSeverity::kHigh;

// The causes first: what follows from one that is there is said under it.
constexpr Failure kFailures[] = {
    {"training.out-of-memory",
     "out-of-memory",
     kHigh,
     "a GPU ran out of memory",
     "A batch, a fragmented cache or another process on the GPU needed more than was left.",
     {"a smaller micro-batch with more accumulation; recompute activations; shard optimiser states",
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
      "nvidia-smi before the start: is another process on the GPU"}},
    {"training.gpu-error",
     "gpu-error",
     kHigh,
     "a GPU call failed",
     "An ECC error, an illegal access or a failed launch. It is reported late, by whatever call comes next.",
     {"dmesg -T | grep -i xid on that node: an Xid says whether it is the GPU",
      "CUDA_LAUNCH_BLOCKING=1 for the call that fails; the same code on another node", "dcgmi diag -r 3 on that node"}},
    {"training.nccl-error",
     "nccl-error",
     kHigh,
     "a collective failed",
     "A peer died, a link or network card failed, or ranks disagree. The first rank that failed is the one to look at.",
     {"the first error by time over all ranks; NCCL_DEBUG=WARN says which device or peer",
      "dmesg and ibstat of that node", ""}},
    {"training.collective-timeout",
     "collective-timeout",
     kHigh,
     "a collective timed out",
     "A rank did not come to the collective: it died, hangs, or waits for data. The others waited for the whole "
     "timeout.",
     {"find the rank that did not enter: TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and the flight recorder's dump",
      "on its host: dmesg for Xid, py-spy dump", ""}},
    {"training.disk-full",
     "disk-full",
     kHigh,
     "no space was left for a file",
     "A checkpoint, cache or log did not fit its disk or quota.",
     {"df -h, df -i and the quota of the target; delete old checkpoints", "keep the last few checkpoints only", ""}},
    {"training.loader-died",
     "loader-died",
     kHigh,
     "a data loader worker died",
     "The worker was killed (host memory, /dev/shm too small) or crashed in a decoder.",
     {"dmesg -T | grep -i oom; free -g while it runs", "a larger /dev/shm (--shm-size, --ipc=host), fewer workers",
      ""}},
    {"training.killed",
     "killed",
     kHigh,
     "a process was killed from outside",
     "SIGKILL comes from the kernel without memory, from the scheduler at a limit, or from an operator.",
     {"dmesg -T | grep -i 'killed process'; sacct -j JOB -o state,maxrss,reqmem",
      "more host memory, fewer loader workers", ""}},
    {"training.node-failure",
     "node-failure",
     kHigh,
     "a node failed",
     "The scheduler lost a node of the job.",
     {"scontrol show node; the node's console and BMC log", "", ""}},
    {"training.preempted",
     "preempted",
     kLow,
     "the job was preempted",
     "A job of higher priority took the nodes; work since the last checkpoint is lost.",
     {"checkpoint on the warning signal (--signal=B:USR1@120), requeue", "", ""}},
    {"training.time-limit",
     "time-limit",
     kLow,
     "the job ended at its time limit",
     "The scheduler ended it; work since the last checkpoint is lost.",
     {"checkpoint before the end (--signal=B:USR1@120) and chain jobs", "", ""}},
    {"training.crashed",
     "crashed",
     kMedium,
     "the program crashed",
     "An exception or signal ended a rank; the launcher ends the others.",
     {"the first traceback by time over all ranks is the cause, the others follow", "", ""}},
};

// Whether the run went on behind the line.
bool went_on(const TrainingRun& run, std::int64_t line) { return run.series.last_line > line; }

bool nccl_log_says_it(const Observed& observed, const TrainingRun& run) {
  for (const Seen& seen : observed.of_kind("nccl-debug")) {
    if (seen.file == run.seen.file && seen.facts->has("job_errors")) return true;
  }
  return false;
}

void failure(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const auto* const known =
      std::find_if(std::begin(kFailures), std::end(kFailures), [&](const Failure& one) { return one.rule == rule.id; });
  for (const TrainingRun& run : training_runs(observed)) {
    const FactRecord* const event = event_of(run, known->kind);
    if (event == nullptr) continue;
    const bool survived = went_on(run, event->line);
    if (survived && known->kind == "crashed") continue;  // a library that catches its own
    const bool of_nccl = known->kind == "nccl-error" || known->kind == "collective-timeout";
    if (of_nccl && nccl_log_says_it(observed, run)) continue;
    const double count = event->number("count").value_or(1);
    Finding finding =
        finding_of(rule, survived ? std::min(known->severity, kMedium) : known->severity, run,
                   fmt::format("{}{}{}", known->title, count > 1 ? fmt::format(" ({:g} lines say so)", count) : "",
                               survived ? "; the run went on" : ""),
                   event->line, std::string(event->text("text")));
    finding.cause = known->cause;
    finding.confidence = survived ? 0.6 : 0.9;
    for (const char* const step : known->fix) {
      if (step != nullptr && *step != 0) finding.fix.emplace_back(step);
    }
    bool behind = false;
    for (const Failure& other : kFailures) {
      if (behind) finding.consequences.emplace_back(other.rule);
      behind = behind || &other == known;
    }
    if (!survived && known->severity == kHigh) {
      lose_all(finding, run, "while the job does not run");
    } else {
      finding.loss_unknown = "what is done again is not in the log";
    }
    findings.push_back(std::move(finding));
  }
}

struct Warning {
  std::string_view rule, kind;
  FindingSeverity severity;
  const char* title;
  const char* cause;
  const char* fix;
};

constexpr Warning kWarnings[] = {
    {"training.loader-workers", "loader-workers-few", kLow, "the data loader has few workers",
     "Batches are made in the training process or by one or two others; the GPU waits where that is slower than a "
     "step.",
     "num_workers of some 4 to 8 a GPU, within the CPUs that the job has"},
    {"training.loader-workers", "loader-workers-many", kLow, "more loader workers than CPUs",
     "The job has fewer CPUs than workers: they take turns, and the main process waits with them.",
     "ask the scheduler for more CPUs a GPU (--cpus-per-gpu), or lower num_workers"},
    {"training.kernel-fallback", "kernel-fallback", kLow, "a fused kernel is missing, a slow one runs",
     "A library for fused attention or norms is not installed or does not fit; the step runs more and slower kernels.",
     "install the library for this PyTorch and CUDA (flash-attn, apex, transformer-engine); check the head size and "
     "dtype"},
    {"training.recompiles", "recompiles", kLow, "torch.compile gave up on a function",
     "It was compiled anew for so many shapes that it now runs without compilation.",
     "mark_dynamic or dynamic=True, pad to a few lengths; TORCH_LOGS=recompiles says why"},
    {"training.ddp-settings", "unused-parameters", kLow, "find_unused_parameters is on and finds none",
     "DistributedDataParallel walks the graph in each step for nothing.", "find_unused_parameters=False"},
    {"training.ddp-settings", "gradient-strides", kLow, "gradients do not lie as their buckets do",
     "DistributedDataParallel copies gradients before it reduces them, in each step.",
     "make the parameters contiguous in the layout they are used in; gradient_as_bucket_view=True"},
    {"training.offload", "optimizer-offload", kInfo, "the optimiser runs on the host",
     "Gradients and parameters cross PCIe in each step and the CPU updates them. It saves GPU memory and costs time.",
     "more GPUs with ZeRO-2 or -3 without offload; where it stays: pin memory, CPUs of the GPU's NUMA node"},
    {"training.offload", "activation-offload", kInfo, "activations are kept on the host",
     "Checkpointed activations cross PCIe twice a step. It saves GPU memory and costs time.",
     "keep them on the GPU where they fit: cpu_checkpointing false"},
};

void warning(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    for (const Warning& known : kWarnings) {
      const FactRecord* const event = known.rule == rule.id ? event_of(run, known.kind) : nullptr;
      if (event == nullptr) continue;
      Finding finding =
          finding_of(rule, known.severity, run, known.title, event->line, std::string(event->text("text")));
      finding.cause = known.cause;
      finding.confidence = 0.8;
      finding.fix = {known.fix};
      if (known.severity > kInfo) finding.loss_unknown = "how much of the step it takes is not in the log";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

constexpr Rule kRules[] = {
    {"training.out-of-memory", "a GPU without memory", "the run ended", "", failure},
    {"training.gpu-error", "a GPU call that failed", "the run ended; the GPU may be bad", "", failure},
    {"training.nccl-error", "a collective that failed", "the run ended", "", failure},
    {"training.collective-timeout", "a collective that timed out", "all GPUs waited for one rank", "", failure},
    {"training.disk-full", "a full disk", "checkpoints are lost", "", failure},
    {"training.loader-died", "a data loader worker that died", "the run ended", "", failure},
    {"training.killed", "a process that was killed", "the run ended", "", failure},
    {"training.node-failure", "a node that failed", "the run ended", "", failure},
    {"training.preempted", "a preempted job", "work since the last checkpoint is lost", "", failure},
    {"training.time-limit", "a job at its time limit", "work since the last checkpoint is lost", "", failure},
    {"training.crashed", "a program that crashed", "the run ended", "", failure},
    {"training.loader-workers", "workers of the data loader", "the loader may be slower than the GPU", "", warning},
    {"training.kernel-fallback", "kernels that are not fused", "the step is longer than it need be", "", warning},
    {"training.recompiles", "compilation given up", "functions run without compilation", "", warning},
    {"training.ddp-settings", "settings of DistributedDataParallel", "work in each step for nothing", "", warning},
    {"training.offload", "offload to the host", "it explains a slow step", "", warning},
};

}  // namespace

std::span<const Rule> training_event_rules() { return kRules; }

}  // namespace tare
