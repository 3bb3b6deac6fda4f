#include "ingest/nvidia_smi_query.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/gpu_fields.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kSnapshots = 48;  // kept in full
constexpr std::size_t kGpus = 1024;     // of one snapshot
constexpr std::size_t kMembers = 400;   // of one section
constexpr std::size_t kRepeats = 256;   // of one key in one section
constexpr std::size_t kDepth = 12;

// Headings of sections and keys that nothing but nvidia-smi prints, lower case.
constexpr std::array<std::string_view, 30> kMarks = {"nvsmi log",
                                                     "attached gpus",
                                                     "fb memory usage",
                                                     "bar1 memory usage",
                                                     "clocks throttle reasons",
                                                     "clocks event reasons",
                                                     "gpu power readings",
                                                     "gpu current temp",
                                                     "gpu shutdown temp",
                                                     "remapped rows",
                                                     "retired pages",
                                                     "sram uncorrectable",
                                                     "dram uncorrectable",
                                                     "inforom version",
                                                     "persistence mode",
                                                     "gpu link info",
                                                     "replays since reset",
                                                     "applications clocks",
                                                     "max customer boost clocks",
                                                     "gpu instance id",
                                                     "hw thermal slowdown",
                                                     "sw power cap",
                                                     "module power readings",
                                                     "enforced power limit",
                                                     "performance state",
                                                     "vbios version",
                                                     "gpu virtualization mode",
                                                     "encoder stats",
                                                     "addressing mode",
                                                     "double bit ecc"};

std::size_t indent_of(std::string_view text) {
  std::size_t indent = 0;
  for (const char c : text) {
    if (c == ' ') {
      ++indent;
    } else if (c == '\t') {
      indent += 8;
    } else {
      break;
    }
  }
  return indent;
}

struct KeyValue {
  std::string_view key;
  std::string_view value;
  bool has_value = false;
};

// "Key        : value". A heading has no colon. GPU ids hold colons, but none with a blank in front.
KeyValue key_value(std::string_view text) {
  text = trim(text);
  std::size_t colon = text.find(" : ");
  if (colon == std::string_view::npos && text.ends_with(" :")) colon = text.size() - 2;
  if (colon == std::string_view::npos) colon = text.find("\t: ");
  if (colon == std::string_view::npos && !text.starts_with("GPU ")) {
    colon = text.find(": ");
    if (colon != std::string_view::npos) return {trim(text.substr(0, colon)), trim(text.substr(colon + 1)), true};
  }
  if (colon == std::string_view::npos) return {text, {}, false};
  return {trim(text.substr(0, colon)), trim(text.substr(colon + 2)), true};
}

bool is_hex_or_colon(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

// "GPU 00000000:07:00.0" (also "GPU 0000:07:00.0", older "GPU 0:7:0").
std::optional<std::string_view> gpu_heading(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("GPU ")) return std::nullopt;
  const std::string_view id = trim(text.substr(4));
  if (std::count(id.begin(), id.end(), ':') < 1 || !std::all_of(id.begin(), id.end(), is_hex_or_colon)) {
    return std::nullopt;
  }
  return id;
}

// One key per line is expected to be made of words.
bool is_key(std::string_view key) {
  if (key.empty() || key.size() > 60) return false;
  const char c = key.front();
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_list_section(std::string_view name) { return name == "mig_device" || name == "mig_devices"; }

class SmiQueryReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const PrefixedLine split = split_line_prefix(line.text);
    const std::string_view bare = trim(split.text);
    if (bare.empty()) return true;
    if (contains(bare, "NVSMI LOG")) {
      start_snapshot(line.number);
      return true;
    }
    if (const std::optional<std::string_view> id = gpu_heading(bare)) {
      start_gpu(*id, line.number, reading);
      return true;
    }
    const KeyValue pair = key_value(split.text);
    if (!is_key(pair.key)) return false;
    if (!in_output_ && !(pair.has_value ? known_key(pair.key) : known_heading(pair.key))) return false;
    return take(pair, indent_of(split.text), line.number, reading);
  }

  void finish(Reading& reading) override {
    end_snapshot();
    const std::int64_t count = snapshots_.seen();
    if (snapshots_.every() > 1) {
      reading.note("of " + std::to_string(count) + " outputs every " + std::to_string(snapshots_.every()) +
                   "th is kept");
    }
    set_snapshots(reading.facts, std::move(snapshots_.kept()), count);
  }

 private:
  struct Section {
    std::size_t indent;
    std::string name;
    std::int64_t line;
  };

  void start_snapshot(std::int64_t line) {
    end_snapshot();
    snapshot_ = FactRecord(line);
    in_output_ = true;
  }

  void end_snapshot() {
    end_gpu();
    if (!gpus_.empty()) snapshot_.set("gpus", Fact::of(std::move(gpus_)));
    gpus_.clear();
    if (!snapshot_.empty()) {
      if (const auto attached = snapshot_.integer("attached_gpus")) {
        snapshot_.set("gpu_count", *attached, line_of("attached_gpus"));
      }
      if (bare_) snapshot_.set_once("gpu_count", Fact::unknown());
      summarise_gpus(snapshot_);
      snapshots_.add(std::move(snapshot_));
    }
    snapshot_ = FactRecord();
    bare_ = false;
  }

  std::int64_t line_of(std::string_view name) const { return snapshot_.find(name)->line; }

  void start_gpu(std::string_view id, std::int64_t line, Reading& reading) {
    end_gpu();
    in_output_ = true;
    if (gpus_.size() >= kGpus) {
      reading.cannot_use(line, id, "too many GPUs in one output");
      return;
    }
    if (snapshot_.line == 0) snapshot_.line = line;
    gpu_.emplace(line);
    details_ = FactRecord(line);
    gpu_->set("index", static_cast<std::int64_t>(gpus_.size()), line);
    gpu_->set("bus_id", id, line);
  }

  // Values without a GPU's heading: what grep or -d left.
  void start_bare_gpu(std::int64_t line) {
    end_gpu();
    if (snapshot_.line == 0) snapshot_.line = line;
    in_output_ = bare_ = true;
    gpu_.emplace(line);
    details_ = FactRecord(line);
  }

  void end_gpu() {
    if (gpu_) {
      complete_gpu(*gpu_);
      if (!processes_.empty() || no_processes_) gpu_->set("processes", Fact::of(std::move(processes_)));
      if (!details_.empty()) gpu_->set("details", Fact::of(std::move(details_)));
      gpus_.push_back(Fact::of(std::move(*gpu_)));
    }
    gpu_.reset();
    processes_.clear();
    no_processes_ = false;
    details_ = FactRecord();
    sections_.clear();
    heads_.clear();
  }

  static bool known_heading(std::string_view key) {
    static constexpr std::array<std::string_view, 24> kHeadings = {"ECC Errors",
                                                                   "ECC Mode",
                                                                   "Retired Pages",
                                                                   "Remapped Rows",
                                                                   "Temperature",
                                                                   "Power Readings",
                                                                   "GPU Power Readings",
                                                                   "Module Power Readings",
                                                                   "Clocks",
                                                                   "Max Clocks",
                                                                   "Applications Clocks",
                                                                   "Clocks Throttle Reasons",
                                                                   "Clocks Event Reasons",
                                                                   "Clocks Event Reasons Counters",
                                                                   "Utilization",
                                                                   "FB Memory Usage",
                                                                   "BAR1 Memory Usage",
                                                                   "GPU Link Info",
                                                                   "PCIe Generation",
                                                                   "Link Width",
                                                                   "Fabric",
                                                                   "Processes",
                                                                   "MIG Mode",
                                                                   "Clock Policy"};
    return std::find(kHeadings.begin(), kHeadings.end(), key) != kHeadings.end();
  }

  static bool known_key(std::string_view key) {
    const std::string lower = to_lower(key);
    return std::find(kMarks.begin(), kMarks.end(), lower) != kMarks.end() || lower == "driver version" ||
           lower == "product name" || lower == "timestamp" || lower == "power draw" || lower == "gpu uuid";
  }

  bool take_global(const KeyValue& pair, std::int64_t line) {
    if (pair.key == "Timestamp" && !gpu_) {
      if (snapshot_.has("timestamp")) start_snapshot(line);
      put_global("timestamp", pair.value, line);
    } else if (pair.key == "Driver Version" && !gpu_) {
      put_global("driver", pair.value, line);
    } else if (pair.key == "CUDA Version" && !gpu_) {
      put_global("cuda", pair.value, line);
    } else if (pair.key == "Attached GPUs") {
      if (gpu_ && !bare_) start_snapshot(line);
      put_global("attached_gpus", pair.value, line);
      if (const auto count = to_integer(pair.value)) snapshot_.set("attached_gpus", *count, line);
    } else {
      return false;
    }
    in_output_ = true;
    return true;
  }

  void put_global(std::string_view name, std::string_view text, std::int64_t line) {
    if (snapshot_.line == 0) snapshot_.line = line;
    snapshot_.set(name, text, line);  // "12.0" is a version, no number
  }

  bool take(const KeyValue& pair, std::size_t indent, std::int64_t line, Reading& reading) {
    if (take_global(pair, line)) return true;
    while (!sections_.empty() && sections_.back().indent >= indent) sections_.pop_back();
    std::string name = snake_name(pair.key);
    if (name.empty()) return false;
    if (!gpu_) {
      if (gpus_.size() >= kGpus) return false;
      start_bare_gpu(line);
    } else if (bare_ && !pair.has_value && sections_.empty() &&
               std::find(heads_.begin(), heads_.end(), name) != heads_.end()) {
      if (gpus_.size() >= kGpus) return false;
      start_bare_gpu(line);  // the same section again: of the next GPU
    }
    if (pair.has_value) {
      take_value(name, pair.value, line, reading);
      if (name == "process_id" && in_processes()) return true;
    }
    if (sections_.size() >= kDepth) {
      reading.cannot_use(line, pair.key, "nested too deep");
      return true;
    }
    if (!pair.has_value) {
      if (sections_.empty() && heads_.size() < 64) heads_.push_back(name);
      if (is_list_section(name)) start_mig_device(line);
      sections_.push_back({indent, std::move(name), line});
    }
    return true;
  }

  bool in_processes() const {
    return std::any_of(sections_.begin(), sections_.end(), [](const Section& one) { return one.name == "processes"; });
  }

  void start_mig_device(std::int64_t line) {
    if (gpu_->list("mig_devices", line).size() < 64) gpu_->append("mig_devices", line);
  }

  // The record that the section's values go to, and the path of general names.
  FactRecord* target(std::string& path, std::int64_t line) {
    FactRecord* record = &details_;
    for (const Section& section : sections_) {
      if (is_list_section(section.name)) {
        std::vector<Fact>& devices = gpu_->list("mig_devices", line);
        record = devices.empty() ? record : &std::get<FactRecord>(devices.back().value);
        path = "mig_device.";
        continue;
      }
      if (record->members().size() >= kMembers && !record->has(section.name)) return nullptr;
      record = &record->record(section.name, section.line);
      path += section.name + ".";
    }
    return record;
  }

  void take_value(const std::string& name, std::string_view value, std::int64_t line, Reading& reading) {
    if (name == "processes" && sections_.empty()) no_processes_ = value == "None";
    if (in_processes()) {
      take_process(name, value, line);
      return;
    }
    std::string path;
    FactRecord* const record = target(path, line);
    if (record == nullptr || record->members().size() >= kMembers) {
      reading.cannot_use(line, value, "too many values in one section");
      return;
    }
    Fact* const there = find_any(*record, name);
    if (there != nullptr) {
      add_repeat(*there, value, line);
    } else {
      set_measured(*record, name, value, line);
    }
    path += name;
    take_gpu_value(*gpu_, path, value, line);
  }

  // The member of that name, with whatever unit.
  static Fact* find_any(FactRecord& record, const std::string& name) {
    if (Fact* const plain = record.find(name)) return plain->as_record() != nullptr ? nullptr : plain;
    for (const std::string_view unit : {"mhz", "w", "c", "mib", "pct"}) {
      if (Fact* const with_unit = record.find(name + "_" + std::string(unit))) return with_unit;
    }
    return nullptr;
  }

  // Supported clocks are listed under one key.
  static void add_repeat(Fact& there, std::string_view value, std::int64_t line) {
    if (there.as_list() == nullptr) {
      Fact first = std::move(there);
      const std::int64_t first_line = first.line;
      std::vector<Fact> list;
      list.push_back(std::move(first));
      there = Fact::of(std::move(list), first_line);
    }
    std::vector<Fact>& list = std::get<std::vector<Fact>>(there.value);
    if (list.size() < kRepeats) list.push_back(measured_value(value, line));
  }

  void take_process(const std::string& name, std::string_view value, std::int64_t line) {
    if (name == "gpu_instance_id" || name == "compute_instance_id") {
      (name.front() == 'g' ? next_gi_ : next_ci_) = Fact::parsed(value, line);
      return;
    }
    if (name == "process_id") {
      if (processes_.size() >= 4096) return;
      FactRecord process(line);
      if (!next_gi_.is_unknown()) process.set("gi", next_gi_);
      if (!next_ci_.is_unknown()) process.set("ci", next_ci_);
      process.set_parsed("pid", value, line);
      processes_.push_back(Fact::of(std::move(process)));
      return;
    }
    if (processes_.empty()) return;
    FactRecord& process = std::get<FactRecord>(processes_.back().value);
    if (process.members().size() >= 32) return;
    if (name == "used_gpu_memory") {
      process.set("mem_used_mib", measured_value(value, line));
    } else if (name == "name" || name == "type") {
      process.set(name, value, line);
    } else {
      set_measured(process, name, value, line);
    }
  }

  Thinned<FactRecord> snapshots_{kSnapshots};
  FactRecord snapshot_;
  std::vector<Fact> gpus_;
  std::optional<FactRecord> gpu_;
  FactRecord details_;
  std::vector<Fact> processes_;
  Fact next_gi_, next_ci_;
  std::vector<Section> sections_;
  std::vector<std::string> heads_;  // sections seen at the top of this GPU
  bool in_output_ = false;
  bool bare_ = false;  // values without a heading of their GPU
  bool no_processes_ = false;
};

}  // namespace

int recognise_smi_query(const Head& head) {
  if (contains(head.text, "<nvidia_smi_log>")) return confidence::kNone;
  const bool banner = contains(head.text, "NVSMI LOG");
  std::string_view text = head.text;
  int marks = 0, lines = 0;
  while (!text.empty() && lines < 4000) {
    const std::string_view line = split_line_prefix(next_line(text)).text;
    if (trim(line).empty()) continue;
    ++lines;
    const KeyValue pair = key_value(line);
    if (pair.key.size() > 40) continue;
    const std::string key = to_lower(pair.key);
    if (std::find(kMarks.begin(), kMarks.end(), key) != kMarks.end()) ++marks;
  }
  if (banner) return marks * 40 >= lines || lines < 40 ? confidence::kSure : confidence::kLikely;
  if (marks >= 2) return marks * 20 >= lines ? 80 : confidence::kPossible + 15;
  return marks == 1 && lines <= 12 ? confidence::kLikely : confidence::kNone;
}

std::unique_ptr<LineReader> open_smi_query() { return std::make_unique<SmiQueryReader>(); }

}  // namespace tare
