// Whether anything is learned: loss, learning rate, steps that are skipped.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/training_run.h"

namespace tare {
namespace {

// Steps of a run's beginning in which a loss scale is looked for (from 2^32 or 2^16 down, a step each).
constexpr std::int64_t kScaleSearch = 100;
constexpr double kSkippedLow = 0.02, kSkippedMedium = 0.10, kSkippedHigh = 0.50;

const StepRow* row_on_line(const TrainingRun& run, std::int64_t line) {
  for (const StepRow& row : run.series.rows) {
    if (row.line >= line) return &row;
  }
  return nullptr;
}

void nan_loss(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const StepSummary& loss = run.series.summary(StepField::kLoss);
    const StepSummary& skipped_nan = run.series.summary(StepField::kNanIterations);
    // Hugging Face's Trainer prints loss 0.0 beside a grad_norm of nan.
    const StepSummary& norm = run.series.summary(StepField::kGradNorm);
    const bool zero_with_nan = norm.not_finite > 2 && loss.count > 0 && loss.min == 0;
    const std::int64_t bad = loss.not_finite + (skipped_nan.count > 0 && skipped_nan.max > 0 ? 1 : 0);
    if (bad == 0 && !zero_with_nan) continue;
    const std::int64_t line = loss.not_finite > 0 ? loss.not_finite_line : zero_with_nan ? norm.not_finite_line : 0;
    bool recovers = false;
    for (const StepRow& row : run.series.rows) {
      recovers = recovers || (row.line > line && line > 0 && std::isfinite(row[StepField::kLoss]) && !zero_with_nan);
    }
    const bool only_skipped = loss.not_finite == 0 && !zero_with_nan;
    std::int64_t at = line;
    if (only_skipped) {
      for (const StepRow& row : run.series.rows) {
        if (row[StepField::kNanIterations] > 0 && at == 0) at = row.line;
      }
    }
    const StepRow* const row = row_on_line(run, at);
    const std::string place = row == nullptr ? fmt::format("line {}", at) : place_of(*row);
    const bool dead = !only_skipped && !recovers;
    Finding finding =
        finding_of(rule, dead ? FindingSeverity::kHigh : FindingSeverity::kMedium, run,
                   only_skipped    ? fmt::format("iterations with NaN from {} on", place)
                   : zero_with_nan ? fmt::format("gradients are NaN and the loss prints as 0 from {} on", place)
                   : dead          ? fmt::format("the loss is NaN or infinite from {} on: nothing is learned", place)
                                   : fmt::format("the loss is NaN or infinite at {}, and comes back", place),
                   at, only_skipped ? "number of nan iterations above 0" : "loss or gradient norm is not a number");
    finding.cause =
        "Numbers overflow or are undefined: too high a learning rate, fp16 without loss scaling, a bad sample, a mask "
        "of "
        "nothing, or a GPU that computes wrongly. The pace looks the same; after it nothing is learned.";
    finding.confidence = dead ? 0.95 : 0.8;
    finding.fix = {"go back to a checkpoint before it; skip the batch, or lower the learning rate",
                   "torch.autograd.detect_anomaly() on that batch; bf16 instead of fp16",
                   "the same batch on another node: where only one node gives NaN, dcgmi diag -r 4 there"};
    if (dead) {
      lose_all(finding, run, "since the loss is no number");
    } else {
      finding.loss_unknown = "how many steps were in vain is not known";
    }
    finding.consequences = {"training.loss-jump", "training.loss-constant", "training.lr-zero",
                            "training.skipped-steps"};
    findings.push_back(std::move(finding));
  }
}

struct Skipped {
  double skipped = 0, steps = 0;  // after the search for a loss scale
  double at_first = 0;            // within it
  std::int64_t line = 0;
};

Skipped skipped_of(const TrainingRun& run) {
  Skipped found;
  const std::vector<StepRow>& rows = run.series.rows;
  // DeepSpeed counts from the beginning; Megatron since its last line.
  bool sums_up = run.series.framework == "DeepSpeed";
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double skipped = rows[i][StepField::kSkipped];
    const double steps = static_cast<double>(rows[i].step - rows[i - 1].step);
    sums_up = sums_up || (skipped > steps && steps > 0 && run.series.stride == 1);
  }
  double before = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double skipped = rows[i][StepField::kSkipped];
    if (std::isnan(skipped)) continue;
    if (sums_up) {
      const double all = skipped;
      skipped = std::max(0.0, all - before);
      if (i == 0) skipped = 0;
      before = all;
    }
    if (rows[i].step >= 0 && rows[i].step <= kScaleSearch) {
      found.at_first += skipped;
      continue;
    }
    found.steps += static_cast<double>(run.interval);
    if (skipped > 0 && found.line == 0) found.line = rows[i].line;
    found.skipped += std::min(skipped, static_cast<double>(run.interval));
  }
  return found;
}

void skipped_steps(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const Skipped found = skipped_of(run);
    const double share = found.steps > 0 ? found.skipped / found.steps : 0;
    if (share < kSkippedLow || found.skipped < 2) continue;
    const FindingSeverity severity = share >= kSkippedHigh     ? FindingSeverity::kHigh
                                     : share >= kSkippedMedium ? FindingSeverity::kMedium
                                                               : FindingSeverity::kLow;
    Finding finding = finding_of(
        rule, severity, run,
        fmt::format("{:.0f} of {:.0f} steps are skipped ({:.0f} %)", found.skipped, found.steps, 100 * share),
        found.line, "skipped iterations");
    finding.cause =
        "Gradients overflow in fp16 and the optimiser does nothing with them. Throughput looks the same; these steps "
        "train nothing.";
    finding.confidence = 0.9;
    finding.expected = "one step in a thousand, after the first hundred";
    finding.measured = fmt::format("{:.1f} %", 100 * share);
    finding.fix = {"bf16 where the GPU has it; a lower learning rate, gradient clipping",
                   "a larger loss-scale-window, a smaller initial loss scale"};
    lose(finding, run, share, "skipped steps over steps");
    finding.consequences = {"training.lr-zero"};
    findings.push_back(std::move(finding));
  }
}

void scale_search(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const Skipped found = skipped_of(run);
    if (found.at_first < 2) continue;
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, run,
                   fmt::format("{:.0f} of the first steps are skipped: the loss scale is looked for", found.at_first),
                   run.series.rows.front().line, "skipped iterations at the beginning");
    finding.cause = "A dynamic loss scale begins high and is halved at each overflow. It ends by itself.";
    finding.confidence = 0.9;
    findings.push_back(std::move(finding));
  }
}

void loss_scale(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const StepSummary& scale = run.series.summary(StepField::kLossScale);
    // A constant 1 is bf16's; -1 means unknown.
    if (scale.count < 2 || !(scale.max >= 64) || !(scale.last > 0) || scale.last > 2) continue;
    const StepRow* at = nullptr;
    for (const StepRow& row : run.series.rows) {
      if (at == nullptr && row[StepField::kLossScale] > 0 && row[StepField::kLossScale] <= 2) at = &row;
    }
    Finding finding = finding_of(
        rule, FindingSeverity::kHigh, run, fmt::format("the loss scale fell from {:g} to {:g}", scale.max, scale.last),
        at == nullptr ? run.series.last_line : at->line, fmt::format("loss scale {:g}", scale.last));
    finding.cause =
        "Gradients overflow whatever the scale: the model diverged or holds NaN. From here on steps are skipped or "
        "train "
        "on noise.";
    finding.confidence = 0.85;
    finding.fix = {"go back to a checkpoint before the fall, with a lower learning rate or other data order",
                   "bf16 instead of fp16"};
    lose_all(finding, run, "since the scale fell");
    finding.consequences = {"training.skipped-steps", "training.loss-jump"};
    findings.push_back(std::move(finding));
  }
}

struct LossJump {
  std::size_t row = 0;
  double before = 0, after = 0;  // after: the highest of the rows behind
  bool stays = false;
  std::size_t rows_behind = 0;
};

std::optional<LossJump> find_loss_jump(const TrainingRun& run) {
  constexpr std::size_t kWindow = 20;
  constexpr double kTimes = 1.6;
  std::vector<std::pair<double, std::size_t>> losses;
  for (std::size_t i = 0; i < run.series.rows.size(); ++i) {
    const double loss = run.series.rows[i][StepField::kLoss];
    if (std::isfinite(loss)) losses.emplace_back(loss, i);
  }
  std::optional<LossJump> worst;
  for (std::size_t i = 2; i < losses.size(); ++i) {
    std::vector<double> window;
    for (std::size_t j = i - std::min(i, kWindow); j < i; ++j) window.push_back(losses[j].first);
    const double before = median(window);
    std::vector<double> deviations;
    deviations.reserve(window.size());
    for (const double loss : window) deviations.push_back(std::abs(loss - before));
    // Few values give no measure of the noise; then only a large jump counts.
    const double noise = 1.4826 * median(std::move(deviations));
    const double highest_before = *std::max_element(window.begin(), window.end());
    const double loss = losses[i].first;
    const double times = i < 6 ? 2 : kTimes;
    const bool jumps =
        before > 0.5 && loss > times * before && loss - before > 8 * noise && loss > 1.3 * highest_before;
    if (!jumps) continue;
    LossJump jump{losses[i].second, before, loss, true, losses.size() - i - 1};
    const std::size_t end = std::min(losses.size(), i + 4);
    for (std::size_t j = i; j < end; ++j) {
      jump.after = std::max(jump.after, losses[j].first);
      if (losses[j].first < 1.3 * before) jump.stays = false;
    }
    if (!worst || (jump.stays && !worst->stays)) worst = jump;
    if (jump.stays) break;
  }
  return worst;
}

void loss_jump(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<LossJump> found = find_loss_jump(run);
    if (!found) continue;
    const StepRow& row = run.series.rows[found->row];
    const bool dead = found->stays && found->rows_behind >= 2;
    const bool early = row.step >= 0 && row.step < kScaleSearch;
    const FindingSeverity severity = dead && !early ? FindingSeverity::kHigh
                                     : found->stays ? FindingSeverity::kMedium
                                                    : FindingSeverity::kLow;
    Finding finding = finding_of(
        rule, severity, run,
        fmt::format("the loss jumps from {:.3g} to {:.3g} at {}{}", found->before, found->after, place_of(row),
                    dead           ? " and stays up"
                    : found->stays ? ", at the log's end"
                                   : ", and comes back"),
        row.line, fmt::format("{}: loss {:.4g}", place_of(row), row[StepField::kLoss]));
    finding.cause =
        "Training became unstable: learning rate, warm-up, a bad piece of data, precision. The speed does not show it. "
        "A "
        "fault of a GPU that computes wrongly looks the same.";
    finding.confidence = dead ? 0.9 : 0.75;
    finding.expected = fmt::format("about {:.3g}", found->before);
    finding.measured = fmt::format("{:.3g}", found->after);
    finding.fix = {"stop, go back to a checkpoint before that step, skip the data or lower the learning rate",
                   "watch the gradient norm and the loss scale of the steps before",
                   "repeat the step on other nodes: the same numbers mean it is not the hardware"};
    if (dead && !early) {
      lose_all(finding, run, "since the loss jumped, for it will be done again");
    } else {
      finding.loss_unknown = "whether the run recovers is not in the log";
    }
    findings.push_back(std::move(finding));
  }
}

void lr_zero(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const StepSummary& rate = run.series.summary(StepField::kLearningRate);
    if (rate.count < 6) continue;
    const std::vector<StepRow>& rows = run.series.rows;
    std::size_t zeros = 0;
    const StepRow* first = nullptr;
    for (std::size_t i = rows.size(); i-- > 0;) {
      const double value = rows[i][StepField::kLearningRate];
      if (std::isnan(value)) continue;
      if (value != 0) break;
      ++zeros;
      first = &rows[i];
    }
    if (zeros < 5) continue;
    const bool never = rate.max == 0;
    const std::int64_t total = run.series.total_steps;
    const bool at_end =
        total > 0 && first->step >= 0 && static_cast<double>(first->step) > 0.98 * static_cast<double>(total);
    if (at_end) continue;
    // Programs that print four digits print small rates as 0.
    Finding finding = finding_of(rule, never ? FindingSeverity::kLow : FindingSeverity::kMedium, run,
                                 never ? fmt::format("the learning rate is 0 in all {} lines", zeros)
                                       : fmt::format("the learning rate is 0 from {} on", place_of(*first)),
                                 first->line, fmt::format("{}: learning rate 0", place_of(*first)));
    finding.cause = never ? "Nothing is learned, or the log prints too few digits of a small rate."
                          : "The schedule ended before the run did: it is told of fewer steps than are done.";
    finding.confidence = never ? 0.5 : 0.8;
    finding.fix = {"compare the schedule's steps (lr-decay-iters, max_steps, accumulation, world size) with the run's",
                   "print the rate with an exponent"};
    if (never) {
      finding.loss_unknown = "the rate may be rounded";
    } else {
      lose_all(finding, run, "since the rate is 0");
    }
    findings.push_back(std::move(finding));
  }
}

void loss_constant(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const StepSummary& loss = run.series.summary(StepField::kLoss);
    if (loss.count < 20 || loss.min != loss.max || loss.min == 0) continue;
    Finding finding = finding_of(rule, FindingSeverity::kLow, run,
                                 fmt::format("the loss is {:g} in all {} lines", loss.min, loss.count),
                                 run.series.rows.front().line, fmt::format("loss {:g}", loss.min));
    finding.cause =
        "The same batch with no update, weights that are frozen, a learning rate of 0, or a benchmark that does not "
        "train.";
    finding.confidence = 0.7;
    finding.fix = {"see that parameters require gradients and that the optimiser holds them"};
    finding.loss_unknown = "it may be a benchmark";
    findings.push_back(std::move(finding));
  }
}

void overfitting(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::vector<const FactRecord*> evaluations = records_of(*run.facts, "evaluations");
    std::vector<std::pair<double, const FactRecord*>> losses;
    for (const FactRecord* const one : evaluations) {
      if (const std::optional<double> loss = one->number("eval_loss")) losses.emplace_back(*loss, one);
    }
    if (losses.size() < 5) continue;
    const auto best =
        std::min_element(losses.begin(), losses.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto behind = losses.end() - best - 1;
    const double worse = losses.back().first / best->first - 1;
    const auto rising =
        std::count_if(best + 1, losses.end(), [&](const auto& one) { return one.first > 1.02 * best->first; });
    if (behind < 3 || worse < 0.05 || rising < behind - 1 || !(best->first > 0)) continue;
    Finding finding =
        finding_of(rule, FindingSeverity::kLow, run,
                   fmt::format("the validation loss was best ({:.4g}) {} evaluations ago and is {:.0f} % above it",
                               best->first, behind, 100 * worse),
                   best->second->line, fmt::format("best validation loss {:.4g}", best->first));
    finding.evidence.push_back(evidence_of(run.seen, losses.back().second->line,
                                           fmt::format("last validation loss {:.4g}", losses.back().first)));
    finding.cause = "The model learns its training data by heart: what is trained since then makes it worse.";
    finding.confidence = 0.7;
    finding.fix = {"stop and take the best checkpoint (load_best_model_at_end, early stopping)",
                   "more data, fewer epochs, a lower learning rate"};
    lose(finding, run, static_cast<double>(behind) / static_cast<double>(losses.size()),
         "evaluations since the best over all");
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"training.nan-loss", "the loss is no number", "the run trains nothing, at full speed", "", nan_loss},
    {"training.loss-scale", "the loss scale fell to nothing", "the run diverged in fp16", "", loss_scale},
    {"training.loss-jump", "the loss jumps", "instability that no figure of speed shows",
     "bigscience-workshop/bigscience tr1-13B chronicles", loss_jump},
    {"training.skipped-steps", "steps that are skipped", "they take their time and train nothing", "", skipped_steps},
    {"training.scale-search", "skipped steps at the beginning", "no fault: the loss scale is looked for", "",
     scale_search},
    {"training.lr-zero", "a learning rate of 0", "steps that change nothing", "", lr_zero},
    {"training.loss-constant", "a loss that never changes", "nothing is learned", "", loss_constant},
    {"training.overfitting", "a validation loss that rises", "GPU-hours that make the model worse", "", overfitting},
};

}  // namespace

std::span<const Rule> training_learning_rules() { return kRules; }

}  // namespace tare
