#include "ingest/json_tree.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tare {
namespace {

std::string json_of(const JsonTree& tree) {
  const FactRecord* const record = tree.root.as_record();
  return record == nullptr ? "no object" : to_json(*record).dump();
}

TEST(JsonTree, KeepsOrderKindsAndLines) {
  const JsonTree tree = read_json_tree("{\n \"b\": 1,\n \"a\": [2.5, \"x\", null, true],\n \"o\": {\"n\": -3}}");
  EXPECT_TRUE(tree.complete);
  const FactRecord& root = *tree.root.as_record();
  EXPECT_EQ(root.integer("b"), 1);
  EXPECT_EQ(root.find("b")->line, 2);
  EXPECT_EQ(root.find_list("a")->size(), 4u);
  EXPECT_EQ(root.find_record("o")->integer("n"), -3);
  EXPECT_EQ(root.find("o")->line, 4);
}

TEST(JsonTree, WhatStandsBeforeACutIsKept) {
  const JsonTree tree = read_json_tree("{\"jobs\": [{\"id\": 7, \"state\": \"RUNNING\"}, {\"id\": 8,");
  EXPECT_FALSE(tree.complete);
  EXPECT_EQ(tree.fault, "the input ends inside an object");
  const std::vector<Fact>& jobs = *tree.root.as_record()->find_list("jobs");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].as_record()->text("state"), "RUNNING");
  EXPECT_EQ(jobs[1].as_record()->integer("id"), 8);
}

TEST(JsonTree, AFaultSaysWhereAndWhat) {
  const JsonTree tree = read_json_tree("{\n\"a\": 1\n\"b\": 2}", 10);
  EXPECT_EQ(tree.fault, "expected ',' or '}' in an object");
  EXPECT_EQ(tree.fault_line, 12);
  EXPECT_EQ(tree.root.as_record()->integer("a"), 1);
}

TEST(JsonTree, WhatFollowsADocumentIsLeft) {
  const std::string text = "{\"a\": 1} {\"a\": 2}";
  const JsonTree tree = read_json_tree(text);
  EXPECT_TRUE(tree.complete);
  EXPECT_EQ(text.substr(tree.used), " {\"a\": 2}");
}

TEST(JsonTree, TakesWhatSomeWritersLeave) {
  EXPECT_EQ(json_of(read_json_tree("{\"n\": NaN, \"t\": True, \"l\": [1,],}")), R"({"n":null,"t":true,"l":[1]})");
  EXPECT_EQ(read_json_tree("\"\\u00e9\\ud83d\\ude00\\n\"").root.text(), "\xC3\xA9\xF0\x9F\x98\x80\n");
}

TEST(JsonTree, DeepNestingIsAFaultAndNoCrash) {
  EXPECT_EQ(read_json_tree(std::string(100'000, '[')).fault, "nested too deep");
  EXPECT_EQ(read_json_tree("").fault, "the input ends where a value should stand");
}

}  // namespace
}  // namespace tare
