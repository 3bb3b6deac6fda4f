#include "ingest/training_timers.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/fast_number.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kTimers = 256;
constexpr std::size_t kRows = 512;
constexpr std::int64_t kRanks = 16'384;
constexpr std::size_t kRankTimers = 50'000;  // timers times ranks
constexpr std::size_t kRankValues = 64;      // of each, kept one by one

// "backward-params-all-reduce" -> "backward_params_all_reduce".
std::string snake_case(std::string_view name) {
  std::string snake;
  for (const char c : trim(name)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool plain = (lower >= 'a' && lower <= 'z') || is_digit_char(lower);
    if (plain) {
      snake += lower;
    } else if (!snake.empty() && snake.back() != '_') {
      snake += '_';
    }
  }
  while (!snake.empty() && snake.back() == '_') snake.pop_back();
  return snake;
}

bool same_name(std::string_view printed, std::string_view snake) {
  std::size_t at = 0;
  for (const char c : printed) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool plain = (lower >= 'a' && lower <= 'z') || is_digit_char(lower);
    if (at >= snake.size() || snake[at] != (plain ? lower : '_')) return false;
    ++at;
  }
  return at == snake.size();
}

std::optional<int> rank_in(std::string_view text, std::string_view marker) {
  const std::size_t at = text.rfind(marker);
  if (at == std::string_view::npos) return std::nullopt;
  double value = 0;
  const std::string_view number = trim(text.substr(at + marker.size()));
  if (parse_number(number.data(), number.data() + number.size(), value) == nullptr || !(value >= 0) || value > 1e7) {
    return std::nullopt;
  }
  return static_cast<int>(value);
}

}  // namespace

std::size_t TrainingTimers::timer_named(std::string_view name, std::int64_t number) {
  if (hint_ < timers_.size() && same_name(name, timers_[hint_].name)) return hint_;
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    if (same_name(name, timers_[i].name)) return i;
  }
  Timer timer;
  timer.name = snake_case(name);
  timer.line = number;
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    if (timers_[i].name == timer.name) return i;
  }
  if (timers_.size() >= kTimers || timer.name.empty()) return kTimers;
  timers_.push_back(std::move(timer));
  return timers_.size() - 1;
}

void TrainingTimers::count(std::size_t index, double value) {
  Timer& timer = timers_[index];
  if (timer.count == 0) timer.first = timer.min = timer.max = value;
  ++timer.count;
  timer.last = value;
  timer.sum += value;
  timer.min = std::min(timer.min, value);
  timer.max = std::max(timer.max, value);
}

void TrainingTimers::keep(Row row) {
  ++lines_;
  if (until_next_ > 0) {
    --until_next_;
    return;
  }
  if (rows_.size() >= kRows) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); i += 2) rows_[kept++] = std::move(rows_[i]);
    rows_.resize(kept);
    stride_ *= 2;
  }
  rows_.push_back(std::move(row));
  until_next_ = stride_ - 1;
}

bool TrainingTimers::on_times(std::string_view rest, std::int64_t number, int rank) {
  Row row;
  row.line = number;
  row.rank = rank;
  hint_ = 0;
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    const std::string_view part = trim(rest.substr(0, bar));
    rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trim(part.substr(0, colon));
    const std::string_view text = trim(part.substr(colon + 1));
    double value = 0;
    if (name.empty() || name.size() > 100 || parse_number(text.data(), text.data() + text.size(), value) == nullptr) {
      continue;
    }
    const std::size_t timer = timer_named(name, number);
    if (timer == kTimers) continue;
    hint_ = timer + 1;
    count(timer, value);
    row.values.emplace_back(timer, value);
  }
  if (!row.values.empty()) keep(std::move(row));
  return true;
}

// "    forward-backward ....: (1234.50, 1300.21)", or one value.
bool TrainingTimers::on_across_ranks(std::string_view line, std::int64_t number) {
  const std::size_t dots = line.find("..");
  const std::size_t colon = dots == std::string_view::npos ? dots : line.find(':', dots);
  if (colon == std::string_view::npos) return false;
  std::string_view name = trim(line.substr(0, dots));
  const std::size_t prefix = name.rfind(": ");
  if (prefix != std::string_view::npos) name = trim(name.substr(prefix + 2));
  std::string_view text = trim(line.substr(colon + 1));
  if (text.starts_with('(')) text.remove_prefix(1);
  double first = 0;
  const char* const last = text.data() + text.size();
  const char* at = parse_number(text.data(), last, first);
  if (at == nullptr || name.empty() || name.size() > 100) return false;
  const std::size_t timer = timer_named(name, number);
  if (timer == kTimers) return true;
  count(timer, first);
  while (at != last && (*at == ',' || *at == ' ')) ++at;
  double most = 0;
  if (parse_number(at, last, most) != nullptr) {
    Timer& one = timers_[timer];
    one.slowest = one.has_slowest ? std::max(one.slowest, most) : most;
    one.has_slowest = true;
  }
  ++lines_;
  return true;
}

// "  all-grads-sync:", then "     rank  0: 51.20" for each rank; what stands before the number may have been taken for
// the line's prefix.
bool TrainingTimers::on_each_rank(std::string_view line, std::int64_t number, int prefix_rank) {
  const std::string_view text = trim(line);
  if (text.ends_with(':') && text.size() > 1 && text.size() < 100 && text.find(' ') == std::string_view::npos) {
    each_rank_timer_ = timer_named(text.substr(0, text.size() - 1), number);
    return true;
  }
  std::optional<int> rank;
  if (prefix_rank >= 0) rank = prefix_rank;
  std::string_view printed = text;
  if (const std::size_t at = text.find("rank "); at != std::string_view::npos) {
    rank = rank_in(text, "rank ");
    const std::size_t colon = text.find(':', at);
    printed = colon == std::string_view::npos ? std::string_view() : trim(text.substr(colon + 1));
  }
  if (!rank || *rank >= kRanks || each_rank_timer_ >= timers_.size()) return false;
  double value = 0;
  if (parse_number(printed.data(), printed.data() + printed.size(), value) == nullptr) return false;
  count(each_rank_timer_, value);
  ++lines_;
  const std::pair key(each_rank_timer_, *rank);
  if (rank_timers_.size() >= kRankTimers && !rank_timers_.contains(key)) return true;
  RankTimer& timer = rank_timers_[key];
  if (timer.count++ == 0) timer.line = number;
  timer.sum += value;
  if (timer.values.size() < kRankValues) timer.values.push_back(value);
  return true;
}

bool TrainingTimers::on_line(std::string_view line, std::int64_t number, int rank) {
  if (const std::size_t at = line.find("time (ms)"); at != std::string_view::npos) {
    across_ranks_ = false;
    const std::string_view rest = trim(line.substr(at + 9));
    if (!rest.empty() && !rest.starts_with('|')) return false;
    return on_times(rest, number, rank_in(line.substr(0, at), "rank=").value_or(-1));
  }
  if (contains(line, "time across ranks (ms)")) {
    across_ranks_ = true;
    each_rank_ = false;
    return true;
  }
  if (contains(line, "times across ranks (ms)")) {
    each_rank_ = true;
    each_rank_timer_ = kTimers;
    return true;
  }
  if (each_rank_) {
    if (trim(line).empty()) return true;
    each_rank_ = on_each_rank(line, number, rank);
    return each_rank_;
  }
  if (!across_ranks_) return false;
  if (trim(line).empty()) return true;
  across_ranks_ = on_across_ranks(line, number);
  return across_ranks_;
}

void TrainingTimers::to_facts(FactRecord& facts) const {
  if (timers_.empty()) return;
  for (const Timer& timer : timers_) {
    if (timer.count == 0) continue;
    FactRecord& record = facts.append("timers", timer.line);
    record.set("name", timer.name);
    record.set("count", timer.count);
    record.set("first_ms", timer.first);
    record.set("mean_ms", timer.sum / static_cast<double>(timer.count));
    record.set("min_ms", timer.min);
    record.set("max_ms", timer.max);
    record.set("last_ms", timer.last);
    if (timer.has_slowest) record.set("max_of_ranks_ms", timer.slowest);
  }
  for (const auto& [key, timer] : rank_timers_) {
    FactRecord& record = facts.append("rank_timers", timer.line);
    record.set("name", timers_[key.first].name);
    record.set("rank", key.second);
    record.set("count", timer.count);
    record.set("mean_ms", timer.sum / static_cast<double>(timer.count));
    std::vector<Fact> values;
    values.reserve(timer.values.size());
    for (const double value : timer.values) values.push_back(Fact::of(value));
    record.set("values_ms", Fact::of(std::move(values)));
  }
  if (stride_ > 1) facts.set("timer_rows_thinned_to_every", stride_);
  for (const Row& row : rows_) {
    FactRecord& record = facts.append("timer_rows", row.line);
    if (row.rank >= 0) record.set("rank", row.rank);
    for (const auto& [timer, value] : row.values) record.set(timers_[timer].name + "_ms", value);
  }
}

bool RankMemory::on_line(std::string_view line, std::int64_t number) {
  bool found = false;
  std::size_t from = 0;
  for (std::size_t at = line.find("memory ("); at != std::string_view::npos; at = line.find("memory (", at + 1)) {
    const std::string_view unit = line.substr(at + 8, 3);
    if (unit != "MB)" && unit != "GB)") continue;
    // Reports are glued to one another, without an end of line between them.
    std::size_t end = line.find("[Rank", at);
    if (end == std::string_view::npos) end = line.size();
    if (unit_.empty()) unit_ = unit == "MB)" ? "mb" : "gb";
    on_report(line.substr(from, at - from), line.substr(at + 11, end - std::min(end, at + 11)), number);
    from = end;
    found = true;
    if (end >= line.size()) break;
  }
  return found;
}

void RankMemory::on_report(std::string_view before, std::string_view report, std::int64_t number) {
  ++reports_;
  const std::int64_t rank = rank_in(before, "[Rank ").value_or(-1);
  FactRecord record(number);
  if (rank >= 0) record.set("rank", rank);
  if (const std::optional<int> iteration = rank_in(before, "after ")) record.set("iteration", *iteration);
  while (!report.empty()) {
    const std::size_t bar = report.find('|');
    const std::string_view part = trim(report.substr(0, bar));
    report.remove_prefix(bar == std::string_view::npos ? report.size() : bar + 1);
    const std::size_t colon = part.find(':');
    if (colon > 80) continue;
    const std::string_view text = trim(part.substr(colon + 1));
    double value = 0;
    if (parse_number(text.data(), text.data() + text.size(), value) == nullptr) continue;
    std::string name = snake_case(part.substr(0, colon));
    if (name.starts_with("mem_")) name.erase(0, 4);
    const bool in_name = name.ends_with("_gigabytes");
    if (in_name) name.erase(name.size() - 10);
    if (!name.ends_with("count") && !name.ends_with("retires")) name += '_' + unit_;
    if (name.starts_with("max_allocated") && value > most_allocated_) {
      most_allocated_ = value;
      most_line_ = number;
    }
    if (name.starts_with("max_reserved")) most_reserved_ = std::max(most_reserved_, value);
    record.set(name, value);
  }
  highest_ = std::max(highest_, rank);
  const std::int64_t slot = rank + 1;
  if (slot >= kRanks) return;
  if (static_cast<std::size_t>(slot) >= seen_.size()) seen_.resize(static_cast<std::size_t>(slot) + 1, false);
  if (seen_[static_cast<std::size_t>(slot)]) return;
  seen_[static_cast<std::size_t>(slot)] = true;
  ranks_.push_back(std::move(record));
}

void RankMemory::to_facts(FactRecord& facts) const {
  if (ranks_.empty()) return;
  if (most_allocated_ > 0) facts.set("memory_max_allocated_" + unit_, most_allocated_, most_line_);
  if (most_reserved_ > 0) facts.set("memory_max_reserved_" + unit_, most_reserved_, most_line_);
  facts.set("memory_reports", reports_);
  std::vector<Fact> list;
  for (const FactRecord& record : ranks_) list.push_back(Fact::of(record));
  std::sort(list.begin(), list.end(), [](const Fact& a, const Fact& b) {
    return a.as_record()->integer("rank").value_or(-1) < b.as_record()->integer("rank").value_or(-1);
  });
  facts.set("rank_memory", Fact::of(std::move(list)));
}

}  // namespace tare
