#include "ingest/training_log.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/fast_number.h"
#include "ingest/scan.h"
#include "ingest/step_units.h"
#include "ingest/training_dialects.h"

namespace tare {
namespace {

constexpr std::size_t kLongestLine = 64u << 10;  // what is understood of one
constexpr std::size_t kRankTimes = 64;           // in collectives, of each rank
constexpr std::size_t kTemplates = 12;
constexpr std::size_t kTracks = 6;
constexpr std::size_t kRanksKept = 1024;
constexpr std::size_t kRowsOfOtherRanks = 128;
constexpr std::size_t kEvaluations = 1000;
constexpr std::size_t kBars = 512;
constexpr std::size_t kHosts = 4096;
constexpr std::size_t kWrapped = 8u << 10;
constexpr std::uint32_t kFieldMask = (1u << kStepFields) - 1;

constexpr std::uint32_t bit(StepField field) { return 1u << index_of(field); }
constexpr std::uint32_t bit(StepSlot slot) { return 1u << slot; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::uint32_t mask_of(const StepHits& hits) {
  std::uint32_t mask = 0;
  for (const StepHit& hit : hits) {
    if (hit.slot < kStepSlots) mask |= 1u << hit.slot;
  }
  return mask;
}

std::int64_t to_count(double value) { return value >= -1 && value < 9e15 ? static_cast<std::int64_t>(value) : -1; }

// A number in `text` at `at`, not longer than a rank is.
bool read_rank(std::string_view text, std::size_t& at, int& rank) {
  const std::size_t begin = at;
  int value = 0;
  while (at < text.size() && is_digit_char(text[at]) && at - begin < 7) value = value * 10 + (text[at++] - '0');
  if (at == begin) return false;
  rank = value;
  return true;
}

// "iteration   43/  100": where an iteration line of Megatron's begins.
bool begins_iteration(std::string_view text) {
  const std::size_t at = text.find("iteration ");
  if (at == std::string_view::npos) return false;
  std::size_t behind = text.find_first_not_of(' ', at + 10);
  if (behind == std::string_view::npos || !is_digit_char(text[behind])) return false;
  while (behind < text.size() && is_digit_char(text[behind])) ++behind;
  return behind < text.size() && text[behind] == '/';
}

std::string fact_name(const StepHit& hit) {
  std::string name(step_field_name(static_cast<StepField>(hit.slot)));
  if (!hit.unit.suffix.empty()) name.append("_").append(hit.unit.suffix);
  return name;
}

void set_number(FactRecord& record, const std::string& name, double value, std::int64_t line) {
  if (std::isnan(value)) {
    record.set_unknown(name, line);
  } else if (std::floor(value) == value && std::abs(value) < 9e15) {
    record.set(name, static_cast<std::int64_t>(value), line);
  } else {
    record.set(name, value, line);
  }
}

}  // namespace

TrainingLogReader::TrainingLogReader() { known_.reserve(kTemplates); }

TrainingLogReader::Prefix TrainingLogReader::prefix_of(std::string_view text) {
  Prefix prefix;
  std::size_t at = 0;
  while (at < text.size() && at < 8 && text[at] == ' ') ++at;
  if (at == text.size()) return prefix;
  const char c = text[at];
  const auto done = [&](std::size_t end, int rank) {
    while (end < text.size() && (text[end] == ':' || text[end] == ' ')) ++end;
    prefix.size = end;
    prefix.rank = rank;
  };
  int rank = -1;
  if (c == '[') {
    for (const std::string_view name : {"[rank", "[Rank ", "[default", "[RANK ", "[RANK"}) {
      if (text.substr(at, name.size()) != name) continue;
      std::size_t end = at + name.size();
      if (!read_rank(text, end, rank) || end >= text.size() || text[end] != ']') return prefix;
      if (text.substr(end + 1, 2) == " (") return prefix;  // "[Rank 3] (after 20 iterations) memory"
      done(end + 1, rank);
      return prefix;
    }
    std::size_t end = at + 1;  // "[1,3]<stdout>:"
    int job = 0;
    if (read_rank(text, end, job) && end < text.size() && text[end] == ',') {
      ++end;
      if (read_rank(text, end, rank) && text.substr(end, 5) == "]<std") {
        const std::size_t close = text.find('>', end);
        if (close != std::string_view::npos) done(close + 1, rank);
      }
    }
  } else if (is_digit_char(c)) {  // "3: ", of srun --label
    std::size_t end = at;
    if (read_rank(text, end, rank) && text.substr(end, 2) == ": ") done(end, rank);
  } else if (c == '>') {
    done(at + 1, -1);
  } else if (is_letter(c) && at == 0) {  // "node01: "
    bool digit = false;
    std::size_t end = 0;
    while (end < text.size() && end < 64 &&
           (is_letter(text[end]) || is_digit_char(text[end]) || text[end] == '-' || text[end] == '.')) {
      digit = digit || is_digit_char(text[end]);
      ++end;
    }
    if (digit && text.substr(end, 2) == ": ") {
      prefix.host = text.substr(0, end);
      prefix.size = end + 1;  // the blank stays: it may be the program's own
    }
  }
  return prefix;
}

bool TrainingLogReader::on_line(const Line& line, Reading& reading) {
  ++lines_;
  last_line_ = line.number;
  Prefix prefix;
  const char first = line.text.empty() ? '\0' : line.text.front();
  if (first != '{') prefix = prefix_of(line.text);
  if (wrapped_.empty() && fits_known(line.text.substr(prefix.size), line, prefix.rank)) return true;
  return understand(line.text, line, prefix, reading);
}

bool TrainingLogReader::fits_known(std::string_view body, const Line& line, int rank) {
  if (known_.empty()) return false;
  ++clock_;
  Known* known = &known_[latest_];
  bool fits = known->form.match(body, values_.data());
  for (std::size_t i = 0; !fits && i < known_.size(); ++i) {
    if (i == latest_) continue;
    known = &known_[i];
    fits = known->form.match(body, values_.data());
    if (fits) latest_ = i;
  }
  if (!fits) return false;
  known->used = clock_;
  add_row(known->track, rank, values_.data(), known->form.mask(), line);
  return true;
}

void TrainingLogReader::learn(std::size_t track, std::string_view body, const StepHits& hits, bool json) {
  Known fresh{LineTemplate(body, hits, json), track, clock_};
  if (!fresh.form.usable()) return;
  if (known_.size() < kTemplates) {
    known_.push_back(std::move(fresh));
    latest_ = known_.size() - 1;
    return;
  }
  const auto oldest =
      std::min_element(known_.begin(), known_.end(), [](const Known& a, const Known& b) { return a.used < b.used; });
  *oldest = std::move(fresh);
  latest_ = static_cast<std::size_t>(oldest - known_.begin());
}

bool TrainingLogReader::understand(std::string_view text, const Line& line, const Prefix& prefix, Reading& reading) {
  text = text.substr(0, kLongestLine);
  if (contains(text, ":::MLL")) return false;  // MLPerf's, which has a reader of its own
  if (!prefix.host.empty() && hosts_.size() < kHosts) {
    ++hosts_[std::string(prefix.host)];
    ++hosted_lines_;
  }
  const std::string_view body = text.substr(std::min(prefix.size, text.size()));
  if (on_wrapped(body, line, prefix, reading)) return true;
  bool used = memory_.on_line(body, line.number);
  const std::int64_t rows_before = rows_;
  bool step = false;
  std::size_t at = 0;
  // A bar and other records may share a line.
  while (const std::optional<ProgressBar> bar = find_progress_bar(body, at)) {
    if (bar->begin > at)
      step = on_body(body.substr(at, bar->begin - at), at, line, prefix.rank, false, reading) || step;
    used = on_bar(*bar, body, line, prefix.rank) || used;
    at = std::max(bar->end, at + 1);
    if (at >= body.size()) break;
  }
  if (!used || at > 0) {
    step = (at < body.size() && on_body(body.substr(at), at, line, prefix.rank, at == 0, reading)) || step;
  }
  if (!step) on_line_without_step(text);
  if (rows_ == rows_before) events_.on_line(text, line.number);
  return used || step;
}

void TrainingLogReader::on_line_without_step(std::string_view text) {
  last_other_.assign(text.substr(0, 160));
  if (behind_ == last_row_line_) return;
  first_time_behind_ = parse_log_time(text);
  if (!std::isnan(first_time_behind_)) behind_ = last_row_line_;
}

// Terminals wrap long lines, and copies keep the break: an iteration's line that does not end as it should waits for
// the rest.
bool TrainingLogReader::on_wrapped(std::string_view body, const Line& line, const Prefix& prefix, Reading& reading) {
  const std::string_view trimmed = trim(body);
  const bool begins = begins_iteration(body);
  if (!wrapped_.empty()) {
    const bool goes_on = !begins && contains(trimmed, "|") && !trimmed.starts_with("time (ms)") &&
                         !trimmed.starts_with("[Rank") && wrapped_parts_ < 12 && wrapped_.size() < kWrapped;
    const bool ends_wrapped = !begins && !goes_on && wrapped_parts_ < 12 && trimmed.ends_with('|');
    if (!goes_on && !ends_wrapped) {
      flush_wrapped(reading);
    } else {
      const bool in_number = is_digit_char(wrapped_.back()) && is_digit_char(body.front());
      if (!in_number) wrapped_ += ' ';
      wrapped_.append(body);
      ++wrapped_parts_;
      if (trimmed.ends_with('|')) flush_wrapped(reading);
      return true;
    }
  }
  const bool megatron = begins && contains(body, "|") && !trimmed.ends_with('|');
  if (!megatron || contains(body, "nan iterations:")) return false;
  wrapped_.assign(body);
  wrapped_line_ = line;
  wrapped_rank_ = prefix.rank;
  wrapped_parts_ = 0;
  return true;
}

void TrainingLogReader::flush_wrapped(Reading& reading) {
  const std::string text = std::move(wrapped_);
  wrapped_.clear();
  Line line = wrapped_line_;
  line.text = text;
  on_body(text, 0, line, wrapped_rank_, wrapped_parts_ == 0, reading);
}

bool TrainingLogReader::on_body(std::string_view text, std::size_t offset, const Line& line, int rank, bool may_learn,
                                Reading& reading) {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty()) return false;
  if (timers_.on_line(text, line.number, rank)) {
    if (contains(text, "log_dist")) hints_.try_emplace("DeepSpeed", line.number);
    return true;
  }
  if (on_block_line(trimmed, line, rank)) return true;
  const std::size_t brace = text.find('{');
  const bool json = brace != std::string_view::npos && text.find('"', brace) != std::string_view::npos;
  if (brace != std::string_view::npos && on_summary(text, line.number)) return true;
  if (json && brace == text.find_first_not_of(" \t")) {
    if (on_pairs(text, offset, line, rank, may_learn, true, reading)) return true;
  } else if (json && on_pairs(text.substr(brace), offset + brace, line, rank, may_learn, true, reading)) {
    return true;
  }
  if (on_pairs(text, offset, line, rank, may_learn, false, reading)) return true;
  return on_other(text, line.number);
}

bool TrainingLogReader::is_step(const StepHits& hits, std::uint8_t dialect, bool json) const {
  const std::uint32_t mask = mask_of(hits);
  constexpr std::uint32_t kSpeed = bit(StepField::kStepTime) | bit(StepField::kUpdateTime) |
                                   bit(StepField::kTokensPerS) | bit(StepField::kTokensPerSPerGpu) |
                                   bit(StepField::kSamplesPerS) | bit(StepField::kStepsPerS) |
                                   bit(StepField::kTflopsPerGpu) | bit(StepField::kMfu);
  constexpr std::uint32_t kLearning =
      bit(StepField::kLoss) | bit(StepField::kGradNorm) | bit(StepField::kAverageStepTime) | bit(StepField::kElapsed);
  const bool has_step = (mask & bit(kStepSlot)) != 0;
  const bool rated = (mask & kSpeed) != 0;
  const bool learns = (mask & bit(StepField::kLoss)) != 0;
  // "step 0: train loss 10.9, val loss 10.9" is an evaluation of both.
  const bool of_unknown_text = dialect == kUnknownDialect && !json;
  const bool evaluation = (mask & bit(StepField::kEvalLoss)) != 0 && (mask & kSpeed) == 0 &&
                          (of_unknown_text || (mask & bit(StepField::kLoss)) == 0);
  if (evaluation) return false;
  if (has_step && (rated || (mask & kLearning) != 0)) return true;
  if (has_step && dialect != kUnknownDialect) {
    return (mask & (bit(StepField::kLearningRate) | bit(StepField::kConsumedSamples))) != 0;
  }
  // Hugging Face's dicts have no step; nor have some others.
  const std::uint32_t beside =
      bit(StepField::kLearningRate) | bit(StepField::kGradNorm) | bit(StepField::kEpoch) | kSpeed;
  if (learns && (mask & beside) != 0)
    return dialect != kUnknownDialect || json || std::popcount(mask & kFieldMask) >= 3;
  return rated && dialect != kUnknownDialect;
}

// Steps that stand where they have no name:
//   0/450, SamplesPerSec=7.45          DeepSpeed: epoch and step
//   logging_writer.py:48] [100] loss=5.321
void TrainingLogReader::add_step_without_name(std::string_view text, std::size_t offset, std::string_view program) {
  const char* const last = text.data() + text.size();
  const auto add = [&](StepSlot slot, std::size_t at) {
    StepHit hit;
    hit.slot = slot;
    const char* const to = parse_number(text.data() + at, last, hit.value);
    if (to == nullptr) return;
    hit.begin = static_cast<std::uint32_t>(at + offset);
    hit.end = static_cast<std::uint32_t>(static_cast<std::size_t>(to - text.data()) + offset);
    hits_.add(hit);
  };
  if (program == "DeepSpeed") {
    const std::size_t rate = text.find("SamplesPerSec=");
    if (rate == std::string_view::npos) return;
    if (hits_.find(StepField::kSamplesPerS) == nullptr) add(slot_of(StepField::kSamplesPerS), rate + 14);
    if (rate < 3 || text.substr(rate - 2, 2) != ", ") return;
    std::size_t begin = rate - 2;
    while (begin > 0 && is_digit_char(text[begin - 1])) --begin;
    if (begin > 0 && text[begin - 1] == '/') add(kStepSlot, begin);
  } else if (program == "CLU") {
    const std::size_t at = text.find("] [");
    if (at != std::string_view::npos) add(kStepSlot, at + 3);
  }
}

bool TrainingLogReader::on_pairs(std::string_view text, std::size_t offset, const Line& line, int rank, bool may_learn,
                                 bool json, Reading& reading) {
  hits_.clear();
  if (json) {
    scan_json_object(text, hits_, offset);
  } else {
    scan_key_values(text, hits_, offset);
  }
  if (hits_.empty()) return false;
  std::uint8_t dialect = dialect_of_line(text);
  const std::string_view name = training_dialects()[dialect].name;
  if (!json && hits_.find(kStepSlot) == nullptr) add_step_without_name(text, offset, name);
  const bool told = take_run_facts(hits_, text, line.number);
  if (told) note_program(text, line.number);
  if (!is_step(hits_, dialect, json)) {
    const bool evaluation = hits_.find(StepField::kEvalLoss) != nullptr;
    if (evaluation) take_evaluation(hits_, line.number);
    return evaluation || (hits_.find(kStepSlot) == nullptr && amend_last(hits_, line)) || told;
  }
  if (hits_.find(StepField::kEvalLoss) != nullptr) take_evaluation(hits_, line.number);
  const std::size_t track = track_of(dialect, json);
  const StepHit* const step = hits_.find(kStepSlot);
  const StepHit* const micro = hits_.find(kMicroSlot);
  if (step != nullptr && micro != nullptr && step->value > 0 && !run_.contains("gradient_accumulation")) {
    const double ratio = micro->value / step->value;
    if (ratio > 1 && ratio == std::floor(ratio)) {
      run_["gradient_accumulation"] = {ratio, line.number, "micro steps over steps"};
    }
  }
  if (hits_.unit_unstated() && std::find(noted_.begin(), noted_.end(), "unit") == noted_.end()) {
    reading.note(fmt::format("line {}: a time without a unit is taken as seconds", line.number));
    noted_.emplace_back("unit");
  }
  add_hits(track, rank, hits_, line);
  if (may_learn)
    learn(track, offset == 0 ? text : std::string_view(text.data() - offset, text.size() + offset), hits_, json);
  return true;
}

std::size_t TrainingLogReader::track_of(std::uint8_t dialect, bool json) {
  const std::string_view name = training_dialects()[dialect].name;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (training_dialects()[tracks_[i].dialect].name == name && (!name.empty() || tracks_[i].json == json)) return i;
  }
  if (tracks_.size() >= kTracks) return kTracks - 1;
  Track track;
  track.dialect = dialect;
  track.json = json;
  tracks_.push_back(std::move(track));
  return tracks_.size() - 1;
}

TrainingLogReader::RankSteps& TrainingLogReader::steps_of(std::size_t index, int rank) {
  Track& track = tracks_[index];
  if (track.last < track.ranks.size() && track.ranks[track.last].rank == rank) return track.ranks[track.last];
  for (std::size_t i = 0; i < track.ranks.size(); ++i) {
    if (track.ranks[i].rank == rank) {
      track.last = i;
      return track.ranks[i];
    }
  }
  if (track.ranks.size() >= kRanksKept) return track.ranks.back();
  const std::size_t limit = track.ranks.empty() ? StepSeries::kRows : kRowsOfOtherRanks;
  track.ranks.push_back({rank, StepSeriesBuilder(limit), 0});
  track.last = track.ranks.size() - 1;
  StepSeries& series = track.ranks.back().steps.series();
  series.framework = training_dialects()[track.dialect].name;
  series.rank = rank;
  return track.ranks.back();
}

// The first unit of a field is the column's; later ones are turned into it.
void TrainingLogReader::adopt_unit(Track& track, StepHit& hit) {
  const StepField field = static_cast<StepField>(hit.slot);
  StepUnit& unit = track.units[hit.slot];
  if ((track.with_unit >> hit.slot & 1) == 0) {
    track.with_unit |= 1u << hit.slot;
    unit = hit.unit.suffix.empty() || field == StepField::kTflopsPerGpu ? default_unit(field) : hit.unit;
    // A utilisation above 1 can only be in per cent.
    if (field == StepField::kMfu && hit.unit.suffix.empty() && hit.value > 1) unit = {"percent", 0.01};
    return;
  }
  const bool other = hit.unit.suffix != unit.suffix && !hit.unit.suffix.empty();
  if (!other || !(hit.unit.factor > 0) || !(unit.factor > 0) || field == StepField::kTflopsPerGpu) return;
  const double ratio = hit.unit.factor / unit.factor;
  hit.value *= ratio;
  hit.scale *= ratio;
}

void TrainingLogReader::add_hits(std::size_t index, int rank, StepHits& hits, const Line& line) {
  RankSteps& one = steps_of(index, rank);
  StepSeries& series = one.steps.series();
  const TrainingDialect& dialect = training_dialects()[tracks_[index].dialect];
  StepHits adjusted;
  std::uint32_t mask = 0;
  for (StepHit hit : hits) {
    if (hit.slot >= kStepSlots) {
      adjusted.add(hit);  // a fact of the run: passed over when the line comes again
      continue;
    }
    if (hit.slot == slot_of(StepField::kTokensPerS) && dialect.tokens_per_gpu) {
      hit.slot = slot_of(StepField::kTokensPerSPerGpu);
    }
    if (hit.slot < kStepFields) {
      const StepField field = static_cast<StepField>(hit.slot);
      if (!hit.finite) {
        one.steps.add_not_finite(field, line.number);
        adjusted.add(hit);
        continue;
      }
      adopt_unit(tracks_[index], hit);
    }
    values_[hit.slot] = hit.value;
    mask |= 1u << hit.slot;
    adjusted.add(hit);
  }
  if (dialect.tokens_of_job) series.tokens_scope = "job";
  hits = adjusted;
  add_row(index, rank, values_.data(), mask, line);
}

void TrainingLogReader::add_row(std::size_t index, int rank, const double* values, std::uint32_t mask,
                                const Line& line) {
  if (rank < 0 && (mask & bit(kRankSlot)) != 0) rank = static_cast<int>(std::clamp(values[kRankSlot], -1.0, 1e7));
  RankSteps& one = steps_of(index, rank);
  std::uint32_t fields = mask & kFieldMask;
  // nanoGPT prints -100 % before it knows.
  if ((fields & bit(StepField::kMfu)) != 0 && values[index_of(StepField::kMfu)] < 0) fields &= ~bit(StepField::kMfu);
  if (row_mask_ != fields) {
    row_.values.fill(kNotSaid);
    row_mask_ = fields;
  }
  for (std::uint32_t left = fields; left != 0; left &= left - 1) {
    const int field = std::countr_zero(left);
    row_.values[static_cast<std::size_t>(field)] = values[field];
  }
  row_.step = (mask & bit(kStepSlot)) != 0 ? to_count(values[kStepSlot]) : -1;
  row_.line = line.number;
  row_.time = kNotSaid;
  ++rows_;
  last_track_ = index;
  last_rank_ = rank;
  last_row_line_ = line.number;
  if (tracks_[index].dialect != kUnknownDialect) ++known_rows_;
  if (tracks_[index].json) ++json_rows_;
  StepSeries& series = one.steps.series();
  // Two lines of one program about the same step, each with its own part.
  if (row_.step >= 0 && row_.step == series.last_step && (one.last_mask & fields) == 0 && series.row_count > 0) {
    for (std::uint32_t left = fields; left != 0; left &= left - 1) {
      const std::size_t field = static_cast<std::size_t>(std::countr_zero(left));
      one.steps.amend(static_cast<StepField>(field), row_.values[field]);
    }
    one.last_mask |= fields;
    return;
  }
  one.last_mask = fields;
  const bool kept = one.steps.add(row_, fields);
  if (ahead_line_ != 0) amend_from_ahead();
  if ((mask & bit(kTotalSlot)) != 0) series.total_steps = to_count(values[kTotalSlot]);
  if (!kept) return;
  StepRow* const row = one.steps.last_row();
  row->time = parse_log_time(line.text);
  if (std::isnan(row->time) && (mask & bit(kTimeSlot)) != 0 && values[kTimeSlot] > 1e9) {
    row->time = values[kTimeSlot] > 1e11 ? values[kTimeSlot] / 1e3 : values[kTimeSlot];
    if (!(row->time < 4e9)) row->time = kNotSaid;
  }
}

bool TrainingLogReader::take_run_facts(const StepHits& hits, std::string_view text, std::int64_t number) {
  const bool coordinates = contains(text, "|DP=") || contains(text, "|TP=") || contains(text, "|PP=");
  const std::span<const std::string_view> names = run_fact_names();
  bool told = false;
  for (const StepHit& hit : hits) {
    std::string_view name;
    if (hit.slot >= kRunSlot) {
      told = true;
      const std::size_t index = hit.slot - kRunSlot;
      if (index >= names.size()) continue;
      name = names[index];
      if (coordinates && name.ends_with("_parallel")) continue;
      if (hit.value < 1 && name != "zero_stage") continue;
      if (name == "params" && hit.scale > 1) {
        const bool billions = hit.scale > 1e8;
        if (hit.scale < 1e6) continue;
        run_.try_emplace(billions ? "params_billion" : "params_million", RunFact{hit.value / hit.scale, number, {}});
        continue;
      }
    } else if (hit.slot == slot_of(StepField::kGlobalBatch) && hit.value >= 1) {
      name = "global_batch";
    } else {
      continue;
    }
    if (hit.finite) run_.try_emplace(std::string(name), RunFact{hit.value, number, {}});
  }
  return told;
}

void TrainingLogReader::amend_from_ahead() {
  const bool near = last_row_line_ - ahead_line_ <= 4;
  ahead_line_ = 0;
  if (!near) return;
  Line line;
  line.number = last_row_line_;
  amend_last(ahead_, line);
}

// What a program prints of a step on a line of its own, behind the step's: "Effective Tera Flops per GPU: 41.94".
bool TrainingLogReader::amend_last(const StepHits& hits, const Line& line) {
  constexpr std::int64_t kNear = 8;                // lines
  if (trim(line.text).starts_with("Step Time")) {  // Megatron-Bridge prints it before the step's own line
    ahead_ = hits;
    ahead_line_ = line.number;
    hints_.try_emplace("Megatron-Bridge", line.number);
    return true;
  }
  if (rows_ == 0) return false;
  RankSteps& one = steps_of(last_track_, last_rank_);
  bool used = false;
  for (const StepHit& hit : hits) {
    if (hit.slot >= kStepFields || !hit.finite || (one.last_mask >> hit.slot & 1) != 0) continue;
    const StepField field = static_cast<StepField>(hit.slot);
    const UnitClass of = class_of(field);
    const bool speed = of == UnitClass::kTflops || of == UnitClass::kTokensPerS || of == UnitClass::kSamplesPerS ||
                       of == UnitClass::kTokensPerSPerGpu || field == StepField::kStepTime || field == StepField::kMfu;
    const bool near = line.number - last_row_line_ <= kNear;
    if (of != UnitClass::kMemory && !(speed && near)) continue;
    StepHit adopted = hit;
    adopt_unit(tracks_[last_track_], adopted);
    one.steps.amend(field, adopted.value);
    one.last_mask |= 1u << hit.slot;
    used = true;
  }
  return used;
}

void TrainingLogReader::take_evaluation(const StepHits& hits, std::int64_t number) {
  ++evaluation_count_;
  if (evaluations_.size() >= kEvaluations) evaluations_.pop_back();  // the last one is kept
  FactRecord record(number);
  if (const StepHit* const step = hits.find(kStepSlot)) record.set("step", to_count(step->value));
  for (const StepHit& hit : hits) {
    if (hit.slot >= kStepFields) continue;
    if (hit.finite) {
      set_number(record, fact_name(hit), hit.value, number);
    } else {
      record.set_unknown(fact_name(hit), number);
    }
  }
  evaluations_.push_back(std::move(record));
}

bool TrainingLogReader::on_bar(const ProgressBar& bar, std::string_view text, const Line& line, int rank) {
  const bool per_second = bar.unit.ends_with("/s");
  const bool of_steps = bar.unit == "it/s" || bar.unit == "s/it" || bar.unit.starts_with("s/") ||
                        bar.unit.starts_with("batch") || bar.unit.starts_with("step") || bar.unit.starts_with("ex");
  if (!of_steps) return false;  // a download
  ++bars_;
  FactRecord record(line.number);
  if (!bar.description.empty()) record.set("description", bar.description.substr(0, 80));
  if (bar.at >= 0) record.set("step", bar.at);
  if (bar.total >= 0) record.set("total_steps", bar.total);
  if (!std::isnan(bar.elapsed_s)) record.set("elapsed_s", bar.elapsed_s);
  if (!std::isnan(bar.remaining_s)) record.set("remaining_s", bar.remaining_s);
  if (!std::isnan(bar.rate)) record.set(per_second ? "steps_per_s" : "s_per_step", bar.rate);
  record.set("rate", std::isnan(bar.rate) ? fmt::format("?{}", bar.unit) : fmt::format("{}{}", bar.rate, bar.unit));

  hits_.clear();
  const std::size_t postfix_at = bar.postfix.empty() ? 0 : static_cast<std::size_t>(bar.postfix.data() - text.data());
  if (!bar.postfix.empty()) scan_key_values(bar.postfix, hits_, postfix_at);
  // "…, 12.12s/it]10, 2.2398": step and loss behind a bar.
  if (hits_.empty() && bar.end < text.size() && is_digit_char(text[bar.end])) {
    double step = 0, loss = 0;
    const char* const last = text.data() + text.size();
    const char* at = parse_number(text.data() + bar.end, last, step);
    if (at != nullptr && last - at > 2 && at[0] == ',' && at[1] == ' ' && parse_number(at + 2, last, loss) != nullptr) {
      StepHit hit;
      hit.slot = kStepSlot;
      hit.value = step;
      hits_.add(hit);
      hit.slot = slot_of(StepField::kLoss);
      hit.value = loss;
      hits_.add(hit);
    }
  }
  for (const StepHit& hit : hits_) {
    if (hit.slot < kStepFields && hit.finite) set_number(record, fact_name(hit), hit.value, line.number);
  }
  const std::uint32_t mask = mask_of(hits_);
  const std::uint8_t dialect = dialect_of_line(text);
  if ((mask & (bit(StepField::kLoss) | bit(StepField::kStepTime) | bit(StepField::kTokensPerS))) != 0) {
    if (hits_.find(kStepSlot) == nullptr && bar.at >= 0) {
      StepHit hit;
      hit.slot = kStepSlot;
      hit.value = static_cast<double>(bar.at);
      hits_.add(hit);
    }
    if (bar.total >= 0) {
      StepHit hit;
      hit.slot = kTotalSlot;
      hit.value = static_cast<double>(bar.total);
      hits_.add(hit);
    }
    if (hits_.find(StepField::kStepTime) == nullptr && bar.rate > 0) {
      StepHit hit;
      hit.slot = slot_of(StepField::kStepTime);
      hit.value = per_second ? 1 / bar.rate : bar.rate;
      hit.unit = {"s", 1};
      hits_.add(hit);
    }
    add_hits(track_of(dialect, false), rank, hits_, line);
  }
  last_bar_ = record;
  if (bars_until_next_ > 0) {
    --bars_until_next_;
    return true;
  }
  if (progress_.size() >= kBars) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < progress_.size(); i += 2) progress_[kept++] = std::move(progress_[i]);
    progress_.resize(kept);
    bar_stride_ *= 2;
  }
  progress_.push_back(std::move(record));
  bars_until_next_ = bar_stride_ - 1;
  return true;
}

// Programs that print a step as a block, one value a line:
//   [epoch=1][batch=10/500]:            Composer
//           Train loss/train/total: 6.4
//   [step=10/739328,epoch=0]            OLMo
//       train/CrossEntropyLoss=11.2
bool TrainingLogReader::on_block_line(std::string_view body, const Line& line, int rank) {
  while (body.starts_with("- ") || body.starts_with("* ")) body = trim(body.substr(2));
  if (const std::size_t batch = body.find("[batch="); batch != std::string_view::npos && contains(body, "[epoch=")) {
    double step = 0;
    parse_number(body.data() + batch + 7, body.data() + body.size(), step);
    block_step_ = to_count(step);
    in_block_ = false;
    return true;
  }
  if (const std::size_t at = body.find("[step="); at < 80 && contains(body, "epoch=")) {
    double step = 0;
    parse_number(body.data() + at + 6, body.data() + body.size(), step);
    block_step_ = to_count(step);
    in_block_ = false;
    return true;
  }
  const bool composer = body.starts_with("Train ") && body.find('/') != std::string_view::npos;
  const bool olmo = !composer && block_step_ >= 0 && body.find('/') != std::string_view::npos &&
                    body.find('=') != std::string_view::npos && body.find(' ') == std::string_view::npos;
  if (!composer && !olmo) return false;
  if (composer) body = body.substr(6);
  const std::size_t colon = body.rfind(composer ? ':' : '=');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = trim(body.substr(0, colon));
  const std::string_view text = trim(body.substr(colon + 1));
  double value = 0;
  const char* const last = text.data() + text.size();
  if (text.empty()) return false;
  const char* const end = parse_number(text.data(), last, value);
  const StepKey* const key = find_step_key(name);
  if (end == nullptr || key == nullptr || key->slot >= kStepFields) return true;
  // Thousands in groups.
  if (end != last && *end == ',') {
    const std::optional<Measure> measure = to_measure(text);
    if (measure) value = measure->value;
  }
  const std::size_t track = track_of(dialect_named(composer ? "Composer" : "OLMo"), false);
  RankSteps& one = steps_of(track, rank);
  const std::uint32_t field = 1u << key->slot;
  if (!in_block_ || (one.last_mask & field) != 0) {
    StepRow row;
    row.step = block_step_;
    row.line = line.number;
    one.steps.add(row, 0);
    one.last_mask = 0;
    in_block_ = true;
    ++rows_;
    ++known_rows_;
  }
  StepHit hit;
  hit.slot = key->slot;
  hit.value = value * key->scale;
  hit.unit = key->unit;
  adopt_unit(tracks_[track], hit);
  one.steps.amend(static_cast<StepField>(key->slot), hit.value);
  one.last_mask |= field;
  return true;
}

// {'train_runtime': 273.0, 'train_samples_per_second': 3.66, …}, once for every rank; or "  train_runtime = 0:04:33".
bool TrainingLogReader::on_summary(std::string_view text, std::int64_t number) {
  if (!contains(text, "train_runtime")) return false;
  ++summary_lines_;
  if (summary_lines_ > 1) return true;
  summary_.line = number;
  struct Name {
    std::string_view printed, fact;
  };
  static constexpr Name kNames[] = {{"train_runtime", "train_runtime_s"},
                                    {"train_samples_per_second", "train_samples_per_s"},
                                    {"train_steps_per_second", "train_steps_per_s"},
                                    {"train_tokens_per_second", "train_tokens_per_s"},
                                    {"train_loss", "train_loss"},
                                    {"total_flos", "total_flops"},
                                    {"epoch", "epoch"},
                                    {"train_samples", "train_samples"},
                                    {"num_input_tokens_seen", "input_tokens_seen"}};
  for (const Name& name : kNames) {
    for (const char quote : {'\'', '"'}) {
      const std::string marker = fmt::format("{0}{1}{0}:", quote, name.printed);
      const std::size_t at = text.find(marker);
      if (at == std::string_view::npos) continue;
      std::size_t from = at + marker.size();
      while (from < text.size() && (text[from] == ' ' || text[from] == quote)) ++from;
      double value = 0;
      if (parse_number(text.data() + from, text.data() + text.size(), value) != nullptr) {
        summary_.set(name.fact, value, number);
      }
    }
  }
  return true;
}

// Lines that are no step and no list of values, but tell something.
bool TrainingLogReader::on_other(std::string_view text, std::int64_t number) {
  if (contains(text, "OVERFLOW!")) {
    if (overflows_++ == 0) first_overflow_line_ = number;
    return true;
  }
  return note_program(text, number);
}

bool TrainingLogReader::note_program(std::string_view text, std::int64_t number) {
  const std::string_view hint = framework_hint(text);
  if (hint.empty()) return false;
  if (hints_.size() < 16) hints_.try_emplace(std::string(hint), number);
  return true;
}

std::size_t TrainingLogReader::main_track() const {
  std::size_t best = 0;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    std::int64_t score = 0;
    for (const RankSteps& one : tracks_[i].ranks) {
      const StepSeries& series = one.steps.series();
      const bool timed = series.has(StepField::kStepTime) || series.has(StepField::kUpdateTime);
      const bool learns = series.has(StepField::kLoss);
      score += series.row_count * (timed && learns ? 4 : timed || learns ? 2 : 1);
    }
    if (score > most) {
      most = score;
      best = i;
    }
  }
  return best;
}

void TrainingLogReader::finish_run(StepSeries& series) {
  series.run = run_;
  if (!hosts_.empty() && hosted_lines_ * 2 > lines_ && !series.run.contains("nodes")) {
    series.run["nodes"] = {static_cast<double>(hosts_.size()), 0, "names in front of the lines"};
  }
  if (!series.run.contains("gpus")) {
    const StepSummary& job = series.summary(StepField::kTokensPerS);
    const StepSummary& gpu = series.summary(StepField::kTokensPerSPerGpu);
    if (job.count > 0 && gpu.count == job.count && gpu.sum > 0) {
      const double gpus = std::round(job.sum / gpu.sum);
      if (gpus >= 1) series.run["gpus"] = {gpus, 0, "tokens per second over those per GPU"};
    }
  }
  if (memory_.highest_rank() >= 0) {
    series.run["gpus_at_least"] = {static_cast<double>(memory_.highest_rank() + 1), 0, "the highest rank that reports"};
  }
  if (series.total_steps < 0) {
    if (const std::optional<double> total = series.run_number("total_steps")) series.total_steps = to_count(*total);
  }
  series.run.erase("total_steps");
}

void TrainingLogReader::add_ranks(FactRecord& facts, std::vector<StepSeries>& all) const {
  if (all.size() < 2) return;
  for (const StepSeries& series : all) {
    if (series.row_count == 0) continue;
    FactRecord& record = facts.append("ranks", series.rows.empty() ? 0 : series.rows.front().line);
    if (series.rank >= 0) record.set("rank", series.rank);
    record.set("step_count", series.row_count);
    if (series.last_step >= 0) record.set("last_step", series.last_step);
    record.set("last_step_line", series.last_line);
    for (std::size_t i = 0; i < kStepFields; ++i) {
      const StepSummary& summary = series.summaries[i];
      const StepField field = static_cast<StepField>(i);
      if (summary.count == 0 || std::isnan(summary.median)) continue;
      std::string name(step_field_name(field));
      if (!series.unit(field).suffix.empty()) name.append("_").append(series.unit(field).suffix);
      record.set(name + "_median", summary.median);
      record.set(name + "_max", summary.max);
    }
    if (!series.has(StepField::kCommTime)) continue;
    std::vector<Fact> times;
    for (const StepRow& row : series.rows) {
      if (times.size() >= kRankTimes) break;
      const bool printed = series.unit(StepField::kCommTime).suffix == "ms";
      const double ms = printed ? row[StepField::kCommTime] : series.base(row, StepField::kCommTime) * 1e3;
      if (!std::isnan(ms)) times.push_back(Fact::of(ms));
    }
    record.set("comm_times_ms", Fact::of(std::move(times)));
  }
}

void TrainingLogReader::add_progress(Reading& reading, bool as_steps) {
  if (bars_ == 0) return;
  const std::int64_t last_kept = progress_.empty() ? 0 : progress_.back().line;
  if (last_bar_.line != last_kept || bar_stride_ > 1) progress_.push_back(last_bar_);
  if (as_steps) {
    StepSeriesBuilder builder;
    StepSeries& series = builder.series();
    for (std::size_t i = 0; i < kStepFields; ++i) series.units[i] = default_unit(static_cast<StepField>(i));
    series.units[index_of(StepField::kStepTime)] = series.units[index_of(StepField::kElapsed)] = {"s", 1};
    for (const FactRecord& bar : progress_) {
      StepRow row;
      row.line = bar.line;
      row.step = bar.integer("step").value_or(-1);
      std::uint32_t mask = 0;
      const std::optional<double> seconds = bar.number("s_per_step");
      const std::optional<double> rate = bar.number("steps_per_s");
      if (seconds || rate.value_or(0) > 0) {
        row[StepField::kStepTime] = seconds ? *seconds : 1 / *rate;
        mask |= bit(StepField::kStepTime);
      }
      if (const std::optional<double> elapsed = bar.number("elapsed_s")) {
        row[StepField::kElapsed] = *elapsed;
        mask |= bit(StepField::kElapsed);
      }
      builder.add(row, mask);
      series.total_steps = bar.integer("total_steps").value_or(-1);
    }
    StepSeries done = builder.finish();
    finish_run(done);
    if (!summary_.empty()) done.framework = "Hugging Face Trainer";
    if (!hints_.empty()) done.framework = hints_.begin()->first;
    tare::to_facts(done, reading.facts);
    reading.note("the steps are those of a progress bar, whose rate is a running mean");
  }
  reading.facts.set("progress_bars", bars_);
  if (bar_stride_ > 1) reading.facts.set("progress_thinned_to_every", bar_stride_);
  std::vector<Fact> list;
  for (FactRecord& record : progress_) list.push_back(Fact::of(std::move(record)));
  reading.facts.set("progress", Fact::of(std::move(list)));
}

void TrainingLogReader::finish_track(std::size_t index, bool is_main, FactRecord& facts) {
  Track& track = tracks_[index];
  std::vector<StepSeries> all;
  std::sort(track.ranks.begin(), track.ranks.end(),
            [](const RankSteps& a, const RankSteps& b) { return a.rank < b.rank; });
  for (RankSteps& one : track.ranks) {
    one.steps.series().units = track.units;
    all.push_back(one.steps.finish());
  }
  if (all.empty()) return;
  StepSeries& first = *std::max_element(
      all.begin(), all.end(), [](const StepSeries& a, const StepSeries& b) { return a.rows.size() < b.rows.size(); });
  if (!is_main) {
    tare::to_facts(first, facts.append("other_series", first.rows.empty() ? 0 : first.rows.front().line));
    return;
  }
  finish_run(first);
  for (const char* const name : {"Unsloth", "Axolotl", "LLaMA-Factory", "Megatron-Bridge", "Megatron-LLM"}) {
    if (hints_.contains(name)) first.framework = name;
  }
  if (first.framework == "Megatron-LM" && hints_.contains("DeepSpeed")) first.framework = "Megatron-DeepSpeed";
  if (first.framework.empty() && !hints_.empty()) first.framework = hints_.begin()->first;
  tare::to_facts(first, facts);
  add_ranks(facts, all);
}

void TrainingLogReader::finish(Reading& reading) {
  if (!wrapped_.empty()) flush_wrapped(reading);
  FactRecord& facts = reading.facts;
  const std::size_t best = main_track();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (i == best) finish_track(i, true, facts);
  }
  const bool no_steps = tracks_.empty();
  if (no_steps && bars_ == 0) {
    StepSeries series;
    finish_run(series);
    if (!hints_.empty()) series.framework = hints_.begin()->first;
    if (!summary_.members().empty() && series.framework.empty()) series.framework = "Hugging Face Trainer";
    tare::to_facts(series, facts);
  }
  add_progress(reading, no_steps);
  if (!summary_.empty()) {
    summary_.set("printed_times", summary_lines_);
    facts.set("train_summary", Fact::of(summary_));
  }
  if (!evaluations_.empty()) {
    facts.set("evaluation_count", evaluation_count_);
    std::vector<Fact> list;
    for (FactRecord& record : evaluations_) list.push_back(Fact::of(std::move(record)));
    facts.set("evaluations", Fact::of(std::move(list)));
  }
  timers_.to_facts(facts);
  memory_.to_facts(facts);
  events_.to_facts(facts);
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (i != best) finish_track(i, false, facts);
  }
  if (!hints_.empty()) {
    for (const auto& [name, line] : hints_)
      facts.list("programs_named").push_back(Fact::of(std::string_view(name), line));
  }
  if (overflows_ > 0) facts.set("overflows", overflows_, first_overflow_line_);
  if (const double time = parse_log_time(last_other_); !std::isnan(time)) {
    facts.set("last_time_not_of_a_step", format_log_time(time));
    if (behind_ == last_row_line_) facts.set("first_time_behind_last_step", format_log_time(first_time_behind_));
  }
  if (rows_ > 0) {
    const std::int64_t last = facts.integer("last_step_line").value_or(0);
    facts.set("lines_after_last_step", std::max<std::int64_t>(0, last_line_ - last));
  }
}

}  // namespace tare
