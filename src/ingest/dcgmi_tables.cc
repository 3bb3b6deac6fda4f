#include "ingest/dcgmi_tables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/gpu_fields.h"
#include "ingest/json_tree.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/text_box.h"

namespace tare {
namespace {

std::string joined(const BoxRow& row) {
  std::string text;
  for (const std::string& entry : row.entries) text += (text.empty() ? "" : " ") + std::string(trim(entry));
  return text;
}

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view marker) {
  const std::optional<std::string_view> rest = after(text, marker);
  if (!rest) return std::nullopt;
  std::size_t digits = 0;
  while (digits < rest->size() && digits < 9 && (*rest)[digits] >= '0' && (*rest)[digits] <= '9') ++digits;
  return to_integer(rest->substr(0, digits));
}

// "eight" of "Connected via eight NVLINKs (Links: 0, 1, …)".
std::optional<std::int64_t> number_word(std::string_view word) {
  static constexpr std::array<std::string_view, 21> kWords = {
      "zero",     "one",     "two",     "three",     "four",     "five",     "six",
      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (equals_ignoring_case(word, kWords[i])) return static_cast<std::int64_t>(i);
  }
  return to_integer(word);
}

void set_connections(FactRecord& peer, const std::vector<std::pair<std::string, std::int64_t>>& texts) {
  std::vector<Fact> list;
  for (const auto& [text, line] : texts) {
    list.push_back(Fact::of(text, line));
    const std::optional<std::string_view> links = between(text, "(Link", ")");
    if (contains(text, "NVLINK") || contains(text, "NvLink") || contains(text, "NVLink")) {
      peer.set("nvlink", text.substr(text.starts_with("Connected via ") ? 14 : 0), line);
      const auto word = between(text, "via ", " ");
      if (word && number_word(*word)) peer.set("nvlinks", *number_word(*word), line);
      std::vector<Fact> ids;
      for (const std::string_view id :
           split(links ? links->substr(std::min(links->find(':'), links->size() - 1) + 1) : std::string_view(), ',')) {
        if (const auto number = to_integer(id); number && ids.size() < 64) ids.push_back(Fact::of(*number, line));
      }
      if (!peer.has("nvlinks") && !ids.empty()) peer.set("nvlinks", static_cast<std::int64_t>(ids.size()), line);
      if (!ids.empty()) peer.set("links", Fact::of(std::move(ids), line));
    } else {
      peer.set("path", text, line);
    }
  }
  peer.set("connections", Fact::of(std::move(list)));
}

class DcgmiTablesReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const PrefixedLine split = split_line_prefix(line.text);
    const std::string_view bare = trim(split.text);
    if (bare.empty()) return true;
    if (is_box_line(bare)) return box_.take(split.text, line.number);
    if (contains(bare, "dcgmi ")) {
      reading.facts.set_once("command", Fact::of(bare.substr(bare.find("dcgmi ")), line.number));
      return true;
    }
    if (take_count(bare, line.number, reading.facts)) return true;
    if (bare.starts_with("Successfully") || bare.starts_with("Error")) {
      reading.facts.set_once(bare.starts_with("Error") ? "error" : "message", Fact::of(bare, line.number));
      return true;
    }
    return box_.rows().empty() ? false : box_.take(split.text, line.number);
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    for (const BoxRow& row : box_.rows()) take(row, facts);
    flush(facts);
    if (!gpus_.empty()) {
      facts.set("gpus", Fact::of(std::move(gpus_)));
      summarise_gpus(facts);
    }
    put(facts, "nvswitches", switches_);
    put(facts, "cpus", cpus_);
    if (!peers_.empty()) facts.set("peer_count", static_cast<std::int64_t>(peers_.size()));
    put(facts, "peers", peers_);
    if (is_health_) facts.set("incident_count", static_cast<std::int64_t>(incidents_.size()));
    put(facts, "incidents", incidents_);
    put(facts, "tables", tables_);
  }

 private:
  enum class Mode { kOther, kGpus, kSwitches, kCpus, kTopo, kHealth, kStats };

  static void put(FactRecord& facts, std::string_view name, std::vector<Fact>& list) {
    if (!list.empty()) facts.set(name, Fact::of(std::move(list)));
  }

  // "8 GPUs found.", "0 NvSwitches found."
  static bool take_count(std::string_view text, std::int64_t line, FactRecord& facts) {
    if (!text.ends_with("found.") && !text.ends_with("found")) return false;
    const std::vector<std::string_view> words = words_in(text);
    if (words.size() < 3) return false;
    const std::optional<std::int64_t> count = to_integer(words[0]);
    if (!count) return false;
    std::string what = snake_name(words[1]);
    if (what.starts_with("nv_switch")) what = "nvswitch";
    if (what.ends_with('s') && what != "gpus") what.pop_back();
    facts.set(what == "gpus" || what == "gpu" ? "gpu_count"
              : what == "gp_us"               ? "gpu_count"
              : what == "cp_us"               ? "cpu_count"
                                              : what + "_count",
              *count, line);
    return true;
  }

  void take(const BoxRow& row, FactRecord& facts) {
    const std::string& name = row.cells.front();
    if (heading(row, name, facts)) return;
    switch (mode_) {
      case Mode::kGpus:
      case Mode::kSwitches:
      case Mode::kCpus:
        return take_device(row);
      case Mode::kTopo:
        return take_topo(row, facts);
      case Mode::kHealth:
        return take_health(row, facts);
      case Mode::kStats:
        return take_stats(row);
      case Mode::kOther:
        return take_other(row);
    }
  }

  bool heading(const BoxRow& row, std::string_view name, FactRecord& facts) {
    const std::string second = joined(row);
    if (name == "GPU ID" && contains(second, "Device Information")) {
      mode_ = Mode::kGpus;
    } else if (name == "Switch ID") {
      mode_ = Mode::kSwitches;
    } else if (name == "CPU ID") {
      mode_ = Mode::kCpus;
    } else if (contains(second, "Topology Information") || contains(name, "Topology Information")) {
      mode_ = Mode::kTopo;
      set_subject(name, row.line, facts);
      set_subject(second, row.line, facts);
    } else if (contains(name, "Health Monitor Report") || contains(second, "Overall Health")) {
      mode_ = Mode::kHealth;
      is_health_ = true;
      if (const auto overall = after(second, "Overall Health:")) facts.set("overall", *overall, row.line);
    } else if (name.starts_with("GPU ID:") && row.cells.size() == 1) {
      flush(facts);
      mode_ = mode_ == Mode::kTopo ? Mode::kTopo : Mode::kStats;
      if (mode_ == Mode::kTopo) {
        set_subject(name, row.line, facts);
      } else {
        stats_.emplace(row.line);
        if (const auto id = number_behind(name, "GPU ID:")) stats_->set("index", *id);
      }
    } else {
      return false;
    }
    return true;
  }

  static void set_subject(std::string_view text, std::int64_t line, FactRecord& facts) {
    if (const auto gpu = number_behind(text, "GPU ID:")) facts.set("gpu", *gpu, line);
    if (const auto group = number_behind(text, "Group ")) facts.set("group", *group, line);
  }

  // "0 | Name: NVIDIA H100" with further lines below.
  void take_device(const BoxRow& row) {
    const std::optional<std::int64_t> id = to_integer(row.cells.front());
    if (!id) return take_other(row);
    FactRecord device(row.line);
    device.set("index", *id);
    for (const std::string& entry : row.entries) {
      const std::size_t colon = entry.find(": ");
      if (colon == std::string::npos) continue;
      const std::string key = snake_name(std::string_view(entry).substr(0, colon));
      const std::string_view value = trim(std::string_view(entry).substr(colon + 1));
      device.set(key == "pci_bus_id" ? "bus_id" : key == "device_uuid" ? "uuid" : std::string_view(key), value);
    }
    std::vector<Fact>& list = mode_ == Mode::kGpus ? gpus_ : mode_ == Mode::kSwitches ? switches_ : cpus_;
    list.push_back(Fact::of(std::move(device)));
  }

  void take_topo(const BoxRow& row, FactRecord& facts) {
    const std::string& name = row.cells.front();
    if (name == "CPU Core Affinity") {
      facts.set("cpu_affinity", joined(row), row.line);
    } else if (const auto gpu = number_behind(name, "To GPU ")) {
      FactRecord peer(row.line);
      peer.set("gpu", *gpu);
      std::vector<std::pair<std::string, std::int64_t>> texts;
      for (const std::string& entry : row.entries) texts.emplace_back(trim(entry), row.line);
      set_connections(peer, texts);
      peers_.push_back(Fact::of(std::move(peer)));
    } else if (row.cells.size() > 1) {
      facts.set_once(snake_name(name), Fact::of(joined(row), row.line));
    }
  }

  void take_health(const BoxRow& row, FactRecord& facts) {
    std::string_view name = row.cells.front();
    const std::string value = joined(row);
    if (name == "Overall Health") {
      facts.set("overall", value, row.line);
      return;
    }
    while (name.starts_with("->") || name.starts_with(' '))
      name.remove_prefix(1), name = name.starts_with('>') ? name.substr(1) : name;
    name = trim(name);
    if (const auto id = to_integer(name)) {
      device_ = std::to_string(*id);
      if (value.empty()) return;
    } else if (const auto gpu = number_behind(name, "GPU ID:")) {
      device_ = std::to_string(*gpu);
    } else if (value.empty() || name == "Errors") {
      return;
    }
    if (value.empty() || value == "Healthy") return;
    FactRecord incident(row.line);
    if (!device_.empty()) incident.set_parsed("gpu", device_);
    if (!to_integer(name) && !name.starts_with("GPU ID")) incident.set("system", name);
    incident.set("text", value);
    const std::string_view status = trim(std::string_view(row.entries.front()));
    if (status == "Warning" || status == "Failure") incident.set("status", status);
    incidents_.push_back(Fact::of(std::move(incident)));
  }

  void take_stats(const BoxRow& row) {
    if (!stats_ || row.cells.size() < 2 || stats_->members().size() > 300) return;
    std::string_view name = row.cells.front();
    std::string_view unit;
    if (const std::size_t open = name.rfind('('); open != std::string_view::npos && name.ends_with(')')) {
      unit = name.substr(open + 1, name.size() - open - 2);
      name = trim(name.substr(0, open));
    }
    std::string key = snake_name(name);
    const std::string_view ending = unit == "Joules" ? "j" : unit == "Watts" ? "w" : unit_ending(unit);
    const std::string value = joined(row);
    if (contains(value, "Avg:")) return take_triple(key, ending, value, row.line);
    if (!ending.empty()) key += "_" + std::string(ending);
    set_measured(*stats_, key, value, row.line);
  }

  // "Avg: 75.7, Max: 80, Min: 70"
  void take_triple(const std::string& key, std::string_view ending, std::string_view value, std::int64_t line) {
    for (const std::string_view part : split(value, ',')) {
      const std::size_t colon = part.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string name =
          key + "_" + snake_name(part.substr(0, colon)) + (ending.empty() ? "" : "_" + std::string(ending));
      stats_->set_parsed(name, trim(part.substr(colon + 1)), line);
    }
  }

  void take_other(const BoxRow& row) {
    if (tables_.size() >= 4000) return;
    FactRecord record(row.line);
    if (!row.section.empty()) record.set("section", row.section);
    record.set("name", row.cells.front());
    std::vector<Fact> cells;
    for (std::size_t i = 1; i + 1 < row.cells.size(); ++i) cells.push_back(Fact::parsed(row.cells[i]));
    for (const std::string& entry : row.entries) cells.push_back(Fact::parsed(entry));
    if (!cells.empty()) record.set("values", Fact::of(std::move(cells)));
    tables_.push_back(Fact::of(std::move(record)));
  }

  void flush(FactRecord&) {
    if (stats_) gpus_.push_back(Fact::of(std::move(*stats_)));
    stats_.reset();
  }

  TextBox box_;
  Mode mode_ = Mode::kOther;
  bool is_health_ = false;
  std::string device_;
  std::optional<FactRecord> stats_;
  std::vector<Fact> gpus_, switches_, cpus_, peers_, incidents_, tables_;
};

// {"body": {"To GPU 0": {"overflow": […], "value": "…"}}, "header": […]}
void read_topology(const FactRecord& body, FactRecord& facts) {
  std::vector<Fact> peers;
  for (const auto& [name, fact] : body.members()) {
    const FactRecord* const record = fact.as_record();
    const std::string_view value = record != nullptr ? record->text("value") : fact.text();
    const std::optional<std::int64_t> gpu = number_behind(name, "To GPU ");
    if (!gpu) {
      facts.set(name == "CPU Core Affinity" ? "cpu_affinity" : snake_name(name), value, fact.line);
      continue;
    }
    FactRecord peer(fact.line);
    peer.set("gpu", *gpu);
    std::vector<std::pair<std::string, std::int64_t>> texts;
    if (!value.empty()) texts.emplace_back(value, fact.line);
    const std::vector<Fact>* const more = record == nullptr ? nullptr : record->find_list("overflow");
    for (const Fact& item : more == nullptr ? std::vector<Fact>() : *more) {
      if (!item.text().empty()) texts.emplace_back(item.text(), item.line);
    }
    set_connections(peer, texts);
    peers.push_back(Fact::of(std::move(peer)));
  }
  facts.set("peer_count", static_cast<std::int64_t>(peers.size()));
  facts.set("peers", Fact::of(std::move(peers)));
}

}  // namespace

int recognise_dcgmi_discovery(const Head& head) {
  return contains(head.text, "| GPU ID | Device Information") || contains(head.text, "| Switch ID |") ||
                 (contains(head.text, "Device UUID: GPU-") && contains(head.text, "PCI Bus ID:"))
             ? confidence::kSure
             : confidence::kNone;
}

int recognise_dcgmi_topo(const Head& head) {
  if (!contains(head.text, "|")) return confidence::kNone;
  return contains(head.text, "Topology Information") ||
                 (contains(head.text, "| To GPU ") && contains(head.text, "Connected via"))
             ? confidence::kSure
             : confidence::kNone;
}

int recognise_dcgmi_health(const Head& head) {
  return contains(head.text, "Health Monitor Report") || contains(head.text, "| Overall Health") ? confidence::kSure
                                                                                                 : confidence::kNone;
}

int recognise_dcgmi_stats(const Head& head) {
  if (contains(head.text, "Successfully retrieved statistics for")) return confidence::kSure;
  return contains(head.text, "-----  Execution Stats") || contains(head.text, "-----  Performance Stats")
             ? 80
             : confidence::kNone;
}

int recognise_dcgmi_other(const Head& head) {
  static constexpr std::array<std::string_view, 10> kMarks = {
      "dcgmi group",      "dcgmi config", "dcgmi policy",       "dcgmi modules",   "dcgmi profile",
      "dcgmi fieldgroup", "| GROUPS ",    "Instance Hierarchy", "dcgmi nvlink -g", "NVLINK Error Counts"};
  if (!contains(head.text, "+--")) return confidence::kNone;
  return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) { return contains(head.text, mark); })
             ? confidence::kLikely
             : confidence::kNone;
}

std::unique_ptr<LineReader> open_dcgmi_tables() { return std::make_unique<DcgmiTablesReader>(); }

int recognise_dcgmi_json(const Head& head) {
  if (contains(head.text, "test_categories")) return confidence::kNone;
  const bool shape = contains(head.text, "\"body\"") && contains(head.text, "\"header\"");
  return shape && (contains(head.text, "Topology Information") || contains(head.text, "To GPU ")) ? confidence::kSure
         : shape && (contains(head.text, "GPU") || contains(head.text, "Health"))                 ? confidence::kLikely
                                                                                                  : confidence::kNone;
}

void read_dcgmi_json(std::string_view text, Reading& reading) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return;
  const std::int64_t first_line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n');
  const JsonTree tree = read_json_tree(text.substr(open), first_line);
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", tree.fault);
  const FactRecord* const root = tree.root.as_record();
  if (root == nullptr) return;
  FactRecord& facts = reading.facts;
  const std::vector<Fact>* const header = root->find_list("header");
  for (const Fact& item : header == nullptr ? std::vector<Fact>() : *header) {
    if (const auto gpu = number_behind(item.text(), "GPU ID:")) facts.set("gpu", *gpu, item.line);
    if (const auto group = number_behind(item.text(), "Group ")) facts.set("group", *group, item.line);
    if (!facts.has("title")) facts.set("title", item.text(), item.line);
  }
  const FactRecord* const body = root->find_record("body");
  if (body == nullptr) return;
  const bool topology = std::any_of(body->members().begin(), body->members().end(), [](const auto& member) {
    return member.first.starts_with("To GPU ") || member.first == "CPU Core Affinity";
  });
  if (topology) return read_topology(*body, facts);
  facts.set("body", Fact::of(*body));
}

}  // namespace tare
