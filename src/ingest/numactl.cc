#include "ingest/numactl.h"

#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kNodesKept = 4096;

class NumactlReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(line.text.starts_with('>') ? without_line_tags(line.text) : line.text);
    if (text.size() > 65'536) return false;
    if (text.starts_with("available: ") && contains(text, "node")) {
      if (const auto count = to_measure(text.substr(11))) {
        reading.facts.set("nodes", static_cast<std::int64_t>(count->value < 0 || count->value > 1e6 ? 0 : count->value),
                          line.number);
      }
      return true;
    }
    if (text.starts_with("node distances")) {
      distances_ = true;
      return true;
    }
    if (distances_) return on_distance(text, line.number, reading);
    return text.starts_with("node ") && on_node(text, line.number);
  }

  void finish(Reading& reading) override {
    std::int64_t with = 0;
    for (auto& [index, node] : nodes_) {
      if (!node.text("cpus").empty()) ++with;
      reading.facts.list("numa").push_back(Fact::of(std::move(node)));
    }
    if (nodes_.empty()) return;
    reading.facts.set_once("nodes", Fact::of(static_cast<std::int64_t>(nodes_.size())));
    reading.facts.set("numa_nodes_with_cpus", with);
    if (with < static_cast<std::int64_t>(nodes_.size())) {
      reading.note(std::to_string(static_cast<std::int64_t>(nodes_.size()) - with) +
                   " NUMA nodes have no CPUs: memory of GPUs or of devices, no sockets");
    }
  }

 private:
  // "node 0 cpus: 0 1 2", "node 0 size: 11737 MB", "node 0 free: 3550 MB"
  bool on_node(std::string_view text, std::int64_t line) {
    const std::vector<std::string_view> words = words_in(text.substr(0, 64));
    if (words.size() < 3) return false;
    const std::optional<std::int64_t> index = to_integer(words[1]);
    if (!index || *index < 0 || (nodes_.size() >= kNodesKept && !nodes_.contains(*index))) return false;
    FactRecord& node = nodes_.try_emplace(*index, FactRecord(line)).first->second;
    node.set("node", *index);
    const std::string_view value = trim(text.substr(std::min(text.size(), text.find(':') + 1)));
    if (words[2] == "cpus:") {
      node.set("cpus", value, line);
      node.set("cpu_count", static_cast<std::int64_t>(words_in(value).size()), line);
    } else if (words[2] == "size:" || words[2] == "free:") {
      const std::optional<Measure> size = to_measure(value);
      if (!size) return true;
      node.set(std::string(words[2].substr(0, 4)) + "_" + to_lower(size->unit.empty() ? "mb" : size->unit), size->value,
               line);
    } else {
      return false;
    }
    return true;
  }

  // "node   0   1" and "  0:  10  21"
  bool on_distance(std::string_view text, std::int64_t line, Reading& reading) {
    if (text.starts_with("node")) return true;
    const std::size_t colon = text.find(':');
    const std::optional<std::int64_t> from =
        colon == std::string_view::npos ? std::nullopt : to_integer(text.substr(0, colon));
    if (!from) {
      distances_ = text.empty();
      return false;
    }
    if (reading.facts.list("distances").size() >= kNodesKept) return true;
    FactRecord& row = reading.facts.append("distances", line);
    row.set("node", *from);
    for (const std::string_view word : words_in(text.substr(colon + 1))) {
      row.list("to").push_back(Fact::parsed(word, line));
    }
    return true;
  }

  std::map<std::int64_t, FactRecord> nodes_;
  bool distances_ = false;
};

}  // namespace

int recognise_numactl(const Head& head) {
  const bool available = contains(head.text, "available: ") && contains(head.text, " nodes (");
  const bool cpus = contains(head.text, "node 0 cpus:") || contains(head.text, "node 1 cpus:");
  const bool sizes = contains(head.text, "node 0 size:") || contains(head.text, "node 0 free:");
  if ((available && (cpus || sizes)) || (cpus && sizes)) return 94;
  return cpus || (contains(head.text, "node distances:") && contains(head.text, "0:  10")) ? 75 : confidence::kNone;
}

std::unique_ptr<LineReader> open_numactl() { return std::make_unique<NumactlReader>(); }

}  // namespace tare
