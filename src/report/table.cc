#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/bars.h"
#include "report/text_layout.h"

namespace tare {
namespace {

constexpr int kGap = 2;  // spaces between columns

const Cell& no_cell() {
  static const Cell kEmpty;
  return kEmpty;
}

const Cell& cell_at(const Row& row, std::size_t column) {
  return column < row.cells.size() ? row.cells[column] : no_cell();
}

// The terminal form in the making: which columns are shown and how wide.
struct Layout {
  struct Shown {
    std::size_t column = 0;
    int width = 0;
  };
  std::vector<Shown> shown;

  int total() const {
    int sum = 0;
    for (const Shown& s : shown) sum += s.width + kGap;
    return shown.empty() ? 0 : sum - kGap;
  }
};

std::string text_for(std::string_view text, const Terminal& terminal) {
  const std::string safe = printable(text);
  return terminal.unicode ? safe : to_ascii(safe);
}

int widest_line(std::string_view text) {
  int width = 0;
  for (const std::string& line : wrap(text, 0)) width = std::max(width, display_width(line));
  return width;
}

int natural_width(const Table& table, std::size_t column, const Terminal& terminal) {
  if (table.columns[column].is_bar) return kLeastBarWidth;
  int width = widest_line(text_for(table.columns[column].title, terminal));
  for (const Row& row : table.rows) {
    if (row.kind == RowKind::kSection) continue;
    width = std::max(width, widest_line(text_for(cell_at(row, column).text, terminal)));
  }
  return width;
}

// Leaves out columns of one importance, the last first, until the table fits.
void drop(Layout& layout, const Table& table, Importance importance, int limit, std::vector<std::size_t>& left_out) {
  for (std::size_t i = layout.shown.size(); i-- > 0 && layout.total() > limit;) {
    const std::size_t column = layout.shown[i].column;
    if (table.columns[column].importance != importance) continue;
    left_out.push_back(column);
    layout.shown.erase(layout.shown.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Takes width from the foldable columns, the widest first, down to their fold width.
void fold(Layout& layout, const Table& table, int limit) {
  while (layout.total() > limit) {
    Layout::Shown* widest = nullptr;
    for (Layout::Shown& s : layout.shown) {
      const int least = table.columns[s.column].fold_width;
      if (least > 0 && s.width > least && (widest == nullptr || s.width > widest->width)) widest = &s;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

void widen_bars(Layout& layout, const Table& table, int width) {
  for (Layout::Shown& s : layout.shown) {
    if (table.columns[s.column].is_bar) s.width = std::clamp(width, kLeastBarWidth, kMostBarWidth);
  }
}

Layout lay_out(const Table& table, const Terminal& terminal, int limit, std::vector<std::size_t>& left_out) {
  Layout layout;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].audience == Audience::kPrograms) continue;
    layout.shown.push_back({c, natural_width(table, c, terminal)});
  }
  if (limit <= 0) {
    widen_bars(layout, table, kMostBarWidth);
    return layout;
  }
  drop(layout, table, Importance::kExtra, limit, left_out);
  drop(layout, table, Importance::kUseful, limit, left_out);
  fold(layout, table, limit);
  drop(layout, table, Importance::kImportant, limit, left_out);
  widen_bars(layout, table, kLeastBarWidth + limit - layout.total());
  std::sort(left_out.begin(), left_out.end());
  return layout;
}

std::vector<std::string> lines_of(const Column& column, const Cell& cell, int width, const Terminal& terminal) {
  if (column.is_bar && cell.bar_length > 0) {
    return {waterfall_bar(cell.bar_start, cell.bar_length, width, terminal.unicode)};
  }
  return wrap(text_for(cell.text, terminal), width);
}

// One table row may take several lines: the header's own line breaks, folded cells.
void append_row(std::string& out, const Table& table, const Layout& layout, const Terminal& terminal, int indent,
                const std::vector<Cell>& cells, Tone row_tone, bool bottom_aligned) {
  std::vector<std::vector<std::string>> lines;
  std::size_t height = 1;
  for (const Layout::Shown& s : layout.shown) {
    const Cell& cell = s.column < cells.size() ? cells[s.column] : no_cell();
    lines.push_back(lines_of(table.columns[s.column], cell, s.width, terminal));
    height = std::max(height, lines.back().size());
  }
  for (std::size_t h = 0; h < height; ++h) {
    std::string line;
    std::string blanks;  // kept back, so that no line ends in spaces
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      const Layout::Shown& s = layout.shown[i];
      const std::size_t skipped = bottom_aligned ? height - lines[i].size() : 0;
      std::string text = h >= skipped && h - skipped < lines[i].size() ? lines[i][h - skipped] : "";
      const auto room = static_cast<std::size_t>(std::max(0, s.width - display_width(text)));
      const bool right = table.columns[s.column].align == Align::kRight;
      if (right) blanks.append(room, ' ');
      const std::size_t end = text.find_last_not_of(' ') + 1;  // a cell's own spaces at its end align it
      const std::size_t spaces = text.size() - end;
      text.erase(end);
      if (!text.empty()) {
        const Tone own = s.column < cells.size() ? cells[s.column].tone : Tone::kPlain;
        line += blanks + paint(text, own == Tone::kPlain ? row_tone : own, terminal.color);
        blanks.clear();
      }
      blanks.append(spaces, ' ');
      if (!right) blanks.append(room, ' ');
      blanks.append(kGap, ' ');
    }
    if (!line.empty()) out.append(static_cast<std::size_t>(indent), ' ').append(line);
    out += '\n';
  }
}

void append_rule(std::string& out, const Layout& layout, const Terminal& terminal, int indent) {
  std::string rule;
  for (const Layout::Shown& s : layout.shown) {
    if (!rule.empty()) rule.append(kGap, ' ');
    for (int i = 0; i < s.width; ++i) rule += terminal.unicode ? "─" : "-";
  }
  out.append(static_cast<std::size_t>(indent), ' ').append(paint(rule, Tone::kFaint, terminal.color)) += '\n';
}

std::string single_line(std::string_view title) {
  std::string line(title);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

bool in_markdown(const Column& column) { return column.audience != Audience::kPrograms && !column.is_bar; }

std::string markdown_field(std::string_view text) {
  std::string field;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\') field += '\\';
    field += c == '\n' ? ' ' : c;
  }
  return field;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string exact_number(double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return "0";  // also -0
  return fmt::format("{}", value);
}

Cell bar_cell(double start, double length, Tone tone) {
  Cell cell;
  cell.bar_start = start;
  cell.bar_length = length;
  cell.tone = tone;
  return cell;
}

Cell number_cell(std::string text, double value, Tone tone) { return {std::move(text), exact_number(value), tone}; }

RenderedTable render_terminal(const Table& table, const Terminal& terminal, int indent) {
  RenderedTable rendered;
  std::vector<std::size_t> left_out;
  const int limit = terminal.width > 0 ? std::max(1, terminal.width - indent) : 0;
  const Layout layout = lay_out(table, terminal, limit, left_out);
  for (const std::size_t column : left_out) rendered.left_out.push_back(single_line(table.columns[column].title));

  std::string& out = rendered.text;
  std::vector<Cell> titles;
  for (const Column& column : table.columns) titles.emplace_back(column.title);
  const bool has_titles = std::any_of(layout.shown.begin(), layout.shown.end(),
                                      [&](const Layout::Shown& s) { return !table.columns[s.column].title.empty(); });
  if (has_titles) {
    append_row(out, table, layout, terminal, indent, titles, Tone::kStrong, true);
    append_rule(out, layout, terminal, indent);
  }
  for (const Row& row : table.rows) {
    if (row.kind == RowKind::kSection) {
      const std::string title = text_for(cell_at(row, 0).text, terminal);
      out += '\n';
      out.append(static_cast<std::size_t>(indent), ' ').append(paint(title, Tone::kStrong, terminal.color)) += '\n';
      continue;
    }
    if (row.kind == RowKind::kTotal) append_rule(out, layout, terminal, indent);
    append_row(out, table, layout, terminal, indent, row.cells,
               row.kind == RowKind::kTotal && row.tone == Tone::kPlain ? Tone::kStrong : row.tone, false);
  }
  return rendered;
}

std::string render_markdown(const Table& table) {
  std::string out = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    if (!in_markdown(column)) continue;
    out += ' ' + markdown_field(single_line(column.title)) + " |";
    rule += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  out += '\n' + rule + '\n';
  for (const Row& row : table.rows) {
    const bool strong = row.kind != RowKind::kPlain;
    out += '|';
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (!in_markdown(table.columns[c])) continue;
      if (row.kind == RowKind::kSection && c > 0) {
        out += " |";
        continue;
      }
      const std::string field = markdown_field(trim(cell_at(row, c).text));
      out += field.empty() ? " |" : strong ? " **" + field + "** |" : " " + field + " |";
    }
    out += '\n';
  }
  return out;
}

std::string render_csv(const Table& table) {
  std::string out;
  const auto append_line = [&](const auto& field_of) {
    bool first = true;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].audience == Audience::kPeople || table.columns[c].is_bar) continue;
      if (!first) out += ',';
      out += csv_field(field_of(c));
      first = false;
    }
    out += '\n';
  };
  append_line([&](std::size_t c) { return table.columns[c].id; });
  for (const Row& row : table.rows) {
    if (row.kind == RowKind::kSection) continue;
    append_line([&](std::size_t c) {
      const Cell& cell = cell_at(row, c);
      return cell.has_value ? cell.value : cell.text;
    });
  }
  return out;
}

}  // namespace tare
