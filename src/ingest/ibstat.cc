#include "ingest/ibstat.h"

#include <array>

#include "base/text.h"
#include "ingest/ib_ports.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::string_view kDevice = "CA '";                       // ibstat
constexpr std::string_view kStatusDevice = "Infiniband device '";  // ibstatus

// What ibstat prints without a unit is Gb/s; ibstatus says "100 Gb/sec (4X EDR)".
constexpr std::string_view kRate = "rate_gbit_per_s";

constexpr std::array<std::string_view, 21> kKeys = {"CA type",
                                                    "Number of ports",
                                                    "Firmware version",
                                                    "Hardware version",
                                                    "Node GUID",
                                                    "System image GUID",
                                                    "State",
                                                    "Physical state",
                                                    "Rate",
                                                    "Base lid",
                                                    "LMC",
                                                    "SM lid",
                                                    "Port GUID",
                                                    "Capability mask",
                                                    "Link layer",
                                                    "default gid",
                                                    "base lid",
                                                    "sm lid",
                                                    "phys state",
                                                    "link_layer",
                                                    "state"};

bool is_key(std::string_view key) {
  for (const std::string_view one : kKeys) {
    if (key == one) return true;
  }
  return key == "rate";
}

// "Port 1:", "Port 1" -> "1".
std::string_view port_in(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("Port ") || text.size() > 12) return {};
  text = trim(text.substr(5));
  if (text.ends_with(':')) text.remove_suffix(1);
  return to_integer(text) ? text : std::string_view();
}

class IbstatReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text.substr(0, 4096);
    if (const std::size_t at = text.find(kDevice); at != std::string_view::npos) {
      return take_device(sources_.learn(text, at), kDevice, line.number);
    }
    if (const std::size_t at = text.find(kStatusDevice); at != std::string_view::npos) {
      return take_device(sources_.learn(text, at), kStatusDevice, line.number);
    }
    return take_value(trim(sources_.split(text).text), line.number, reading);
  }

  void finish(Reading& reading) override {
    ports_.finish(reading);
    if (elided_ > 0) {
      reading.facts.set("elided", true, elided_);
      reading.note("parts are left out (\"...\"): there are more devices than these");
    }
  }

 private:
  bool take_device(const SourcedLine& line, std::string_view marker, std::int64_t number) {
    const std::string_view name = *between(line.text, marker, "'");
    if (name.empty() || name.size() > 100) return false;
    // ibstatus has one block per port.
    const bool per_port = marker == kStatusDevice;
    ports_.device(name, line.source, number, !per_port);
    if (per_port) ports_.port(between(line.text, "port ", " ").value_or(""), number);
    return true;
  }

  bool take_value(std::string_view text, std::int64_t line, Reading& reading) {
    if (const std::string_view port = port_in(text); !port.empty()) {
      ports_.port(port, line);
      return true;
    }
    if (text == "..." || text == "…" || text == "[...]") {
      if (elided_ == 0) elided_ = line;
      return true;
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return text == "ibstat" || text.ends_with(" ibstat") || text == "ibstatus";
    const std::string_view key = trim(text.substr(0, colon)), value = trim(text.substr(colon + 1));
    if (!is_key(key)) return false;
    // A list that begins in the middle: the state opens a port.
    if (!ports_.in_port() && (key == "State" || key == "Physical state")) ports_.port("", line);
    if (key == "Rate" || key == "rate") return take_rate(value, line, reading);
    if (!ports_.set(key_name(key), without_code(value), line))
      reading.cannot_use(line, text, "no place for it: no device above, or too many");
    return true;
  }

  bool take_rate(std::string_view value, std::int64_t line, Reading& reading) {
    const std::optional<Measure> rate = to_measure(value);
    if (!rate) {
      if (!says_unknown(value)) reading.cannot_use(line, value, "no rate");
      ports_.set(kRate, "", line);
      return true;
    }
    ports_.set(kRate, value.substr(0, value.find(' ')), line);
    if (const std::optional<std::string_view> kind = between(value, "(", ")"); kind && ports_.current() != nullptr) {
      ports_.current()->set("rate_kind", *kind, line);
    }
    return true;
  }

  // "4: ACTIVE" -> "ACTIVE"; GIDs keep their colons.
  static std::string_view without_code(std::string_view value) {
    return value.size() > 2 && value[0] >= '0' && value[0] <= '9' && value.substr(1).starts_with(": ")
               ? trim(value.substr(2))
               : value;
  }

  LineSources sources_;
  IbPorts ports_;
  std::int64_t elided_ = 0;
};

}  // namespace

int recognise_ibstat(const Head& head) {
  int devices = 0, keys = 0, lines = 0;
  std::string_view text = head.text;
  while (!text.empty() && lines < 5000) {
    const std::string_view line = next_line(text).substr(0, 400);
    if (trim(line).empty()) continue;
    ++lines;
    devices += contains(line, kDevice) || contains(line, kStatusDevice) ? 1 : 0;
    for (const std::string_view key : {"CA type:", "Physical state:", "Link layer:", "Port GUID:", "phys state:",
                                       "link_layer:", "Base lid:", "System image GUID:", "Capability mask:"}) {
      keys += contains(line, key) ? 1 : 0;
    }
  }
  if (devices == 0 && keys < 3) return confidence::kNone;
  if (devices > 0 && keys == 0) return confidence::kNone;
  return keys * 5 >= lines ? confidence::kSure : confidence::kLikely;
}

std::unique_ptr<LineReader> open_ibstat() { return std::make_unique<IbstatReader>(); }

}  // namespace tare
