#include "report/text_layout.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(TextLayout, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("≤ 72 h ✔"), 8);
  EXPECT_EQ(display_width("e\u0301"), 1);       // a combining mark takes none
  EXPECT_EQ(display_width("漢字"), 4);          // wide ones take two
  EXPECT_EQ(display_width("\xff\xe2\x82"), 3);  // bytes that are no text take one each
}

TEST(TextLayout, PadsToColumns) {
  EXPECT_EQ(pad_right("8×8", 5), "8×8  ");
  EXPECT_EQ(pad_left("8×8", 5), "  8×8");
  EXPECT_EQ(pad_left("too wide", 3), "too wide");
}

TEST(TextLayout, WrapsAtSpaces) {
  EXPECT_EQ(wrap("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("one two", 3), (std::vector<std::string>{"one", "two"}));
}

TEST(TextLayout, WrapsIdsAtTheirSlashesFirst) {
  EXPECT_EQ(wrap("coreweave/hgx-h100-8x/*/on_demand", 26),
            (std::vector<std::string>{"coreweave/hgx-h100-8x/*/", "on_demand"}));
  EXPECT_EQ(wrap("nebius/gpu-h100-sxm_8gpu-128vcpu", 26),
            (std::vector<std::string>{"nebius/gpu-h100-sxm_8gpu-", "128vcpu"}));
}

TEST(TextLayout, WrapsLongWordsAnywhere) {
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
}

TEST(TextLayout, WrapKeepsLineBreaksAndNeverReturnsNothing) {
  EXPECT_EQ(wrap("wall\n≤ 72 h", 0), (std::vector<std::string>{"wall", "≤ 72 h"}));
  EXPECT_EQ(wrap("", 10), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("a b", 0), (std::vector<std::string>{"a b"}));
}

TEST(TextLayout, WideCharactersNeverLoop) { EXPECT_EQ(wrap("漢字", 1), (std::vector<std::string>{"漢", "字"})); }

TEST(TextLayout, ParagraphIndentCountsInTheWidth) {
  EXPECT_EQ(wrap_paragraph("one two three", 10, 2), "  one two\n  three\n");
}

TEST(TextLayout, AsciiSpellsTheSymbolsTheProgramPrints) {
  EXPECT_EQ(to_ascii("CHOSEN ✔"), "CHOSEN ");
  EXPECT_EQ(to_ascii("+$743 ($0 → $743)"), "+$743 ($0 -> $743)");
  EXPECT_EQ(to_ascii("8×8 ≤ −1 … µ"), "8x8 <= -1 ... u");
  EXPECT_EQ(to_ascii("漢"), "?");
}

TEST(TextLayout, PrintableTakesAwayWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\033[31mb"), "a?[31mb");
  EXPECT_EQ(printable("tab\there"), "tab here");
  EXPECT_EQ(printable("line\nnext"), "line\nnext");
  EXPECT_EQ(printable("\u202Eflip"), "?flip");  // right-to-left override
  EXPECT_EQ(printable("\xff"), "?");
  EXPECT_EQ(printable("µ ✔"), "µ ✔");
}

}  // namespace
}  // namespace tare
