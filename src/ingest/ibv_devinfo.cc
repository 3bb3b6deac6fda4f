#include "ingest/ibv_devinfo.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/ib_ports.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::string_view kDevice = "hca_id:";
constexpr std::size_t kMostGids = 16;  // of one port; a RoCE port has up to 256

// "PORT_ACTIVE (4)" -> "PORT_ACTIVE", "4096 (5)" -> "4096"; "8192" stays.
std::string_view without_code(std::string_view value) {
  const std::size_t open = value.rfind(" (");
  if (open == std::string_view::npos || !value.ends_with(')')) return value;
  const std::string_view code = value.substr(open + 2, value.size() - open - 3);
  return to_integer(code) || code.starts_with("0x") ? trim(value.substr(0, open)) : value;
}

bool is_key(std::string_view key) {
  if (key.empty() || key.size() > 60) return false;
  for (const char c : key) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word && c != ' ' && c != '[' && c != ']') return false;
  }
  return true;
}

class IbvDevinfoReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text.substr(0, 4096);
    if (const std::size_t at = text.find(kDevice); at != std::string_view::npos) {
      const SourcedLine sourced = sources_.learn(text, at);
      ports_.device(trim(sourced.text.substr(kDevice.size())).substr(0, 100), sourced.source, line.number, true);
      gids_ = 0;
      return true;
    }
    return take_value(trim(sources_.split(text).text), line.number, reading);
  }

  void finish(Reading& reading) override { ports_.finish(reading); }

 private:
  bool take_value(std::string_view text, std::int64_t line, Reading& reading) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
      return ports_.current() != nullptr && take_flag(text, line);
    }
    const std::string_view key = trim(text.substr(0, colon)), value = trim(text.substr(colon + 1));
    if (!is_key(key) || (ports_.empty() && key != "port")) return false;
    if (key == "port" && to_integer(value)) {
      ports_.port(value, line);
      gids_ = 0;
      return true;
    }
    if (key.starts_with("GID[")) {
      if (++gids_ <= kMostGids && ports_.in_port() && ports_.current() != nullptr) {
        ports_.current()->list("gids", line).push_back(Fact::of(value, line));
      }
      return true;
    }
    if (!ports_.set(key_name(key), without_code(value), line))
      reading.cannot_use(line, text, "no place for it: no device above, or too many");
    if ((key == "active_speed" || key == "active_width") && ports_.current() != nullptr) add_rate(line);
    return true;
  }

  // -v lists abilities one a line, in capitals.
  bool take_flag(std::string_view text, std::int64_t line) {
    if (text.size() < 4 || text.size() > 60) return false;
    for (const char c : text) {
      if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    std::vector<Fact>& flags = ports_.current()->list("flags", line);
    if (flags.size() < 64) flags.push_back(Fact::of(text, line));
    return true;
  }

  // "4X" lanes of "25.0 Gbps" are 100 Gb/s.
  void add_rate(std::int64_t line) {
    FactRecord& port = *ports_.current();
    const std::optional<Measure> width = to_measure(port.text("active_width"));
    const std::optional<Measure> speed = to_measure(port.text("active_speed"));
    if (!width || !speed || width->unit != "X" || !speed->unit.starts_with("Gbps")) return;
    ports_.set("rate_gbit_per_s", fmt::format("{}", width->value * speed->value), line);
  }

  LineSources sources_;
  IbPorts ports_;
  std::size_t gids_ = 0;
};

}  // namespace

int recognise_ibv_devinfo(const Head& head) {
  if (!contains(head.text, kDevice)) {
    return contains(head.text, "PORT_ACTIVE (4)") && contains(head.text, "active_mtu:") ? confidence::kLikely
                                                                                        : confidence::kNone;
  }
  int keys = 0, lines = 0;
  std::string_view text = head.text;
  while (!text.empty() && lines < 5000) {
    const std::string_view line = next_line(text).substr(0, 400);
    if (trim(line).empty()) continue;
    ++lines;
    for (const std::string_view key : {"hca_id:", "transport:", "fw_ver:", "node_guid:", "phys_port_cnt:", "state:",
                                       "active_mtu:", "link_layer:", "port_lid:", "max_", "GID["}) {
      if (contains(line, key)) {
        ++keys;
        break;
      }
    }
  }
  return keys * 3 >= lines ? confidence::kSure : confidence::kLikely;
}

std::unique_ptr<LineReader> open_ibv_devinfo() { return std::make_unique<IbvDevinfoReader>(); }

}  // namespace tare
