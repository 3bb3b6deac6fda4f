#include "ingest/ethtool.h"

#include <array>

#include "base/text.h"
#include "ingest/line_source.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostInterfaces = 4096;
constexpr std::size_t kMostMembers = 400;

// Counters that say something of a link's health; the others are traffic.
bool tells_health(std::string_view name) {
  static constexpr std::array<std::string_view, 19> kWords = {
      "err",  "drop", "discard", "pause",  "cnp",       "ecn",      "out_of_seq", "timeout",       "retrans",    "crc",
      "fifo", "lost", "down",    "symbol", "corrected", "oversize", "undersize",  "out_of_buffer", "adp_retrans"};
  const std::string text = to_lower(name);
  for (const std::string_view word : kWords) {
    if (contains(text, word)) return true;
  }
  return false;
}

class EthtoolReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(line.text.substr(0, 4096));
    if (text.empty()) return true;
    if (text.starts_with("Settings for ")) {
      begin(text.substr(13, text.find(':') - 13), line.number);
      return true;
    }
    if (text == "Operational Info" || text.starts_with("Operational Info ")) {
      begin({}, line.number);
      return true;
    }
    if (text.starts_with("NIC statistics")) {
      // Of another interface than the last one: the command line above says so.
      if (!interfaces_.empty() && !named_.empty() && current().has("counters") && current().text("name") != named_) {
        begin({}, line.number);
      }
      statistics_ = true;
      return true;
    }
    if (const std::size_t at = text.find("ethtool "); at != std::string_view::npos || contains(text, "mlxlink ")) {
      statistics_ = false;
      const std::vector<std::string_view> words = words_in(text.substr(at == std::string_view::npos ? 0 : at));
      named_ = words.back().substr(0, 64);
      return true;
    }
    return take_value(text, line.number, reading);
  }

  void finish(Reading& reading) override {
    if (interfaces_.empty()) return;
    std::int64_t up = 0, known = 0;
    for (const Fact& one : interfaces_) {
      const FactRecord& record = *one.as_record();
      const std::string_view link = record.text("link_detected");
      known += link.empty() ? 0 : 1;
      up += link == "yes" ? 1 : 0;
    }
    reading.facts.set("interface_count", static_cast<std::int64_t>(interfaces_.size()));
    if (known > 0) reading.facts.set("links_up", up);
    reading.facts.set("interfaces", Fact::of(std::move(interfaces_), 1));
  }

 private:
  FactRecord& current() { return std::get<FactRecord>(interfaces_.back().value); }

  void begin(std::string_view name, std::int64_t line) {
    statistics_ = false;
    list_.clear();
    if (interfaces_.size() >= kMostInterfaces) return;
    FactRecord record(line);
    const std::string_view known = name.empty() ? std::string_view(named_) : trim(name);
    if (known.empty()) {
      record.set_unknown("name");
    } else {
      record.set("name", known);
    }
    interfaces_.push_back(Fact::of(std::move(record)));
  }

  bool take_value(std::string_view text, std::int64_t line, Reading& reading) {
    const std::size_t colon = text.find(':');
    if (colon > 80) {
      // A list goes on: further link modes.
      if (list_.empty() || interfaces_.empty() || !contains(text, "base")) return text.starts_with("---");
      std::vector<Fact>& modes = current().list(list_, line);
      if (modes.size() < kMostMembers) modes.push_back(Fact::of(text, line));
      return true;
    }
    const std::string_view key = trim(text.substr(0, colon)), value = trim(text.substr(colon + 1));
    const bool driver = key == "driver";
    if (interfaces_.empty() || (driver && current().has("driver"))) {
      if (!driver && !statistics_) return false;
      begin({}, line);
      statistics_ = !driver;
    }
    FactRecord& record = current();
    if (record.members().size() >= kMostMembers) return true;
    list_.clear();
    const std::string name = key_name(key);
    if (name.empty()) return false;
    if (statistics_) return take_counter(record, name, value, line, reading);
    if (name.ends_with("link_modes")) {
      list_ = name;
      record.list(list_, line).push_back(Fact::of(value, line));
    } else if (name == "speed" && contains(value, "b/s")) {
      take_speed(record, value, line);
    } else {
      record.set_parsed(name, value, line);
    }
    return true;
  }

  // "Speed: 100000Mb/s"; "Unknown!" stays unknown.
  static void take_speed(FactRecord& record, std::string_view value, std::int64_t line) {
    const std::optional<Measure> speed = to_measure(value);
    if (!speed) {
      record.set_unknown("speed_mbit_per_s", line);
      return;
    }
    record.set_parsed(speed->unit == "Gb/s" ? "speed_gbit_per_s" : "speed_mbit_per_s",
                      value.substr(0, value.find_first_not_of("0123456789.")), line);
  }

  static bool take_counter(FactRecord& record, const std::string& name, std::string_view value, std::int64_t line,
                           Reading& reading) {
    const std::optional<double> count = to_number(value);
    if (!count) {
      reading.cannot_use(line, value, "a counter that is no number");
      return true;
    }
    FactRecord& counters = record.record("counters", line);
    if (*count != 0 && tells_health(name) && counters.members().size() < kMostMembers)
      counters.set_parsed(name, value, line);
    return true;
  }

  std::vector<Fact> interfaces_;
  std::string named_, list_;
  bool statistics_ = false;
};

}  // namespace

int recognise_ethtool(const Head& head) {
  const std::string_view text = head.text;
  if (contains(text, "Settings for ") && (contains(text, "Speed:") || contains(text, "Link detected:"))) {
    return confidence::kSure;
  }
  if (contains(text, "NIC statistics:") && contains(text, "rx_packets")) return confidence::kSure;
  if (contains(text, "driver: ") && contains(text, "firmware-version: ") && contains(text, "bus-info: ")) {
    return confidence::kSure;
  }
  return contains(text, "Operational Info") && contains(text, "Physical state") && contains(text, "Speed")
             ? confidence::kSure
             : confidence::kNone;
}

std::unique_ptr<LineReader> open_ethtool() { return std::make_unique<EthtoolReader>(); }

}  // namespace tare
