#include "base/diagnostic.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"

namespace tare {
namespace {

Diagnostic at_excerpt(std::string excerpt, int column, int width) {
  Diagnostic diagnostic = make_error("rule", "text");
  diagnostic.excerpt = std::move(excerpt);
  diagnostic.column = column;
  diagnostic.width = width;
  return diagnostic;
}

// Code points in the longest line.
std::size_t columns(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string_view line : split(text, '\n')) {
    std::size_t count = 0;
    for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1;
    longest = std::max(longest, count);
  }
  return longest;
}

TEST(Diagnostic, RendersAsACompilerDoes) {
  Diagnostic diagnostic = make_error("unknown-model", "unknown model 'llama-2-13c'", "did you mean \"llama-2-13b\"?");
  diagnostic.file = "job.toml";
  diagnostic.line = 4;
  diagnostic.column = 9;
  diagnostic.excerpt = "model = \"llama-2-13c\"";
  diagnostic.width = 13;
  EXPECT_EQ(render(diagnostic),
            "job.toml:4:9: error: unknown model 'llama-2-13c' [unknown-model]\n"
            "  model = \"llama-2-13c\"\n"
            "          ^~~~~~~~~~~~~\n"
            "  help: did you mean \"llama-2-13b\"?\n");
}

TEST(Diagnostic, RendersWhatItHas) {
  EXPECT_EQ(render(make_error("over-budget", "too dear")), "error: too dear [over-budget]\n");
  Diagnostic diagnostic = make_error("", "odd");
  diagnostic.severity = Severity::kWarning;
  diagnostic.file = "a.csv";
  EXPECT_EQ(render(diagnostic), "a.csv: warning: odd\n");
  diagnostic.line = 3;
  diagnostic.severity = Severity::kNote;
  diagnostic.excerpt = "a,b";
  EXPECT_EQ(render(diagnostic), "a.csv:3: note: odd\n  a,b\n");
}

TEST(Diagnostic, RendersSeveralInOrder) {
  EXPECT_EQ(render(Diagnostics{make_error("a", "one"), make_error("b", "two")}), "error: one [a]\nerror: two [b]\n");
  EXPECT_EQ(render(Diagnostics{}), "");
}

TEST(Diagnostic, ShowsNothingATerminalObeys) {
  EXPECT_EQ(render(make_error("r", "a\x1B[31m\nb\x7F\xFF")), "error: a?[31m?b?? [r]\n");
  EXPECT_EQ(render(make_error("r",
                              "\xC2\x9B"
                              "1m \xE2\x80\xAE \xE2\x81\xA6 ü €")),
            "error: ?1m ? ? ü € [r]\n");
  EXPECT_EQ(render(at_excerpt("\ta\x01 = \xFFx", 7, 2)), "error: text [rule]\n   a? = ?x\n        ^~\n");
}

TEST(Diagnostic, AlignsTheCaretByCodePoints) {
  EXPECT_EQ(render(at_excerpt("ü = \"grüße\" # c", 6, 9)),
            "error: text [rule]\n"
            "  ü = \"grüße\" # c\n"
            "      ^~~~~~~\n");
}

TEST(Diagnostic, KeepsTheCaretOnTheLine) {
  EXPECT_EQ(render(at_excerpt("ab", 2, 50)), "error: text [rule]\n  ab\n   ^\n");
  EXPECT_EQ(render(at_excerpt("ab", 3, 1)), "error: text [rule]\n  ab\n    ^\n");
  EXPECT_EQ(render(at_excerpt("ab", 30, -5)), "error: text [rule]\n  ab\n    ^\n");
}

TEST(Diagnostic, CutsLongLinesAroundTheCaret) {
  const std::string line = std::string(300, 'a') + "HERE" + std::string(300, 'b');
  EXPECT_EQ(render(at_excerpt(line, 301, 4)), "error: text [rule]\n  …" + std::string(39, 'a') + "HERE" +
                                                  std::string(73, 'b') + "…\n" + std::string(42, ' ') + "^~~~\n");
  EXPECT_EQ(render(at_excerpt(line, 1, 600)),
            "error: text [rule]\n  " + std::string(117, 'a') + "…\n  ^" + std::string(117, '~') + "\n");
  EXPECT_EQ(render(at_excerpt(line, 605, 1)),
            "error: text [rule]\n  …" + std::string(117, 'b') + "\n" + std::string(120, ' ') + "^\n");
}

RC_GTEST_PROP(DiagnosticProperty, RenderIsShortPrintableText, (const std::string& bytes, std::uint16_t repeat)) {
  std::string line;
  for (int i = 0; i < repeat % 50; ++i) line += bytes;
  const int column = *rc::gen::inRange(-2, static_cast<int>(line.size()) + 5);
  const int width = *rc::gen::inRange(-2, static_cast<int>(line.size()) + 5);
  const std::string text = render(at_excerpt(line, column, width));
  RC_ASSERT(find_not_text(text) == std::string_view::npos);
  RC_ASSERT(columns(text) <= 121u);
  for (const char c : text) RC_ASSERT(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(Diagnostic, PointsAtBytesOfAText) {
  Diagnostic diagnostic;
  point_at(diagnostic, "a\r\nbc = 12\r\nd", 8, 2);
  EXPECT_EQ(diagnostic.line, 2);
  EXPECT_EQ(diagnostic.column, 6);
  EXPECT_EQ(diagnostic.width, 2);
  EXPECT_EQ(diagnostic.excerpt, "bc = 12");
  point_at(diagnostic, "ab", 99, 0, 7);
  EXPECT_EQ(diagnostic.line, 7);
  EXPECT_EQ(diagnostic.column, 3);
  EXPECT_EQ(diagnostic.width, 1);
}

TEST(Diagnostic, LeavesOutHugeExcerpts) {
  Diagnostic diagnostic;
  const std::string line(100'000, 'x');
  point_at(diagnostic, line, 50'000, 1);
  EXPECT_EQ(diagnostic.column, 50'001);
  EXPECT_EQ(diagnostic.excerpt, "");
  point_at(diagnostic, line, 10, 1);
  EXPECT_EQ(diagnostic.excerpt.size(), 4096u);
}

TEST(Diagnostic, ListSortsAndLimits) {
  DiagnosticList list;
  EXPECT_TRUE(list.empty());
  for (int i = 0; i < 150; ++i) {
    Diagnostic diagnostic = make_error("r", "t");
    diagnostic.file = "f";
    diagnostic.line = 1000 - i;
    diagnostic.severity = i == 120 ? Severity::kError : Severity::kWarning;
    list.add(diagnostic);
  }
  const Diagnostics sorted = list.sorted();
  ASSERT_EQ(sorted.size(), DiagnosticList::kLimit + 1);
  EXPECT_EQ(sorted.front().line, 901);
  EXPECT_EQ(sorted[99].line, 1000);
  EXPECT_EQ(render(sorted.back()), "f: error: 50 more are not shown [too-many-errors]\n");
  EXPECT_TRUE(has_error(sorted));
}

TEST(Diagnostic, HasErrorSeesOnlyErrors) {
  Diagnostic warning = make_error("r", "t");
  warning.severity = Severity::kWarning;
  EXPECT_FALSE(has_error({}));
  EXPECT_FALSE(has_error({warning}));
  EXPECT_TRUE(has_error({warning, make_error("r", "t")}));
}

TEST(Diagnostic, FailMakesAFailedResult) {
  const Result<int> result = fail("rule", "text", "help");
  ASSERT_FALSE(result);
  EXPECT_EQ(render(result.error()), "error: text [rule]\n  help: help\n");
}

}  // namespace
}  // namespace tare
