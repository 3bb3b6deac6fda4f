#include "ingest/lscpu.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/json_tree.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct Name {
  std::string_view field;
  std::string_view name;
};
// The fields that are asked for, under names of ours; all of them stand in "fields" too.
constexpr std::array<Name, 23> kNames = {{{"Architecture", "architecture"},
                                          {"CPU(s)", "cpus"},
                                          {"On-line CPU(s) list", "online_cpus"},
                                          {"Off-line CPU(s) list", "offline_cpus"},
                                          {"Thread(s) per core", "threads_per_core"},
                                          {"Core(s) per socket", "cores_per_socket"},
                                          {"Core(s) per cluster", "cores_per_cluster"},
                                          {"Socket(s)", "sockets"},
                                          {"Cluster(s)", "clusters"},
                                          {"NUMA node(s)", "numa_nodes"},
                                          {"Vendor ID", "vendor"},
                                          {"Model name", "model"},
                                          {"CPU family", "cpu_family"},
                                          {"Stepping", "stepping"},
                                          {"CPU MHz", "cpu_mhz"},
                                          {"CPU max MHz", "cpu_max_mhz"},
                                          {"CPU min MHz", "cpu_min_mhz"},
                                          {"Hypervisor vendor", "hypervisor"},
                                          {"Virtualization type", "virtualization_type"},
                                          {"Virtualization", "virtualization"},
                                          {"L3 cache", "l3_cache"},
                                          {"L3", "l3_cache"},
                                          {"L2 cache", "l2_cache"}}};

// "NUMA node3 CPU(s)" -> 3.
std::optional<std::int64_t> numa_node(std::string_view field) {
  if (!field.starts_with("NUMA node") || !contains(field, "CPU")) return std::nullopt;
  const std::string_view rest = field.substr(9);
  return to_integer(rest.substr(0, rest.find(' ')));
}

std::string snake(std::string_view field) {
  std::string out;
  for (const char c : to_lower(field)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter) out += c;
    if (!letter && !out.empty() && out.back() != '_') out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

void add_field(std::string_view field, std::string_view value, std::int64_t line, FactRecord& facts) {
  field = trim(field);
  if (field.ends_with(':')) field = trim(field.substr(0, field.size() - 1));
  value = trim(value);
  if (field.empty() || field.size() > 80) return;
  if (const std::optional<std::int64_t> node = numa_node(field)) {
    if (facts.list("numa").size() >= 4096) return;
    FactRecord& record = facts.append("numa", line);
    record.set("node", *node);
    if (value.empty()) {
      record.set_unknown("cpus");
    } else {
      record.set("cpus", value);
    }
    return;
  }
  for (const Name& one : kNames) {
    if (one.field != field) continue;
    const bool number = one.name != "l3_cache" && one.name != "l2_cache" && !one.name.ends_with("line_cpus");
    if (!facts.has(one.name)) facts.set(one.name, number ? Fact::parsed(value, line) : Fact::of(value, line));
    break;
  }
  FactRecord& fields = facts.record("fields", line);
  if (fields.members().size() < 200 && field != "Flags") fields.set(snake(field), value, line);
}

void summarise(Reading& reading) {
  FactRecord& facts = reading.facts;
  const std::vector<Fact>* const numa = facts.find_list("numa");
  if (numa == nullptr) return;
  std::int64_t with = 0;
  for (const Fact& node : *numa) {
    if (!node.as_record()->find("cpus")->is_unknown()) ++with;
  }
  const std::int64_t all = static_cast<std::int64_t>(numa->size());
  facts.set("numa_nodes_with_cpus", with);
  if (with < all) {
    reading.note(std::to_string(all - with) + " of " + std::to_string(all) +
                 " NUMA nodes have no CPUs: memory of GPUs or of devices, no sockets");
  }
}

bool is_known_field(std::string_view field) {
  field = trim(field);
  if (numa_node(field)) return true;
  return std::any_of(kNames.begin(), kNames.end(), [field](const Name& one) { return one.field == field; }) ||
         field == "CPU op-mode(s)" || field == "Byte Order" || field == "BogoMIPS" || field == "L1d cache" ||
         field == "Flags" || field == "NUMA" || field == "Address sizes";
}

class LscpuReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = without_line_tags(line.text);
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.size() > 16'384) return false;
    const std::string_view field = text.substr(0, colon);
    const bool known = is_known_field(field) || trim(field).starts_with("Vulnerability ") ||
                       trim(field).ends_with(" cache") || trim(field) == "Caches (sum of all)" ||
                       trim(field) == "Virtualization features" || trim(field) == "Vulnerabilities" ||
                       trim(field) == "Model" || trim(field).ends_with("scaling MHz") ||
                       trim(field) == "Frequency boost";
    if (!known) return false;
    add_field(field, text.substr(colon + 1), line.number, reading.facts);
    return true;
  }
  void finish(Reading& reading) override { summarise(reading); }
};

}  // namespace

int recognise_lscpu(const Head& head) {
  int known = 0, own = 0;  // "Flags:" and the like stand in other outputs too
  for (std::string_view text = head.text; !text.empty() && known < 6;) {
    const std::string_view line = without_line_tags(next_line(text));
    const std::size_t colon = line.find(':');
    if (colon > 60) continue;
    const std::string_view field = line.substr(0, colon);
    if (!is_known_field(field)) continue;
    ++known;
    if (contains(field, "(s)") || trim(field) == "Model name" || trim(field) == "CPU family") ++own;
  }
  if (own < 2) return own == 1 && known >= 2 ? confidence::kPossible : confidence::kNone;
  return known >= 4 ? 93 : 75;
}

std::unique_ptr<LineReader> open_lscpu() { return std::make_unique<LscpuReader>(); }

int recognise_lscpu_json(const Head& head) {
  return contains(head.text, "\"lscpu\"") && contains(head.text, "\"field\"") ? 96 : confidence::kNone;
}

void read_lscpu_json(std::string_view text, Reading& reading) {
  std::size_t open = text.find('{');
  if (open == std::string_view::npos) return;
  const JsonTree tree = read_json_tree(
      text.substr(open), 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", "the JSON is damaged: " + tree.fault);
  const FactRecord* const root = tree.root.as_record();
  const std::vector<Fact>* const fields = root == nullptr ? nullptr : root->find_list("lscpu");
  if (fields == nullptr) return;
  // Newer versions nest what belongs together.
  std::vector<const Fact*> waiting;
  for (auto it = fields->rbegin(); it != fields->rend(); ++it) waiting.push_back(&*it);
  while (!waiting.empty()) {
    const FactRecord* const record = waiting.back()->as_record();
    waiting.pop_back();
    if (record == nullptr) continue;
    add_field(record->text("field"), record->text("data"), record->line, reading.facts);
    if (const std::vector<Fact>* const children = record->find_list("children")) {
      for (auto it = children->rbegin(); it != children->rend(); ++it) waiting.push_back(&*it);
    }
  }
  summarise(reading);
}

}  // namespace tare
