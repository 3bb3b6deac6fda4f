// Tables drawn with bars and dashes, as dcgmi prints them: titles, sections, rows of cells, values wrapped over lines.
//
// A value is cut at the width of its column, in the middle of words: pieces that fill the column are joined as they
// are, a piece that does not ends an entry. Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

struct BoxRow {
  std::int64_t line = 0;
  std::string section;               // of the "-----  NAME  -----" above it
  std::vector<std::string> cells;    // the first is the row's name
  std::vector<std::string> entries;  // of the last cell, one for each text that begins on a line of its own
};

class TextBox {
 public:
  static constexpr std::size_t kRows = 20000;
  static constexpr std::size_t kEntries = 512;       // of one row
  static constexpr std::size_t kEntryBytes = 65536;  // of one entry

  // True when the line is part of a box.
  bool take(std::string_view text, std::int64_t line);
  std::vector<BoxRow>& rows() { return rows_; }

 private:
  void add_piece(std::string_view raw);
  std::string section_;
  std::vector<BoxRow> rows_;
  bool last_was_full_ = false;
};

// Whether the line looks like one of a box: "| …" or "+---".
bool is_box_line(std::string_view text);

}  // namespace tare
