#include "report/document.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

Document sample() {
  Table table;
  table.columns = {{"a", "a"}, {"b", "long title", Align::kLeft, Importance::kExtra}};
  table.rows = {{{"1", "2"}}};
  Document document;
  document.text("What was asked", Tone::kStrong);
  document.heading("Answer");
  document.table(table);
  document.verbatim("x = 1\n");
  return document;
}

TEST(Document, OnATerminal) {
  EXPECT_EQ(render_terminal(sample(), Terminal{}),
            "What was asked\n"
            "\nAnswer\n"
            "a  long title\n"
            "─  ──────────\n"
            "1  2\n"
            "x = 1\n");
}

TEST(Document, SaysWhichColumnsHadNoRoom) {
  Terminal terminal;
  terminal.width = 40;
  EXPECT_EQ(render_terminal(sample(), terminal).find("Not shown"), std::string::npos);
  terminal.width = 10;
  EXPECT_NE(render_terminal(sample(), terminal).find("Not shown\nfor want\nof width:\nlong title\n"),
            std::string::npos);
}

TEST(Document, AsMarkdown) {
  EXPECT_EQ(render_markdown(sample()),
            "What was asked\n\n"
            "## Answer\n\n"
            "| a | long title |\n| --- | --- |\n| 1 | 2 |\n\n"
            "```\nx = 1\n```\n");
}

TEST(Document, AHeadingFirstHasNoBlankLineBefore) {
  Document document;
  document.heading("Title");
  EXPECT_EQ(render_terminal(document, Terminal{}), "Title\n");
}

TEST(Document, AnItemHangsBelowItsLine) {
  Document document;
  document.text("HIGH  a fault");
  document.item("why: words that do not fit into one line of it");
  document.item("fix: this");
  document.text("next");
  Terminal terminal;
  terminal.width = 30;
  terminal.unicode = true;
  EXPECT_EQ(render_terminal(document, terminal),
            "HIGH  a fault\n"
            "  why: words that do not fit\n"
            "    into one line of it\n"
            "  fix: this\n"
            "next\n");
  EXPECT_EQ(render_markdown(document),
            "HIGH  a fault\n\n- why: words that do not fit into one line of it\n- fix: this\n\nnext\n");
}

}  // namespace
}  // namespace tare
