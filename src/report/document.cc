#include "report/document.h"

#include <algorithm>
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
    case Block::Kind::kItem: {
      std::string out;
      const int width = terminal.width > 0 ? std::max(terminal.width - block.indent - 2, 1) : 0;
      for (const std::string& line : wrap(safe, width)) {
        out += std::string(static_cast<std::size_t>(block.indent + (out.empty() ? 0 : 2)), ' ') + line + '\n';
      }
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
      return block.text.empty() ? "" : printable(block.text) + "\n\n";
    case Block::Kind::kItem:
      return std::string(static_cast<std::size_t>(std::max(block.indent - 2, 0)), ' ') + "- " + printable(block.text) +
             '\n';
    case Block::Kind::kVerbatim:
      return "```\n" + printable(block.text) + (block.text.ends_with('\n') ? "" : "\n") + "```\n\n";
    case Block::Kind::kTable:
      return render_markdown(block.table) + '\n';
  }
  return {};
}

}  // namespace

void Document::heading(std::string text) {
  blocks_.push_back({Block::Kind::kHeading, std::move(text), Tone::kPlain, {}, 0});
}

void Document::text(std::string text, Tone tone) {
  blocks_.push_back({Block::Kind::kText, std::move(text), tone, {}, 0});
}

void Document::item(std::string text, int indent) {
  blocks_.push_back({Block::Kind::kItem, std::move(text), Tone::kPlain, {}, indent});
}

void Document::verbatim(std::string text) {
  blocks_.push_back({Block::Kind::kVerbatim, std::move(text), Tone::kPlain, {}, 0});
}

void Document::table(Table table) { blocks_.push_back({Block::Kind::kTable, {}, Tone::kPlain, std::move(table), 0}); }

std::string render_terminal(const Document& document, const Terminal& terminal) {
  std::string out;
  for (const Block& block : document.blocks()) out += terminal_block(block, terminal);
  // A heading opens with a blank line, which the very first one must not.
  if (out.starts_with('\n')) out.erase(0, 1);
  return out;
}

std::string render_markdown(const Document& document) {
  std::string out;
  const std::vector<Block>& blocks = document.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    out += markdown_block(blocks[i]);
    const bool ends_list =
        blocks[i].kind == Block::Kind::kItem && (i + 1 == blocks.size() || blocks[i + 1].kind != Block::Kind::kItem);
    if (ends_list) out += '\n';
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace tare
