// RFC 4180 tables with the place of every field, so that a bad cell can be pointed at.
//
// Header row required, of at most 10,000 columns; quoted fields may hold commas, quotes ("") and newlines; CRLF, empty
// lines and a UTF-8 byte order mark are accepted. A row with more or fewer fields than the header is a diagnostic
// ("csv-field-count"), and so are an unclosed quote ("csv-unclosed-quote"), text behind a closing one
// ("csv-after-quote"), a NUL byte or invalid UTF-8 ("not-text"), an empty file ("empty-file") and a repeated column
// name ("csv-duplicate-column").
// Thread safety: a parsed table is read from many threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace tare {

class CsvTable {
 public:
  // `file` is only for diagnostics. The table owns its text.
  static Result<CsvTable> parse(std::string text, std::string file);

  std::size_t rows() const { return row_lines_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<std::size_t> column(std::string_view name) const;
  // Missing columns out of `names`, for a reader that needs them all.
  std::vector<std::string> missing(const std::vector<std::string>& names) const;

  // Field of a row by column index or name; a column that is not there reads as empty.
  std::string_view field(std::size_t row, std::size_t column) const;
  std::string_view field(std::size_t row, std::string_view column) const;

  // Empty field -> nullopt. A field that is not a finite number adds a diagnostic ("not-a-number") at its place and
  // reads as nullopt; once DiagnosticList::kLimit are there, a last one says that there are more. Blanks around a
  // number are ignored; "64.0" is an integer, as tables exported by pandas write it.
  std::optional<double> number(std::size_t row, std::string_view column, Diagnostics& diagnostics) const;
  std::optional<long long> integer(std::size_t row, std::string_view column, Diagnostics& diagnostics) const;

  // A diagnostic at a cell; at the row's first cell when there is no such column.
  Diagnostic at(std::size_t row, std::string_view column, std::string rule, std::string text,
                std::string help = {}) const;

 private:
  class Parser;
  // Where a field stands in the text, its quotes included.
  struct Cell {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t unescaped = kPlain;  // index of its value in unescaped_, for fields with "" inside
  };
  static constexpr std::size_t kPlain = static_cast<std::size_t>(-1);

  CsvTable() = default;
  std::string_view value(const Cell& cell) const;
  Diagnostic bad_number(std::size_t row, std::string_view column, std::string_view expected) const;
  // Line of an offset inside the row that begins with a cell and on a line.
  int line_at(std::size_t offset, std::size_t first_cell, int first_line) const;

  std::string file_;
  std::string text_;
  std::vector<std::string> unescaped_;
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;     // row by row, columns_.size() each
  std::vector<int> row_lines_;  // line of the first field of each row
};

}  // namespace tare
