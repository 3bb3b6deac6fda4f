// What a log's own figures say: rates that contradict each other, utilisation that cannot be or is low, toys.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/training_run.h"

namespace tare {
namespace {

// The best published runs on dense peaks lie at 0.6 and below (PaLM 0.57, MLPerf's GPT-3 about 0.55); kernels alone
// reach 0.75 to 0.8.
constexpr double kMostMfu = 0.70;
// Median published runs lie between 0.29 and 0.5 (data/catalog/baseline_mfu.csv).
constexpr double kLowMfu = 0.25, kVeryLowMfu = 0.15;
constexpr double kUsualLow = 0.30, kUsual = 0.40, kUsualHigh = 0.50;
constexpr double kRatesApart = 1.25;
constexpr double kToyParams = 20e6;
constexpr double kTera = 1e12;

// The peak of what models are trained in on that GPU.
std::optional<double> training_peak(const Accelerator& gpu) {
  return gpu.peak_bf16_flops ? gpu.peak_bf16_flops : gpu.peak_fp16_flops;
}

// Parameters, where the log says them, else by FLOPs a token: 6 for each parameter.
std::optional<double> params_or_estimate(const TrainingRun& run) {
  if (const std::optional<double> said = run.params()) return said;
  const std::optional<double> flops = run.median_of(StepField::kTflopsPerGpu);
  const std::optional<double> tokens = run.median_of(StepField::kTokensPerSPerGpu);
  if (!flops || !tokens || !(*tokens > 0)) return std::nullopt;
  return *flops / *tokens / 6;
}

std::int64_t line_with(const TrainingRun& run, StepField field) {
  for (const StepRow& row : run.series.rows) {
    if (!std::isnan(row[field])) return row.line;
  }
  return run.series.last_line;
}

bool measures_against_a100(const TrainingRun& run) { return run.series.framework == "nanoGPT"; }

void mfu_impossible(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<double> mfu = run.median_of(StepField::kMfu), flops = run.median_of(StepField::kTflopsPerGpu);
    std::optional<double> peak;
    if (run.gpu != nullptr) peak = training_peak(*run.gpu);
    const bool has_fp8 = run.gpu == nullptr || run.gpu->peak_fp8_flops.has_value();
    std::string title;
    StepField field = StepField::kMfu;
    double confidence = 0.9;
    if (mfu && *mfu > kMostMfu && !(measures_against_a100(run) && *mfu < 4)) {
      title = fmt::format("an MFU of {:.0f} % {}", 100 * *mfu, *mfu > 1 ? "cannot be" : "is more than any run reaches");
      if (*mfu <= 1) confidence = has_fp8 ? 0.6 : 0.8;
    } else if (flops && peak && *flops > kMostMfu * *peak && !(has_fp8 && *flops < *peak)) {
      title = fmt::format("{:.0f} TFLOP/s per GPU are {:.0f} % of the {}'s dense peak", *flops / kTera,
                          100 * *flops / *peak, run.gpu->id);
      field = StepField::kTflopsPerGpu;
      if (*flops < *peak || has_fp8) confidence = 0.7;
    } else {
      continue;
    }
    Finding finding =
        finding_of(rule, FindingSeverity::kLow, run, std::move(title), line_with(run, field),
                   mfu && field == StepField::kMfu ? fmt::format("median MFU {:.1f} %", 100 * *mfu)
                                                   : fmt::format("median {:.1f} TFLOP/s", *flops / kTera));
    finding.cause =
        "The figure divides by a wrong peak (another GPU's, or of a lower precision than runs), counts FLOPs that are "
        "not "
        "done (recomputation, masked attention), or misses the number of GPUs or of micro-batches.";
    finding.confidence = confidence;
    finding.expected = fmt::format("below {:.0f} %", 100 * kMostMfu);
    finding.fix = {"compute it by hand: 6 * parameters * tokens per second and GPU / dense peak of the GPU",
                   "take the dense peak, without 2:4 sparsity, of the precision that the matrices run in"};
    findings.push_back(std::move(finding));
  }
}

void mfu_peak(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    std::optional<double> used = run.number("mfu_peak_tflops");
    const Fact* const said = run.facts->find("mfu_peak_tflops");
    const bool a100 = measures_against_a100(run) && run.series.has(StepField::kMfu);
    if (a100) used = 312;
    const std::optional<double> peak = run.gpu == nullptr ? std::nullopt : training_peak(*run.gpu);
    if (!used) continue;
    const std::int64_t line = said != nullptr ? said->line : line_with(run, StepField::kMfu);
    const bool other = peak && std::abs(*used * kTera / *peak - 1) > 0.1;
    if (!other && (!a100 || peak)) continue;
    Finding finding = finding_of(
        rule, other ? FindingSeverity::kLow : FindingSeverity::kInfo, run,
        other ? fmt::format("MFU is a share of {:g} TFLOP/s, a {} has {:g}", *used, run.gpu->id, *peak / kTera)
              : "MFU is a share of an A100's 312 TFLOP/s, whatever the GPU",
        line, fmt::format("peak of {:g} TFLOP/s", *used));
    finding.cause =
        a100 ? "nanoGPT divides by the bf16 peak of an A100. On another GPU the printed MFU is another figure."
             : "The program does not know the GPU and takes another's peak, or a figure with 2:4 sparsity.";
    finding.confidence = other ? 0.8 : 0.9;
    if (other) finding.expected = fmt::format("{:g} TFLOP/s", *peak / kTera);
    finding.measured = fmt::format("{:g} TFLOP/s", *used);
    finding.fix = {"multiply the printed MFU by the peak it used, and divide by the GPU's"};
    findings.push_back(std::move(finding));
  }
}

// Of the GPU's peak, or as printed where the peak is known to be the right one.
std::optional<double> utilisation_of(const TrainingRun& run) {
  const std::optional<double> flops = run.median_of(StepField::kTflopsPerGpu);
  const std::optional<double> peak = run.gpu == nullptr ? std::nullopt : training_peak(*run.gpu);
  if (flops && peak) return *flops / *peak;
  const std::optional<double> tokens = run.median_of(StepField::kTokensPerSPerGpu);
  if (peak && tokens && run.params() && !run.facts->has("experts")) return 6 * *run.params() * *tokens / *peak;
  const std::optional<double> mfu = run.median_of(StepField::kMfu);
  if (mfu && !measures_against_a100(run)) return mfu;
  return std::nullopt;
}

void mfu_low(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLargeEnough = 1e9;
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<double> used = utilisation_of(run);
    const std::optional<double> params = params_or_estimate(run);
    if (!used || *used >= kLowMfu || !(*used > 0) || run.series.row_count < 3) continue;
    const std::optional<double> trainable = run.number("trainable_params");
    const bool adapters = params && trainable && *trainable < *params / 2;
    const bool large = params && *params >= kLargeEnough && !adapters;
    const bool experts = run.number("experts").value_or(1) > 1;
    if (params && *params < kToyParams) continue;
    const bool bad = large && !experts && *used < kVeryLowMfu && run.gpu != nullptr;
    const StepField field = run.series.has(StepField::kTflopsPerGpu) ? StepField::kTflopsPerGpu : StepField::kMfu;
    Finding finding = finding_of(
        rule,
        bad     ? FindingSeverity::kMedium
        : large ? FindingSeverity::kLow
                : FindingSeverity::kInfo,
        run,
        fmt::format("{:.1f} % of the {} peak is used", 100 * *used, run.gpu == nullptr ? "GPU's" : run.gpu->id + "'s"),
        line_with(run, field), fmt::format("median utilisation {:.1f} %", 100 * *used));
    finding.cause =
        large
            ? "Dense models of this size reach 30 to 50 %. Small micro-batches, recomputation, waits for communication "
              "or data, or kernels that are not fused take the rest."
            : "Small models, adapters and sparse experts use little of a GPU's matrix peak: kernels are short and wait "
              "for memory. It is no fault of the machine.";
    finding.confidence = large ? 0.75 : 0.6;
    finding.expected = "30 to 50 % for large dense models";
    finding.measured = fmt::format("{:.1f} %", 100 * *used);
    finding.fix = {"larger micro-batches, flash attention, torch.compile, recomputation only where memory asks for it",
                   "profile 5 steps: how much is matrix kernels, communication, nothing"};
    const auto lost = [&](double usual) { return std::max(0.0, 1 - *used / usual); };
    if (bad && run.gpus) {
      finding.loss = share_lost(assumed_ratio("lost_ratio", {lost(kUsualLow), lost(kUsual), lost(kUsualHigh)},
                                              "1 - utilisation over 30, 40, 50 %"),
                                *run.gpus, run.gpus_source);
    } else if (large) {
      finding.loss_unknown = "what this model reaches on that GPU is not in the log";
    }
    findings.push_back(std::move(finding));
  }
}

void toy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<double> params = params_or_estimate(run);
    if (!params || *params >= kToyParams || !(*params > 0) || run.series.row_count == 0) continue;
    // Of parameters a program prints with a wrong unit, speed knows nothing.
    const std::optional<double> flops = run.median_of(StepField::kTflopsPerGpu);
    if (flops && *flops > kTera) continue;
    const bool said = run.params().has_value();
    Finding finding =
        finding_of(rule, FindingSeverity::kInfo, run,
                   fmt::format("a toy model ({} {:.2g} million parameters): its throughput says nothing of the machine",
                               said ? "with" : "about", *params / 1e6),
                   line_with(run, flops ? StepField::kTflopsPerGpu : StepField::kLoss),
                   flops ? fmt::format("{:.3g} GFLOP/s per GPU", *flops / 1e9) : "the model's size");
    finding.cause =
        "Kernels of so small a model last microseconds; launches and communication take the step. Low figures are no "
        "finding, and none of them scales to a real model.";
    finding.confidence = 0.9;
    finding.fix = {"measure with a model and batch that fill the GPU's memory"};
    findings.push_back(std::move(finding));
  }
}

struct Rate {
  std::string name;
  double value = 0;
  std::int64_t line = 0;
};

// "11.4 times", and what the factor may be.
std::string factor_in_words(const TrainingRun& run, double factor) {
  struct Known {
    const char *fact, *name;
  };
  for (const Known& known :
       {Known{"gpus", "the GPUs"}, Known{"data_parallel", "the data-parallel ranks"},
        Known{"gradient_accumulation", "the micro-batches of a step"}, Known{"nodes", "the nodes"},
        Known{"gpus_per_node", "the GPUs of a node"}, Known{"tensor_parallel", "the tensor-parallel size"},
        Known{"sequence_length", "the sequence length"}}) {
    const double value = run.number(known.fact).value_or(0);
    if (value > 1 && std::abs(factor / value - 1) < 0.05)
      return fmt::format("{:.3g} times, the number of {}", factor, known.name);
  }
  return fmt::format("{:.3g} times", factor);
}

// Pairs of figures that should be one.
std::optional<std::pair<Rate, Rate>> rates_apart(const TrainingRun& run) {
  const auto rate = [&](StepField field, std::string name) -> std::optional<Rate> {
    const std::optional<double> value = run.median_of(field);
    if (!value || !(*value > 0)) return std::nullopt;
    return Rate{std::move(name), *value, line_with(run, field)};
  };
  const auto apart = [](const Rate& a, const Rate& b) {
    return a.value > kRatesApart * b.value || b.value > kRatesApart * a.value;
  };
  const std::optional<double> step = run.median_of(StepField::kStepTime);
  std::optional<double> batch = run.median_of(StepField::kGlobalBatch);
  if (!batch) batch = run.number("global_batch");
  std::optional<Rate> samples = rate(StepField::kSamplesPerS, "samples/s as printed");
  std::optional<Rate> computed;
  if (step && *step > 0 && batch) {
    computed = Rate{fmt::format("global batch {:g} over a step of {}", *batch, in_words(*step)), *batch / *step,
                    line_with(run, StepField::kStepTime)};
  }
  if (samples && computed && apart(*samples, *computed)) return {{*samples, *computed}};
  const std::optional<double> sequence = run.number("sequence_length");
  const std::optional<Rate> tokens = rate(StepField::kTokensPerS, "tokens/s as printed");
  // Packing and padding move tokens by less than this.
  if (tokens && computed && sequence && run.series.tokens_scope == "job") {
    const Rate by_batch{computed->name + fmt::format(", {:g} tokens each", *sequence), computed->value * *sequence,
                        computed->line};
    if (tokens->value > 1.5 * by_batch.value || by_batch.value > 3 * tokens->value) return {{*tokens, by_batch}};
  }
  const std::optional<Rate> known = samples ? samples : computed;
  for (const FactRecord* const other : records_of(*run.facts, "other_series")) {
    const FactRecord* const summary = other->find_record("summary");
    const FactRecord* const one = summary == nullptr ? nullptr : summary->find_record("samples_per_s");
    if (one == nullptr || !known) continue;
    const std::string_view program = other->text("framework");
    const Rate theirs{fmt::format("samples/s of {}", program.empty() ? "another program" : std::string(program)),
                      one->number("median").value_or(0), other->line};
    if (theirs.value > 0 && apart(theirs, *known)) return {{theirs, *known}};
  }
  return std::nullopt;
}

void rates_disagree(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const auto pair = rates_apart(run);
    if (!pair) continue;
    const Rate& high = pair->first.value > pair->second.value ? pair->first : pair->second;
    const Rate& low = pair->first.value > pair->second.value ? pair->second : pair->first;
    Finding finding =
        finding_of(rule, FindingSeverity::kLow, run,
                   fmt::format("two throughputs in one log: {} {:.4g}, {} {:.4g} ({})", high.name, high.value, low.name,
                               low.value, factor_in_words(run, high.value / low.value)),
                   high.line, fmt::format("{}: {:.4g}", high.name, high.value));
    finding.evidence.push_back(evidence_of(run.seen, low.line, fmt::format("{}: {:.4g}", low.name, low.value)));
    finding.cause =
        "One of them counts another batch: of one rank instead of all, of a micro-batch instead of a step, or the time "
        "of "
        "a part of the step. Batch over step time is the one to trust.";
    finding.confidence = 0.9;
    finding.expected = fmt::format("{:.4g}", pair->second.value);
    finding.measured = fmt::format("{:.4g}", pair->first.value);
    finding.fix = {
        "report global batch / time of a whole step; tell DeepSpeed train_batch_size and accumulation alike"};
    findings.push_back(std::move(finding));
  }
}

void flops_disagree(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const TrainingRun& run : training_runs(observed)) {
    const std::optional<double> flops = run.median_of(StepField::kTflopsPerGpu), params = run.params();
    std::optional<double> tokens = run.median_of(StepField::kTokensPerSPerGpu);
    const std::optional<double> job = run.median_of(StepField::kTokensPerS);
    if (!tokens && job && run.gpus && !run.gpus_are_least && run.series.tokens_scope == "job")
      tokens = *job / *run.gpus;
    if (!flops || !params || !tokens || run.number("experts").value_or(1) > 1) continue;
    const double ratio = *flops / (6 * *params * *tokens);
    // Recomputation makes it 8/6; attention over long sequences and the output layer add up to the same again.
    if (!(*params > kToyParams) || (ratio > 0.5 && ratio < 3)) continue;
    Finding finding = finding_of(
        rule, FindingSeverity::kLow, run,
        fmt::format("{:.3g} TFLOP/s per GPU are {:.2g} times what tokens and parameters give", *flops / kTera, ratio),
        line_with(run, StepField::kTflopsPerGpu),
        fmt::format("6 * {:.3g} parameters * {:.0f} tokens/s = {:.3g} TFLOP/s", *params, *tokens,
                    6 * *params * *tokens / kTera));
    finding.cause =
        "Tokens per second, parameters or FLOPs count other GPUs or other parts of the model than the name says.";
    finding.confidence = 0.7;
    finding.expected = "1 to 1.5 times (8/6 with full recomputation)";
    finding.measured = fmt::format("{:.2g} times", ratio);
    finding.fix = {"see whether tokens/s are of one GPU or of all, and whether parameters are of one shard or of all"};
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"training.mfu-impossible", "a utilisation that cannot be", "decisions on it go wrong",
     "karpathy/nanochat#147, karpathy/nanoGPT#464", mfu_impossible},
    {"training.mfu-peak", "a utilisation of another GPU's peak", "it cannot be compared", "karpathy/nanoGPT#110",
     mfu_peak},
    {"training.mfu-low", "little of the GPU's peak is used", "GPUs are paid for and wait", "", mfu_low},
    {"training.toy-model", "a model too small to measure with", "its low figures alarm for nothing",
     "huggingface/nanotron#23", toy},
    {"training.rates-disagree", "throughputs that contradict each other", "one of them is wrong by a factor",
     "microsoft/superbenchmark megatron_deepspeed.log", rates_disagree},
    {"training.flops-disagree", "FLOP/s against tokens and parameters", "one of the three counts something else", "",
     flops_disagree},
};

}  // namespace

std::span<const Rule> training_figure_rules() { return kRules; }

}  // namespace tare
