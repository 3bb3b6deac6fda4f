#include "base/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>
#include <utility>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kMostColumns = 10'000;

// Appends up to a limit that hostile input cannot fill memory beyond; the last says that there were more.
void add_limited(Diagnostics& diagnostics, Diagnostic diagnostic) {
  if (diagnostics.size() > DiagnosticList::kLimit) return;
  if (diagnostics.size() == DiagnosticList::kLimit) {
    diagnostic.rule = "too-many-errors";
    diagnostic.text = "more are not shown";
  }
  diagnostics.push_back(std::move(diagnostic));
}

}  // namespace

// One pass over the text. Goes on after a bad row, so that all of them are reported.
class CsvTable::Parser {
 public:
  explicit Parser(CsvTable& table) : table_(table), text_(table.text_) {}

  // True when the whole text was read without an error.
  bool run() {
    if (!skip_empty_lines() || !read_record(kMostColumns) || !take_header()) return false;
    while (skip_empty_lines()) {
      const std::size_t first_cell = table_.cells_.size();
      const int line = line_;
      if (!read_record(table_.columns_.size())) return false;
      end_row(first_cell, line);
    }
    return diagnostics_.empty();
  }

  Diagnostics diagnostics() const { return diagnostics_.sorted(); }

 private:
  // False at the end of the text.
  bool skip_empty_lines() {
    while (position_ < text_.size()) {
      const std::size_t end = position_ + (text_[position_] == '\r' ? 1 : 0);
      if (end < text_.size() && text_[end] != '\n') return true;
      position_ = std::min(end + 1, text_.size());
      ++line_;
    }
    return false;
  }

  // The fields up to the end of the record; keeps one more than `expected`, to point at. False when a quote is never
  // closed: nothing behind it can be trusted.
  bool read_record(std::size_t expected) {
    for (fields_ = 0; true;) {
      room_ = fields_ <= expected;
      const bool is_read = position_ < text_.size() && text_[position_] == '"' ? read_quoted() : read_plain();
      if (!is_read) return false;
      ++fields_;
      if (position_ >= text_.size()) return true;
      if (text_[position_++] == '\n') {
        ++line_;
        return true;
      }
    }
  }

  // Leaves position_ at the ',' or '\n' behind the field, or at the end.
  bool read_plain() {
    const std::size_t begin = position_;
    position_ = std::min(text_.find_first_of(",\n", begin), text_.size());
    std::size_t end = position_;
    if (end > begin && text_[end - 1] == '\r' && (end == text_.size() || text_[end] == '\n')) --end;
    if (room_) table_.cells_.push_back({begin, end});
    return true;
  }

  bool read_quoted() {
    const std::size_t begin = position_;
    const int line = line_;
    bool has_escape = false;
    std::size_t quote = text_.find('"', begin + 1);
    while (quote != std::string_view::npos && quote + 1 < text_.size() && text_[quote + 1] == '"') {
      has_escape = true;
      quote = text_.find('"', quote + 2);
    }
    if (quote == std::string_view::npos) {
      add("csv-unclosed-quote", "this quote is never closed", "close it with \"; write a quote inside a field as \"\"",
          begin, 1, line);
      return false;
    }
    position_ = quote + 1;
    const auto span = text_.substr(begin, position_ - begin);
    line_ += static_cast<int>(std::count(span.begin(), span.end(), '\n'));
    Cell cell{begin, position_};
    if (has_escape && room_) {
      cell.unescaped = table_.unescaped_.size();
      table_.unescaped_.push_back(without_escapes(span.substr(1, span.size() - 2)));
    }
    if (room_) table_.cells_.push_back(cell);
    expect_end_of_field();
    return true;
  }

  static std::string without_escapes(std::string_view quoted) {
    std::string value;
    value.reserve(quoted.size());
    for (std::size_t i = 0; i < quoted.size(); ++i) {
      value += quoted[i];
      if (quoted[i] == '"') ++i;
    }
    return value;
  }

  // Behind a closing quote stands a comma or the end of the line; whatever else is reported and skipped.
  void expect_end_of_field() {
    const std::size_t end = std::min(text_.find_first_of(",\n", position_), text_.size());
    const std::string_view rest = text_.substr(position_, end - position_);
    if (!rest.empty() && !(rest == "\r" && (end == text_.size() || text_[end] == '\n'))) {
      add("csv-after-quote",
          fmt::format("expected a comma or the end of the line after the quote, found {}", in_quotes(rest)),
          "write a quote inside a field as \"\"", position_, rest.size(), line_);
    }
    position_ = end;
  }

  // The first record: names instead of cells.
  bool take_header() {
    if (fields_ > kMostColumns) {
      add("csv-field-count", fmt::format("expected at most {} columns, found {}", kMostColumns, fields_), "",
          table_.cells_[kMostColumns].begin, 1, 0);
      return false;
    }
    std::unordered_set<std::string_view> seen;
    for (const Cell& cell : table_.cells_) {
      const std::string_view name = table_.value(cell);
      if (!seen.insert(name).second) {
        add("csv-duplicate-column", fmt::format("two columns are named {}", in_quotes(name)), "name each column once",
            cell.begin, cell.end - cell.begin, 0);
      }
      table_.columns_.emplace_back(name);
    }
    table_.cells_.clear();
    return true;
  }

  void end_row(std::size_t first_cell, int line) {
    const std::size_t expected = table_.columns_.size();
    if (fields_ == expected) {
      table_.row_lines_.push_back(line);
      return;
    }
    // Points at the first surplus field, or at the row.
    const bool is_surplus = fields_ > expected;
    const Cell cell = table_.cells_[first_cell + (is_surplus ? expected : 0)];
    add("csv-field-count", fmt::format("expected {} fields as in the header, found {}", expected, fields_),
        is_surplus ? "put a field that holds a comma in quotes" : "", cell.begin, cell.end - cell.begin,
        table_.line_at(cell.begin, first_cell, line));
    table_.cells_.resize(first_cell);
  }

  void add(std::string rule, std::string text, std::string help, std::size_t offset, std::size_t width, int line) {
    if (diagnostics_.is_full()) return diagnostics_.add({});
    Diagnostic diagnostic = make_error(std::move(rule), std::move(text), std::move(help));
    diagnostic.file = table_.file_;
    point_at(diagnostic, text_, offset, width, line);
    diagnostics_.add(std::move(diagnostic));
  }

  CsvTable& table_;
  const std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  std::size_t fields_ = 0;  // of the record so far
  bool room_ = true;        // whether the field being read is kept
  DiagnosticList diagnostics_;
};

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::optional<double> parse_finite(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<long long> parse_integer(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53: above it "64.0" may be another integer
  const auto number = parse_finite(text);
  if (!number || std::fabs(*number) > kLargestExact || *number != std::trunc(*number)) return std::nullopt;
  return static_cast<long long>(*number);
}

}  // namespace

Result<CsvTable> CsvTable::parse(std::string text, std::string file) {
  CsvTable table;
  table.file_ = std::move(file);
  table.text_ = std::move(text);
  if (table.text_.starts_with(kByteOrderMark)) table.text_.erase(0, kByteOrderMark.size());
  Diagnostic diagnostic;
  if (const std::size_t bad = find_not_text(table.text_); bad != std::string_view::npos) {
    diagnostic = make_error("not-text",
                            table.text_[bad] == '\0' ? "expected UTF-8 text, found a NUL byte"
                                                     : "expected UTF-8 text, found another encoding",
                            "save it as UTF-8");
    point_at(diagnostic, table.text_, bad, 1);
  } else if (trim(table.text_).empty()) {
    diagnostic = make_error("empty-file", "expected a table with a header row, found an empty file");
  } else {
    Parser parser(table);
    if (!parser.run()) return tl::unexpected<Diagnostics>(parser.diagnostics());
    return table;
  }
  diagnostic.file = table.file_;
  return fail(std::move(diagnostic));
}

std::string_view CsvTable::value(const Cell& cell) const {
  if (cell.unescaped != kPlain) return unescaped_[cell.unescaped];
  const std::string_view raw = std::string_view(text_).substr(cell.begin, cell.end - cell.begin);
  return raw.starts_with('"') ? raw.substr(1, raw.size() - 2) : raw;
}

int CsvTable::line_at(std::size_t offset, std::size_t first_cell, int first_line) const {
  const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(cells_[first_cell].begin);
  return first_line + static_cast<int>(std::count(begin, text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::vector<std::string> CsvTable::missing(const std::vector<std::string>& names) const {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [this](const std::string& name) { return !column(name); });
  return result;
}

std::string_view CsvTable::field(std::size_t row, std::size_t column) const {
  if (row >= rows() || column >= columns_.size()) return {};
  return value(cells_[row * columns_.size() + column]);
}

std::string_view CsvTable::field(std::size_t row, std::string_view column) const {
  const auto index = this->column(column);
  return index ? field(row, *index) : std::string_view();
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column, Diagnostics& diagnostics) const {
  const std::string_view text = field(row, column);
  if (trim(text).empty()) return std::nullopt;
  const auto value = parse_finite(text);
  if (!value) add_limited(diagnostics, bad_number(row, column, "a number"));
  return value;
}

std::optional<long long> CsvTable::integer(std::size_t row, std::string_view column, Diagnostics& diagnostics) const {
  const std::string_view text = field(row, column);
  if (trim(text).empty()) return std::nullopt;
  const auto value = parse_integer(text);
  if (!value) add_limited(diagnostics, bad_number(row, column, "a whole number"));
  return value;
}

Diagnostic CsvTable::bad_number(std::size_t row, std::string_view column, std::string_view expected) const {
  return at(
      row, column, "not-a-number",
      fmt::format("expected {} in column {}, found {}", expected, in_quotes(column), in_quotes(field(row, column))));
}

Diagnostic CsvTable::at(std::size_t row, std::string_view column, std::string rule, std::string text,
                        std::string help) const {
  Diagnostic diagnostic = make_error(std::move(rule), std::move(text), std::move(help));
  diagnostic.file = file_;
  if (row >= rows()) return diagnostic;
  const std::size_t first = row * columns_.size();
  const Cell& cell = cells_[first + this->column(column).value_or(0)];
  point_at(diagnostic, text_, cell.begin, cell.end - cell.begin, line_at(cell.begin, first, row_lines_[row]));
  return diagnostic;
}

}  // namespace tare
