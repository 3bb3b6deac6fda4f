#include "ingest/step_units.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ingest/fast_number.h"

namespace tare {
namespace {

struct NamedUnit {
  std::string_view text;  // lower case
  PrintedUnit unit;
};

constexpr StepUnit kSeconds{"s", 1};
constexpr StepUnit kMilliseconds{"ms", 1e-3};
constexpr double kKib = 1024;

// Sorted by text.
constexpr std::array kUnits = {
    NamedUnit{"%", {UnitClass::kPercent, {"percent", 0.01}}},
    NamedUnit{"b", {UnitClass::kMemory, {"bytes", 1}}},
    NamedUnit{"batch/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"batches/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"billion", {UnitClass::kMultiplier, {}, 1e9}},
    NamedUnit{"bytes", {UnitClass::kMemory, {"bytes", 1}}},
    NamedUnit{"ex/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"examples/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"examples/sec", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"g", {UnitClass::kMemory, {"g", kNotSaid}}},
    NamedUnit{"gb", {UnitClass::kMemory, {"gb", 1e9}}},
    NamedUnit{"gib", {UnitClass::kMemory, {"gib", kKib* kKib* kKib}}},
    NamedUnit{"h", {UnitClass::kTime, {"h", 3600}}},
    NamedUnit{"hours", {UnitClass::kTime, {"h", 3600}}},
    NamedUnit{"images/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"images/sec", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"img/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"imgs/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"it/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"iter/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"iters/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"iters/sec", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"k", {UnitClass::kMultiplier, {}, 1e3}},
    NamedUnit{"kb", {UnitClass::kMemory, {"kb", 1e3}}},
    NamedUnit{"kib", {UnitClass::kMemory, {"kib", kKib}}},
    NamedUnit{"m", {UnitClass::kMultiplier, {}, 1e6}},
    NamedUnit{"mb", {UnitClass::kMemory, {"mb", 1e6}}},
    NamedUnit{"mib", {UnitClass::kMemory, {"mib", kKib* kKib}}},
    NamedUnit{"million", {UnitClass::kMultiplier, {}, 1e6}},
    NamedUnit{"min", {UnitClass::kTime, {"min", 60}}},
    NamedUnit{"mins", {UnitClass::kTime, {"min", 60}}},
    NamedUnit{"minutes", {UnitClass::kTime, {"min", 60}}},
    NamedUnit{"model_tflop/s/gpu", {UnitClass::kTflops, {{}, 1e12}}},
    NamedUnit{"ms", {UnitClass::kTime, kMilliseconds}},
    NamedUnit{"ms/it", {UnitClass::kTimePerStep, kMilliseconds}},
    NamedUnit{"ms/iter", {UnitClass::kTimePerStep, kMilliseconds}},
    NamedUnit{"ms/step", {UnitClass::kTimePerStep, kMilliseconds}},
    NamedUnit{"msec", {UnitClass::kTime, kMilliseconds}},
    NamedUnit{"s", {UnitClass::kTime, kSeconds}},
    NamedUnit{"s/batch", {UnitClass::kTimePerStep, kSeconds}},
    NamedUnit{"s/it", {UnitClass::kTimePerStep, kSeconds}},
    NamedUnit{"s/iter", {UnitClass::kTimePerStep, kSeconds}},
    NamedUnit{"s/step", {UnitClass::kTimePerStep, kSeconds}},
    NamedUnit{"sample/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"samples/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"samples/sec", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"samples/second", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"sec", {UnitClass::kTime, kSeconds}},
    NamedUnit{"sec/step", {UnitClass::kTimePerStep, kSeconds}},
    NamedUnit{"seconds", {UnitClass::kTime, kSeconds}},
    NamedUnit{"secs", {UnitClass::kTime, kSeconds}},
    NamedUnit{"seq/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"sequences/s", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"sequences/sec", {UnitClass::kSamplesPerS, {}}},
    NamedUnit{"step/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"steps/s", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"steps/sec", {UnitClass::kStepsPerS, {}}},
    NamedUnit{"tflop/s", {UnitClass::kTflops, {{}, 1e12}}},
    NamedUnit{"tflop/s/device", {UnitClass::kTflops, {{}, 1e12}}},
    NamedUnit{"tflop/s/gpu", {UnitClass::kTflops, {{}, 1e12}}},
    NamedUnit{"tflops", {UnitClass::kTflops, {{}, 1e12}}},
    NamedUnit{"tflops/gpu", {UnitClass::kTflops, {{}, 1e12}}},
    NamedUnit{"tok/s", {UnitClass::kTokensPerS, {}}},
    NamedUnit{"tok/s/gpu", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tok/sec", {UnitClass::kTokensPerS, {}}},
    NamedUnit{"tokens/gpu/s", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tokens/gpu/sec", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tokens/gpu/second", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tokens/s", {UnitClass::kTokensPerS, {}}},
    NamedUnit{"tokens/s/device", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tokens/s/gpu", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tokens/sec", {UnitClass::kTokensPerS, {}}},
    NamedUnit{"tokens/sec/gpu", {UnitClass::kTokensPerSPerGpu, {}}},
    NamedUnit{"tokens/second", {UnitClass::kTokensPerS, {}}},
    NamedUnit{"us", {UnitClass::kTime, {"us", 1e-6}}},
};

// "g" alone: gigabytes or gibibytes, the log does not say which.
constexpr std::array<StepUnit, 14> kSuffixes = {{{"ms", 1e-3},
                                                 {"s", 1},
                                                 {"us", 1e-6},
                                                 {"min", 60},
                                                 {"h", 3600},
                                                 {"percent", 0.01},
                                                 {"bytes", 1},
                                                 {"kb", 1e3},
                                                 {"mb", 1e6},
                                                 {"gb", 1e9},
                                                 {"kib", kKib},
                                                 {"mib", kKib* kKib},
                                                 {"gib", kKib* kKib* kKib},
                                                 {"g", kNotSaid}}};

constexpr std::array<std::string_view, 31> kRunNames = {"gpus",
                                                        "nodes",
                                                        "gpus_per_node",
                                                        "tensor_parallel",
                                                        "pipeline_parallel",
                                                        "data_parallel",
                                                        "context_parallel",
                                                        "expert_parallel",
                                                        "virtual_pipeline",
                                                        "sequence_parallel",
                                                        "global_batch",
                                                        "micro_batch",
                                                        "gradient_accumulation",
                                                        "sequence_length",
                                                        "layers",
                                                        "hidden",
                                                        "ffn_hidden",
                                                        "attention_heads",
                                                        "kv_heads",
                                                        "vocabulary",
                                                        "experts",
                                                        "params",
                                                        "params_billion",
                                                        "params_million",
                                                        "trainable_params",
                                                        "total_steps",
                                                        "epochs",
                                                        "examples",
                                                        "zero_stage",
                                                        "train_samples",
                                                        "log_every"};

bool digits_at(std::string_view text, std::size_t at, std::size_t count, int& value) {
  if (at + count > text.size()) return false;
  value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit_char(text[i])) return false;
    value = value * 10 + (text[i] - '0');
  }
  return true;
}

// "2024-05-01", "2024/05/01" or "05/01/2024" at `at`, with its length.
std::optional<Date> date_at(std::string_view text, std::size_t at) {
  int year = 0, month = 0, day = 0;
  const auto is_mark = [&](std::size_t i) { return i < text.size() && (text[i] == '-' || text[i] == '/'); };
  const bool iso = digits_at(text, at, 4, year) && is_mark(at + 4) && digits_at(text, at + 5, 2, month) &&
                   is_mark(at + 7) && digits_at(text, at + 8, 2, day);
  const bool american = !iso && digits_at(text, at, 2, month) && is_mark(at + 2) && digits_at(text, at + 3, 2, day) &&
                        is_mark(at + 5) && digits_at(text, at + 6, 4, year);
  if ((!iso && !american) || year < 1990 || year > 2100) return std::nullopt;
  const char iso_text[] = {static_cast<char>('0' + year / 1000),
                           static_cast<char>('0' + year / 100 % 10),
                           static_cast<char>('0' + year / 10 % 10),
                           static_cast<char>('0' + year % 10),
                           '-',
                           static_cast<char>('0' + month / 10 % 10),
                           static_cast<char>('0' + month % 10),
                           '-',
                           static_cast<char>('0' + day / 10 % 10),
                           static_cast<char>('0' + day % 10)};
  return parse_date(std::string_view(iso_text, sizeof iso_text));
}

}  // namespace

bool find_printed_unit(std::string_view text, PrintedUnit& unit) {
  if (text.empty() || text.size() > 24) return false;
  std::array<char, 24> lower{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    lower[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  const std::string_view wanted(lower.data(), text.size());
  const auto found = std::lower_bound(kUnits.begin(), kUnits.end(), wanted,
                                      [](const NamedUnit& a, std::string_view b) { return a.text < b; });
  if (found == kUnits.end() || found->text != wanted) return false;
  unit = found->unit;
  if (text == "B") unit = {UnitClass::kMultiplier, {}, 1e9};
  return true;
}

bool find_unit(std::string_view suffix, StepUnit& unit) {
  for (const StepUnit& one : kSuffixes) {
    if (one.suffix == suffix) {
      unit = one;
      return true;
    }
  }
  return false;
}

StepUnit default_unit(StepField field) {
  if (field == StepField::kTflopsPerGpu) return {{}, 1e12};
  const UnitClass of = class_of(field);
  return {{}, of == UnitClass::kMemory || of == UnitClass::kTime ? kNotSaid : 1};
}

UnitClass class_of(StepField field) {
  switch (field) {
    case StepField::kStepTime:
    case StepField::kAverageStepTime:
    case StepField::kElapsed:
    case StepField::kDataTime:
    case StepField::kUpdateTime:
    case StepField::kCommTime:
      return UnitClass::kTime;
    case StepField::kMemoryAllocated:
    case StepField::kMemoryPeak:
    case StepField::kMemoryReserved:
      return UnitClass::kMemory;
    case StepField::kMfu:
      return UnitClass::kPercent;
    case StepField::kTokensPerS:
      return UnitClass::kTokensPerS;
    case StepField::kTokensPerSPerGpu:
      return UnitClass::kTokensPerSPerGpu;
    case StepField::kSamplesPerS:
      return UnitClass::kSamplesPerS;
    case StepField::kStepsPerS:
      return UnitClass::kStepsPerS;
    case StepField::kTflopsPerGpu:
      return UnitClass::kTflops;
    default:
      return UnitClass::kNone;
  }
}

std::span<const std::string_view> run_fact_names() { return kRunNames; }

std::string format_log_time(double seconds) {
  const auto total = static_cast<std::int64_t>(std::floor(std::clamp(seconds, -1e11, 1e11)));
  const std::int64_t day = total >= 0 ? total / 86400 : (total - 86399) / 86400;
  const std::int64_t of_day = total - day * 86400;
  return fmt::format("{}T{:02}:{:02}:{:02}", format_date(Date{static_cast<int>(day)}), of_day / 3600, of_day / 60 % 60,
                     of_day % 60);
}

double parse_log_time(std::string_view line) {
  line = line.substr(0, 160);
  for (std::size_t at = 0; at + 16 <= line.size(); ++at) {
    if (!is_digit_char(line[at]) || (at > 0 && is_digit_char(line[at - 1]))) continue;
    const std::optional<Date> date = date_at(line, at);
    if (!date) continue;
    int hour = 0, minute = 0, second = 0;
    if (!digits_at(line, at + 11, 2, hour) || !digits_at(line, at + 14, 2, minute)) continue;
    static_cast<void>(digits_at(line, at + 17, 2, second));
    double fraction = 0;
    if (at + 20 < line.size() && (line[at + 19] == ',' || line[at + 19] == '.')) {
      double scale = 0.1;
      for (std::size_t i = at + 20; i < line.size() && is_digit_char(line[i]) && scale > 1e-7; ++i, scale /= 10) {
        fraction += scale * (line[i] - '0');
      }
    }
    return date->days * 86400.0 + hour * 3600 + minute * 60 + second + fraction;
  }
  return kNotSaid;
}

}  // namespace tare
