#include "ingest/dmidecode.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kListed = 4096;

// Sections that are kept, and the list they go to; of the first of a kind the values stand at the top.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSections = {
    {{"BIOS Information", "bios"},
     {"System Information", "system"},
     {"Base Board Information", "board"},
     {"Processor Information", "processors"},
     {"Memory Device", "memory_devices"},
     {"Chassis Information", "chassis"}}};

std::string snake(std::string_view text) {
  std::string out;
  for (const char c : to_lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) out += c;
    if (!plain && !out.empty() && out.back() != '_') out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

class DmidecodeReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text;
    if (text.size() > 4096) return false;
    if (text.starts_with("Handle 0x") || text.starts_with("# dmidecode") || text.starts_with("Getting SMBIOS") ||
        (text.starts_with("SMBIOS ") && contains(text, "present"))) {
      section_ = nullptr;
      return true;
    }
    const bool indented = text.starts_with('\t') || text.starts_with("  ");
    if (!indented) return on_section(trim(text), line.number, reading.facts);
    const std::size_t colon = text.find(':');
    if (section_ == nullptr || colon == std::string_view::npos) return in_table_;
    const std::string name = snake(text.substr(0, colon));
    const std::string_view value = trim(text.substr(colon + 1));
    if (name.empty() || section_->members().size() >= 100 || value.empty()) return true;
    if (value == "Not Specified" || value == "Unknown" || value == "None" || value == "No Module Installed" ||
        value == "Not Provided") {
      section_->set(name, value == "No Module Installed" ? Fact::of(value, line.number) : Fact::unknown(line.number));
    } else {
      section_->set(name, value, line.number);
    }
    return true;
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    std::int64_t filled = 0, slots = 0, processors = 0;
    std::map<std::string, std::int64_t> sizes;
    const std::vector<Fact>* devices = facts.find_list("memory_devices");
    for (std::size_t i = 0; devices != nullptr && i < devices->size(); ++i) {
      const FactRecord& device = *(*devices)[i].as_record();
      ++slots;
      const std::string_view size = device.text("size");
      if (size.empty() || size == "No Module Installed") continue;
      ++filled;
      ++sizes[std::string(size) + " " + std::string(device.text("type")) + " " + std::string(device.text("speed"))];
    }
    devices = facts.find_list("processors");
    processors = static_cast<std::int64_t>(devices == nullptr ? 0 : devices->size());
    if (slots > 0) {
      facts.set("memory_slots", slots);
      facts.set("memory_modules", filled);
      for (const auto& [size, count] : sizes) {
        FactRecord& record = facts.append("memory_module_kinds", 0);
        record.set("module", trim(std::string_view(size)));
        record.set("count", count);
      }
    }
    if (processors > 0) facts.set("processor_count", processors);
  }

 private:
  bool on_section(std::string_view text, std::int64_t line, FactRecord& facts) {
    section_ = nullptr;
    for (const auto& [title, list] : kSections) {
      if (text != title) continue;
      in_table_ = true;
      if (facts.list(list).size() < kListed) section_ = &facts.append(list, line);
      return true;
    }
    return false;
  }

  FactRecord* section_ = nullptr;
  bool in_table_ = false;
};

}  // namespace

int recognise_dmidecode(const Head& head) {
  if (contains(head.text, "# dmidecode") || (contains(head.text, "Handle 0x") && contains(head.text, "DMI type")))
    return 95;
  const bool memory =
      contains(head.text, "Memory Device\n") && contains(head.text, "\tSize: ") && contains(head.text, "\tLocator: ");
  return memory ? 85 : confidence::kNone;
}

std::unique_ptr<LineReader> open_dmidecode() { return std::make_unique<DmidecodeReader>(); }

}  // namespace tare
