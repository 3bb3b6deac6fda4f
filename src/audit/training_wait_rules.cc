// Where a run waits: for data, for checkpoints and evaluations, for a restart, or for ever.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/training_run.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

constexpr double kDataLow = 0.05, kDataMedium = 0.15, kDataHigh = 0.50;  // of the step
constexpr double kHour = 3600, kDay = 86'400;

bool is_finished(const TrainingRun& run) {
  if (run.facts->has("train_summary") || run.facts->has("run_seconds")) return true;
  return run.series.total_steps > 0 && run.series.last_step >= run.series.total_steps - 1;
}

struct DataWait {
  double waited_s = 0, all_s = 0, longest_s = 0;
  std::size_t rows = 0, longest_row = 0;
  double share() const { return all_s > 0 ? std::min(1.0, waited_s / all_s) : 0; }
};

// Steps that say how long they waited for input. The first of a run fills the loader's queues and is left out.
DataWait data_wait_of(const TrainingRun& run) {
  DataWait wait;
  const StepSeries& series = run.series;
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    const StepRow& row = series.rows[i];
    const double data = series.base(row, StepField::kDataTime);
    const double update = series.base(row, StepField::kUpdateTime);
    double whole = series.base(row, StepField::kStepTime);
    if (std::isnan(whole)) whole = update + data;
    const bool beginning = i == 0 && row.step <= std::max<std::int64_t>(1, run.interval) && series.rows.size() > 1;
    if (beginning || !(data >= 0) || !(whole > 0)) continue;
    ++wait.rows;
    wait.waited_s += std::min(data, whole);
    wait.all_s += whole;
    if (data > wait.longest_s) {
      wait.longest_s = data;
      wait.longest_row = i;
    }
  }
  return wait;
}

void data_stall(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const DataWait wait = data_wait_of(run);
    if (wait.rows == 0 || wait.share() < kDataLow) continue;
    const FindingSeverity severity = wait.share() >= kDataHigh     ? FindingSeverity::kHigh
                                     : wait.share() >= kDataMedium ? FindingSeverity::kMedium
                                                                   : FindingSeverity::kLow;
    const StepRow& row = run.series.rows[wait.longest_row];
    const bool one_wait = wait.longest_s > 0.8 * wait.waited_s && wait.rows > 1;
    Finding finding =
        finding_of(rule, severity, run,
                   fmt::format("{:.0f} % of the time waits for data: {} of {} over {} steps", 100 * wait.share(),
                               in_words(wait.waited_s), in_words(wait.all_s), wait.rows),
                   row.line, fmt::format("{}: {} for data", place_of(row), in_words(wait.longest_s)));
    finding.cause =
        "The data loader gives less than the GPUs take. Long waits with none between mean that all workers fetch a "
        "batch "
        "at the same time and run dry together.";
    finding.confidence = one_wait ? 0.7 : 0.95;
    finding.expected = fmt::format("below {:.0f} % of a step", 100 * kDataLow);
    finding.measured = fmt::format("{:.0f} %, longest {}", 100 * wait.share(), in_words(wait.longest_s));
    finding.fix = {
        "more loader workers per GPU (up to the CPUs that are there), prefetch_factor, persistent_workers=True",
        "decode and tokenise once and store the result; large sequential shards instead of many small files",
        "data on local NVMe; watch the storage's read rate while the run waits"};
    finding.consequences = {"training.periodic-spikes", "training.jitter", "training.loader-workers"};
    lose(finding, run, wait.share(), "time that waits for data over the time of the steps");
    findings.push_back(std::move(finding));
  }
}

struct Pause {
  double seconds = 0;
  std::size_t row = 0;  // the one behind it
};

// Time between the stamps of two rows beyond what their steps took, where both are printed.
std::vector<Pause> pauses_of(const TrainingRun& run, double& span_s) {
  std::vector<Pause> pauses;
  const std::vector<StepRow>& rows = run.series.rows;
  span_s = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double passed = rows[i].time - rows[i - 1].time;
    const std::int64_t steps = rows[i].step - rows[i - 1].step;
    if (!(passed > 0) || rows[i - 1].step < 0 || steps <= 0) continue;
    span_s += passed;
    const double one = run.seconds[i] > 0 && run.basis == "printed" ? run.seconds[i] : run.typical_s;
    const double over = passed - one * static_cast<double>(steps);
    if (over > 10 && over > 2 * one * static_cast<double>(steps)) pauses.push_back({over, i});
  }
  return pauses;
}

bool is_long(const TrainingRun& run, const Pause& pause) {
  return pause.seconds >= kHour / 2 && pause.seconds >= 10 * run.typical_s;
}

void gap(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    double span_s = 0;
    std::vector<Pause> pauses = pauses_of(run, span_s);
    std::erase_if(pauses, [&](const Pause& pause) { return !is_long(run, pause); });
    if (pauses.empty()) continue;
    const Pause& longest = *std::max_element(pauses.begin(), pauses.end(),
                                             [](const Pause& a, const Pause& b) { return a.seconds < b.seconds; });
    double sum = 0;
    for (const Pause& pause : pauses) sum += pause.seconds;
    const StepRow& behind = run.series.rows[longest.row];
    const StepRow& before = run.series.rows[longest.row - 1];
    const double share = sum / span_s;
    Finding finding = finding_of(
        rule, share >= 0.1 ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
        fmt::format("no step for {} between {} and {}{}", in_words(longest.seconds), place_of(before), place_of(behind),
                    pauses.size() > 1 ? fmt::format(", and {} more such gaps", pauses.size() - 1) : ""),
        before.line, fmt::format("{} at {}", place_of(before), format_log_time(before.time)));
    finding.evidence.push_back(
        evidence_of(run.seen, behind.line, fmt::format("{} at {}", place_of(behind), format_log_time(behind.time))));
    finding.cause =
        "The GPUs were held and did no step: a hang until a timeout, a queue before a restart, a slow checkpoint or "
        "evaluation.";
    finding.confidence = 0.85;
    finding.expected = in_words(run.typical_s) + " a step";
    finding.measured = in_words(longest.seconds) + " without one";
    finding.fix = {"read the log between the two lines; sacct -j JOB -o state,start,end for that time",
                   "a shorter collective timeout (init_process_group(timeout=…)) ends hangs sooner"};
    lose(finding, run, share, "gaps over the time that the log covers");
    findings.push_back(std::move(finding));
  }
}

void pauses(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    double span_s = 0;
    std::vector<Pause> found = pauses_of(run, span_s);
    std::erase_if(found, [&](const Pause& pause) { return is_long(run, pause); });
    if (found.size() < 2) continue;
    double sum = 0, longest = 0;
    for (const Pause& pause : found) {
      sum += pause.seconds;
      longest = std::max(longest, pause.seconds);
    }
    const double share = sum / span_s;
    if (share < 0.05) continue;
    std::vector<double> distances;
    for (std::size_t i = 1; i < found.size(); ++i) {
      distances.push_back(
          static_cast<double>(run.series.rows[found[i].row].step - run.series.rows[found[i - 1].row].step));
    }
    const StepRow& row = run.series.rows[found.front().row];
    Finding finding =
        finding_of(rule, share >= 0.15 ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                   fmt::format("{:.0f} % of the time lies between steps: {} pauses up to {}, about every {:.0f} steps",
                               100 * share, found.size(), in_words(longest), median(distances)),
                   row.line, fmt::format("{} before {}", in_words(found.front().seconds), place_of(row)));
    finding.cause =
        "The stamps of the lines are further apart than the steps they tell of: evaluations and checkpoints that all "
        "GPUs wait for.";
    finding.confidence = 0.8;
    finding.fix = {"save checkpoints asynchronously, or to local NVMe and copy them behind",
                   "evaluate less often, on fewer batches, or on GPUs of its own"};
    lose(finding, run, share, "pauses over the time that the log covers");
    finding.consequences = {"training.checkpoint-stall"};
    findings.push_back(std::move(finding));
  }
}

// Seconds of one save and how many there were, as the log says.
struct Saves {
  double mean_s = 0, count = 0;
  std::int64_t line = 0;
};

std::optional<Saves> saves_of(const TrainingRun& run) {
  const FactRecord& facts = *run.facts;
  if (const std::optional<double> timed = facts.number("checkpoint_saves_timed")) {
    const double all = facts.number("checkpoint_seconds_total").value_or(0);
    return Saves{all / *timed, *timed, facts.find("checkpoint_saves_timed")->line};
  }
  for (const FactRecord* const timer : records_of(facts, "timers")) {
    if (timer->text("name") != "save_checkpoint") continue;
    const double mean = std::max(timer->number("mean_ms").value_or(0), timer->number("max_of_ranks_ms").value_or(0));
    return Saves{mean / 1e3, timer->number("count").value_or(1), timer->line};
  }
  return std::nullopt;
}

void checkpoint_stall(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<Saves> saves = saves_of(run);
    if (!saves || !(run.typical_s > 0) || run.series.first_step < 0) continue;
    const double steps =
        static_cast<double>(run.series.last_step - run.series.first_step) + static_cast<double>(run.interval);
    const double working_s = steps * run.typical_s;
    const double saving_s = saves->mean_s * saves->count;
    const double share = saving_s / (working_s + saving_s);
    if (steps < 20 || share < 0.03) continue;
    Finding finding =
        finding_of(rule, share >= 0.1 ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                   fmt::format("checkpoints take {:.0f} % of the time: {:g} of {} in {:.0f} steps of {}", 100 * share,
                               saves->count, in_words(saves->mean_s), steps, in_words(run.typical_s)),
                   saves->line, in_words(saves->mean_s) + " for a checkpoint");
    finding.cause = "A checkpoint that is written while all GPUs wait costs its whole time on all of them.";
    finding.confidence = 0.75;
    finding.expected = "below 3 %: asynchronous, or less often";
    finding.measured = fmt::format("{:.1f} %", 100 * share);
    finding.fix = {"asynchronous checkpoints (torch.distributed.checkpoint async_save, --async-save)",
                   "sharded checkpoints to local NVMe, copied behind; see what `tare bill` says is the best interval",
                   "fio with the size of a shard on the target"};
    lose(finding, run, share, "time of the checkpoints over all time");
    findings.push_back(std::move(finding));
  }
}

void hang(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    if (run.series.row_count == 0 || is_finished(run)) continue;
    const double end = parse_log_time(run.facts->text("last_time_not_of_a_step"));
    const double last = run.series.rows.empty() ? kNotSaid : run.series.rows.back().time;
    const double from = std::isfinite(last) ? last : parse_log_time(run.facts->text("first_time_behind_last_step"));
    const double silent = end - from;
    const double step = run.typical_s > 0 ? run.typical_s * static_cast<double>(run.interval) : 0;
    if (!(silent >= kHour / 2) || silent < 10 * step) continue;
    const std::int64_t lines = run.facts->integer("lines_after_last_step").value_or(0);
    // Heartbeats are few; many lines are other work, of which nothing is known here.
    constexpr double kHeartbeatsPerHour = 60;
    const bool heartbeats = static_cast<double>(lines) <= kHeartbeatsPerHour * silent / kHour;
    const bool certain = run.series.total_steps > 0 && heartbeats;
    Finding finding = finding_of(
        rule, certain ? FindingSeverity::kHigh : FindingSeverity::kMedium, run,
        fmt::format("no step for {} and more after {}{}, while other lines go on", in_words(silent),
                    run.series.last_step >= 0 ? fmt::format("step {}", run.series.last_step) : "the last step",
                    run.series.total_steps > 0 ? fmt::format(" of {}", run.series.total_steps) : ""),
        run.series.last_line, fmt::format("last step; {} lines behind it", lines));
    finding.cause =
        "The job holds its GPUs and does no step: a rank that died or waits, a collective that never ends, storage "
        "that "
        "does not answer. Heartbeats of a scheduler or watchdog are no progress.";
    finding.confidence = certain ? 0.9 : 0.7;
    finding.expected = step > 0 ? "a line every " + in_words(step) : "";
    finding.measured = in_words(silent) + " without a step";
    finding.fix = {"py-spy dump --pid PID on each node: the rank that is not in a collective is the culprit",
                   "dmesg -T for Xid and NVLink errors; dmesg and mount for a filesystem that hangs",
                   "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and a collective timeout before the next try",
                   "an alarm on the age of the last step, not on the job's state"};
    lose_all(finding, run, "while it hangs");
    finding.consequences = {"training.eta", "training.single-step"};
    findings.push_back(std::move(finding));
  }
}

void rank_stopped(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<const FactRecord*> ranks = records_of(*run.facts, "ranks");
    if (ranks.size() < 3) continue;
    std::vector<double> last;
    for (const FactRecord* const rank : ranks) {
      if (const std::optional<double> step = rank->number("last_step")) last.push_back(*step);
    }
    if (last.size() != ranks.size()) continue;
    const double usual = median(last);
    std::vector<std::string> behind;
    const FactRecord* first = nullptr;
    for (const FactRecord* const rank : ranks) {
      const double left = usual - rank->number("last_step").value_or(usual);
      const bool had_started = rank->number("step_count").value_or(0) >= 3;
      if (left < 3 * static_cast<double>(run.interval) || !had_started || !rank->number("rank")) continue;
      behind.push_back(fmt::format("rank {}", *rank->integer("rank")));
      if (first == nullptr) first = rank;
    }
    if (behind.empty() || behind.size() * 4 > ranks.size()) continue;
    Finding finding = finding_of(rule, FindingSeverity::kMedium, run,
                                 fmt::format("{} logged no step after {}, the others went on to {:.0f}",
                                             list_names(behind), first->integer("last_step").value_or(0), usual),
                                 first->integer("last_step_line").value_or(0), behind.front() + ": its last step");
    if (behind.size() == 1) finding.subject = {"rank", behind.front(), run.seen.node};
    finding.cause = "A rank that ends while others go on died without taking the job down, or its output is lost.";
    finding.confidence = 0.6;
    finding.fix = {"look at that rank's own log and its host's dmesg",
                   "run under torchrun, which ends all when one dies"};
    lose_all(finding, run, "where the job goes on without that rank");
    findings.push_back(std::move(finding));
  }
}

struct Restarts {
  std::vector<std::size_t> rows;  // the first of each
  double steps_again = 0;
  std::size_t from_scratch = 0;
};

// Step numbers that go back: not where an epoch counts anew, and not where lines of ranks are mixed.
Restarts restarts_of(const TrainingRun& run) {
  Restarts restarts;
  const std::vector<StepRow>& rows = run.series.rows;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].step < 0 || rows[i - 1].step < 0) continue;
    const std::int64_t back = rows[i - 1].step + run.interval - rows[i].step;
    if (back < 2 * run.interval) continue;
    const bool new_epoch = rows[i][StepField::kEpoch] > rows[i - 1][StepField::kEpoch];
    const bool was_at_end = run.series.total_steps > 0 && rows[i - 1].step + run.interval >= run.series.total_steps;
    const bool goes_on = i + 1 >= rows.size() || rows[i + 1].step > rows[i].step;
    const bool at_beginning = rows[i].step <= run.interval;
    if (new_epoch || was_at_end || !goes_on) continue;
    if (at_beginning && run.series.total_steps < 0) continue;  // an epoch's counter, or another run
    restarts.rows.push_back(i);
    restarts.steps_again += static_cast<double>(back);
    restarts.from_scratch += at_beginning ? 1 : 0;
  }
  return restarts;
}

void restarts(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const Restarts found = restarts_of(run);
    // Every other row: lines of several writers.
    if (found.rows.empty() || found.rows.size() * 5 > run.series.rows.size()) continue;
    const StepRow& row = run.series.rows[found.rows.front()];
    const StepRow& before = run.series.rows[found.rows.front() - 1];
    const double steps_done = static_cast<double>(run.series.rows.size()) * static_cast<double>(run.interval) *
                              static_cast<double>(run.series.stride);
    const double share = std::min(1.0, found.steps_again / std::max(1.0, steps_done));
    Finding finding =
        finding_of(rule, share >= 0.1 ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                   fmt::format("{}, {:.0f} steps done again ({:.0f} % of all)",
                               found.rows.size() == 1 ? "a restart" : fmt::format("{} restarts", found.rows.size()),
                               found.steps_again, 100 * share),
                   row.line, fmt::format("{} behind {}", place_of(row), place_of(before)));
    finding.cause = found.from_scratch > 0
                        ? "The job began again from nothing: no checkpoint was found or none was loaded."
                        : "The job failed and went back to its last checkpoint; the steps since then were lost.";
    finding.confidence = 0.8;
    finding.fix = {"find why it ended: the lines before the restart, sacct, dmesg of the nodes",
                   "checkpoints as often as the failures ask for (`tare bill` says how often)"};
    lose(finding, run, share, "steps done again over all steps of the log");
    findings.push_back(std::move(finding));
  }
}

void eta(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLongBar_s = 30 * kDay, kLongRun_s = 60 * kDay;
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<const FactRecord*> bars = records_of(*run.facts, "progress");
    double remaining = kNotSaid, one = run.typical_s;
    std::int64_t line = run.series.last_line;
    std::int64_t at = run.series.last_step, total = run.series.total_steps;
    if (!bars.empty()) {
      const FactRecord& bar = *bars.back();
      at = bar.integer("step").value_or(-1);
      total = bar.integer("total_steps").value_or(-1);
      if (const std::optional<double> seconds = bar.number("s_per_step")) one = *seconds;
      remaining = bar.number("remaining_s").value_or(kNotSaid);
      line = bar.line;
    } else if (total > 0 && at >= 0 && one > 0) {
      remaining = static_cast<double>(total - at) * one;
    }
    const bool of_bar = !bars.empty();
    if (at < 10 || !(remaining >= (of_bar ? kLongBar_s : kLongRun_s))) continue;
    Finding finding = finding_of(
        rule, of_bar ? FindingSeverity::kMedium : FindingSeverity::kInfo, run,
        fmt::format("{} a step: {} remain for {} of {} steps", in_words(one), in_words(remaining), total - at, total),
        line, fmt::format("step {} of {}, {:.0f} h to go", at, total, remaining / kHour));
    finding.cause = of_bar
                        ? "At this pace nobody waits for the end. Either the step is far too slow for the GPUs that it "
                          "has, or the number of steps was never meant."
                        : "The number of steps stands in the settings; many are stopped before it. At this pace the "
                          "whole of it takes this long.";
    finding.confidence = of_bar ? 0.8 : 0.9;
    finding.measured = in_words(remaining) + " to go";
    finding.fix = {"compare the step with what these GPUs can do: tare predict --job JOB --on OFFER",
                   "more GPUs, fewer tokens, or a smaller model; find what makes the step long before adding any"};
    finding.loss_unknown = of_bar ? "what a step should take is not known without model and GPU" : "";
    findings.push_back(std::move(finding));
  }
}

// An accumulation step's time, where the log says or bounds how many make a step.
std::optional<double> micro_batch_seconds(const TrainingRun& run, double& step_s, std::string& how) {
  step_s = run.typical_s;
  const FactRecord* const summary = run.facts->find_record("train_summary");
  const std::optional<double> batch = run.number("global_batch"), micro = run.number("micro_batch");
  double ranks = 0;
  if (summary != nullptr) {
    ranks = summary->number("printed_times").value_or(0);
    const double rate = summary->number("train_samples_per_s").value_or(0);
    if (!(step_s > 0) && batch && rate > 0) step_s = *batch / rate;
  }
  if (!(step_s > 0)) return std::nullopt;
  if (const std::optional<double> steps = run.number("gradient_accumulation")) {
    how = fmt::format("{:g} micro-batches a step", *steps);
    return step_s / *steps;
  }
  if (const std::optional<double> parallel = run.number("data_parallel")) ranks = *parallel;
  if (!batch || !micro || ranks < 1 || *batch < *micro * ranks) return std::nullopt;
  how = fmt::format("at most {:g} micro-batches a step on {:g} ranks and more", *batch / (*micro * ranks), ranks);
  return step_s * *micro * ranks / *batch;
}

void slow_micro_batch(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  // Forward and backward of 70 billion parameters over 16,000 tokens, all on one GPU of 400 TFLOP/s: 17 s; what fits a
  // GPU's memory at once takes no longer.
  constexpr double kLong_s = 30;
  constexpr double kLargeModel = 100e9;
  for (const TrainingRun& run : training_runs(observed)) {
    double step_s = 0;
    std::string how;
    const std::optional<double> micro_s = micro_batch_seconds(run, step_s, how);
    if (!micro_s || *micro_s < kLong_s || run.params().value_or(0) > kLargeModel) continue;
    const FactRecord* const summary = run.facts->find_record("train_summary");
    const std::int64_t line = summary != nullptr ? summary->line : run.series.last_line;
    const bool known_size = run.params().has_value();
    Finding finding = finding_of(rule, known_size ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                                 fmt::format("a step takes {}, a micro-batch {} and more: the GPUs wait for weights",
                                             in_words(step_s), in_words(*micro_s)),
                                 line, fmt::format("{} a step, {}", in_words(step_s), how));
    finding.cause =
        "What fits a GPU's memory is computed in seconds. A micro-batch of half a minute waits for something else: "
        "parameters or optimiser states offloaded to the host, parameters gathered over a slow network, swapping.";
    finding.confidence = known_size ? 0.85 : 0.7;
    finding.expected = "seconds for a micro-batch";
    finding.measured = in_words(*micro_s);
    finding.fix = {"without offload on more GPUs, or offload of the optimiser alone; ZeRO-1 or -2 where it fits",
                   "more micro-batches a step, so that weights move less often for the same work",
                   "measure host to GPU (nvbandwidth) and the network (nccl-tests)"};
    finding.loss_unknown = "what the step should take is not known without the model's size";
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"training.data-stall", "steps wait for data", "GPUs idle while the data loader works", "huggingface/lerobot#1488",
     data_stall},
    {"training.hang", "no steps while the job runs", "GPUs are held and nothing is done",
     "bigscience-workshop/bigscience chronicles", hang},
    {"training.gap", "half an hour and more without a step", "GPUs were held and did nothing", "", gap},
    {"training.pauses", "time between the steps", "evaluations and checkpoints that all GPUs wait for", "", pauses},
    {"training.checkpoint-stall", "checkpoints take much of the time", "all GPUs wait while one is written", "",
     checkpoint_stall},
    {"training.rank-stopped", "a rank that no longer steps", "it died, and the job may hang or go on wrongly", "",
     rank_stopped},
    {"training.restart", "steps done again", "work since the last checkpoint was lost", "", restarts},
    {"training.eta", "an end far away", "the run as set up will not be finished", "NVIDIA/NeMo-Framework-Launcher#55",
     eta},
    {"training.slow-micro-batch", "a micro-batch takes half a minute", "weights are waited for, not computed with",
     "bigscience-workshop/bigscience gpt2-hf-ds", slow_micro_batch},
};

}  // namespace

std::span<const Rule> training_wait_rules() { return kRules; }

}  // namespace tare
