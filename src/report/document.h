// An answer for people as a list of blocks, laid out for a terminal or as Markdown.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"
#include "report/terminal.h"

namespace tare {

struct Block {
  enum class Kind {
    kHeading,
    kText,      // a paragraph; newlines in it are kept
    kItem,      // a line below another: indented, what does not fit two columns further in
    kVerbatim,  // lines as they are
    kTable,
  };
  Kind kind = Kind::kText;
  std::string text;
  Tone tone = Tone::kPlain;
  Table table;
  int indent = 0;  // of an item, in columns
};

class Document {
 public:
  void heading(std::string text);
  void text(std::string text, Tone tone = Tone::kPlain);
  void item(std::string text, int indent = 2);
  void verbatim(std::string text);
  void table(Table table);

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::vector<Block> blocks_;
};

// A blank line before each heading; under a table a line names the columns that the width had no room for.
std::string render_terminal(const Document& document, const Terminal& terminal);
std::string render_markdown(const Document& document);

}  // namespace tare
