#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tare {
namespace {

using Strings = std::vector<std::string>;

TEST(Text, FindsWhatIsNotText) {
  EXPECT_EQ(find_not_text(""), std::string_view::npos);
  EXPECT_EQ(find_not_text("plain\r\n\x01"), std::string_view::npos);
  EXPECT_EQ(find_not_text("Grüße € 😀"), std::string_view::npos);
  EXPECT_EQ(find_not_text(std::string_view("ab\0c", 4)), 2u);
  EXPECT_EQ(find_not_text("ab\xFF"), 2u);
  EXPECT_EQ(find_not_text("\xC0\x80"), 0u);          // over-long NUL
  EXPECT_EQ(find_not_text("\xE0\x80\x80"), 0u);      // over-long
  EXPECT_EQ(find_not_text("\xF0\x80\x80\x80"), 0u);  // over-long
  EXPECT_EQ(find_not_text("\xED\xA0\x80"), 0u);      // surrogate
  EXPECT_EQ(find_not_text("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_not_text("a\xE2\x82"), 1u);         // cut short
  EXPECT_EQ(find_not_text("a\x80"), 1u);             // continuation without a lead
}

TEST(Text, AsTextReplacesOnlyWhatIsNotText) {
  EXPECT_EQ(as_text("ü\xFF\xFE€"), "ü??€");
  EXPECT_EQ(as_text(std::string_view("a\0", 2)), "a?");
  EXPECT_EQ(as_text(""), "");
}

RC_GTEST_PROP(TextProperty, AsTextIsTextOfTheSameSize, (const std::string& bytes)) {
  const std::string text = as_text(bytes);
  RC_ASSERT(find_not_text(text) == std::string_view::npos);
  RC_ASSERT(text.size() == bytes.size());
}

TEST(Text, QuotesShortAndLong) {
  EXPECT_EQ(in_quotes("abc"), "'abc'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "…'");
  EXPECT_EQ(in_quotes(std::string(39, 'x') + "üü"), "'" + std::string(39, 'x') + "ü…'");
}

TEST(Text, TrimSplitJoin) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(to_lower("H100-SXM Ü"), "h100-sxm Ü");
  EXPECT_TRUE(equals_ignoring_case("NDR", "ndr"));
  EXPECT_FALSE(equals_ignoring_case("NDR", "ndr2"));
}

TEST(Text, GlobMatchesTheWhole) {
  EXPECT_TRUE(glob_matches("runpod/*h100*", "runpod/eu/H100-SXM/on_demand"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(glob_matches("p?", "p5"));
  EXPECT_TRUE(glob_matches("n[0-9]", "n7"));
  EXPECT_TRUE(glob_matches("n[A-C]x", "nbX"));
  EXPECT_TRUE(glob_matches("n[!0-9]", "nx"));
  EXPECT_TRUE(glob_matches("n[]]", "n]"));
  EXPECT_TRUE(glob_matches("n[a-]", "n-"));
  EXPECT_TRUE(glob_matches("n[1", "n[1"));
  EXPECT_FALSE(glob_matches("n[!0-9]", "n7"));
  EXPECT_FALSE(glob_matches("aws/p5", "aws/p5e"));
  EXPECT_FALSE(glob_matches("p?", "p"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("*a", "ab"));
}

TEST(Text, GlobIsNotExponential) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(5000, 'a')));
}

// The definition, without the shortcut of keeping only the last star.
bool glob_by_definition(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return glob_by_definition(pattern.substr(1), text) ||
           (!text.empty() && glob_by_definition(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         glob_by_definition(pattern.substr(1), text.substr(1));
}

RC_GTEST_PROP(TextProperty, GlobAgreesWithItsDefinition, ()) {
  const auto pattern = *rc::gen::resize(10, rc::gen::container<std::string>(rc::gen::element('a', 'b', '*', '?')));
  const auto text = *rc::gen::resize(12, rc::gen::container<std::string>(rc::gen::element('a', 'b')));
  RC_ASSERT(glob_matches(pattern, text) == glob_by_definition(pattern, text));
}

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("nmae", "name"), 1);  // one transposition
  EXPECT_EQ(edit_distance("ca", "abc"), 3);     // optimal string alignment, not Damerau-Levenshtein
  EXPECT_EQ(edit_distance("H100", "h100"), 0);
}

RC_GTEST_PROP(TextProperty, EditDistanceIsSymmetric, (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT(edit_distance(a, a) == 0);
}

TEST(Text, DidYouMean) {
  const Strings models = {"llama-2-7b", "llama-2-13b", "mixtral-8x7b"};
  EXPECT_EQ(did_you_mean("llama-2-13c", models), "llama-2-13b");
  EXPECT_EQ(did_you_mean("Llama-2-7B", models), "llama-2-7b");
  EXPECT_EQ(did_you_mean("gpt", models), "");
  EXPECT_EQ(did_you_mean("unk", {"inl"}), "");  // two of three letters differ
  EXPECT_EQ(did_you_mean("dp", {"tp", "dp"}), "dp");
  EXPECT_EQ(did_you_mean("", models), "");
}

TEST(Text, ExpandsRanges) {
  EXPECT_EQ(expand_range("n[1-3,7],m1"), (Strings{"n1", "n2", "n3", "n7", "m1"}));
  EXPECT_EQ(expand_range("n[01-03]"), (Strings{"n01", "n02", "n03"}));
  EXPECT_EQ(expand_range("n[8-11]"), (Strings{"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(expand_range("n[098-101]"), (Strings{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expand_range("r[1-2]n[1-2]-ib"), (Strings{"r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"}));
  EXPECT_EQ(expand_range(" a , b "), (Strings{"a", "b"}));
  EXPECT_EQ(expand_range("[5]"), (Strings{"5"}));
}

TEST(Text, RefusesMalformedRanges) {
  for (const char* text : {"", " ", "a,,b", "a,", "n[", "n]", "n[]", "n[1-]", "n[-1]", "n[3-1]", "n[a-b]", "n[1-2",
                           "n[[1]]", "n[1]]", "n[1--2]", "n[1,]", "n[9999999999999999999]"}) {
    EXPECT_EQ(expand_range(text), Strings()) << text;
  }
}

TEST(Text, LimitsRanges) {
  EXPECT_EQ(expand_range("n[1-10]", 10).size(), 10u);
  EXPECT_TRUE(expand_range("n[1-11]", 10).empty());
  EXPECT_TRUE(expand_range("n[1-6],m[1-5]", 10).empty());
  EXPECT_TRUE(expand_range("n[1-4]m[1-4]", 10).empty());
  EXPECT_TRUE(expand_range("n[0-999999999999999999]").empty());
  EXPECT_TRUE(expand_range(std::string(256, 'n')).empty());
  EXPECT_EQ(expand_range("n[1-1000000]").size(), 1'000'000u);
}

}  // namespace
}  // namespace tare
