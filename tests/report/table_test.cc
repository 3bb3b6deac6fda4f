#include "report/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "report/text_layout.h"

namespace tare {
namespace {

// Four columns of falling importance, 10 + 6 + 8 + 6 columns wide and 2 between.
Table offers() {
  Table table;
  table.columns = {{"offer", "offer", Align::kLeft, Importance::kEssential, 5},
                   {"total_usd", "total", Align::kRight},
                   {"step_time_s", "step", Align::kRight, Importance::kImportant},
                   {"note", "note", Align::kLeft, Importance::kExtra}};
  table.rows = {{{"aws/p5/x/y", number_cell("$1,234", 1234.5), number_cell("41.3 ms", 0.0413), "cheap"}},
                {{"b", number_cell("$9", 9), number_cell("2 s", 2), "dear"}}};
  return table;
}

Terminal plain(int width) {
  Terminal terminal;
  terminal.width = width;
  return terminal;
}

TEST(Table, AlignsNumbersRightAndDrawsARule) {
  EXPECT_EQ(render_terminal(offers(), plain(0)).text,
            "offer        total     step  note\n"
            "──────────  ──────  ───────  ─────\n"
            "aws/p5/x/y  $1,234  41.3 ms  cheap\n"
            "b               $9      2 s  dear\n");
}

TEST(Table, LeavesOutExtraColumnsFirstAndSaysWhich) {
  const RenderedTable rendered = render_terminal(offers(), plain(30));
  EXPECT_EQ(rendered.text,
            "offer        total     step\n"
            "──────────  ──────  ───────\n"
            "aws/p5/x/y  $1,234  41.3 ms\n"
            "b               $9      2 s\n");
  EXPECT_EQ(rendered.left_out, std::vector<std::string>{"note"});
}

TEST(Table, FoldsBeforeItLeavesOutImportantColumns) {
  EXPECT_EQ(render_terminal(offers(), plain(24)).text,
            "offer     total     step\n"
            "───────  ──────  ───────\n"
            "aws/p5/  $1,234  41.3 ms\n"
            "x/y\n"
            "b            $9      2 s\n");
}

TEST(Table, KeepsEssentialColumnsHoweverNarrow) {
  const RenderedTable rendered = render_terminal(offers(), plain(14));
  EXPECT_EQ(rendered.left_out, (std::vector<std::string>{"step", "note"}));
  EXPECT_NE(rendered.text.find("$1,234"), std::string::npos);
}

TEST(Table, NeverWiderThanTheTerminalWhileSomethingCanGiveWay) {
  for (int width = 13; width < 60; ++width) {
    for (const std::string& line : wrap(render_terminal(offers(), plain(width)).text, 0)) {
      EXPECT_LE(display_width(line), width) << width;
    }
  }
}

TEST(Table, AsciiWhereTheLocaleIsNotUtf8) {
  Terminal terminal = plain(0);
  terminal.unicode = false;
  Table table;
  table.columns = {{"a", "a → b"}};
  table.rows = {{{"8×8"}}};
  EXPECT_EQ(render_terminal(table, terminal).text, "a -> b\n------\n8x8\n");
}

TEST(Table, HeaderOfTwoLinesStandsOnTheRule) {
  Table table;
  table.columns = {{"a", "a"}, {"wall_s", "wall\n≤ 72 h", Align::kRight}};
  table.rows = {{{"x", "3 h"}}};
  EXPECT_EQ(render_terminal(table, plain(0)).text,
            "     wall\n"
            "a  ≤ 72 h\n"
            "─  ──────\n"
            "x     3 h\n");
}

TEST(Table, TotalStandsUnderARuleAndSectionsApart) {
  Table table;
  table.columns = {{"a", "line"}, {"usd", "amount", Align::kRight}};
  table.rows = {{{"Bill"}, RowKind::kSection}, {{"rent", "$5"}}, {{"total", "$5"}, RowKind::kTotal}};
  EXPECT_EQ(render_terminal(table, plain(0)).text,
            "line   amount\n"
            "─────  ──────\n"
            "\nBill\n"
            "rent       $5\n"
            "─────  ──────\n"
            "total      $5\n");
}

TEST(Table, ColoursCellsOnlyWhereTheTerminalShowsThem) {
  Table table;
  table.columns = {{"a", ""}};
  table.rows = {{{Cell("late", "late", Tone::kBad)}}};
  Terminal terminal = plain(0);
  EXPECT_EQ(render_terminal(table, terminal).text, "late\n");
  terminal.color = true;
  EXPECT_EQ(render_terminal(table, terminal).text, "\033[1;31mlate\033[0m\n");
}

TEST(Table, ColourDoesNotMoveColumns) {
  Table table = offers();
  table.rows[0].tone = Tone::kGood;
  Terminal terminal = plain(0);
  terminal.color = true;
  std::string text = render_terminal(table, terminal).text;
  for (std::size_t at = text.find('\033'); at != std::string::npos; at = text.find('\033')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, render_terminal(offers(), plain(0)).text);
}

TEST(Table, ForeignTextCannotSteerTheTerminal) {
  Table table;
  table.columns = {{"a", "name"}};
  table.rows = {{{"evil\033]0;title\007"}}};
  EXPECT_EQ(render_terminal(table, plain(0)).text, "name\n──────────────\nevil?]0;title?\n");
}

TEST(Table, BarsTakeTheWidthThatIsLeft) {
  Table table;
  table.columns = {{"a", "bar"}, {"", "", Align::kLeft, Importance::kUseful}};
  table.columns[1].is_bar = true;
  table.rows = {{{"x", bar_cell(0, 0.5)}}, {{"y", bar_cell(0.5, 0.5)}}};
  EXPECT_EQ(render_terminal(table, plain(25)).text,
            "bar\n"
            "───  ────────────────────\n"
            "x    ██████████\n"
            "y              ██████████\n");
}

TEST(Table, CsvHoldsExactValuesUnderIds) {
  EXPECT_EQ(render_csv(offers()),
            "offer,total_usd,step_time_s,note\n"
            "aws/p5/x/y,1234.5,0.0413,cheap\n"
            "b,9,2,dear\n");
}

TEST(Table, CsvQuotesWhatNeedsIt) {
  Table table;
  table.columns = {{"a", ""}, {"b", ""}};
  table.rows = {{{"x, y", "say \"no\"\nplease"}}};
  EXPECT_EQ(render_csv(table), "a,b\n\"x, y\",\"say \"\"no\"\"\nplease\"\n");
}

TEST(Table, AudiencesGetTheirColumns) {
  Table table;
  table.columns = {{"both", "both"},
                   {"people", "people", Align::kLeft, Importance::kEssential, 0, Audience::kPeople},
                   {"programs", "programs", Align::kLeft, Importance::kEssential, 0, Audience::kPrograms}};
  table.rows = {{{"1", "2", "3"}}};
  EXPECT_EQ(render_csv(table), "both,programs\n1,3\n");
  EXPECT_EQ(render_markdown(table), "| both | people |\n| --- | --- |\n| 1 | 2 |\n");
  EXPECT_EQ(render_terminal(table, plain(0)).text, "both  people\n────  ──────\n1     2\n");
}

TEST(Table, MarkdownEscapesBarsAndAlignsNumbers) {
  Table table;
  table.columns = {{"a", "a|b"}, {"n", "n", Align::kRight}};
  table.rows = {{{"x|y", "1"}}, {{"total", "1"}, RowKind::kTotal}};
  EXPECT_EQ(render_markdown(table),
            "| a\\|b | n |\n"
            "| --- | ---: |\n"
            "| x\\|y | 1 |\n"
            "| **total** | **1** |\n");
}

TEST(Table, NumbersReadBackExactly) {
  EXPECT_EQ(exact_number(0.1), "0.1");
  EXPECT_EQ(exact_number(1e21), "1e+21");
  EXPECT_EQ(exact_number(-0.0), "0");
  EXPECT_EQ(exact_number(std::numeric_limits<double>::infinity()), "");  // not known: an empty field
}

}  // namespace
}  // namespace tare
