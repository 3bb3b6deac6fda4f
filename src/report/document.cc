#include "report/document.h"

#include <utility>

#include "base/text.h"
#include "report/text_layout.h"

namespace tare {
namespace {

std::string terminal_block(const Block& block, const Terminal& terminal) {
  const std::string safe = terminal.unicode ? printable(block.text) : to_ascii(printable(block.text));
  switch (block.kind) {
    case Block::Kind::kHeading:
      return '\n' + paint(safe, Tone::kStrong, terminal.color) + '\n';
    case Block::Kind::kText: {
      std::string out;
      for (const std::string& line : wrap(safe, terminal.width)) out += paint(line, block.tone, terminal.color) + '\n';
      return out;
    }
    case Block::Kind::kVerbatim:
      return safe.ends_with('\n') || safe.empty() ? safe : safe + '\n';
    case Block::Kind::kTable: {
      RenderedTable table = render_terminal(block.table, terminal);
      if (table.left_out.empty()) return std::move(table.text);
      const std::string note = "Not shown for want of width: " + join(table.left_out, ", ");
      for (const std::string& line : wrap(terminal.unicode ? note : to_ascii(note), terminal.width)) {
        table.text += paint(line, Tone::kFaint, terminal.color) + '\n';
      }
      return std::move(table.text);
    }
  }
  return {};
}

std::string markdown_block(const Block& block) {
  switch (block.kind) {
    case Block::Kind::kHeading:
      return "## " + printable(block.text) + "\n\n";
    case Block::Kind::kText:
      return printable(block.text) + "\n\n";
    case Block::Kind::kVerbatim:
      return "```\n" + printable(block.text) + (block.text.ends_with('\n') ? "" : "\n") + "```\n\n";
    case Block::Kind::kTable:
      return render_markdown(block.table) + '\n';
  }
  return {};
}

}  // namespace

void Document::heading(std::string text) {
  blocks_.push_back({Block::Kind::kHeading, std::move(text), Tone::kPlain, {}});
}

void Document::text(std::string text, Tone tone) { blocks_.push_back({Block::Kind::kText, std::move(text), tone, {}}); }

void Document::verbatim(std::string text) {
  blocks_.push_back({Block::Kind::kVerbatim, std::move(text), Tone::kPlain, {}});
}

void Document::table(Table table) { blocks_.push_back({Block::Kind::kTable, {}, Tone::kPlain, std::move(table)}); }

std::string render_terminal(const Document& document, const Terminal& terminal) {
  std::string out;
  for (const Block& block : document.blocks()) out += terminal_block(block, terminal);
  // A heading opens with a blank line, which the very first one must not.
  if (out.starts_with('\n')) out.erase(0, 1);
  return out;
}

std::string render_markdown(const Document& document) {
  std::string out;
  for (const Block& block : document.blocks()) out += markdown_block(block);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace tare
