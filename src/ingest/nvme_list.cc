#include "ingest/nvme_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/column_table.h"
#include "ingest/json_tree.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kDevicesKept = 10'000;

bool is_heading(std::string_view line) {
  return contains(line, "Node") && contains(line, "SN") && contains(line, "Model") && contains(line, "Namespace");
}
bool is_dashes(std::string_view line) {
  line = trim(line);
  return line.size() > 20 && line.find_first_not_of("- ") == std::string_view::npos;
}

std::string squeeze(std::string_view text) {
  std::string out;
  for (const std::string_view word : words_in(text)) out += (out.empty() ? "" : " ") + std::string(word);
  return out;
}

// "10,49  MB /  10,49  MB" -> used and size; a comma may stand for the decimal point.
void set_usage(FactRecord& device, std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string used = squeeze(text.substr(0, slash));
  device.set("used", std::string_view(used));
  if (slash == std::string_view::npos) return;
  const std::string size = squeeze(text.substr(slash + 1));
  device.set("size", std::string_view(size));
  std::string number = size.substr(0, size.find(' '));
  std::replace(number.begin(), number.end(), ',', '.');
  const std::optional<double> value = to_number(number);
  const std::string unit = size.find(' ') == std::string::npos ? "" : to_lower(size.substr(size.find(' ') + 1));
  if (value && (unit == "tb" || unit == "gb" || unit == "mb" || unit == "kb" || unit == "b")) {
    device.set("size_" + unit, *value);
  }
}

void summarise(FactRecord& facts) {
  const std::vector<Fact>* const devices = facts.find_list("devices");
  if (devices == nullptr) return;
  std::map<std::string, std::int64_t> models;
  for (const Fact& device : *devices) ++models[std::string(device.as_record()->text("model"))];
  facts.set("device_count", static_cast<std::int64_t>(devices->size()));
  for (const auto& [model, count] : models) {
    FactRecord& record = facts.append("models", 0);
    record.set("model", model);
    record.set("count", count);
  }
}

class NvmeListReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = without_line_tags(line.text);
    if (text.size() > 4096) return false;
    if (is_heading(text)) {
      heading_ = std::string(text);
      table_.reset();
      return true;
    }
    if (is_dashes(text)) {
      if (heading_.empty()) heading_ = "Node SN Model Namespace Usage Format FW Rev";
      table_.emplace(heading_, text);
      return true;
    }
    if (trim(text).starts_with("/dev/nvme")) return on_device(text, line.number, reading);
    return trim(text) == "..." && table_;
  }
  void finish(Reading& reading) override { summarise(reading.facts); }

 private:
  bool on_device(std::string_view text, std::int64_t line, Reading& reading) {
    if (!table_) {
      reading.cannot_use(line, text, "no heading above the device");
      return true;
    }
    if (reading.facts.list("devices").size() >= kDevicesKept) return true;
    FactRecord& device = reading.facts.append("devices", line);
    const std::vector<std::string> cells = table_->cells(text);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& name = table_->headings()[i];
      if (cells[i].empty()) continue;
      if (name == "Node") device.set("node", std::string_view(cells[i]));
      if (name == "Generic") device.set("generic", std::string_view(cells[i]));
      if (name == "SN") device.set("serial", std::string_view(cells[i]));
      if (name == "Model") device.set("model", std::string_view(cells[i]));
      if (name == "Namespace") device.set_parsed("namespace", cells[i]);
      if (name == "Version") device.set("version", std::string_view(cells[i]));
      if (name == "Usage") set_usage(device, cells[i]);
      if (name == "Format") device.set("format", std::string_view(squeeze(cells[i])));
      if (name.starts_with("FW")) device.set("firmware", std::string_view(cells[i]));
    }
    return true;
  }

  std::string heading_;
  std::optional<ColumnTable> table_;
};

void copy(const FactRecord& from, const char* name, FactRecord& into, const char* as) {
  const Fact* const fact = from.find(name);
  if (fact == nullptr || fact->as_record() || fact->as_list()) return;
  if (!fact->text().empty()) {
    into.set(as, trim(fact->text()), fact->line);
  } else {
    into.set(as, *fact);
  }
}

// The older form: one flat record a namespace.
void add_flat(const FactRecord& from, FactRecord& facts) {
  FactRecord& device = facts.append("devices", from.line);
  copy(from, "DevicePath", device, "node");
  copy(from, "GenericPath", device, "generic");
  copy(from, "SerialNumber", device, "serial");
  copy(from, "ModelNumber", device, "model");
  copy(from, "ProductName", device, "product");
  copy(from, "Firmware", device, "firmware");
  copy(from, "NameSpace", device, "namespace");
  copy(from, "NameSpaceId", device, "namespace");
  copy(from, "UsedBytes", device, "used_bytes");
  copy(from, "PhysicalSize", device, "size_bytes");
  copy(from, "SectorSize", device, "sector_size_bytes");
}

// The newer: subsystems of controllers of namespaces.
void add_nested(const FactRecord& host, FactRecord& facts) {
  const std::vector<Fact>* const subsystems = host.find_list("Subsystems");
  for (std::size_t i = 0; subsystems != nullptr && i < subsystems->size(); ++i) {
    const FactRecord* const subsystem = (*subsystems)[i].as_record();
    if (subsystem == nullptr) continue;
    const std::vector<Fact>* const controllers = subsystem->find_list("Controllers");
    const FactRecord* first = nullptr;
    const auto add_namespaces = [&](const FactRecord& owner) {
      const std::vector<Fact>* const namespaces = owner.find_list("Namespaces");
      for (std::size_t n = 0; namespaces != nullptr && n < namespaces->size(); ++n) {
        const FactRecord* const space = (*namespaces)[n].as_record();
        if (space == nullptr || facts.list("devices").size() >= kDevicesKept) continue;
        FactRecord& device = facts.append("devices", space->line);
        copy(*space, "NameSpace", device, "node");
        copy(*space, "Generic", device, "generic");
        copy(*space, "NSID", device, "namespace");
        copy(*space, "UsedBytes", device, "used_bytes");
        copy(*space, "PhysicalSize", device, "size_bytes");
        copy(*space, "SectorSize", device, "sector_size_bytes");
        const FactRecord& controller = first == nullptr ? owner : *first;
        copy(controller, "Controller", device, "controller");
        copy(controller, "SerialNumber", device, "serial");
        copy(controller, "ModelNumber", device, "model");
        copy(controller, "Firmware", device, "firmware");
        copy(controller, "Transport", device, "transport");
        copy(controller, "Address", device, "address");
      }
    };
    for (std::size_t c = 0; controllers != nullptr && c < controllers->size(); ++c) {
      if (const FactRecord* const controller = (*controllers)[c].as_record()) {
        first = controller;
        add_namespaces(*controller);
      }
    }
    add_namespaces(*subsystem);
  }
}

}  // namespace

int recognise_nvme_list(const Head& head) {
  for (std::string_view text = head.text; !text.empty();) {
    const std::string_view line = next_line(text);
    if (line.size() < 4096 && contains(line, "Namespace") && is_heading(line)) return 95;
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open_nvme_list() { return std::make_unique<NvmeListReader>(); }

int recognise_nvme_list_json(const Head& head) {
  if (!contains(head.text, "\"Devices\"")) return confidence::kNone;
  return contains(head.text, "\"ModelNumber\"") || contains(head.text, "\"Subsystems\"") ? 95 : confidence::kNone;
}

void read_nvme_list_json(std::string_view text, Reading& reading) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return;
  const JsonTree tree = read_json_tree(
      text.substr(open), 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", "the JSON is damaged: " + tree.fault);
  const FactRecord* const root = tree.root.as_record();
  const std::vector<Fact>* const devices = root == nullptr ? nullptr : root->find_list("Devices");
  for (std::size_t i = 0; devices != nullptr && i < devices->size() && i < kDevicesKept; ++i) {
    const FactRecord* const device = (*devices)[i].as_record();
    if (device == nullptr) continue;
    device->has("Subsystems") ? add_nested(*device, reading.facts) : add_flat(*device, reading.facts);
  }
  summarise(reading.facts);
}

}  // namespace tare
