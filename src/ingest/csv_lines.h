// Comma-, semicolon- and tab-separated rows of a stream of lines: quoted fields may span lines. Nothing is a fault:
// when a quote never closes, its lines are rows of their own after all. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

struct CsvRow {
  std::vector<std::string> fields;  // without quotes, blanks around trimmed
  std::int64_t line = 0;            // of its beginning
};

class CsvLines {
 public:
  explicit CsvLines(char separator = ',') : separator_(separator) {}
  // Adds the rows that the line completes: none, one, or those that a quote that never closed held back.
  void take(std::string_view line, std::int64_t number, std::vector<CsvRow>& rows);
  void finish(std::vector<CsvRow>& rows);
  char separator() const { return separator_; }

  // The separator that a heading line most likely uses: ',', ';', tab or '|'; '\0' when there is none.
  static char separator_of(std::string_view headings);

 private:
  void give_up(std::vector<CsvRow>& rows);

  char separator_;
  std::vector<std::string> pending_;  // lines of a row whose quote is open
  std::int64_t pending_line_ = 0;
  std::size_t pending_bytes_ = 0;
};

// The fields of one row, quotes ("" inside) resolved.
std::vector<std::string> csv_fields(std::string_view row, char separator);

}  // namespace tare
