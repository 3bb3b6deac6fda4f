#include "ingest/slurm_table.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

constexpr std::size_t kMostColumns = 120;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Headings that may hold a value with blanks in the last column.
bool takes_the_rest(std::string_view name) {
  return name == "reason" || name == "node_list_or_reason" || name == "comment" || name == "command" ||
         name == "submit_line" || name == "name";
}

char separator_in(std::string_view line) {
  for (const char c : {'|', '\t', ';', ','}) {
    if (std::count(line.begin(), line.end(), c) >= 1 && (c != ',' || std::count(line.begin(), line.end(), ' ') == 0)) {
      return c;
    }
  }
  return '\0';
}

}  // namespace

bool SlurmTable::has(std::string_view name) const {
  return std::any_of(columns_.begin(), columns_.end(), [name](const Column& c) { return c.name == name; });
}

void SlurmTable::guess_tool() {
  if (tool_ != SlurmTool::kUnknown) return;
  if (has("exit_code") || has("derived_exit_code") || has("req_tres") || has("max_rss") || has("job_id_raw") ||
      exact_) {
    tool_ = SlurmTool::kSacct;
  } else if (has("job_id")) {
    tool_ = SlurmTool::kSqueue;
  } else {
    tool_ = SlurmTool::kSinfo;
  }
}

std::optional<SlurmTable> SlurmTable::of_headings(std::string_view line, const SlurmCommand& command) {
  if (line.size() > 8000) return std::nullopt;
  SlurmTable table;
  std::vector<std::string_view> words;
  const bool asked = !command.columns.empty();
  if (const char separator = separator_in(line); separator != '\0') {
    table.separator_ = std::string(1, separator);
    words = split(line, separator);
    if (!words.empty() && trim(words.back()).empty()) words.pop_back();
  } else if (!command.separator.empty() && contains(line, command.separator)) {
    table.separator_ = command.separator;
    words = words_in(line);
    return std::nullopt;  // several characters: the columns are taken from the command
  } else {
    words = words_in(line);
  }
  if (words.empty() || words.size() > kMostColumns) return std::nullopt;
  std::size_t known = 0, telling = 0;
  for (std::string_view word : words) {
    word = trim(word);
    const std::string name = slurm_column(word);
    if (!name.empty()) ++known;
    if (is_telling_column(word)) ++telling;
    Column column;
    column.name = name.empty() ? slurm_fact_name(word) : name;
    if (column.name.empty()) return std::nullopt;
    column.begin = static_cast<std::size_t>(word.data() - line.data());
    column.end = column.begin + word.size();
    table.columns_.push_back(std::move(column));
  }
  const bool upper =
      std::none_of(words.front().begin(), words.front().end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const bool camel = !words.front().empty() && words.front().front() >= 'A' && words.front().front() <= 'Z';
  const bool one = words.size() == 1 && known == 1 && asked;
  const bool header = (known * 10 >= words.size() * 7 && telling > 0 && words.size() >= 2 && (upper || camel)) || one ||
                      (asked && command.columns.size() == words.size() && known * 2 >= words.size() && telling > 0);
  if (!header) return std::nullopt;
  if (asked && command.columns.size() == table.columns_.size()) {
    for (std::size_t i = 0; i < table.columns_.size(); ++i) table.columns_[i].name = command.columns[i];
  }
  table.tool_ = command.tool;
  if (table.tool_ == SlurmTool::kUnknown && !upper && table.has("job_id")) table.tool_ = SlurmTool::kSacct;
  table.guess_tool();
  table.collapsed_ = true;
  for (std::size_t i = 0; i + 1 < table.columns_.size(); ++i) {
    if (table.columns_[i + 1].begin > table.columns_[i].end + 1) table.collapsed_ = false;
  }
  if (!line.empty() && is_blank(line.front())) table.collapsed_ = false;
  return table;
}

std::optional<SlurmTable> SlurmTable::of_command(const SlurmCommand& command) {
  if (command.columns.empty()) return std::nullopt;
  SlurmTable table;
  table.tool_ = command.tool;
  table.separator_ = command.separator;
  table.before_ = command.before;
  for (const std::string& name : command.columns) table.columns_.push_back({name, 0, 0});
  table.collapsed_ = true;
  table.guess_tool();
  return table;
}

bool SlurmTable::take_dashes(std::string_view line) {
  if (!separator_.empty() || line.find_first_not_of("- \t") != std::string_view::npos) return false;
  const std::vector<std::string_view> runs = words_in(line);
  if (runs.empty() || runs.size() != columns_.size()) return runs.size() > 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    columns_[i].begin = static_cast<std::size_t>(runs[i].data() - line.data());
    columns_[i].end = columns_[i].begin + runs[i].size();
  }
  exact_ = std::any_of(runs.begin(), runs.end(), [](std::string_view run) { return run.size() > 1; });
  if (tool_ == SlurmTool::kSqueue || tool_ == SlurmTool::kSinfo) tool_ = SlurmTool::kSacct;
  return true;
}

std::vector<std::string_view> SlurmTable::separated(std::string_view line) const {
  std::vector<std::string_view> cells;
  std::size_t at = 0;
  while (at <= line.size() && cells.size() <= kMostColumns) {
    // The last column keeps what may stand in it.
    const std::size_t end = cells.size() + 1 == columns_.size() && takes_the_rest(columns_.back().name)
                                ? std::string_view::npos
                                : line.find(separator_, at);
    if (end == std::string_view::npos) {
      cells.push_back(trim(line.substr(at)));
      break;
    }
    cells.push_back(trim(line.substr(at, end - at)));
    at = end + separator_.size();
  }
  if (cells.size() == columns_.size() + 1 && cells.back().empty()) cells.pop_back();  // -p ends rows with '|'
  return cells;
}

// Where the cell of `column` ends and the next begins: a blank between their headings.
std::size_t SlurmTable::border(std::string_view line, std::size_t column, std::size_t from) const {
  const std::size_t end = columns_[column].end;
  const std::size_t next = columns_[column + 1].begin;
  if (from >= line.size()) return line.size();
  if (exact_) return std::min(next, line.size());
  const auto blank_at = [line](std::size_t i) { return i >= line.size() || is_blank(line[i]); };
  if (next > 0 && blank_at(next - 1) && !blank_at(next)) return next;  // the next one stands to the left
  if (end > 0 && blank_at(end) && !blank_at(end - 1)) return std::min(end, line.size());  // this one to the right
  // The longest run of blanks between them.
  std::size_t best = std::string_view::npos, best_length = 0, run = 0;
  for (std::size_t i = std::max(from, end > 0 ? end - 1 : 0); i < std::min(next + 1, line.size()); ++i) {
    run = is_blank(line[i]) ? run + 1 : 0;
    if (run > best_length) best_length = run, best = i + 1;
  }
  if (best != std::string_view::npos) return std::min(best, line.size());
  if (next >= line.size()) return line.size();
  // None: the cell before or behind is longer than its heading. The nearest blank on either side.
  for (std::size_t step = 1; step < 64; ++step) {
    if (end >= step + 1 && end - step > from && blank_at(end - step)) return end - step;
    if (next + step < line.size() && blank_at(next + step)) return next + step;
  }
  return std::min(next, line.size());
}

std::vector<std::string_view> SlurmTable::by_place(std::string_view line) const {
  std::vector<std::string_view> cells;
  std::size_t from = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t to = i + 1 < columns_.size() ? border(line, i, from) : line.size();
    to = std::max(to, from);
    cells.push_back(trim(line.substr(std::min(from, line.size()), to - from)));
    from = to;
  }
  return cells;
}

std::vector<std::string_view> SlurmTable::cells(std::string_view line) const {
  if (!before_.empty()) {
    const std::string_view start = trim(line);
    if (start.starts_with(before_)) line = start.substr(before_.size());
  }
  if (!separator_.empty()) return separated(line);
  std::vector<std::string_view> words = words_in(line);
  if (exact_) return by_place(line);
  if (words.size() == columns_.size()) return words;
  if (words.size() > columns_.size() && takes_the_rest(columns_.back().name)) {
    std::vector<std::string_view> joined = rest_joined(words, line);
    if (why_no_row(joined).empty() && numbers_fit(joined)) return joined;
  }
  if (!collapsed_) return by_place(line);
  return words.size() > columns_.size() ? rest_joined(words, line) : words;
}

// What is too much belongs to the last column.
std::vector<std::string_view> SlurmTable::rest_joined(std::vector<std::string_view> words,
                                                      std::string_view line) const {
  const std::string_view last = words[columns_.size() - 1];
  words.resize(columns_.size());
  words.back() = trim(line.substr(static_cast<std::size_t>(last.data() - line.data())));
  return words;
}

bool SlurmTable::numbers_fit(const std::vector<std::string_view>& cells) const {
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    const std::string_view name = columns_[i].name;
    const bool number =
        name == "cpus" || name == "memory_mb" || name == "weight" || name == "tmp_disk_mb" || name == "node_count";
    if (number && !says_unknown(cells[i]) && (cells[i].front() < '0' || cells[i].front() > '9')) return false;
    if ((name == "elapsed" || name == "time_left") && !slurm_seconds(cells[i]) && !says_unknown(cells[i])) return false;
  }
  return true;
}

std::string_view SlurmTable::why_no_row(const std::vector<std::string_view>& cells) const {
  if (cells.size() > columns_.size()) return "more columns than the header";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view name = columns_[i].name;
    const std::string_view cell = cells[i];
    if (name == "job_id" && !cell.empty() && (cell.front() < '0' || cell.front() > '9') && cell.front() != '<') {
      return "the job id does not begin with a number";
    }
    if (name == "state" && !cell.empty()) {
      const bool node_state = !node_state_name(cell).empty();
      if (tool_ == SlurmTool::kSinfo ? !node_state : !is_job_state(cell) && !node_state) return "no state of Slurm";
    }
    if (name == "node_count" && !cell.empty() && !says_unknown(cell)) {
      std::string_view digits = cell.substr(0, cell.find('-'));
      if (digits.ends_with('K') || digits.ends_with('+')) digits.remove_suffix(1);
      if (!to_number(digits)) return "the number of nodes is none";
    }
  }
  const auto filled = std::count_if(cells.begin(), cells.end(), [](std::string_view cell) { return !cell.empty(); });
  const bool may_be_empty = exact_ || !separator_.empty() || columns_.size() < 4;
  const std::size_t least = may_be_empty ? cells.size() : static_cast<std::size_t>(filled);
  if (least * 2 < columns_.size() || (!may_be_empty && least * 2 == columns_.size()))
    return "fewer columns than the header";
  return {};
}

std::optional<FactRecord> SlurmTable::row(std::string_view line, std::int64_t number, std::string& why) const {
  const std::vector<std::string_view> found = cells(line);
  why = std::string(why_no_row(found));
  if (!why.empty()) return std::nullopt;
  FactRecord row(number);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!row.has(columns_[i].name)) set_slurm_cell(row, columns_[i].name, found[i], number);
  }
  if (found.size() < columns_.size()) row.set("cut", true);
  return row;
}

}  // namespace tare
