#include "ingest/topograph_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "ingest/bounded_fact.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"
#include "ingest/yaml_tree.h"

namespace tare {
namespace {

constexpr std::size_t kListed = 20'000;

std::string names_of(const Fact* list) {
  std::vector<std::string> names;
  if (list == nullptr) return {};
  if (list->as_list() == nullptr) return std::string(list->text());
  for (const Fact& item : *list->as_list()) {
    names.push_back(item.text().empty() && item.number() ? std::to_string(static_cast<std::int64_t>(*item.number()))
                                                         : std::string(item.text()));
  }
  return join(names, ",");
}

// Longest way down from a switch, walked without recursion: each round takes one level off.
std::int64_t levels_of(const std::map<std::string, std::vector<std::string>>& under) {
  std::set<std::string> below;
  for (const auto& [name, children] : under) below.insert(children.begin(), children.end());
  std::set<std::string> level;
  for (const auto& [name, children] : under) {
    if (below.count(name) == 0) level.insert(name);
  }
  std::int64_t levels = 0;
  while (!level.empty() && levels < 32) {
    ++levels;
    std::set<std::string> next;
    for (const std::string& name : level) {
      if (const auto found = under.find(name); found != under.end())
        next.insert(found->second.begin(), found->second.end());
    }
    level = std::move(next);
  }
  return levels;
}

// switches: a map by name, or a list of records with a name.
void take_switches(const Fact& switches, Reading& reading, std::map<std::string, std::vector<std::string>>& under) {
  const auto take = [&](const std::string& name, const FactRecord* from, std::int64_t line) {
    FactRecord into(line);
    into.set("name", name);
    std::vector<std::string>& children = under[name];
    if (from != nullptr) {
      for (const std::string_view member : {"switches", "nodes"}) {
        const Fact* const list = from->find(member);
        if (list == nullptr) continue;
        const std::string names = names_of(list);
        into.set(member, names, list->line);
        into.set(member == "nodes" ? "node_count" : "switch_count", count_hosts(names), list->line);
        if (member == "switches") children = expand_range(names, kListed);
      }
      for (const std::string_view member : {"labels", "metadata", "annotations"}) {
        if (const FactRecord* const labels = from->find_record(member)) into.set(member, Fact::of(bounded(*labels)));
      }
    }
    std::vector<Fact>& list = reading.facts.list("switches", switches.line);
    if (list.size() < kListed) list.push_back(Fact::of(std::move(into)));
  };
  if (const FactRecord* const map = switches.as_record()) {
    for (const auto& [name, value] : map->members()) take(name, value.as_record(), value.line);
  } else if (const std::vector<Fact>* const list = switches.as_list()) {
    for (const Fact& item : *list) {
      if (item.as_record() != nullptr) take(std::string(item.as_record()->text("name")), item.as_record(), item.line);
    }
  }
}

void take_blocks(const Fact& blocks, Reading& reading, std::set<std::string>& domains, std::int64_t& nodes) {
  const auto take = [&](const FactRecord& from, std::string_view name) {
    FactRecord into(from.line);
    if (!name.empty()) into.set("name", name);
    for (const std::string_view member : {"name", "switch", "nvlink", "type"}) {
      if (!from.text(member).empty()) into.set(member, from.text(member), from.find(member)->line);
    }
    if (const Fact* const list = from.find("nodes")) {
      const std::string names = names_of(list);
      into.set("nodes", names, list->line);
      into.set("node_count", count_hosts(names), list->line);
      nodes = std::min<std::int64_t>(nodes + count_hosts(names), 1'000'000'000);
    }
    if (const FactRecord* const annotations = from.find_record("annotations")) {
      for (const auto& [key, value] : annotations->members()) {
        if (contains(key, "domain") && !value.text().empty()) into.set("domain", value.text(), value.line);
      }
      into.set("annotations", Fact::of(bounded(*annotations)));
    }
    const std::string domain(into.text("domain").empty() ? into.text("nvlink") : into.text("domain"));
    if (!domain.empty() && domains.size() < kListed) domains.insert(domain);
    std::vector<Fact>& list = reading.facts.list("blocks", blocks.line);
    if (list.size() < kListed) list.push_back(Fact::of(std::move(into)));
  };
  if (const std::vector<Fact>* const list = blocks.as_list()) {
    for (const Fact& item : *list) {
      if (item.as_record() != nullptr) take(*item.as_record(), "");
    }
  } else if (const FactRecord* const map = blocks.as_record()) {
    for (const auto& [name, value] : map->members()) {
      if (value.as_record() != nullptr) take(*value.as_record(), name);
    }
  }
}

void read_document(std::string_view text, Reading& reading) {
  const YamlTree tree = read_yaml_tree(text);
  std::map<std::string, std::vector<std::string>> under;
  std::set<std::string> domains;
  std::int64_t nodes = 0;
  for (const Fact& document : tree.documents) {
    const FactRecord* const record = document.as_record();
    if (record == nullptr) continue;
    if (const Fact* const switches = record->find("switches")) take_switches(*switches, reading, under);
    for (const std::string_view name : {"blocks", "capacity_blocks"}) {
      if (const Fact* const blocks = record->find(name)) take_blocks(*blocks, reading, domains, nodes);
    }
  }
  FactRecord& facts = reading.facts;
  if (facts.empty()) return;
  facts.set("switch_count", static_cast<std::int64_t>(under.size()));
  if (const std::vector<Fact>* const blocks = facts.find_list("blocks")) {
    facts.set("block_count", static_cast<std::int64_t>(blocks->size()));
  }
  facts.set("node_count", nodes);
  facts.set("domain_count", static_cast<std::int64_t>(domains.size()));
  facts.set("switch_levels", levels_of(under));
  for (const auto& [line, bad] : tree.bad) reading.cannot_use(line, bad, "it does not fit the indentation around it");
}

int recognise(const Head& head) {
  bool switches = false, blocks = false, nodes = false;
  int lines = 0;
  for (std::string_view rest = head.text; !rest.empty() && lines < 2000;) {
    const std::string_view line = next_line(rest);
    if (trim(line).empty() || line.starts_with('#')) continue;
    ++lines;
    if (line.starts_with("switches:")) switches = true;
    if (line.starts_with("blocks:") || line.starts_with("capacity_blocks:")) blocks = true;
    if (trim(line).starts_with("nodes:") || trim(line).starts_with("- switch:") || contains(line, "topology."))
      nodes = true;
  }
  if (switches && nodes) return blocks ? confidence::kSure : confidence::kLikely;
  return blocks && nodes ? confidence::kLikely : confidence::kNone;
}

}  // namespace

Format topograph_model_format() { return {"kubernetes", "topograph", recognise, nullptr, read_document}; }

}  // namespace tare
