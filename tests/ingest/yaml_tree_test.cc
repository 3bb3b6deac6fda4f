#include "ingest/yaml_tree.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

FactRecord record_of(std::string_view text) {
  const YamlTree tree = read_yaml_tree(text);
  return tree.documents.empty() || tree.documents[0].as_record() == nullptr ? FactRecord()
                                                                            : *tree.documents[0].as_record();
}

TEST(YamlTree, MapsListsAndScalars) {
  const FactRecord root = record_of(
      "a: 1   # one\n"
      "b: \"1\"\n"
      "list:\n"
      "- x\n"
      "- k: v\n"
      "  more: 2.5\n"
      "flow: {p: [1, 'two'], q: ~}\n"
      "text: |\n"
      "  first\n"
      "    second\n"
      "last: true\n");
  EXPECT_EQ(root.integer("a"), 1);
  EXPECT_EQ(root.text("b"), "1");
  const std::vector<Fact>& list = *root.find_list("list");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].as_record()->number("more"), 2.5);
  EXPECT_EQ(list[1].as_record()->find("more")->line, 6);
  EXPECT_EQ(root.find_record("flow")->find_list("p")->at(1).text(), "two");
  EXPECT_TRUE(root.find_record("flow")->find("q")->is_unknown());
  EXPECT_EQ(root.text("text"), "first\n  second");
  EXPECT_TRUE(std::get<bool>(root.find("last")->value));
}

TEST(YamlTree, ACutBeginningJoinsWhatStandsFurtherOut) {
  const FactRecord root = record_of(
      "      deep: 1\n"
      "    middle: 2\n"
      "outer: 3\n");
  EXPECT_EQ(root.integer("deep"), 1);
  EXPECT_EQ(root.integer("middle"), 2);
  EXPECT_EQ(root.integer("outer"), 3);
}

TEST(YamlTree, LinesThatFitNowhereArePutAside) {
  const YamlTree tree = read_yaml_tree("a: 1\n     stray words\nb: 2\n");
  ASSERT_EQ(tree.bad_count, 1);
  EXPECT_EQ(tree.bad[0].first, 2);
  EXPECT_EQ(tree.documents[0].as_record()->integer("b"), 2);
}

TEST(YamlTree, Documents) { EXPECT_EQ(read_yaml_tree("---\na: 1\n---\n- b\n").documents.size(), 2u); }

TEST(YamlTree, DepthIsLimited) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
  EXPECT_GT(read_yaml_tree(text).bad_count, 0);
  EXPECT_FALSE(read_yaml_tree("a: " + std::string(100'000, '[')).documents.empty());
}

}  // namespace
}  // namespace tare
