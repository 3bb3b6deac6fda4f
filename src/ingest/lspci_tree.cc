#include "ingest/lspci_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kDevicesKept = 20'000;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// "[0000:00]", "[01]", "[02-05]" at `at`: the bus that it opens; empty when there is none.
std::string_view bus_at(std::string_view line, std::size_t at) {
  const std::size_t close = line.find(']', at);
  if (line[at] != '[' || close == std::string_view::npos || close - at > 16) return {};
  const std::string_view inside = line.substr(at + 1, close - at - 1);
  const bool bus = inside.size() >= 2 &&
                   std::all_of(inside.begin(), inside.end(), [](char c) { return is_hex(c) || c == ':' || c == '-'; });
  return bus ? inside : std::string_view();
}

// "1f.0" at `at`.
bool is_function(std::string_view line, std::size_t at) {
  return at + 3 < line.size() && is_hex(line[at]) && is_hex(line[at + 1]) && line[at + 2] == '.' &&
         line[at + 3] >= '0' && line[at + 3] <= '7';
}

class TreeReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text;
    if (text.size() > 1024 || !belongs(text)) return false;
    // Branches are drawn in columns: what hangs on a column has the bus that was opened there.
    std::size_t at = std::min(text.find_first_not_of(" |"), text.size());
    while (!levels_.empty() && levels_.back().column > at) levels_.pop_back();
    std::string parent;
    while (at < text.size()) {
      if (text[at] == '[') {
        const std::string_view bus = bus_at(text, at);
        if (bus.empty()) break;
        at += bus.size() + 2;
        while (at < text.size() && text[at] == '-' && at + 1 < text.size() && text[at + 1] != '+') {
          if (text[at + 1] != '-') break;
          ++at;
        }
        open_bus(bus, parent, std::min(at + 1, text.size()));
      } else if (is_function(text, at)) {
        const std::string_view function = text.substr(at, 4);
        at += 4;
        // Behind a bridge stands "-[02]-"; behind a device its name.
        const bool bridge = at + 1 < text.size() && text[at] == '-' && text[at + 1] == '[';
        parent =
            add_device(function, bridge ? std::string_view() : trim(text.substr(at)), bridge, line.number, reading);
        if (!bridge) break;
        ++at;
      } else {
        ++at;
      }
    }
    return true;
  }

  void finish(Reading& reading) override {
    const std::vector<Fact>* const devices = reading.facts.find_list("devices");
    if (devices == nullptr) return;
    std::int64_t bridges = 0, gpus = 0;
    for (const Fact& fact : *devices) {
      const FactRecord& device = *fact.as_record();
      if (device.has("bridge_to")) ++bridges;
      if (contains(device.text("name"), "NVIDIA") && !contains(device.text("name"), "Audio") &&
          !contains(device.text("name"), "USB") && !contains(device.text("name"), "NVSwitch")) {
        ++gpus;
      }
    }
    const std::int64_t count = static_cast<std::int64_t>(devices->size());
    reading.facts.set("device_count", count);
    reading.facts.set("bridge_count", bridges);
    if (gpus > 0) reading.facts.set("nvidia_device_count", gpus);
  }

 private:
  struct Level {
    std::size_t column = 0;
    std::string bus;     // "0000:17"
    std::string bridge;  // address of the bridge above
  };

  static bool belongs(std::string_view text) {
    const std::size_t at = text.find_first_not_of(" |");
    if (at == std::string_view::npos) return false;
    return (text[at] == '-' || text[at] == '+' || text[at] == '\\') && contains(text, "-");
  }

  void open_bus(std::string_view bus, const std::string& bridge, std::size_t column) {
    std::string name(bus.substr(0, bus.find('-')));
    const std::size_t colon = name.find(':');
    if (colon != std::string::npos) domain_ = name.substr(0, colon);
    if (colon == std::string::npos) name = domain_ + ":" + name;
    if (levels_.size() < 64) levels_.push_back({column, name, bridge});
  }

  std::string add_device(std::string_view function, std::string_view name, bool bridge, std::int64_t line,
                         Reading& reading) {
    const std::string bus = levels_.empty() ? domain_ + ":??" : levels_.back().bus;
    std::string address = bus + ":" + std::string(function);
    if (reading.facts.list("devices").size() >= kDevicesKept) return address;
    FactRecord& device = reading.facts.append("devices", line);
    device.set("address", std::string_view(address));
    if (!name.empty()) device.set("name", name);
    if (!levels_.empty() && !levels_.back().bridge.empty())
      device.set("parent", std::string_view(levels_.back().bridge));
    if (bridge) device.set("bridge_to", true);
    return address;
  }

  std::vector<Level> levels_;
  std::string domain_ = "0000";
};

}  // namespace

int recognise_lspci_tree(const Head& head) {
  const std::size_t at = head.text.find("-[0000:");
  if (at == std::string_view::npos) return confidence::kNone;
  const std::string_view line = head.text.substr(at, std::min<std::size_t>(head.text.find('\n', at), at + 200) - at);
  const std::size_t close = line.find(']');
  if (close > 10) return confidence::kNone;
  return contains(line, "]-+-") || contains(line, "]---") || contains(line, "]-") ? 93 : confidence::kNone;
}

std::unique_ptr<LineReader> open_lspci_tree() { return std::make_unique<TreeReader>(); }

}  // namespace tare
