#include "ingest/training_events.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "ingest/fast_number.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct Marker {
  std::string_view words;
  std::string_view kind;
  std::string_view not_with = {};
};

// The more particular first: the first that fits names the line.
constexpr Marker kMarkers[] = {
    {"out of memory. Tried to allocate", "out-of-memory"},
    {"CUDA out of memory", "out-of-memory"},
    {"HIP out of memory", "out-of-memory"},
    {"NPU out of memory", "out-of-memory"},
    {"CUDA error: out of memory", "out-of-memory"},
    {"RESOURCE_EXHAUSTED: Out of memory", "out-of-memory"},
    {"Watchdog caught collective operation timeout", "collective-timeout"},
    {"uncorrectable ECC error", "gpu-error"},
    {"CUDA error: ", "gpu-error"},
    {"HIP error: ", "gpu-error"},
    {"CUBLAS_STATUS_EXECUTION_FAILED", "gpu-error"},
    {"CUBLAS_STATUS_INTERNAL_ERROR", "gpu-error"},
    {"NCCL error in", "nccl-error"},
    {"ncclRemoteError", "nccl-error"},
    {"ncclSystemError", "nccl-error"},
    {"ncclUnhandledCudaError", "nccl-error"},
    {"ncclInternalError", "nccl-error"},
    {"DataLoader worker (pid", "loader-died"},
    {"No space left on device", "disk-full"},
    {"Disk quota exceeded", "disk-full"},
    {"DUE TO TIME LIMIT", "time-limit"},
    {"DUE TO PREEMPTION", "preempted"},
    {"DUE TO NODE FAILURE", "node-failure"},
    {"Signals.SIGKILL", "killed"},
    {"Signal 9 (SIGKILL)", "killed"},
    {"exitcode  : -9", "killed"},
    {"oom-kill event", "killed"},
    {"oom_kill event", "killed"},
    {"ChildFailedError", "crashed"},
    {"Segmentation fault", "crashed"},
    {"Caught signal 11", "crashed"},
    {"Traceback (most recent call last)", "crashed"},

    {"pytorch allocator cache flushes since last step", "allocator-flushes"},
    {"Our suggested max number of worker", "loader-workers-many"},
    {"does not have many workers which may be a bottleneck", "loader-workers-few"},
    {"did not find any unused parameters in the forward pass", "unused-parameters"},
    {"Grad strides do not match bucket view strides", "gradient-strides"},
    {"hit config.recompile_limit", "recompiles"},
    {"hit config.cache_size_limit", "recompiles"},
    {"torch._dynamo hit recompile_limit", "recompiles"},
    {"Falling back to eager", "kernel-fallback"},
    {"falling back to eager attention", "kernel-fallback"},
    {"flash-attn is not installed", "kernel-fallback"},
    {"flash_attn is not installed", "kernel-fallback"},
    {"Flash Attention is not installed", "kernel-fallback"},
    {"FlashAttention is not installed", "kernel-fallback"},
    {"Flash attention is not available", "kernel-fallback"},
    {"apex is not installed", "kernel-fallback"},
    {"Apex is not installed", "kernel-fallback"},
    {"Fused kernels are not available", "kernel-fallback"},
    {"DeepSpeedCPUAdam", "optimizer-offload"},
    {"cpu_adam", "optimizer-offload", ".."},  // not in the table of what is installed
    {"CPU CHECKPOINTING True", "activation-offload"},
};

// Markers by their first byte: one pass over a line finds all of them.
const std::array<std::vector<std::size_t>, 256>& markers_by_first_byte() {
  static const auto all = [] {
    std::array<std::vector<std::size_t>, 256> by_byte;
    for (std::size_t i = 0; i < std::size(kMarkers); ++i) {
      by_byte[static_cast<unsigned char>(kMarkers[i].words.front())].push_back(i);
    }
    return by_byte;
  }();
  return all;
}

// The first of the table that the line has; nullptr for none.
const Marker* marker_in(std::string_view line) {
  std::size_t first = std::size(kMarkers);
  const auto& by_byte = markers_by_first_byte();
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (const std::size_t i : by_byte[static_cast<unsigned char>(line[at])]) {
      if (i >= first) break;
      const Marker& marker = kMarkers[i];
      if (!line.substr(at).starts_with(marker.words)) continue;
      if (marker.not_with.empty() || !contains(line, marker.not_with)) first = i;
    }
  }
  return first == std::size(kMarkers) ? nullptr : &kMarkers[first];
}

constexpr std::size_t kText = 240;
constexpr std::int64_t kHeadLines = 20'000;  // programs say their GPU at the start
constexpr std::size_t kLineUsed = 1024;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "H100", "V100", "RTX 4090", "MI300X", "L40S", "T4": capitals and a number behind, which makes a product of a maker's
// name.
bool names_a_model(std::string_view name) {
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (i > 0 && name[i - 1] != ' ' && name[i - 1] != '-') continue;
    std::size_t at = i;
    while (at < name.size() && is_upper(name[at])) ++at;
    const std::size_t letters = at - i;
    if (letters == 3 && at < name.size() && name[at] == ' ') ++at;  // "RTX 4090"
    const std::size_t digits_at = at;
    while (at < name.size() && is_digit(name[at])) ++at;
    if (letters >= 1 && letters <= 3 && at - digits_at >= 1 && at - digits_at <= 4) return true;
  }
  return false;
}

}  // namespace

void TrainingEvents::on_line(std::string_view line, std::int64_t number) {
  line = line.substr(0, kLineUsed);
  take_event(line, number);
  take_checkpoint(line, number);
  if (number > kHeadLines) return;
  if (gpu_.empty()) take_gpu(line, number);
  if (peak_line_ == 0) take_peak(line, number);
}

void TrainingEvents::take_event(std::string_view line, std::int64_t number) {
  const Marker* const marker = marker_in(line);
  if (marker == nullptr) return;
  auto found = std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.kind == marker->kind; });
  if (found == events_.end()) {
    events_.push_back({marker->kind, number, 0, std::string(trim(line).substr(0, kText))});
    found = events_.end() - 1;
  }
  ++found->count;
}

// A save that took "14.05 seconds" or "12.3s"; others are only counted.
void TrainingEvents::take_checkpoint(std::string_view line, std::int64_t number) {
  if (!contains(line, "heckpoint")) return;
  const bool saved = contains(line, "saved") || contains(line, "Saved") || contains(line, "saving");
  if (!saved) return;
  if (saves_++ == 0) save_line_ = number;
  for (const std::string_view before : {" in ", " took ", " time: "}) {
    const std::size_t at = line.rfind(before);
    if (at == std::string_view::npos) continue;
    double seconds = 0;
    const char* const last = line.data() + line.size();
    const char* const end = parse_number(line.data() + at + before.size(), last, seconds);
    if (end == nullptr || !(seconds > 0) || seconds > 1e6) continue;
    const std::string_view unit = trim(std::string_view(end, static_cast<std::size_t>(last - end)));
    const bool in_seconds = unit.starts_with("sec") || (unit.starts_with('s') && (unit.size() < 2 || unit[1] < 'a'));
    if (!in_seconds) continue;
    ++timed_saves_;
    save_seconds_ += seconds;
    longest_save_ = std::max(longest_save_, seconds);
    return;
  }
}

void TrainingEvents::take_gpu(std::string_view line, std::int64_t number) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla ", "GeForce ", "AMD Instinct "}) {
    const std::size_t at = line.find(maker);
    if (at == std::string_view::npos) continue;
    std::string_view name = line.substr(at);
    name = name.substr(0, std::min(name.find_first_of(",;|'\"()[]"), name.find(". ")));
    for (const std::string_view behind : {" with ", " x ", "  ", " and "}) name = name.substr(0, name.find(behind));
    name = trim(name);
    if (name.size() > 48 || !names_a_model(name.substr(maker.size()))) continue;
    gpu_ = name;
    gpu_line_ = number;
    return;
  }
}

// torchtitan and nanochat in FLOP/s, llm.c in TFLOP/s.
void TrainingEvents::take_peak(std::string_view line, std::int64_t number) {
  const std::size_t at = std::min({line.find("Peak FLOPS"), line.find("peak FLOPS"), line.find("peak bf16 TFlops")});
  const std::size_t digit = at == std::string_view::npos ? at : line.find_first_of(":|", at);
  if (digit == std::string_view::npos) return;
  const std::size_t from = line.find_first_of("0123456789", digit);
  double value = 0;
  if (from == std::string_view::npos || parse_number(line.data() + from, line.data() + line.size(), value) == nullptr) {
    return;
  }
  if (value > 1e12) value /= 1e12;
  if (!(value > 1) || value > 1e5) return;
  peak_tflops_ = value;
  peak_line_ = number;
}

void TrainingEvents::to_facts(FactRecord& facts) const {
  if (!gpu_.empty()) facts.set("gpu_model", gpu_, gpu_line_);
  if (peak_line_ > 0) facts.set("mfu_peak_tflops", peak_tflops_, peak_line_);
  if (saves_ > 0) facts.set("checkpoint_saves", saves_, save_line_);
  if (timed_saves_ > 0) {
    facts.set("checkpoint_saves_timed", timed_saves_, save_line_);
    facts.set("checkpoint_seconds_total", save_seconds_, save_line_);
    facts.set("checkpoint_seconds_max", longest_save_, save_line_);
  }
  for (const Event& event : events_) {
    FactRecord& record = facts.append("events", event.line);
    record.set("kind", event.kind);
    record.set("text", event.text);
    record.set("count", event.count);
  }
}

}  // namespace tare
