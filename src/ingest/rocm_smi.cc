#include "ingest/rocm_smi.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ingest/gpu_fields.h"
#include "ingest/json_tree.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kGpus = 1024;
constexpr std::size_t kMembers = 400;

using Pair = std::pair<std::string_view, std::string_view>;

// Names as snake_case has them, and the general ones.
constexpr std::array<Pair, 24> kGeneral = {{{"temperature_sensor_edge_c", "temp_c"},
                                            {"temperature_sensor_junction_c", "temp_junction_c"},
                                            {"temperature_sensor_memory_c", "mem_temp_c"},
                                            {"average_graphics_package_power_w", "power_w"},
                                            {"current_socket_graphics_package_power_w", "power_w"},
                                            {"max_graphics_package_power_w", "power_limit_w"},
                                            {"gpu_use_pct", "util_pct"},
                                            {"gpu_memory_use_pct", "mem_util_pct"},
                                            {"gpu_memory_allocated_vram_pct", "mem_used_pct"},
                                            {"card_series", "name"},
                                            {"device_name", "name"},
                                            {"unique_id", "uuid"},
                                            {"serial_number", "serial"},
                                            {"pci_bus", "bus_id"},
                                            {"vbios_version", "vbios"},
                                            {"performance_level", "performance_level"},
                                            {"fan_speed_pct", "fan_pct"},
                                            // of the concise table
                                            {"temp_junction", "temp_junction_c"},
                                            {"avg_pwr", "power_w"},
                                            {"power_socket", "power_w"},
                                            {"pwr_cap", "power_limit_w"},
                                            {"vram", "mem_used_pct"},
                                            {"gpu", "util_pct"},
                                            {"fan", "fan_pct"}}};

std::string_view general_name(std::string_view name) {
  const auto found =
      std::find_if(kGeneral.begin(), kGeneral.end(), [name](const Pair& one) { return one.first == name; });
  return found == kGeneral.end() ? std::string_view() : found->second;
}

// "Temperature (Sensor edge) (C)" -> temperature_sensor_edge_c
std::string rocm_name(std::string_view text) {
  text = trim(text);
  const std::size_t open = text.rfind('(');
  if (open != std::string_view::npos && text.ends_with(')')) {
    std::string_view unit = text.substr(open + 1, text.size() - open - 2);
    const bool of_vram = unit == "VRAM%";
    const std::string_view ending = of_vram ? "vram_pct" : unit_ending(unit);
    if (!ending.empty()) return snake_name(text.substr(0, open)) + "_" + std::string(ending);
  }
  return snake_name(text);
}

void set_value(FactRecord& gpu, std::string_view printed, std::string_view text, std::int64_t line) {
  const std::string name = rocm_name(printed);
  if (name.empty() || gpu.members().size() >= kMembers) return;
  const bool as_printed = name == "unique_id" || name == "serial_number" || name == "vbios_version" ||
                          name == "pci_bus" || name.ends_with("_id");
  if (as_printed) {
    gpu.set(name, says_unknown(text) ? Fact::unknown(line) : Fact::of(trim(text), line));
  } else {
    set_measured(gpu, name, text, line);
  }
  const std::string_view general = general_name(name);
  if (general.empty() || gpu.has(general)) return;
  gpu.set(general, as_printed && !says_unknown(text) ? Fact::of(trim(text), line) : measured_value(text, line));
}

class Cards {
 public:
  FactRecord* card(std::int64_t index, std::int64_t line) {
    const auto found = by_index_.find(index);
    if (found != by_index_.end()) return &cards_[found->second];
    if (cards_.size() >= kGpus || index < 0) return nullptr;
    by_index_.emplace(index, cards_.size());
    FactRecord& card = cards_.emplace_back(line);
    card.set("index", index);
    return &card;
  }
  void put(FactRecord& facts) {
    if (cards_.empty()) return;
    std::vector<Fact> list;
    for (FactRecord& card : cards_) list.push_back(Fact::of(std::move(card)));
    facts.set("gpus", Fact::of(std::move(list)));
    summarise_gpus(facts);
  }

 private:
  std::vector<FactRecord> cards_;
  std::map<std::int64_t, std::size_t> by_index_;
};

struct Column {
  std::size_t begin;
  std::string name;
};

// Columns of the table begin where their headings do; headings are two blanks apart ("VRAM%  GPU%"), older ones may be
// one.
std::vector<Column> columns_of(std::string_view header) {
  std::vector<Column> columns;
  std::size_t at = 0;
  while (at < header.size() && columns.size() < 64) {
    while (at < header.size() && header[at] == ' ') ++at;
    if (at >= header.size()) break;
    const std::size_t begin = at;
    while (at < header.size() && header[at] != ' ') ++at;
    columns.push_back({begin, snake_name(header.substr(begin, at - begin))});
  }
  return columns;
}

bool is_table_header(std::string_view text) {
  return (text.starts_with("GPU ") || text.starts_with("Device ")) && contains(text, "SCLK") && contains(text, "MCLK");
}

class RocmSmiReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view raw = split_line_prefix(line.text).text;
    const std::string_view text = trim(raw);
    if (text.empty() || text.starts_with("==") || text.starts_with("--")) return true;
    if (text.starts_with("GPU[")) return take_value(text, line.number, reading);
    if (is_table_header(text)) {
      columns_ = columns_of(text);
      indent_ = static_cast<std::size_t>(text.data() - raw.data());
      return true;
    }
    if (!columns_.empty() && text.starts_with('(')) return true;  // "(DID, GUID)" below the headings
    if (!columns_.empty() && text.front() >= '0' && text.front() <= '9') return take_row(raw, line.number);
    if (text.starts_with("device,")) {
      for (const std::string_view name : split(text, ',')) csv_.emplace_back(name);
      return true;
    }
    if (!csv_.empty() && text.starts_with("card")) return take_csv(text, line.number, reading);
    if (const auto driver = after(text, "Driver version:")) {
      reading.facts.set("driver", *driver, line.number);
      return true;
    }
    if (contains(text, "rocm-smi")) {
      reading.facts.set_once("command", Fact::of(text.substr(text.find("rocm-smi")), line.number));
      return true;
    }
    return text.starts_with("WARNING:") || text.starts_with("PID") || text.starts_with("GPU ");
  }

  void finish(Reading& reading) override { cards_.put(reading.facts); }

 private:
  // "GPU[0]		: Temperature (Sensor edge) (C): 35.0"
  bool take_value(std::string_view text, std::int64_t line, Reading& reading) {
    const auto index = between(text, "GPU[", "]");
    const std::optional<std::int64_t> number = index ? to_integer(*index) : std::nullopt;
    const std::size_t first = text.find(':');
    if (!number || *number > 100000 || first == std::string_view::npos) return false;
    const std::string_view rest = trim(text.substr(first + 1));
    const std::size_t colon = rest.find(": ");
    FactRecord* const card = cards_.card(*number, line);
    if (card == nullptr) return true;
    if (colon == std::string_view::npos) {
      if (rest.ends_with(':')) return true;  // a heading: "Supported sclk frequencies on GPU0:"
      reading.cannot_use(line, text, "no name with a value");
      return true;
    }
    set_value(*card, rest.substr(0, colon), rest.substr(colon + 1), line);
    return true;
  }

  bool take_row(std::string_view raw, std::int64_t line) {
    const std::string_view text = raw.substr(std::min(indent_, raw.size()));
    const std::vector<std::string_view> words = words_in(text);
    const std::optional<std::int64_t> index = words.empty() ? std::nullopt : to_integer(words.front());
    FactRecord* const card = index && *index < 100000 ? cards_.card(*index, line) : nullptr;
    if (card == nullptr) return false;
    const bool by_words = words.size() == columns_.size();  // one word under every heading: also when blanks were lost
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      const std::size_t end = i + 1 < columns_.size() ? columns_[i + 1].begin : std::string_view::npos;
      std::string_view value;
      if (by_words) {
        value = words[i];
      } else if (columns_[i].begin < text.size()) {
        value = trim(text.substr(columns_[i].begin, end == std::string_view::npos ? end : end - columns_[i].begin));
      }
      set_value(*card, columns_[i].name, value, line);
      if (columns_[i].name == "temp") card->set_once("temp_c", measured_value(value, line));
      if (columns_[i].name == "power") card->set_once("power_w", measured_value(value, line));
    }
    return true;
  }

  bool take_csv(std::string_view text, std::int64_t line, Reading& reading) {
    const std::vector<std::string_view> fields = split(text, ',');
    const std::optional<std::int64_t> index = to_integer(fields.front().substr(4));
    FactRecord* const card = index && *index < 100000 ? cards_.card(*index, line) : nullptr;
    if (card == nullptr) return false;
    if (fields.size() != csv_.size()) reading.cannot_use(line, text, "not as many fields as the header");
    for (std::size_t i = 1; i < fields.size() && i < csv_.size(); ++i) set_value(*card, csv_[i], fields[i], line);
    return true;
  }

  Cards cards_;
  std::vector<Column> columns_;
  std::size_t indent_ = 0;
  std::vector<std::string> csv_;
};

}  // namespace

int recognise_rocm_smi(const Head& head) {
  if (contains(head.text, "ROCm System Management Interface") || contains(head.text, "End of ROCm SMI Log"))
    return confidence::kSure;
  const std::size_t card = head.text.find("GPU[0]");
  if (card != std::string_view::npos && contains(head.text.substr(card, 40), ":") && !contains(head.text, "[GPU["))
    return 75;
  if (contains(head.text, "device,") && contains(head.text, "\ncard0,")) return 80;
  return contains(head.text, "VRAM%") && contains(head.text, "PwrCap") ? 75 : confidence::kNone;
}

std::unique_ptr<LineReader> open_rocm_smi() { return std::make_unique<RocmSmiReader>(); }

int recognise_rocm_smi_json(const Head& head) {
  const bool card = contains(head.text, "\"card0\"") || contains(head.text, "\"card1\"");
  const bool value = contains(head.text, "(C)\"") || contains(head.text, "(%)\"") || contains(head.text, "(W)\"") ||
                     contains(head.text, "Card ");
  return card && value ? confidence::kSure : confidence::kNone;
}

void read_rocm_smi_json(std::string_view text, Reading& reading) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return;
  const std::int64_t first_line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n');
  const JsonTree tree = read_json_tree(text.substr(open), first_line);
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", tree.fault);
  const FactRecord* const root = tree.root.as_record();
  if (root == nullptr) return;
  Cards cards;
  for (const auto& [name, fact] : root->members()) {
    const FactRecord* const record = fact.as_record();
    if (record == nullptr) continue;
    const std::optional<std::int64_t> index =
        name.starts_with("card") ? to_integer(std::string_view(name).substr(4)) : std::nullopt;
    FactRecord* const card = index && *index < 100000 ? cards.card(*index, fact.line) : nullptr;
    for (const auto& [key, value] : record->members()) {
      if (card != nullptr && !value.text().empty()) {
        set_value(*card, key, value.text(), value.line);
      } else if (card != nullptr) {
        card->set(rocm_name(key), value);
      } else if (key == "Driver version") {
        reading.facts.set("driver", value);
      }
    }
  }
  cards.put(reading.facts);
}

}  // namespace tare
