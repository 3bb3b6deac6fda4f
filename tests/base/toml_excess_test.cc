#include "base/toml_excess.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

std::string repeated(std::string_view part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

// "offset: text", or "none".
std::string excess(std::string_view text) {
  const auto found = find_toml_excess(text);
  return found ? std::to_string(found->offset) + ": " + found->text : std::string("none");
}

TEST(TomlExcess, CountsBracketsAndDots) {
  EXPECT_EQ(excess("a = " + repeated("[", 64) + repeated("]", 64)), "none");
  EXPECT_EQ(excess("a = " + repeated("[", 65)), "68: nested more than 64 deep");
  EXPECT_EQ(excess("a" + repeated(".a", 64) + " = 1"), "none");
  EXPECT_EQ(excess("a" + repeated(".a", 65) + " = 1"), "129: nested more than 64 deep");
  EXPECT_EQ(excess("a.b.c = {d.e = [[1.5]]}\n[f.g]\n[[h]]\n"), "none");
  EXPECT_EQ(excess("a" + repeated(".a", 33) + " = {b" + repeated(".b", 33) + " = 1}"), "132: nested more than 64 deep");
}

TEST(TomlExcess, StartsAnewOnEveryLineAndValue) {
  EXPECT_EQ(excess(repeated("a.b = 1.5\n", 1000)), "none");
  EXPECT_EQ(excess("a = [" + repeated("1.5, ", 1000) + "]"), "none");
  EXPECT_EQ(excess("a = [" + repeated("{b.c = 1.5}, ", 1000) + "]"), "none");
}

TEST(TomlExcess, KnowsStringsAndComments) {
  const std::string brackets = repeated("[{.", 100);
  EXPECT_EQ(excess("# " + brackets + "\na = '" + brackets + "'\nb = \"\\\"" + brackets + "\""), "none");
  EXPECT_EQ(excess("a = \'\'\'\n\'" + brackets + "\'\'\'\nb = \"\"\"\n\"\\\"\"" + brackets + "\"\"\""), "none");
  EXPECT_NE(excess("a = ['', \"\", \"\\\\\", " + brackets), "none");
  EXPECT_NE(excess("a = [\"\"\"x\"\"\"\"\", \'\'\'y\'\'\'\', " + brackets), "none");
  EXPECT_NE(excess("a = \"not closed\nb = " + brackets), "none");
}

TEST(TomlExcess, CountsHeadersAndDottedKeys) {
  EXPECT_EQ(excess(repeated("[[a]]\n", 50'000)), "none");
  EXPECT_EQ(excess(repeated("[a]\n", 50'001)), "200000: more than 50000 table headers and dotted keys");
  EXPECT_NE(excess(repeated("a.b = 1\n", 50'001)), "none");
  EXPECT_NE(excess("a = {" + repeated("a.b = 1, ", 50'001)), "none");
  EXPECT_EQ(excess("a = [" + repeated("1.5, [2.5], {b = 3.5}, ", 50'001) + "]"), "none");
}

TEST(TomlExcess, TakesAnyText) {
  for (const char* text : {"", "]", "}}}", "\"", "'", "\"\"\"", "\'\'\'x", "\"\\", "\"\"\"\\", "#", "a = \"\\\n"}) {
    EXPECT_EQ(excess(text), "none") << text;
  }
}

}  // namespace
}  // namespace tare
