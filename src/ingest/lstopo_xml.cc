#include "ingest/lstopo_xml.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <pugixml.hpp>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kListed = 20'000;

// Line of a byte offset.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') ends_.push_back(i);
    }
  }
  std::int64_t at(std::ptrdiff_t offset) const {
    if (offset < 0) return 0;
    return 1 + (std::lower_bound(ends_.begin(), ends_.end(), static_cast<std::size_t>(offset)) - ends_.begin());
  }

 private:
  std::vector<std::size_t> ends_;
};

std::string_view value_of(const pugi::xml_node& node, const char* name) { return node.attribute(name).value(); }

std::string_view info(const pugi::xml_node& object, std::string_view name) {
  for (const pugi::xml_node& child : object.children("info")) {
    if (value_of(child, "name") == name) return value_of(child, "value");
  }
  return {};
}

// Where in the tree an object stands: the package and NUMA node above it (or, in hwloc 2, beside it).
struct Place {
  pugi::xml_node node;
  std::int64_t numa = -1;
  std::int64_t package = -1;
  std::size_t pci = static_cast<std::size_t>(-1);  // index of the PCI device above, in the list
};

std::int64_t os_index(const pugi::xml_node& node) { return to_integer(value_of(node, "os_index")).value_or(-1); }

// hwloc 2 hangs NUMA nodes beside the objects they belong to.
std::int64_t numa_child(const pugi::xml_node& object) {
  std::int64_t found = -1;
  for (const pugi::xml_node& child : object.children("object")) {
    if (value_of(child, "type") != "NUMANode") continue;
    if (found >= 0) return -1;  // several: not told apart
    found = os_index(child);
  }
  return found;
}

std::string_view osdev_kind(std::string_view type) {
  if (type == "0" || contains(type, "storage") || contains(type, "Storage")) return "storage";
  if (type == "1") return "gpu";
  if (type == "2") return "network";
  if (type == "3") return "openfabrics";
  if (type == "4") return "dma";
  if (type == "5") return "coprocessor";
  if (type == "6") return "memory";
  return type;
}

class Walk {
 public:
  Walk(Reading& reading, const Lines& lines) : reading_(reading), lines_(lines) {}

  void run(const pugi::xml_node& topology) {
    std::vector<Place> waiting;
    push_children(topology, Place{}, waiting);
    while (!waiting.empty()) {
      Place place = waiting.back();
      waiting.pop_back();
      on_object(place);
      push_children(place.node, place, waiting);
    }
    finish(topology);
  }

 private:
  static void push_children(const pugi::xml_node& parent, const Place& place, std::vector<Place>& waiting) {
    const std::size_t first = waiting.size();
    for (const pugi::xml_node& child : parent.children("object")) {
      Place next = place;
      next.node = child;
      waiting.push_back(next);
    }
    std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(first), waiting.end());
  }

  void on_object(Place& place) {
    const pugi::xml_node& node = place.node;
    const std::string_view type = value_of(node, "type");
    ++counts_[std::string(type)];
    const std::int64_t line = lines_.at(node.offset_debug());
    if (type == "Machine" || type == "System") on_machine(node, line);
    if (type == "Package" || type == "Socket") place.package = os_index(node), on_package(node, line);
    if (type == "NUMANode") place.numa = os_index(node), on_numa(place, line);
    if (const std::int64_t beside = numa_child(node); beside >= 0) place.numa = beside;
    if (type == "PCIDev") on_pci(place, line);
    if (type == "OSDev") on_osdev(place, line);
  }

  void on_machine(const pugi::xml_node& node, std::int64_t line) {
    static constexpr std::pair<const char*, const char*> kInfos[] = {{"DMIProductName", "product"},
                                                                     {"DMISysVendor", "vendor"},
                                                                     {"DMIBoardName", "board"},
                                                                     {"DMIBoardVendor", "board_vendor"},
                                                                     {"DMIBIOSVersion", "bios_version"},
                                                                     {"DMIBIOSDate", "bios_date"},
                                                                     {"HostName", "host"},
                                                                     {"Architecture", "architecture"},
                                                                     {"OSName", "os"},
                                                                     {"OSRelease", "kernel"}};
    for (const auto& [from, to] : kInfos) {
      if (const std::string_view value = info(node, from); !value.empty())
        reading_.facts.set_once(to, Fact::of(value, line));
    }
  }

  void on_package(const pugi::xml_node& node, std::int64_t line) {
    if (reading_.facts.list("packages").size() >= kListed) return;
    FactRecord& package = reading_.facts.append("packages", line);
    package.set("package", os_index(node));
    for (const auto& [from, to] : {std::pair("CPUModel", "model"), std::pair("CPUVendor", "vendor"),
                                   std::pair("CPUImplementer", "implementer")}) {
      if (const std::string_view value = info(node, from); !value.empty()) package.set(to, trim(value));
    }
  }

  void on_numa(const Place& place, std::int64_t line) {
    if (reading_.facts.list("numa").size() >= kListed) return;
    FactRecord& numa = reading_.facts.append("numa", line);
    numa.set("node", place.numa);
    if (place.package >= 0) numa.set("package", place.package);
    if (const auto bytes = to_integer(value_of(place.node, "local_memory"))) numa.set("memory_bytes", *bytes);
    if (const std::string_view cpus = value_of(place.node, "cpuset"); !cpus.empty()) numa.set("cpuset", cpus);
  }

  // pci_type: "0302 [10de:2330] [10de:16c1] a1"
  void on_pci(Place& place, std::int64_t line) {
    std::vector<Fact>& list = reading_.facts.list("pci_devices");
    if (list.size() >= kListed) return;
    place.pci = list.size();
    FactRecord& device = reading_.facts.append("pci_devices", line);
    device.set("address", value_of(place.node, "pci_busid"));
    const std::string_view type = value_of(place.node, "pci_type");
    if (type.size() >= 4) device.set("class_code", type.substr(0, 4));
    if (const auto ids = between(type, "[", "]"); ids && ids->size() == 9) {
      device.set("vendor_id", ids->substr(0, 4));
      device.set("device_id", ids->substr(5));
    }
    if (const std::string_view vendor = info(place.node, "PCIVendor"); !vendor.empty()) device.set("vendor", vendor);
    if (const std::string_view name = info(place.node, "PCIDevice"); !name.empty()) device.set("name", name);
    if (const std::string_view slot = info(place.node, "PCISlot"); !slot.empty()) device.set("slot", slot);
    if (const auto speed = to_number(value_of(place.node, "pci_link_speed")); speed && *speed > 0) {
      device.set("link_gb_per_s", *speed);
    }
    if (place.numa >= 0) device.set("numa_node", place.numa);
    if (place.package >= 0) device.set("package", place.package);
    const std::string_view code = device.text("class_code");
    if ((code.starts_with("03") || code == "1200") &&
        (device.text("vendor_id") == "10de" || device.text("vendor_id") == "1002" ||
         device.text("vendor_id") == "8086")) {
      gpus_.push_back(Fact::of(device.text("address"), line));
    }
  }

  void on_osdev(const Place& place, std::int64_t line) {
    FactRecord device(line);
    device.set("name", value_of(place.node, "name"));
    device.set("kind", osdev_kind(value_of(place.node, "osdev_type")));
    if (const std::string_view sub = value_of(place.node, "subtype"); !sub.empty()) device.set("subtype", sub);
    for (const auto& [from, to] :
         {std::pair("Address", "mac"), std::pair("NodeGUID", "node_guid"), std::pair("NVIDIAUUID", "uuid"),
          std::pair("NVIDIASerial", "serial"), std::pair("Size", "size_kib"), std::pair("Model", "model"),
          std::pair("GPUModel", "model")}) {
      if (const std::string_view value = info(place.node, from); !value.empty()) device.set(to, value);
    }
    if (place.numa >= 0) device.set("numa_node", place.numa);
    std::vector<Fact>& pci = reading_.facts.list("pci_devices");
    if (place.pci < pci.size()) {
      FactRecord& above = std::get<FactRecord>(pci[place.pci].value);
      device.set("address", above.text("address"));
      if (above.list("os_devices").size() < 64) above.list("os_devices").push_back(Fact::of(device.text("name"), line));
    }
    std::vector<Fact>& list = reading_.facts.list("os_devices");
    if (list.size() < kListed) list.push_back(Fact::of(std::move(device)));
  }

  void finish(const pugi::xml_node& topology) {
    FactRecord& facts = reading_.facts;
    on_machine(topology, 0);  // hwloc 3 keeps the machine's infos at the root
    facts.set("hwloc_xml_version", value_of(topology, "version"));
    const auto count = [&](const char* name, std::initializer_list<const char*> types) {
      std::int64_t sum = 0;
      for (const char* const type : types) {
        if (counts_.contains(type)) sum += counts_[type];
      }
      facts.set(name, sum);
    };
    count("package_count", {"Package", "Socket"});
    count("numa_nodes", {"NUMANode"});
    count("core_count", {"Core"});
    count("pu_count", {"PU"});
    count("pci_device_count", {"PCIDev"});
    facts.set("gpu_count", static_cast<std::int64_t>(gpus_.size()));
    if (!gpus_.empty()) facts.set("gpus", Fact::of(std::move(gpus_)));
    if (facts.find_list("pci_devices") != nullptr && facts.find_list("pci_devices")->empty()) {
      reading_.note("no PCI devices in the XML: lstopo left them out, or could not see them");
    }
  }

  Reading& reading_;
  const Lines& lines_;
  std::map<std::string, std::int64_t> counts_;
  std::vector<Fact> gpus_;
};

}  // namespace

int recognise_lstopo_xml(const Head& head) {
  if (!contains(head.text, "<topology") || !contains(head.text, "<object type=")) return confidence::kNone;
  return contains(head.text, "hwloc") || contains(head.text, "type=\"Machine\"") ? 96 : 80;
}

void read_lstopo_xml(std::string_view text, Reading& reading) {
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size(), pugi::parse_default);
  const Lines lines(text);
  if (!result) {
    reading.cannot_use(lines.at(result.offset), "", std::string("the XML is damaged: ") + result.description());
  }
  pugi::xml_node topology = document.child("topology");
  if (!topology) topology = document;
  Walk(reading, lines).run(topology);
}

}  // namespace tare
