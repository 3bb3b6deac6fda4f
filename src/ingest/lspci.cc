#include "ingest/lspci.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kDevicesKept = 20'000;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Bytes of "0000:17:00.0" or "17:00.0" at the beginning; 0 when there is none.
std::size_t address_length(std::string_view text) {
  std::size_t at = 0;
  const auto hex_run = [&](std::size_t least, std::size_t most) {
    const std::size_t begin = at;
    while (at < text.size() && at - begin < most && is_hex(text[at])) ++at;
    return at - begin >= least;
  };
  const bool domain = text.size() > 8 && (text.find(':') == 4 || text.find(':') == 8) &&
                      text.find(':', text.find(':') + 1) == text.find(':') + 3;
  if (domain && (!hex_run(4, 8) || at >= text.size() || text[at++] != ':')) return 0;
  if (!hex_run(2, 2) || at >= text.size() || text[at++] != ':') return 0;
  if (!hex_run(2, 2) || at >= text.size() || text[at++] != '.') return 0;
  if (at >= text.size() || text[at] < '0' || text[at] > '7') return 0;
  ++at;
  return at == text.size() || text[at] == ' ' || text[at] == '\t' ? at : 0;
}

// "[10de:2330]" -> vendor and device; "[0302]" -> class.
bool is_ids(std::string_view text) {
  return text.size() == 9 && text[4] == ':' && std::all_of(text.begin(), text.begin() + 4, is_hex) &&
         std::all_of(text.begin() + 5, text.end(), is_hex);
}

void set_ids(FactRecord& device, std::string_view ids) {
  device.set("vendor_id", ids.substr(0, 4));
  device.set("device_id", ids.substr(5));
}

// "PCI bridge [0604]: Broadcom … [1000:c030] (rev b0) (prog-if 00 [Normal decode])", "0604: 1000:c030 (rev b0)".
void read_heading(std::string_view text, FactRecord& device) {
  if (const std::size_t at = text.find(" (prog-if "); at != std::string_view::npos) text = text.substr(0, at);
  if (const std::size_t at = text.find(" (rev "); at != std::string_view::npos) {
    device.set("revision", between(text, " (rev ", ")").value_or(""));
    text = text.substr(0, at);
  }
  const std::size_t colon = text.find(": ");
  std::string_view kind = trim(text.substr(0, colon));
  std::string_view name = colon == std::string_view::npos ? std::string_view() : trim(text.substr(colon + 2));
  if (kind.size() == 4 && std::all_of(kind.begin(), kind.end(), is_hex) && is_ids(name.substr(0, 9))) {
    device.set("class_code", kind);  // lspci -n
    set_ids(device, name.substr(0, 9));
    return;
  }
  if (kind.ends_with(']') && kind.size() > 6 && kind[kind.size() - 6] == '[') {
    const std::string_view code = kind.substr(kind.size() - 5, 4);
    if (std::all_of(code.begin(), code.end(), is_hex)) {
      device.set("class_code", code);
      kind = trim(kind.substr(0, kind.size() - 6));
    }
  }
  if (name.ends_with(']') && name.size() > 11 && name[name.size() - 11] == '[' &&
      is_ids(name.substr(name.size() - 10, 9))) {
    set_ids(device, name.substr(name.size() - 10, 9));
    name = trim(name.substr(0, name.size() - 11));
  }
  device.set("class", kind);
  if (!name.empty()) device.set("name", name);
}

// "Speed 16GT/s (downgraded), Width x4 (ok)", "Port #0, Speed 32GT/s, Width x4, ASPM …"
void read_link(std::string_view text, const std::string& prefix, FactRecord& device, std::int64_t line) {
  const auto part = [&](std::string_view marker) -> std::string_view {
    const std::optional<std::string_view> behind = after(text, marker);
    return behind ? behind->substr(0, behind->find(',')) : std::string_view();
  };
  const std::string_view speed = part("Speed ");
  const std::string_view width = part("Width ");
  if (speed.starts_with("unknown")) {
    device.set_unknown(prefix + "_speed_gt_per_s", line);
  } else if (const std::optional<Measure> rate = to_measure(speed)) {
    device.set(prefix + "_speed_gt_per_s", rate->value, line);
  }
  if (!speed.empty()) device.set(prefix + "_speed", trim(speed), line);
  if (!width.empty()) device.set(prefix + "_width_text", trim(width), line);
  if (width.starts_with('x')) {
    if (const std::optional<Measure> lanes = to_measure(width.substr(1, 3))) {
      device.set(prefix + "_width", static_cast<std::int64_t>(std::clamp(lanes->value, 0.0, 1e3)), line);
    }
  }
  for (const auto& [value, name] : {std::pair(speed, "_speed_downgraded"), std::pair(width, "_width_downgraded")}) {
    if (contains(value, "(downgraded)")) device.set(prefix + name, true, line);
    if (contains(value, "(ok)")) device.set(prefix + name, false, line);
  }
}

// "SrcValid+ TransBlk- ReqRedir+" -> the names with '+'.
std::vector<Fact> set_flags(std::string_view text, std::int64_t line) {
  std::vector<Fact> flags;
  for (const std::string_view word : words_in(text)) {
    if (word.ends_with('+') && word.size() > 1) flags.push_back(Fact::of(word.substr(0, word.size() - 1), line));
  }
  return flags;
}

bool is_gpu(const FactRecord& device) {
  const std::string_view kind = device.text("class");
  const std::string_view code = device.text("class_code");
  const std::string_view name = device.text("name");
  const std::string_view vendor = device.text("vendor_id");
  const bool display = kind.starts_with("VGA") || kind.starts_with("3D") || kind.starts_with("Display") ||
                       kind.starts_with("Processing accelerator") || code.starts_with("03") || code == "1200";
  // A BMC's picture is no GPU.
  return display && (contains(name, "NVIDIA") || contains(name, "AMD") || contains(name, "Advanced Micro") ||
                     contains(name, "Intel") || contains(name, "Habana") || vendor == "10de" || vendor == "1002" ||
                     vendor == "8086" || vendor == "1da3");
}
bool is_nic(const FactRecord& device) {
  const std::string_view kind = device.text("class");
  return kind.starts_with("Infiniband") || kind.starts_with("InfiniBand") || kind.starts_with("Ethernet") ||
         kind.starts_with("Network") || kind.starts_with("Fabric") || device.text("class_code").starts_with("02");
}
bool is_nvme(const FactRecord& device) {
  return device.text("class").starts_with("Non-Volatile") || device.text("class_code") == "0108";
}
bool is_nvswitch(const FactRecord& device) { return contains(device.text("name"), "NVSwitch"); }

class LspciReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    std::string_view text = line.text;
    if (text.starts_with('>') || text.starts_with('[')) text = without_line_tags(text);
    if (text.size() > 4096) return false;
    if (trim(text) == "--") return device_ != nullptr;
    const std::string_view trimmed = trim(text);
    const bool indented = text.starts_with('\t') || text.starts_with(' ');
    if (const std::size_t length = address_length(trimmed); length > 0 && trimmed.size() > length) {
      return on_device(trimmed, length, line.number, reading);
    }
    if (trimmed.starts_with("lspci:")) return true;
    if (!indented && !is_attribute(trimmed)) return false;
    return on_attribute(trimmed, line.number, reading);
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    const std::vector<Fact>* const devices = facts.find_list("devices");
    if (devices == nullptr) return;
    std::vector<Fact> gpus, nics, nvmes, switches, redirects, downgraded;
    std::int64_t links = 0;
    for (const Fact& fact : *devices) {
      const FactRecord& device = *fact.as_record();
      const Fact address = Fact::of(device.text("address"), device.line);
      if (is_gpu(device)) gpus.push_back(address);
      if (is_nic(device)) nics.push_back(address);
      if (is_nvme(device)) nvmes.push_back(address);
      if (is_nvswitch(device)) switches.push_back(address);
      if (device.has("link_speed")) ++links;
      if (has_flag(device, "acs_control", "ReqRedir")) redirects.push_back(address);
      if (is_true(device, "link_speed_downgraded") || is_true(device, "link_width_downgraded")) {
        downgraded.push_back(address);
      }
    }
    const auto put = [&facts](const char* name, std::vector<Fact> list) {
      facts.set(std::string(name) + "_count", static_cast<std::int64_t>(list.size()));
      if (list.empty()) return;
      facts.set(std::string(name) + (std::string_view(name).ends_with("ch") ? "es" : "s"), Fact::of(std::move(list)));
    };
    facts.set("device_count", static_cast<std::int64_t>(devices->size()));
    put("gpu", std::move(gpus));
    put("nic", std::move(nics));
    put("nvme_controller", std::move(nvmes));
    put("nvswitch", std::move(switches));
    facts.set("link_status_count", links);
    if (!downgraded.empty()) facts.set("downgraded_links", Fact::of(std::move(downgraded)));
    if (!redirects.empty()) {
      reading.note("ACS redirects peer traffic at " + std::to_string(redirects.size()) +
                   " bridge(s): peers below them reach each other by way of the root complex");
      facts.set("acs_redirecting", Fact::of(std::move(redirects)));
    }
    note_gaps(*facts.find_list("devices"), reading);
  }

 private:
  static bool is_true(const FactRecord& record, std::string_view name) {
    const Fact* const fact = record.find(name);
    const bool* const value = fact == nullptr ? nullptr : std::get_if<bool>(&fact->value);
    return value != nullptr && *value;
  }
  static bool has_flag(const FactRecord& record, std::string_view list, std::string_view flag) {
    const std::vector<Fact>* const flags = record.find_list(list);
    return flags != nullptr &&
           std::any_of(flags->begin(), flags->end(), [flag](const Fact& one) { return one.text() == flag; });
  }

  static void note_gaps(const std::vector<Fact>& devices, Reading& reading) {
    std::int64_t without = 0;
    for (const Fact& fact : devices) {
      const FactRecord& device = *fact.as_record();
      if (device.has("link_speed") && !device.has("link_capable_speed")) ++without;
    }
    if (without > 0) {
      reading.note(std::to_string(without) +
                   " link(s) show their state without LnkCap: what the device could do is not in the text");
    }
  }

  // What grep leaves unindented.
  static bool is_attribute(std::string_view text) {
    return text.starts_with("LnkSta:") || text.starts_with("LnkCap:") || text.starts_with("ACSCtl:") ||
           text.starts_with("ACSCap:") || text.starts_with("Kernel driver in use:") || text.starts_with("NUMA node:");
  }

  bool on_device(std::string_view text, std::size_t length, std::int64_t line, Reading& reading) {
    std::vector<Fact>& devices = reading.facts.list("devices");
    const std::string_view address = text.substr(0, length);
    const std::string_view rest = trim(text.substr(length));
    device_ = nullptr;
    if (devices.size() >= kDevicesKept) return true;
    device_ = &reading.facts.append("devices", line);
    device_->set("address", address);
    if (rest.starts_with('"')) {
      read_quoted(rest, *device_);
    } else {
      read_heading(rest, *device_);
    }
    return true;
  }

  // lspci -mm: "Host bridge" "Intel Corporation" "Device 0d57" -r01 "" ""
  static void read_quoted(std::string_view text, FactRecord& device) {
    std::vector<std::string_view> parts;
    while (!text.empty() && parts.size() < 6) {
      const std::size_t open = text.find('"');
      const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
      if (close == std::string_view::npos) break;
      parts.push_back(text.substr(open + 1, close - open - 1));
      text = text.substr(close + 1);
    }
    if (!parts.empty()) device.set("class", parts[0]);
    if (parts.size() > 2) device.set("name", std::string(parts[1]) + " " + std::string(parts[2]));
  }

  bool on_attribute(std::string_view text, std::int64_t line, Reading& reading) {
    if (device_ == nullptr) {
      if (!is_attribute(text)) return false;
      if (reading.facts.list("devices").size() >= kDevicesKept) return true;
      // The line that names the device was cut off or filtered out.
      device_ = &reading.facts.append("devices", line);
      device_->set_unknown("address", line);
    } else if (repeats(text) && reading.facts.list("devices").size() < kDevicesKept) {
      // Of an unnamed device, the same again is another's.
      device_ = &reading.facts.append("devices", line);
      device_->set_unknown("address", line);
    }
    FactRecord& device = *device_;
    read_sizes(text, device, line);
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return true;
    const std::string_view key = text.substr(0, colon);
    const std::string_view value = trim(text.substr(colon + 1));
    if (key == "LnkCap") return read_link(value, "link_capable", device, line), true;
    if (key == "LnkSta") return read_link(value, "link", device, line), true;
    if (key == "LnkCtl" && contains(value, "ASPM ")) {
      device.set("aspm", between(value, "ASPM ", ";").value_or(""), line);
    }
    if (key == "ACSCtl") {
      device.set("acs_control_text", value, line);
      device.set("acs_control", Fact::of(set_flags(value, line), line));
    }
    if (key == "ACSCap") device.set("acs_capable", Fact::of(set_flags(value, line), line));
    if (key == "DevSta") device.set("device_errors", Fact::of(set_flags(value, line), line));
    if (key == "UESta") device.set("uncorrectable_errors", Fact::of(set_flags(value, line), line));
    if (key == "CESta") device.set("correctable_errors", Fact::of(set_flags(value, line), line));
    if (key == "NUMA node") device.set_parsed("numa_node", value, line);
    if (key == "IOMMU group") device.set_parsed("iommu_group", value, line);
    if (key == "Subsystem") device.set("subsystem", value, line);
    if (key == "Physical Slot") device.set("physical_slot", value, line);
    if (key == "DeviceName") device.set("device_name", value, line);
    if (key == "Kernel driver in use") device.set("driver", value, line);
    if (key == "Kernel modules") device.set("modules", value, line);
    if (key == "Bus" && contains(value, "secondary=")) read_bus(value, device, line);
    if (key.starts_with("Region ")) read_region(key, value, device, line);
    if (key == "Capabilities" && contains(value, "Express")) {
      if (const auto type = between(value, ") ", ",")) device.set("port_type", type->substr(0, type->find(" (")), line);
    }
    if (key == "LnkCap2" && contains(value, "Supported Link Speeds")) {
      device.set("supported_speeds", between(value, "Speeds: ", ",").value_or(""), line);
    }
    return true;
  }

  bool repeats(std::string_view text) const {
    const Fact* const address = device_->find("address");
    if (address == nullptr || !address->is_unknown()) return false;
    return (text.starts_with("LnkSta:") && device_->has("link_speed")) ||
           (text.starts_with("LnkCap:") && device_->has("link_capable_speed")) ||
           (text.starts_with("ACSCtl:") && device_->has("acs_control"));
  }

  // "MaxPayload 256 bytes, MaxReadReq 4096 bytes" of DevCtl (that of DevCap has no read request).
  static void read_sizes(std::string_view text, FactRecord& device, std::int64_t line) {
    if (!text.starts_with("MaxPayload ") || !contains(text, "MaxReadReq ")) return;
    if (const auto size = to_measure(text.substr(11))) device.set("max_payload_bytes", size->value, line);
    if (const auto size = to_measure(after(text, "MaxReadReq ").value_or(""))) {
      device.set("max_read_request_bytes", size->value, line);
    }
  }
  static void read_bus(std::string_view value, FactRecord& device, std::int64_t line) {
    for (const char* const name : {"primary", "secondary", "subordinate"}) {
      if (const auto bus = between(value, std::string(name) + "=", ","))
        device.set(std::string(name) + "_bus", *bus, line);
    }
  }
  static void read_region(std::string_view key, std::string_view value, FactRecord& device, std::int64_t line) {
    const auto size = between(value, "[size=", "]");
    if (!size || device.list("regions").size() >= 16) return;
    FactRecord& region = device.append("regions", line);
    region.set_parsed("index", key.substr(7));
    region.set("size", *size);
    region.set("prefetchable", !contains(value, "non-prefetchable"));
  }

  FactRecord* device_ = nullptr;
};

// A heading of lspci: an address, then a class that it knows.
bool is_device_line(std::string_view line) {
  const std::string_view text = trim(line);
  const std::size_t length = address_length(text);
  if (length == 0 || text.size() < length + 6) return false;
  const std::string_view rest = trim(text.substr(length));
  if (rest.size() > 15 && rest[4] == ':' && is_ids(rest.substr(6, 9))) return true;
  if (rest.starts_with('"')) return true;
  const std::size_t colon = rest.find(": ");
  if (colon > 60) return false;
  const std::string_view kind = rest.substr(0, colon);
  for (const std::string_view word : {"controller", "bridge", "class", "Bridge", "accelerator", "device",
                                      "Co-processor", "System peripheral", "Memory", "Signal processing", "Encryption",
                                      "adapter", "peripheral", "memory", "PIC", "Fabric", "Performance"}) {
    if (contains(kind, word)) return true;
  }
  return false;
}

}  // namespace

int recognise_lspci(const Head& head) {
  int devices = 0, attributes = 0, lines = 0;
  for (std::string_view text = head.text; !text.empty() && lines < 20'000;) {
    const std::string_view line = next_line(text);
    if (trim(line).empty() || line.size() > 4096) continue;
    ++lines;
    if (is_device_line(line.starts_with('>') ? without_line_tags(line) : line)) ++devices;
    if (contains(line, "LnkSta:") || contains(line, "LnkCap:") || contains(line, "ACSCtl:") ||
        contains(line, "DevCtl:") || contains(line, "Kernel driver in use:") || contains(line, "Control: I/O") ||
        contains(line, "Flags: bus master") || contains(line, "Flags: fast devsel")) {
      ++attributes;
    }
  }
  if (devices == 0 && attributes == 0) return confidence::kNone;
  if (devices > 0 && (attributes > 0 || devices * 3 >= lines)) return 92;
  if (attributes > 0 && contains(head.text, "Speed ")) return 80;
  return devices * 10 >= lines ? 65 : confidence::kPossible;
}

std::unique_ptr<LineReader> open_lspci() { return std::make_unique<LspciReader>(); }

}  // namespace tare
