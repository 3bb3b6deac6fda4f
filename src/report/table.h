// A table once: shown on a terminal, as Markdown or as CSV.
//
// A cell has a text for people ("41.3 s") and a value for programs ("41.2987"); columns and rows say where they matter.
// The terminal form never exceeds the terminal's width while something can still give way: first extra columns are left
// out, then useful ones, then wrappable columns are folded, then important ones are left out. Essential columns stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/color.h"
#include "report/terminal.h"

namespace tare {

enum class Align { kLeft, kRight };
enum class Importance { kEssential, kImportant, kUseful, kExtra };
enum class Audience { kEveryone, kPeople, kPrograms };  // kPeople: terminal and Markdown; kPrograms: CSV

// A column of bars takes what is left of the width, from the least to the most; only terminals show it.
inline constexpr int kLeastBarWidth = 10, kMostBarWidth = 40;

struct Column {
  std::string id;     // CSV header: "step_time_s"
  std::string title;  // header for people; may have several lines
  Align align = Align::kLeft;
  Importance importance = Importance::kEssential;
  int fold_width = 0;  // > 0: its cells may be folded over several lines down to this width
  Audience audience = Audience::kEveryone;
  bool is_bar = false;
};

struct Cell {
  Cell() = default;
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT: rows are written as lists of texts
  Cell(const char* shown) : text(shown) {}             // NOLINT
  Cell(std::string shown, std::string exact, Tone shade = Tone::kPlain)
      : text(std::move(shown)), value(std::move(exact)), has_value(true), tone(shade) {}

  std::string text;   // for people
  std::string value;  // for programs, when has_value; else the text stands for it
  bool has_value = false;
  Tone tone = Tone::kPlain;
  double bar_start = 0, bar_length = 0;  // shares of the whole, in a column of bars
};

// A bar from `start` on, both as shares of the whole.
Cell bar_cell(double start, double length, Tone tone = Tone::kPlain);

// A number for programs is its shortest form that reads back exactly.
std::string exact_number(double value);
Cell number_cell(std::string text, double value, Tone tone = Tone::kPlain);

enum class RowKind {
  kPlain,
  kSection,  // one cell across all columns, after a blank line; people only
  kTotal,    // under a rule
};

struct Row {
  std::vector<Cell> cells;  // as many as columns; fewer read as empty
  RowKind kind = RowKind::kPlain;
  Tone tone = Tone::kPlain;
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

struct RenderedTable {
  std::string text;
  std::vector<std::string> left_out;  // titles of the columns that the width had no room for
};

RenderedTable render_terminal(const Table& table, const Terminal& terminal, int indent = 0);
std::string render_markdown(const Table& table);
std::string render_csv(const Table& table);  // RFC 4180, with the header of column ids

}  // namespace tare
