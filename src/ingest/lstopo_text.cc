#include "ingest/lstopo_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kListed = 20'000;

bool is_object(std::string_view text) {
  return text.starts_with("Machine (") || text.starts_with("Machine\t") || text.starts_with("Package L#") ||
         text.starts_with("NUMANode L#") || text.starts_with("HostBridge") || text.starts_with("PCIBridge") ||
         text.starts_with("Socket L#") || text.starts_with("Group0 L#") || text.starts_with("Die L#");
}

// Places "P#3" and what stands in brackets.
std::int64_t physical(std::string_view text) {
  const std::optional<std::string_view> behind = after(text, "P#");
  const std::optional<Measure> number = behind ? to_measure(behind->substr(0, 8)) : std::nullopt;
  return number && number->value >= 0 ? static_cast<std::int64_t>(number->value) : -1;
}

class LstopoReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (line.text.size() > 4096) return false;
    const std::string_view raw = without_line_tags(line.text);
    const std::string_view text = trim(raw);
    FactRecord& facts = reading.facts;
    // Objects of one line are joined: "L2 L#0 (1024KB) + L1d L#0 (32KB) + Core L#0 + PU L#0 (P#0)".
    if (contains(text, "PU L#")) ++pus_;
    if (contains(text, "Core L#")) ++cores_;
    if (text.starts_with("Machine")) {
      if (const auto memory = between(text, "(", ")"); memory && !facts.has("memory")) {
        facts.set("memory", trim(*memory), line.number);
      }
      return true;
    }
    if (contains(text, "Package L#") || contains(text, "Socket L#")) ++packages_, numa_ = -1;
    if (contains(text, "NUMANode L#")) on_numa(text, line.number, facts);
    if (text.starts_with("PCI ")) return on_pci(text, line.number, facts);
    for (const std::string_view kind : {"Net ", "OpenFabrics ", "Block", "GPU(", "CoProc", "DMA "}) {
      if (text.starts_with(kind) && contains(text, "\"")) return on_device(text, line.number, facts);
    }
    return contains(text, " L#") || text.starts_with("HostBridge") || text.starts_with("PCIBridge") ||
           text.starts_with("Misc(");
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    facts.set("package_count", packages_);
    facts.set("numa_nodes", numas_);
    facts.set("core_count", cores_);
    facts.set("pu_count", pus_);
    std::int64_t gpus = 0;
    const std::vector<Fact>* const devices = facts.find_list("pci_devices");
    for (std::size_t i = 0; devices != nullptr && i < devices->size(); ++i) {
      const FactRecord& device = *(*devices)[i].as_record();
      const std::vector<Fact>* const inside = device.find_list("os_devices");
      const bool nvml =
          inside != nullptr && std::any_of(inside->begin(), inside->end(), [](const Fact& one) {
            return one.text().starts_with("nvml") || one.text().starts_with("cuda") || one.text().starts_with("rsmi");
          });
      if (nvml || device.text("class") == "3D") ++gpus;
    }
    facts.set("pci_device_count", static_cast<std::int64_t>(devices == nullptr ? 0 : devices->size()));
    facts.set("gpu_count", gpus);
  }

 private:
  // "NUMANode L#0 (P#0 1008GB)"
  void on_numa(std::string_view text, std::int64_t line, FactRecord& facts) {
    ++numas_;
    const std::string_view inside = between(text.substr(text.find("NUMANode L#")), "(", ")").value_or("");
    numa_ = physical(inside);
    if (facts.list("numa").size() >= kListed) return;
    FactRecord& node = facts.append("numa", line);
    node.set("node", numa_);
    const std::vector<std::string_view> words = words_in(inside);
    if (words.size() > 1) node.set("memory", words.back());
    if (packages_ > 0) node.set("package", packages_ - 1);
  }

  // "PCI 19:00.0 (3D)", of hwloc 1 "PCI 10de:2330"
  bool on_pci(std::string_view text, std::int64_t line, FactRecord& facts) {
    if (facts.list("pci_devices").size() >= kListed) return true;
    FactRecord& device = facts.append("pci_devices", line);
    const std::vector<std::string_view> words = words_in(text);
    if (words.size() > 1) device.set(words[1].size() == 9 && words[1][4] == ':' ? "ids" : "address", words[1]);
    if (const auto kind = between(text, "(", ")")) device.set("class", *kind);
    if (numa_ >= 0) device.set("numa_node", numa_);
    if (packages_ > 0) device.set("package", packages_ - 1);
    return true;
  }

  // `Net "eth0"`, `CoProc(CUDA) "cuda0"`
  bool on_device(std::string_view text, std::int64_t line, FactRecord& facts) {
    const std::string_view name = between(text, "\"", "\"").value_or("");
    std::vector<Fact>& devices = facts.list("pci_devices");
    if (!devices.empty()) {
      FactRecord& above = std::get<FactRecord>(devices.back().value);
      if (above.list("os_devices").size() < 64) above.list("os_devices").push_back(Fact::of(name, line));
    }
    return true;
  }

  std::int64_t packages_ = 0, numas_ = 0, cores_ = 0, pus_ = 0;
  std::int64_t numa_ = -1;
};

}  // namespace

int recognise_lstopo_text(const Head& head) {
  int objects = 0;
  for (std::string_view text = head.text; !text.empty() && objects < 3;) {
    const std::string_view line = trim(without_line_tags(next_line(text)));
    if (line.size() < 2000 && (is_object(line) || (contains(line, "Core L#") && contains(line, "PU L#")))) ++objects;
  }
  return objects >= 3 ? 93 : objects == 2 ? 75 : confidence::kNone;
}

std::unique_ptr<LineReader> open_lstopo_text() { return std::make_unique<LstopoReader>(); }

}  // namespace tare
