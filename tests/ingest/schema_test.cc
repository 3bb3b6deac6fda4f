// schema/ against the readers: every key that a schema names is one that its reader knows.
#include <functional>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "cluster/cluster.h"
#include "workload/job.h"

namespace tare {
namespace {

const Catalog& shipped() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

Json schema(const std::string& name) {
  return Json::parse(read_file(std::string(TARE_SOURCE_DIR) + "/schema/" + name + ".schema.json").value());
}

using Visit = std::function<void(const std::string& table, bool is_array, const std::string& key)>;

// Calls `visit` for every key of every object of the schema, with the path of its table.
void visit_keys(const Json& node, const std::string& table, bool is_array, const Visit& visit) {
  if (node.contains("oneOf")) {
    for (const Json& choice : node["oneOf"]) visit_keys(choice, table, is_array, visit);
  }
  if (node.contains("items")) visit_keys(node["items"], table, true, visit);
  if (node.contains("additionalProperties") && node["additionalProperties"].is_object()) {
    visit_keys(node["additionalProperties"], table + ".any", false, visit);
  }
  if (!node.contains("properties")) return;
  for (const auto& [key, value] : node["properties"].items()) {
    if (!table.empty()) visit(table, is_array, key);
    visit_keys(value, table.empty() ? key : table + '.' + key, false, visit);
  }
}

// The rules reported for a file that holds nothing but that key, with a value that no key takes.
template <typename Parse>
void expect_known(const std::string& name, Parse parse) {
  int keys = 0;
  visit_keys(schema(name), "", false, [&](const std::string& table, bool is_array, const std::string& key) {
    ++keys;
    const std::string head = is_array ? "[[" + table + "]]\n" : "[" + table + "]\n";
    const auto parsed = parse(head + key + " = [[0]]\n");
    ASSERT_FALSE(parsed) << table << '.' << key;
    for (const Diagnostic& error : parsed.error()) EXPECT_NE(error.rule, "unknown-key") << table << ": " << error.text;
  });
  EXPECT_GT(keys, 30);
}

TEST(Schema, EveryKeyOfTheJobSchemaIsRead) {
  expect_known("job", [](const std::string& text) { return parse_job(text, "job.toml", shipped()); });
}

TEST(Schema, EveryKeyOfTheClusterSchemaIsRead) {
  expect_known("cluster", [](const std::string& text) { return parse_cluster(text, "cluster.toml", shipped()); });
}

}  // namespace
}  // namespace tare
