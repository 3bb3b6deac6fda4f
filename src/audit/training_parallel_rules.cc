// How the work is spread: pipeline, communication, optimiser; and one model on different numbers of GPUs.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "audit/training_run.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr double kBubbleLow = 0.15, kBubbleMedium = 0.30;
constexpr double kCommLow = 0.20, kCommMedium = 0.35, kCommNone = 0.01;

// A part of the step as the program times it: the mean without its first value, which holds the warm-up.
struct Timer {
  std::string_view name;
  double ms = 0;
  std::int64_t line = 0;
};

std::vector<Timer> timers_of(const TrainingRun& run) {
  std::vector<Timer> timers;
  for (const FactRecord* const record : records_of(*run.facts, "timers")) {
    const double count = record->number("count").value_or(1), mean = record->number("mean_ms").value_or(0);
    const double first = record->number("first_ms").value_or(mean);
    timers.push_back({record->text("name"), count > 1 ? (mean * count - first) / (count - 1) : mean, record->line});
  }
  return timers;
}

const Timer* timer_named(const std::vector<Timer>& timers, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = std::find_if(timers.begin(), timers.end(), [name](const Timer& t) { return t.name == name; });
    if (found != timers.end()) return &*found;
  }
  return nullptr;
}

double ms_of(const Timer* timer) { return timer == nullptr ? 0 : timer->ms; }

// What the parts are of: the step where it is printed, else forward, backward and optimiser with the waits beside them.
// DeepSpeed sums its timers over the steps between two lines, so that only their own sum is of the same length.
struct StepParts {
  const Timer *forward = nullptr, *backward = nullptr, *optimizer = nullptr;
  double whole_ms = 0;
};

StepParts parts_of(const TrainingRun& run, const std::vector<Timer>& timers) {
  StepParts parts;
  parts.forward = timer_named(timers, {"forward", "forward_microstep", "forward_compute"});
  parts.backward = timer_named(timers, {"backward", "backward_microstep", "backward_compute"});
  parts.optimizer = timer_named(timers, {"optimizer", "step", "step_microstep", "optimizer_step"});
  const bool deepspeed = parts.forward != nullptr && !contains(parts.forward->name, "compute");
  double sum = ms_of(parts.forward) + ms_of(parts.backward) + ms_of(parts.optimizer);
  if (deepspeed) {
    for (const Timer& timer : timers) {
      if (timer.name.starts_with("pipe_recv") || timer.name.starts_with("pipe_send") || timer.name == "batch_input") {
        sum += timer.ms;
      }
    }
  }
  const double step_ms = run.typical_s > 0 ? run.typical_s * 1e3 : 0;
  parts.whole_ms = deepspeed || !(step_ms > 0) ? sum : std::max(step_ms, sum);
  return parts;
}

std::string timer_in_words(const Timer& timer) { return fmt::format("{}: {:.2f} ms", timer.name, timer.ms); }

// Micro-batches of a step in each pipeline, where the log says enough.
std::optional<double> micro_batches_of(const TrainingRun& run) {
  if (const std::optional<double> steps = run.number("gradient_accumulation")) return steps;
  std::optional<double> batch = run.median_of(StepField::kGlobalBatch);
  if (!batch) batch = run.number("global_batch");
  const std::optional<double> micro = run.number("micro_batch"), pp = run.number("pipeline_parallel");
  std::optional<double> dp = run.number("data_parallel");
  if (!dp && pp && run.gpus && !run.gpus_are_least) {
    dp = *run.gpus / (*pp * run.number("tensor_parallel").value_or(1) * run.number("context_parallel").value_or(1));
  }
  if (!batch || !micro || !dp || *micro < 1 || *dp < 1) return std::nullopt;
  return std::max(1.0, *batch / (*micro * *dp));
}

void bubble_by_settings(const Rule& rule, const TrainingRun& run, double stages, std::vector<Finding>& findings) {
  const std::optional<double> micro = micro_batches_of(run);
  const double chunks = std::max(1.0, run.number("virtual_pipeline").value_or(1));
  if (!micro || stages < 2) return;
  // Stages fill and drain: (p - 1) of m * v + p - 1 slots are empty.
  const double empty = (stages - 1) / (*micro * chunks + stages - 1);
  if (empty < kBubbleLow) return;
  const Fact* const said = run.facts->find("pipeline_parallel");
  Finding finding = finding_of(rule, empty >= kBubbleMedium ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                               fmt::format("{:.0f} % of the pipeline is bubble: {:g} micro-batches over {:g} stages",
                                           100 * empty, *micro, stages),
                               said == nullptr ? 0 : said->line,
                               fmt::format("{:g} stages, {:g} micro-batches a step", stages, *micro));
  finding.cause = "While a pipeline fills and drains, stages have no micro-batch to work on.";
  finding.confidence = 0.85;
  finding.expected = fmt::format("below {:.0f} %: {:.0f} micro-batches and more", 100 * kBubbleLow,
                                 std::ceil((stages - 1) * (1 - kBubbleLow) / kBubbleLow / chunks));
  finding.measured = fmt::format("(p - 1) / (m + p - 1) = {:.0f} %", 100 * empty);
  finding.fix = {"a larger global batch, or smaller micro-batches", "fewer stages with more tensor or data parallelism",
                 "interleaved stages (--num-layers-per-virtual-pipeline-stage)"};
  lose(finding, run, empty, "(stages - 1) / (micro-batches + stages - 1)");
  findings.push_back(std::move(finding));
}

// Without the settings: what one rank waited for its neighbours.
void bubble_by_timers(const Rule& rule, const TrainingRun& run, std::vector<Finding>& findings) {
  const std::vector<Timer> timers = timers_of(run);
  const StepParts parts = parts_of(run, timers);
  if (parts.forward == nullptr || !contains(parts.forward->name, "compute") || !(parts.whole_ms > 0)) return;
  double waited = 0;
  const Timer* most = nullptr;
  bool pipelined = false;
  for (const Timer& timer : timers) {
    const bool between_stages =
        contains(timer.name, "recv") || contains(timer.name, "backward_send") || contains(timer.name, "forward_send");
    // First and last stage share the embedding: the one that is done first waits for the other.
    if (!between_stages && timer.name != "backward_embedding_all_reduce") continue;
    pipelined = pipelined || between_stages;
    waited += timer.ms;
    if (most == nullptr || timer.ms > most->ms) most = &timer;
  }
  const double share = std::min(1.0, waited / parts.whole_ms);
  if (!pipelined || share < kBubbleLow) return;
  const std::optional<double> batch = run.number("global_batch");
  Finding finding = finding_of(
      rule, share >= kBubbleMedium ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
      fmt::format(
          "{:.0f} % of the step waits for other pipeline stages{}", 100 * share,
          batch ? fmt::format(
                      " (global batch {:g}{})", *batch,
                      run.gpus ? fmt::format(" on {}{:g} GPUs", run.gpus_are_least ? "at least " : "", *run.gpus) : "")
                : ""),
      most->line, timer_in_words(*most));
  finding.cause =
      "With few micro-batches a pipeline is filled and drained most of the time; a stage that takes longer than the "
      "others "
      "makes them wait as well.";
  finding.confidence = 0.8;
  finding.expected = fmt::format("below {:.0f} %", 100 * kBubbleLow);
  finding.measured = fmt::format("{:.0f} of {:.0f} ms", waited, parts.whole_ms);
  finding.fix = {
      "at least 4 to 6 micro-batches for each stage: a larger global batch, smaller micro-batches, fewer stages",
      "interleaved stages; fewer layers on the first and last stage, which hold the embedding"};
  lose(finding, run, share, "waits for other stages over the step, of the rank that logs");
  finding.consequences = {"training.comm-share"};
  findings.push_back(std::move(finding));
}

void bubble(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<double> stages = run.number("pipeline_parallel");
    if (stages && micro_batches_of(run)) {
      bubble_by_settings(rule, run, *stages, findings);
    } else {
      bubble_by_timers(rule, run, findings);
    }
  }
}

void imbalance(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLow = 0.08, kMedium = 0.15;
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<Timer> timers = timers_of(run);
    const StepParts parts = parts_of(run, timers);
    const Timer* const gradients = timer_named(timers, {"pipe_recv_grad"});
    const Timer* const inputs = timer_named(timers, {"pipe_recv_input"});
    const double waited = ms_of(gradients) + ms_of(inputs);
    if (!(parts.whole_ms > 0) || parts.forward == nullptr || waited < kLow * parts.whole_ms) continue;
    const Timer& most = ms_of(gradients) >= ms_of(inputs) ? *gradients : *inputs;
    const double share = waited / parts.whole_ms;
    Finding finding = finding_of(rule, share >= kMedium ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                                 fmt::format("a pipeline stage waits {:.0f} % of its time for {} of the others",
                                             100 * share, &most == gradients ? "gradients" : "activations"),
                                 most.line, timer_in_words(most));
    finding.cause =
        "The stage that logs is done before its neighbours: layers are not spread by their cost, or there are too few "
        "micro-batches for the number of stages.";
    finding.confidence = 0.8;
    finding.measured = fmt::format("{} of {}", in_words(waited / 1e3), in_words(parts.whole_ms / 1e3));
    finding.fix = {"partition_method=parameters or by measured time, fewer layers on the slow stage",
                   "more micro-batches (gradient_accumulation_steps)",
                   "where all stages are equal, one stage's GPU or link is slow"};
    lose(finding, run, share, "waits over the time of the stage that logs");
    findings.push_back(std::move(finding));
  }
}

// Collectives of data and tensor parallelism that the step waits for.
double communication_ms(const std::vector<Timer>& timers, const Timer*& most) {
  const bool summed =
      timer_named(timers, {"backward_reduce_model_grads", "all_grads_sync", "grads_all_reduce"}) != nullptr;
  const bool whole = timer_named(timers, {"backward_allreduce"}) != nullptr;
  double sum = 0;
  for (const Timer& timer : timers) {
    const std::string_view name = timer.name;
    const bool collective = contains(name, "all_reduce") || contains(name, "allreduce") ||
                            contains(name, "all_gather") || contains(name, "allgather") ||
                            contains(name, "reduce_scatter") || contains(name, "grads_sync") ||
                            contains(name, "reduce_model_grads");
    // The embedding's is a wait of the pipeline. Parts of a sum count once.
    if (!collective || contains(name, "embedding")) continue;
    const bool part = summed && (contains(name, "params_all_reduce") || contains(name, "layernorm"));
    if (part || (whole && name == "backward_allreduce_microstep")) continue;
    sum += timer.ms;
    if (most == nullptr || timer.ms > most->ms) most = &timer;
  }
  return sum;
}

void comm_share(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<Timer> timers = timers_of(run);
    const StepParts parts = parts_of(run, timers);
    const Timer* most = nullptr;
    const double waited = communication_ms(timers, most);
    if (parts.forward == nullptr || !(parts.whole_ms > 0) || waited < kCommLow * parts.whole_ms) continue;
    const double share = std::min(1.0, waited / parts.whole_ms);
    Finding finding = finding_of(rule, share >= kCommMedium ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                                 fmt::format("{:.0f} % of the step is communication that nothing hides", 100 * share),
                                 most->line, timer_in_words(*most));
    finding.cause =
        "Gradients or parameters move while nothing is computed: no overlap, little work for each exchange, or a "
        "network "
        "below its rate. A rank that comes late shows here as well, for the others wait for it.";
    finding.confidence = 0.75;
    finding.expected = fmt::format("below {:.0f} %", 100 * kCommLow);
    finding.measured = fmt::format("{:.0f} of {:.0f} ms", waited, parts.whole_ms);
    finding.fix = {"overlap (--overlap-grad-reduce, --overlap-param-gather, overlap_comm: true), more accumulation",
                   "nccl-tests on the same nodes against what the fabric can do; NCCL_DEBUG=INFO for the transport"};
    finding.loss_unknown = "how much of it the fabric's full rate would leave is not in the log";
    findings.push_back(std::move(finding));
  }
}

void comm_none(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<Timer> timers = timers_of(run);
    const StepParts parts = parts_of(run, timers);
    const Timer* const reduce = timer_named(timers, {"backward_allreduce", "backward_allreduce_microstep"});
    const Timer* const stage = timer_named(timers, {"pipe_recv_grad", "pipe_recv_input"});
    if (reduce == nullptr || stage != nullptr || parts.backward == nullptr || !(parts.whole_ms > 0)) continue;
    if (reduce->ms > kCommNone * parts.whole_ms) continue;
    const bool measured = reduce->ms > 0;
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, run,
                   measured ? fmt::format("compute-bound: the gradients' all-reduce takes {:.2f} of {:.0f} ms",
                                          reduce->ms, parts.whole_ms)
                            : "the all-reduce timer is 0.00: communication is not in it",
                   reduce->line, timer_in_words(*reduce));
    finding.cause =
        measured ? "The step is forward and backward. A faster network changes nothing; larger batches and better "
                   "kernels do. One GPU, or micro-batches that accumulate, show the same."
                 : "ZeRO and overlapped reductions communicate within backward; the timer sees none of it. It is "
                   "no evidence that the network is idle.";
    finding.confidence = measured ? 0.8 : 0.85;
    finding.fix = {"profile the kernels: is the micro-batch large enough, is attention fused, which precision runs"};
    findings.push_back(std::move(finding));
  }
}

void optimizer_step(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  // An update reads and writes some 16 bytes a parameter: milliseconds a billion parameters. It is small against a
  // backward pass over any batch worth the name.
  constexpr double kOfBackward = 0.5, kOfStep = 0.12;
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<Timer> timers = timers_of(run);
    const StepParts parts = parts_of(run, timers);
    if (parts.optimizer == nullptr || parts.backward == nullptr || !(parts.whole_ms > 0)) continue;
    if (parts.optimizer->ms < kOfBackward * parts.backward->ms || parts.optimizer->ms < kOfStep * parts.whole_ms)
      continue;
    const Timer* const inner = timer_named(timers, {"optimizer_step"});
    Finding finding = finding_of(
        rule, FindingSeverity::kLow, run,
        fmt::format("the optimiser takes {:.0f} ms, backward {:.0f} ms", parts.optimizer->ms, parts.backward->ms),
        parts.optimizer->line, timer_in_words(*parts.optimizer));
    if (inner != nullptr && inner != parts.optimizer) {
      finding.evidence.push_back(evidence_of(run.seen, inner->line, timer_in_words(*inner)));
    }
    finding.cause =
        "An update only reads and writes the parameters once. So long a one runs on the host (offload), parameter by "
        "parameter (no fused kernel), or after too small a batch.";
    finding.confidence = 0.8;
    finding.expected = "a tenth of backward";
    finding.measured = fmt::format("{:.0f} % of backward", 100 * parts.optimizer->ms / parts.backward->ms);
    finding.fix = {"fused or multi-tensor Adam (fused=True, FusedAdam); no offload where memory allows",
                   "more micro-batches for each update", "shard the optimiser (ZeRO-1, distributed optimizer)"};
    finding.loss_unknown = "what a fused update takes depends on the parameters of a rank";
    findings.push_back(std::move(finding));
  }
}

void loader_timer(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<Timer> timers = timers_of(run);
    const StepParts parts = parts_of(run, timers);
    const Timer* const input = timer_named(timers, {"batch_generator", "batch_input"});
    if (input == nullptr || !(parts.whole_ms > 0) || input->ms < 0.1 * parts.whole_ms) continue;
    const double share = std::min(1.0, input->ms / parts.whole_ms);
    Finding finding = finding_of(rule, share >= 0.2 ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                                 fmt::format("{:.0f} % of the step fetches its batch", 100 * share), input->line,
                                 timer_in_words(*input));
    finding.cause = "The batch is made or copied while the GPU waits: too few loader workers, or slow storage.";
    finding.confidence = 0.8;
    finding.measured = fmt::format("{:.0f} of {:.0f} ms", input->ms, parts.whole_ms);
    finding.fix = {"more loader workers (--num-workers), pinned memory; data on local disk"};
    lose(finding, run, share, "time for the batch over the step");
    findings.push_back(std::move(finding));
  }
}

// Samples or tokens a second of the whole run.
std::optional<double> job_rate(const TrainingRun& run) {
  if (const std::optional<double> tokens = run.median_of(StepField::kTokensPerSPerGpu); tokens && run.gpus) {
    return *tokens * *run.gpus;
  }
  if (run.series.tokens_scope == "job") {
    if (const std::optional<double> tokens = run.median_of(StepField::kTokensPerS)) return tokens;
  }
  const std::optional<double> batch = run.number("global_batch"), sequence = run.number("sequence_length");
  if (batch && sequence && run.typical_s > 0) return *batch * *sequence / run.typical_s;
  return std::nullopt;
}

// Runs of one program with one model; empty where the log does not say which model it is.
std::string model_of(const TrainingRun& run) {
  const std::optional<double> params = run.params(), layers = run.number("layers"), hidden = run.number("hidden");
  if (!params && !(layers && hidden)) return {};
  return fmt::format("{} {:.4g} {:g} {:g} {:g}", run.series.framework, params.value_or(0), layers.value_or(0),
                     hidden.value_or(0), run.number("sequence_length").value_or(0));
}

void scaling(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLow = 0.90, kMedium = 0.80;
  std::map<std::string, std::vector<const TrainingRun*>> by_model;
  for (const TrainingRun& run : training_runs(observed)) {
    const std::string model = model_of(run);
    if (!model.empty() && run.gpus && !run.gpus_are_least && job_rate(run)) by_model[model].push_back(&run);
  }
  for (auto& [model, runs] : by_model) {
    std::sort(runs.begin(), runs.end(), [](const TrainingRun* a, const TrainingRun* b) { return *a->gpus < *b->gpus; });
    const TrainingRun& small = *runs.front();
    const TrainingRun& large = *runs.back();
    if (*large.gpus <= *small.gpus) continue;
    const double times = *large.gpus / *small.gpus;
    const double faster = *job_rate(large) / *job_rate(small);
    const double efficiency = faster / times;
    if (efficiency >= kLow) continue;
    Finding finding =
        finding_of(rule, efficiency < kMedium ? FindingSeverity::kMedium : FindingSeverity::kLow, large,
                   fmt::format("{:g} GPUs give {:.2g} times what {:g} give: {:.0f} % of linear", *large.gpus, faster,
                               *small.gpus, 100 * efficiency),
                   large.series.last_line, fmt::format("{:.0f} tokens/s on {:g} GPUs", *job_rate(large), *large.gpus));
    finding.evidence.push_back(evidence_of(small.seen, small.series.last_line,
                                           fmt::format("{:.0f} tokens/s on {:g} GPUs", *job_rate(small), *small.gpus)));
    finding.cause =
        "More GPUs exchange more and compute less each: links or network, a batch too small for each GPU, a pipeline "
        "with "
        "bubbles, or a host that cannot feed them all.";
    finding.confidence = 0.75;
    finding.expected = fmt::format("{:g} times", times);
    finding.measured = fmt::format("{:.2g} times", faster);
    finding.fix = {"a larger batch for each GPU; nccl-tests at both sizes; a profile of one step at both sizes",
                   "nvidia-smi topo -m: does the larger set cross sockets or nodes"};
    lose(finding, large, 1 - efficiency, "1 - throughput per GPU over that of the smaller run");
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"training.pipeline-bubble", "pipeline stages without work", "GPUs wait while a pipeline fills and drains",
     "bigscience-workshop/bigscience gpt2-meg", bubble},
    {"training.pipeline-imbalance", "a stage waits for its neighbours", "the slowest stage sets the pace",
     "deepspeedai/DeepSpeed#2264", imbalance},
    {"training.comm-share", "much of the step is communication", "GPUs wait for the network or for each other", "",
     comm_share},
    {"training.compute-bound", "no communication in the timers", "the network is not what makes it slow",
     "deepspeedai/DeepSpeed#255", comm_none},
    {"training.optimizer-step", "a long optimiser step", "the update runs on the host or unfused",
     "huggingface/accelerate#1589", optimizer_step},
    {"training.batch-input", "the batch is waited for", "the GPU waits while its batch is made", "", loader_timer},
    {"training.scaling", "more GPUs, little more throughput", "added GPUs are paid for and wait", "", scaling},
};

}  // namespace

std::span<const Rule> training_parallel_rules() { return kRules; }

}  // namespace tare
