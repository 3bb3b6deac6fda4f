#include "ingest/column_table.h"

#include <algorithm>

#include "base/text.h"

namespace tare {

std::vector<PlacedWord> placed_words(std::string_view line) {
  std::vector<PlacedWord> words;
  std::size_t column = 0;
  std::size_t begin_byte = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    const bool blank = byte == ' ' || byte == '\t' || byte == '\r';
    if ((byte & 0xC0) == 0x80) continue;  // inside a character
    if (!blank && !in_word) {
      begin_byte = i;
      words.push_back({{}, column, column});
    }
    if (blank && in_word) {
      words.back().text = line.substr(begin_byte, i - begin_byte);
      words.back().end = column;
    }
    in_word = !blank;
    column += byte == '\t' ? 8 - column % 8 : 1;
  }
  if (in_word) {
    words.back().text = line.substr(begin_byte);
    words.back().end = column;
  }
  return words;
}

namespace {

bool has_letter_or_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

// No table has more columns; a line that has costs no more.
std::vector<PlacedWord> few(std::vector<PlacedWord> words) {
  constexpr std::size_t kColumns = 128;
  if (words.size() > kColumns) words.resize(kColumns);
  return words;
}

}  // namespace

ColumnTable::ColumnTable(std::string_view heading_line)
    : places_(few(placed_words(heading_line))), squeezed_(trim(heading_line).find("  ") == std::string_view::npos) {
  for (PlacedWord& word : places_) {
    headings_.emplace_back(word.text);
    word.text = {};
  }
}

ColumnTable::ColumnTable(std::string_view heading_line, std::string_view dashes) : places_(few(placed_words(dashes))) {
  headings_.resize(places_.size());
  for (const PlacedWord& word : placed_words(heading_line)) {
    for (std::size_t i = places_.size(); i-- > 0;) {
      if (word.begin + 1 < places_[i].begin && i > 0) continue;
      headings_[i] += (headings_[i].empty() ? "" : " ") + std::string(word.text);
      break;
    }
  }
  for (PlacedWord& word : places_) word.text = {};
}

std::vector<std::string> ColumnTable::cells(std::string_view line) const {
  std::vector<std::string> cells(headings_.size());
  if (cells.empty()) return cells;
  const std::vector<PlacedWord> words = placed_words(line);
  std::size_t column = 0;
  for (const PlacedWord& word : words) {
    // The heading that it overlaps, or the last that begins before it. Words come in order, so columns do.
    std::size_t found = column;
    for (std::size_t i = column; i < places_.size(); ++i) {
      if (places_[i].begin < word.end && word.begin < places_[i].end) {
        found = i;
        break;
      }
      if (places_[i].begin <= word.begin) found = i;
      if (places_[i].begin >= word.end) break;
    }
    column = found;
    cells[column] += (cells[column].empty() ? "" : " ") + std::string(word.text);
  }
  const bool gap = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
  if (squeezed_ && gap && words.size() == cells.size() && has_letter_or_digit(words[0].text)) {
    for (std::size_t i = 0; i < words.size(); ++i) cells[i] = std::string(words[i].text);
  }
  return cells;
}

}  // namespace tare
