// Tables whose columns stand under their headings, with cells that may be empty or hold blanks.
// Thread safety: plain values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// A word and where it stands, in characters (not bytes): table frames and tree lines are no ASCII.
struct PlacedWord {
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<PlacedWord> placed_words(std::string_view line);

class ColumnTable {
 public:
  // `headings`: of one word each.
  explicit ColumnTable(std::string_view heading_line);
  // Columns of the given places, as a line of dashes shows them; the headings are what stands over them.
  ColumnTable(std::string_view heading_line, std::string_view dashes);

  const std::vector<std::string>& headings() const { return headings_; }
  // One cell a heading, empty where there is none. A word belongs to the heading it stands under (numbers end with it,
  // texts begin with it), otherwise to the one before it. Where blanks have been squeezed, words are taken in order.
  std::vector<std::string> cells(std::string_view line) const;

 private:
  std::vector<std::string> headings_;
  std::vector<PlacedWord> places_;  // views are not used after construction
  bool squeezed_ = false;           // no two blanks stand together in the headings
};

}  // namespace tare
