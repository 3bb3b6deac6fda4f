// How step times go over a run: they grow, jump, spike, or say nothing yet.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/training_run.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

// A step time that grows by a tenth costs a tenth (the audit's scale of severity); by half it is urgent.
constexpr double kGrowthMedium = 0.10, kGrowthHigh = 0.50, kGrowthLow = 0.05;
// BLOOM's log shows one slow GPU of 384 at +5 %; steps of one configuration repeat within 1 %.
constexpr double kJumpLow = 0.03, kJumpMedium = 0.05;
constexpr std::size_t kFewPoints = 12;
constexpr double kSpike = 1.5;  // times the median

FindingSeverity by_share(double share, double low, double medium, double high) {
  if (share >= high) return FindingSeverity::kHigh;
  if (share >= medium) return FindingSeverity::kMedium;
  return share >= low ? FindingSeverity::kLow : FindingSeverity::kInfo;
}

std::string step_in_words(const TrainingRun& run, const PacePoint& point) {
  return fmt::format("{}: {}", place_of(run.row(point)), pace_in_words(run, point.seconds));
}

std::vector<double> seconds_of(const std::vector<PacePoint>& pace, std::size_t from, std::size_t to) {
  std::vector<double> seconds;
  seconds.reserve(to - from);
  for (std::size_t i = from; i < to; ++i) seconds.push_back(pace[i].seconds);
  return seconds;
}

double quantile(std::vector<double> values, double share) {
  const auto at = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double sum_of_deviations(const std::vector<double>& values) {
  const double middle = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - middle);
  return sum;
}

// At most a few hundred points, medians of equal runs of rows: what follows looks at pairs of them.
std::vector<PacePoint> condensed(const std::vector<PacePoint>& pace) {
  constexpr std::size_t kMost = 240;
  if (pace.size() <= kMost) return pace;
  const std::size_t width = (pace.size() + kMost - 1) / kMost;
  std::vector<PacePoint> points;
  points.reserve(kMost);
  for (std::size_t i = 0; i < pace.size(); i += width) {
    const std::size_t end = std::min(pace.size(), i + width);
    points.push_back({pace[i].row, median(seconds_of(pace, i, end))});
  }
  return points;
}

// Pairs in rising order less those in falling order, over all pairs (Kendall's tau).
double rising_pairs(const std::vector<PacePoint>& points) {
  std::int64_t rising = 0, all = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      ++all;
      rising += points[j].seconds > points[i].seconds ? 1 : points[j].seconds < points[i].seconds ? -1 : 0;
    }
  }
  return all == 0 ? 0 : static_cast<double>(rising) / static_cast<double>(all);
}

// What is left about the straight line through the medians of the first and the last third.
double deviations_from_line(const std::vector<PacePoint>& points) {
  const std::size_t n = points.size(), third = std::max<std::size_t>(1, n / 3);
  const double first = median(seconds_of(points, 0, third)), last = median(seconds_of(points, n - third, n));
  const double slope = (last - first) / static_cast<double>(n - third);
  const double middle_of_first = (static_cast<double>(third) - 1) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += std::abs(points[i].seconds - (first + slope * (static_cast<double>(i) - middle_of_first)));
  }
  return sum;
}

struct Jump {
  std::size_t at = 0;  // of the points: the first slow one
  double before_s = 0, after_s = 0;
  double growth() const { return after_s / before_s - 1; }
};

// The place that best parts the points into a fast and a slow time, where the two are apart and a step explains them
// better than a slope does.
std::optional<Jump> find_jump(const TrainingRun& run, const std::vector<PacePoint>& points) {
  const std::size_t n = points.size();
  if (n < 5) return std::nullopt;
  const double unparted = sum_of_deviations(seconds_of(points, 0, n));
  Jump best;
  double least = unparted;
  for (std::size_t k = 2; k + 2 <= n; ++k) {
    const std::vector<double> left = seconds_of(points, 0, k), right = seconds_of(points, k, n);
    const double cost = sum_of_deviations(left) + sum_of_deviations(right);
    if (cost < least) {
      least = cost;
      best = {k, median(left), median(right)};
    }
  }
  if (best.at == 0 || best.growth() < kJumpLow || least > unparted / 2) return std::nullopt;
  if (least > 0.8 * deviations_from_line(points)) return std::nullopt;
  // The two sides touch in time: what happened between distant pieces of a log was not seen to jump.
  const StepRow& before = run.row(points[best.at - 1]);
  const StepRow& after = run.row(points[best.at]);
  const std::int64_t width =
      std::max<std::int64_t>(1, (run.row(points[n - 1]).step - run.row(points[0]).step) / static_cast<std::int64_t>(n));
  if (before.step >= 0 && after.step - before.step > 5 * std::max(run.interval, width)) return std::nullopt;
  const std::vector<double> left = seconds_of(points, 0, best.at), right = seconds_of(points, best.at, n);
  const double edge = n < kFewPoints ? 0 : 0.1;
  const double gap = quantile(right, edge) - quantile(left, 1 - edge);
  const double spread =
      std::max(quantile(left, 1 - edge) - quantile(left, edge), quantile(right, 1 - edge) - quantile(right, edge));
  if (gap <= (n < kFewPoints ? 2 * spread : spread / 2)) return std::nullopt;
  return best;
}

void jump(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    if (run.of_bars) continue;
    const std::vector<PacePoint> points = condensed(run.pace);
    const std::optional<Jump> found = find_jump(run, points);
    if (!found) continue;
    const PacePoint& first = points[found->at];
    const StepRow& row = run.row(first);
    const std::string when =
        std::isfinite(row.time) ? fmt::format("{} ({})", place_of(row), format_log_time(row.time)) : place_of(row);
    Finding finding =
        finding_of(rule, by_share(found->growth(), kJumpLow, kJumpMedium, kGrowthHigh), run,
                   fmt::format("steps take {:.1f} % longer from {} on: {} after {}", 100 * found->growth(), when,
                               pace_in_words(run, found->after_s), pace_in_words(run, found->before_s)),
                   row.line, step_in_words(run, first));
    finding.evidence.push_back(
        evidence_of(run.seen, run.row(points[found->at - 1]).line, step_in_words(run, points[found->at - 1])));
    finding.cause =
        "All ranks wait for the slowest. A pace that drops at once and stays, in the middle of a run with the same "
        "batch, is most often one GPU that throttles or one node with a lesser link.";
    finding.confidence = points.size() < kFewPoints ? 0.7 : 0.85;
    finding.expected = pace_in_words(run, found->before_s);
    finding.measured = pace_in_words(run, found->after_s);
    finding.fix = {"on every node: nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE,ECC and dmesg -T since that step",
                   "where all look alike: run the job on halves of the nodes, and halve again where it stays slow",
                   "dcgmi diag -r 3 on the node that is left; swap the GPU"};
    lose(finding, run, 1 - found->before_s / found->after_s, "1 - step time before over step time after");
    finding.consequences = {"training.step-time-drift", "training.jitter"};
    findings.push_back(std::move(finding));
  }
}

void drift(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    if (run.of_bars) continue;
    const std::vector<PacePoint> points = condensed(run.pace);
    const std::size_t n = points.size();
    if (n < 6 || find_jump(run, points) || rising_pairs(points) < 0.5) continue;
    const std::size_t third = n / 3;
    const double first = median(seconds_of(points, 0, third)), last = median(seconds_of(points, n - third, n));
    const double growth = last / first - 1;
    // A slope that is small against the noise needs many points.
    const bool clear = growth >= kGrowthMedium || (n >= 30 && rising_pairs(points) > 0.7);
    if (growth < kGrowthLow || !clear) continue;
    const StepRow& from = run.row(points.front());
    const StepRow& to = run.row(points.back());
    const double whole = points.back().seconds / points.front().seconds - 1;
    Finding finding =
        finding_of(rule, by_share(std::max(whole, growth), kGrowthLow, kGrowthMedium, kGrowthHigh), run,
                   fmt::format("step time grows {:.0f} % from {} to {}: {} to {}", 100 * std::max(whole, growth),
                               place_of(from), place_of(to), pace_in_words(run, points.front().seconds),
                               pace_in_words(run, points.back().seconds)),
                   from.line, step_in_words(run, points.front()));
    finding.evidence.push_back(evidence_of(run.seen, to.line, step_in_words(run, points.back())));
    finding.cause =
        "Something piles up: fragments of GPU memory, host memory or page cache, growing lists in the data loader, a "
        "log that is written ever longer, heat. Longer sequences or a schedule of the run's own look the same.";
    finding.confidence = run.basis == "printed" ? 0.8 : 0.6;
    finding.expected = pace_in_words(run, first);
    finding.measured = pace_in_words(run, last) + " in the last third";
    finding.fix = {"restart from the last checkpoint: where the time falls back, it is a leak",
                   "watch host memory, GPU memory and clocks over the run (dcgmi dmon -e 100,150,155,203)",
                   "compare a profile of 10 early steps with one of 10 late steps"};
    lose(finding, run, 1 - first / last, "1 - first third's step time over the last third's");
    findings.push_back(std::move(finding));
  }
}

struct Spikes {
  std::vector<std::size_t> at;  // of the pace
  double share = 0;             // of the time, over the median
  std::int64_t period = 0;      // in steps; 0: none
};

Spikes find_spikes(const TrainingRun& run) {
  Spikes spikes;
  if (run.series.stride > 1 || run.pace.size() < 10) return spikes;
  // Stamps of whole seconds give steps of a second an uneven time.
  constexpr double kStampsApart_s = 10;
  const bool stamps = run.rate_unit.empty() && run.basis == "differences of the time stamps";
  if (stamps && run.pace_median * static_cast<double>(run.interval) < kStampsApart_s) return spikes;
  std::vector<double> deviations;
  deviations.reserve(run.pace.size());
  for (const PacePoint& point : run.pace) deviations.push_back(std::abs(point.seconds - run.pace_median));
  const double bar = std::max(kSpike * run.pace_median, run.pace_median + 6 * 1.4826 * median(std::move(deviations)));
  double over = 0, all = 0;
  for (std::size_t i = 0; i < run.pace.size(); ++i) {
    all += run.pace[i].seconds;
    if (run.pace[i].seconds <= bar) continue;
    over += run.pace[i].seconds - run.pace_median;
    spikes.at.push_back(i);
  }
  spikes.share = all > 0 ? over / all : 0;
  if (spikes.at.size() < 3) return spikes;
  std::vector<double> distances;
  for (std::size_t i = 1; i < spikes.at.size(); ++i) {
    distances.push_back(static_cast<double>(spikes.at[i] - spikes.at[i - 1]));
  }
  const double usual = median(distances);
  const auto even = std::count_if(distances.begin(), distances.end(), [usual](double distance) {
    const double times = std::max(1.0, std::round(distance / usual));
    return std::abs(distance - times * usual) <= 1;
  });
  const bool periodic = usual >= 3 && static_cast<double>(even) >= 0.8 * static_cast<double>(distances.size());
  if (periodic) spikes.period = static_cast<std::int64_t>(usual) * run.interval;
  return spikes;
}

double tallest(const TrainingRun& run, const Spikes& spikes) {
  double most = 0;
  for (const std::size_t i : spikes.at) most = std::max(most, run.pace[i].seconds);
  return most;
}

// What comes every so many steps, where the log says how often it is done.
std::string who_comes_every(const TrainingRun& run, std::int64_t period) {
  struct Habit {
    std::string_view fact, what;
  };
  for (const Habit& habit : {Habit{"save_every", "checkpoints are saved"}, Habit{"eval_every", "it evaluates"}}) {
    if (run.facts->integer(habit.fact).value_or(0) == period) return fmt::format(" That is how often {}.", habit.what);
  }
  return {};
}

void periodic_spikes(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const Spikes spikes = find_spikes(run);
    if (spikes.period == 0 || spikes.share < 0.02) continue;
    const PacePoint& first = run.pace[spikes.at.front()];
    Finding finding = finding_of(
        rule, by_share(spikes.share, 0.02, 0.10, 0.5), run,
        fmt::format("every {} steps one takes up to {} where {} is usual: {:.0f} % of the time", spikes.period,
                    pace_in_words(run, tallest(run, spikes)), pace_in_words(run, run.pace_median), 100 * spikes.share),
        run.row(first).line, step_in_words(run, first));
    finding.cause =
        "A time that comes back at a fixed distance is work of the program: all data loader workers run dry together "
        "(distance = workers), garbage collection, logging, an evaluation or a checkpoint." +
        who_comes_every(run, spikes.period);
    finding.confidence = 0.8;
    finding.expected = pace_in_words(run, run.pace_median) + " a step";
    finding.measured = fmt::format("{} spikes up to {}", spikes.at.size(), pace_in_words(run, tallest(run, spikes)));
    finding.fix = {"compare the distance with num_workers, gc, logging_steps, eval_steps and save_steps",
                   "data loader: more workers, prefetch_factor, persistent_workers=True, pin_memory=True",
                   "checkpoints: asynchronous, or to local disk first"};
    lose(finding, run, spikes.share, "time of the spikes over the usual step, of all time");
    findings.push_back(std::move(finding));
  }
}

void jitter(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const Spikes spikes = find_spikes(run);
    if (spikes.period != 0 || spikes.at.size() < 3 || spikes.share < 0.05 || run.of_bars) continue;
    const PacePoint& first = run.pace[spikes.at.front()];
    Finding finding = finding_of(
        rule, by_share(spikes.share, 0.05, 0.15, 2), run,
        fmt::format(
            "{} of {} steps take {:.1f} times the usual {} and more, at no fixed distance: {:.0f} % of the time",
            spikes.at.size(), run.pace.size(), kSpike, pace_in_words(run, run.pace_median), 100 * spikes.share),
        run.row(first).line, step_in_words(run, first));
    finding.cause =
        "Steps of one size take one time. Irregular long ones come from outside of the model: neighbours on network or "
        "storage, CPUs that are shared, a GPU that throttles for moments; or from sequences of uneven length.";
    finding.confidence = 0.6;
    finding.expected = pace_in_words(run, run.pace_median) + " a step";
    finding.measured = "up to " + pace_in_words(run, tallest(run, spikes));
    finding.fix = {"see whether long steps have long batches (log tokens per step); pack or sort by length",
                   "pin ranks to CPUs of their GPU's NUMA node, leave a few CPUs to the system",
                   "look at throttle reasons, NIC counters and storage at those steps"};
    lose(finding, run, spikes.share, "time of the spikes over the usual step, of all time");
    findings.push_back(std::move(finding));
  }
}

void first_step(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kTimes = 3, kMeanMoved = 0.10;
  for (const TrainingRun& run : training_runs(observed)) {
    if (run.pace.empty() || run.series.stride > 1 || !run.rate_unit.empty()) continue;
    double warm = 0, all = 0;
    std::size_t warm_rows = 0, rows = 0;
    for (std::size_t i = 0; i < run.seconds.size(); ++i) {
      if (!(run.seconds[i] > 0)) continue;
      all += run.seconds[i];
      ++rows;
      if (i >= run.pace.front().row) continue;
      warm = std::max(warm, run.seconds[i]);
      ++warm_rows;
    }
    if (warm_rows == 0 || warm < kTimes * run.typical_s) continue;
    const double moved = all / static_cast<double>(rows) / run.typical_s - 1;
    const StepRow& row = run.series.rows.front();
    if (moved < kMeanMoved || row.step > std::max<std::int64_t>(2, run.interval)) continue;
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, run,
                   fmt::format("the first steps take {} where {} is usual: without them the mean is {:.0f} % lower",
                               in_words(warm), in_words(run.typical_s), 100 * (1 - 1 / (1 + moved))),
                   row.line, fmt::format("{}: {}", place_of(row), in_words(warm)));
    finding.cause =
        "The first steps compile kernels, choose algorithms, open connections and fill the data loader. They are no "
        "part of the run's speed.";
    finding.confidence = 0.95;
    finding.fix = {"leave the first steps out of any mean; where restarts are frequent, keep compile caches on disk"};
    findings.push_back(std::move(finding));
  }
}

void single_step(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const auto timed = std::count_if(run.seconds.begin(), run.seconds.end(), [](double s) { return s > 0; });
    if (timed == 0 || timed > 2 || run.facts->has("train_summary")) continue;
    if (timed == 2 && run.pace.size() == 2) continue;  // two that are no warm-up say something
    const StepRow& row = run.series.rows[run.pace.empty() ? 0 : run.pace.front().row];
    const bool warm_up = row.step >= 0 && row.step <= std::max<std::int64_t>(2, run.interval);
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, run,
                   fmt::format("only {} timed ({}: {}){}", timed == 1 ? "one step is" : "two steps are", place_of(row),
                               in_words(run.typical_s), warm_up ? ": warm-up, no throughput" : ": no spread is known"),
                   row.line, fmt::format("{}: {}", place_of(row), in_words(run.typical_s)));
    finding.cause = warm_up ? "The first step compiles, loads and connects; it can take many times a later one."
                            : "One step does not say how much the next one differs.";
    finding.confidence = 0.95;
    finding.fix = {"let 20 steps and more pass, and leave the first ones out"};
    findings.push_back(std::move(finding));
  }
}

void no_throughput(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const StepSeries& series = run.series;
    if (series.row_count == 0 || !std::isnan(run.typical_s)) continue;
    bool rated = false;
    for (const StepField field : {StepField::kTokensPerS, StepField::kTokensPerSPerGpu, StepField::kSamplesPerS,
                                  StepField::kTflopsPerGpu, StepField::kMfu, StepField::kAverageStepTime}) {
      rated = rated || series.has(field);
    }
    bool told = false;
    for (const char* const fact : {"train_summary", "progress", "run_seconds", "timers"}) {
      told = told || run.facts->has(fact);
    }
    if (rated || told) continue;
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, run,
                   fmt::format("{} step{} and no time: no throughput can be computed", series.row_count,
                               series.row_count == 1 ? "" : "s"),
                   series.rows.empty() ? 0 : series.rows.front().line, "no step time, rate or time stamp");
    finding.cause = "The log gives losses by step, but neither times nor rates nor a run time at its end.";
    finding.confidence = 1;
    finding.fix = {"log the step time, or keep the program's output with time stamps beside it"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"training.throughput-drop", "the pace drops at once and stays low",
     "one slow GPU or node holds all others back from that step on", "bigscience-workshop/bigscience chronicles", jump},
    {"training.step-time-drift", "steps take longer and longer",
     "a leak, fragmentation or heat takes more of each step the longer the run goes", "epfLLM/Megatron-LLM#11", drift},
    {"training.periodic-spikes", "a long step at a fixed distance",
     "data loader workers, evaluations or checkpoints stop all GPUs again and again", "huggingface/lerobot#1488",
     periodic_spikes},
    {"training.jitter", "long steps at no fixed distance", "the mean is worse than the usual step for a cause outside",
     "", jitter},
    {"training.first-step", "compilation and warm-up in the first steps", "a mean over all steps is no speed", "",
     first_step},
    {"training.single-step", "one step or two", "a warm-up step is no throughput", "NVIDIA/dgxc-benchmarking",
     single_step},
    {"training.no-throughput", "no times in the log", "nothing can be said of the speed", "", no_throughput},
};

}  // namespace

std::span<const Rule> training_pace_rules() { return kRules; }

}  // namespace tare
