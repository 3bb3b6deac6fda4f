#include "ingest/text_box.h"

#include "base/text.h"

namespace tare {
namespace {

constexpr std::string_view kDrawing = "+-=|_ \t";

// "-----  Metadata  ----------+-----": the name between the dashes.
std::string_view section_name(std::string_view body) {
  const std::size_t begin = body.find_first_not_of(kDrawing);
  if (begin == std::string_view::npos) return {};
  std::size_t end = body.find("  ", begin);
  const std::size_t dashes = body.find(" --", begin);
  end = std::min(end, dashes);
  return trim(body.substr(begin, end == std::string_view::npos ? end : end - begin));
}

std::string_view cut_end(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_box_line(std::string_view text) {
  text = trim(text);
  return text.starts_with("| ") || text.starts_with("+--") || text.starts_with("+==") || text.starts_with("|--") ||
         text.starts_with("|==");
}

bool TextBox::take(std::string_view text, std::int64_t line) {
  const std::size_t bar = text.find_first_of("|+");
  if (bar == std::string_view::npos) return false;
  const std::string_view body = cut_end(text.substr(bar));
  if (body.size() < 2) return false;
  if (body.front() == '+' || body.starts_with("|-") || body.starts_with("|=")) {
    if (body.find_first_not_of(kDrawing) == std::string_view::npos)
      return body.find_first_of("-=") != std::string_view::npos;
    if (body.find("--") == std::string_view::npos) return false;
    section_ = std::string(section_name(body));
    last_was_full_ = false;
    return true;
  }
  std::vector<std::string_view> raw = split(body.substr(1), '|');
  if (body.ends_with('|') && raw.size() > 1) raw.pop_back();
  if (raw.size() > 16) return false;
  const bool continues = raw.size() >= 2 && trim(raw.front()).empty() && !rows_.empty();
  if (continues) {
    for (std::size_t i = 1; i + 1 < raw.size(); ++i) {
      if (i < rows_.back().cells.size() && !trim(raw[i]).empty())
        rows_.back().cells[i] += " " + std::string(trim(raw[i]));
    }
    add_piece(raw.back());
    return true;
  }
  if (rows_.size() >= kRows) return true;
  BoxRow& row = rows_.emplace_back();
  row.line = line;
  row.section = section_;
  for (const std::string_view cell : raw) row.cells.emplace_back(trim(cell));
  last_was_full_ = false;
  if (raw.size() > 1) add_piece(raw.back());
  return true;
}

// The pieces of a wrapped text fill the column up to two blanks.
void TextBox::add_piece(std::string_view raw) {
  BoxRow& row = rows_.back();
  if (raw.starts_with(' ')) raw.remove_prefix(1);
  const std::size_t width = raw.size() >= 2 ? raw.size() - 2 : raw.size();
  std::string_view piece = cut_end(raw);
  if (piece.empty()) {
    last_was_full_ = false;
    return;
  }
  const bool full = width >= 20 && piece.size() + 1 >= width;
  if (full && piece.size() < width) piece = raw.substr(0, width);
  if (last_was_full_ && !row.entries.empty()) {
    if (row.entries.back().size() < kEntryBytes) row.entries.back() += piece;
  } else if (row.entries.size() < kEntries) {
    row.entries.emplace_back(piece);
  }
  last_was_full_ = full;
}

}  // namespace tare
