#include "ingest/nvidia_smi_xml.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/gpu_fields.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kDepth = 16;
constexpr std::size_t kMembers = 400;
constexpr std::size_t kRepeats = 256;
constexpr std::size_t kSnapshots = 48;
constexpr std::size_t kGpus = 1024;

std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t amp = text.find('&');
    plain.append(text.substr(0, amp));
    if (amp == std::string_view::npos) break;
    text.remove_prefix(amp);
    bool known = false;
    for (const auto& [name, c] :
         {std::pair{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}) {
      if (!text.starts_with(name)) continue;
      plain += c;
      text.remove_prefix(std::string_view(name).size());
      known = true;
      break;
    }
    if (!known) {
      plain += '&';
      text.remove_prefix(1);
    }
  }
  return plain;
}

struct Tag {
  std::string_view name;
  std::string_view attributes;
  bool closing = false;
  bool empty = false;  // <name/>
};

// Cuts tags and the text between them off the input, counting lines.
class TagScanner {
 public:
  explicit TagScanner(std::string_view text) : text_(text) {}

  // The text up to the next tag, and that tag. False at the end.
  bool next(std::string_view& between_tags, Tag& tag) {
    const std::size_t open = text_.find('<', at_);
    const std::size_t end = open == std::string_view::npos ? text_.size() : open;
    between_tags = text_.substr(at_, end - at_);
    text_line_ = line_;
    count_lines(between_tags);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return false;
    }
    std::size_t close = text_.find_first_of("<>", open + 1);
    if (close != std::string_view::npos && text_[close] == '<') {  // a tag that was cut
      at_ = open + 1;
      tag = {};
      return true;
    }
    if (close == std::string_view::npos) close = text_.size();
    const std::string_view inside = text_.substr(open + 1, close - open - 1);
    tag_line_ = line_;
    count_lines(inside);
    at_ = std::min(close + 1, text_.size());
    tag = parsed(inside);
    return true;
  }
  std::int64_t text_line() const { return text_line_; }
  std::int64_t tag_line() const { return tag_line_; }

 private:
  void count_lines(std::string_view text) { line_ += std::count(text.begin(), text.end(), '\n'); }
  static Tag parsed(std::string_view inside) {
    Tag tag;
    if (inside.starts_with('?') || inside.starts_with('!')) return tag;
    if (inside.starts_with('/')) {
      tag.closing = true;
      inside.remove_prefix(1);
    }
    if (inside.ends_with('/')) {
      tag.empty = true;
      inside.remove_suffix(1);
    }
    const std::size_t blank = inside.find_first_of(" \t\r\n");
    tag.name = inside.substr(0, blank);
    if (blank != std::string_view::npos) tag.attributes = inside.substr(blank);
    return tag;
  }
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1, text_line_ = 1, tag_line_ = 1;
};

class SmiXml {
 public:
  explicit SmiXml(Reading& reading) : reading_(reading) {}

  void read(std::string_view text) {
    TagScanner scanner(text);
    std::string_view between;
    Tag tag;
    while (scanner.next(between, tag)) {
      if (tag.name.empty()) continue;
      if (tag.closing) {
        close(tag.name, between, scanner.text_line());
      } else {
        open(tag, scanner.tag_line());
      }
    }
    if (gpu_) reading_.note("the document ends inside a GPU");
    end_snapshot();
    if (snapshots_.every() > 1) reading_.note("of " + std::to_string(snapshots_.seen()) + " outputs a part is kept");
    const std::int64_t count = snapshots_.seen();
    set_snapshots(reading_.facts, std::move(snapshots_.kept()), count);
  }

 private:
  struct Element {
    std::string name;  // snake
    std::string_view raw;
    std::int64_t line;
    bool has_children = false;
  };

  void open(const Tag& tag, std::int64_t line) {
    if (tag.name == "nvidia_smi_log") {
      end_snapshot();
      snapshot_ = FactRecord(line);
      return;
    }
    if (tag.name == "gpu" && (!gpu_ || contains(tag.attributes, "id="))) {
      start_gpu(tag, line);
      return;
    }
    if (snapshot_.line == 0) snapshot_.line = line;
    if (!path_.empty()) path_.back().has_children = true;
    if (path_.size() >= kDepth) return;
    if (gpu_ && tag.name == "process_info") processes_.push_back(FactRecord(line));
    if (gpu_ && tag.name == "mig_device" && gpu_->list("mig_devices", line).size() < 64)
      gpu_->append("mig_devices", line);
    if (!tag.empty) path_.push_back({snake_name(tag.name), tag.name, line, false});
  }

  void start_gpu(const Tag& tag, std::int64_t line) {
    end_gpu();
    path_.clear();
    if (gpus_.size() >= kGpus) return;
    if (snapshot_.line == 0) snapshot_.line = line;
    gpu_.emplace(line);
    gpu_->set("index", static_cast<std::int64_t>(gpus_.size()), line);
    if (const auto id = between(tag.attributes, "id=\"", "\"")) gpu_->set("bus_id", *id, line);
  }

  void close(std::string_view name, std::string_view text, std::int64_t line) {
    if (name == "gpu" && path_.empty()) return end_gpu();
    if (name == "nvidia_smi_log") return end_snapshot();
    const auto match =
        std::find_if(path_.rbegin(), path_.rend(), [name](const Element& one) { return one.raw == name; });
    if (match == path_.rend()) {  // its start is missing: the value stands for itself
      if (!trim(text).empty()) lone_value(name, text, line);
      return;
    }
    const bool innermost = match == path_.rbegin();
    if (!innermost) path_.erase(match.base(), path_.end());
    if (innermost && !path_.back().has_children) value(trim(text), line);
    path_.pop_back();
  }

  void lone_value(std::string_view name, std::string_view text, std::int64_t line) {
    if (path_.size() >= kDepth) return;
    path_.push_back({snake_name(name), name, line, false});
    // What stands in front of an elision is not part of the value.
    text = trim(text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1));
    value(text, line);
    path_.pop_back();
  }

  void value(std::string_view text, std::int64_t line) {
    const std::string plain = unescaped(text);
    if (!gpu_) return global_value(plain, line);
    if (path_.front().raw == "processes") return process_value(plain, line);
    if (path_.front().raw == "accounted_processes") return;
    std::string path;
    FactRecord* record = target(path);
    if (record == nullptr || record->members().size() >= kMembers) {
      reading_.cannot_use(line, text, "too many values in one element");
      return;
    }
    const std::string& name = path_.back().name;
    if (name == "supported_graphics_clock") {
      std::vector<Fact>& clocks = record->list("supported_graphics_clock_mhz", line);
      if (clocks.size() < kRepeats) clocks.push_back(measured_value(plain, line));
    } else if (!plain.empty()) {
      set_measured(*record, name, plain, line);
    }
    if (!plain.empty()) take_gpu_value(*gpu_, path + name, plain, line);
  }

  // The record of the innermost element's parent.
  FactRecord* target(std::string& path) {
    FactRecord* record = &gpu_->record("details");
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      if (path_[i].raw == "mig_devices") continue;
      if (path_[i].raw == "mig_device") {
        std::vector<Fact>& devices = gpu_->list("mig_devices");
        if (!devices.empty()) record = &std::get<FactRecord>(devices.back().value);
        path = "mig_device.";
        continue;
      }
      if (record->members().size() >= kMembers && !record->has(path_[i].name)) return nullptr;
      record = &record->record(path_[i].name, path_[i].line);
      path += path_[i].name + ".";
    }
    return record;
  }

  void global_value(const std::string& text, std::int64_t line) {
    const std::string_view name = path_.back().raw;
    if (name == "driver_version") {
      snapshot_.set("driver", text, line);
    } else if (name == "cuda_version") {
      snapshot_.set("cuda", text, line);
    } else if (name == "attached_gpus") {
      snapshot_.set_parsed("attached_gpus", text, line);
    } else if (snapshot_.members().size() < 64 && !text.empty()) {
      snapshot_.set(path_.back().name, text, line);
    }
  }

  void process_value(const std::string& text, std::int64_t line) {
    if (processes_.empty() || processes_.size() > 4096) return;
    FactRecord& process = processes_.back();
    if (process.members().size() >= 32) return;
    const std::string_view name = path_.back().raw;
    if (name == "pid") {
      process.set_parsed("pid", text, line);
    } else if (name == "gpu_instance_id" || name == "compute_instance_id") {
      process.set_parsed(name.front() == 'g' ? "gi" : "ci", text, line);
    } else if (name == "process_name") {
      process.set("name", text, line);
    } else if (name == "used_memory") {
      process.set("mem_used_mib", measured_value(text, line));
    } else {
      process.set(path_.back().name, text, line);
    }
  }

  void end_gpu() {
    if (!gpu_) return;
    complete_gpu(*gpu_);
    if (!processes_.empty()) {
      std::vector<Fact> list;
      for (FactRecord& process : processes_) list.push_back(Fact::of(std::move(process)));
      gpu_->set("processes", Fact::of(std::move(list)));
    }
    processes_.clear();
    gpus_.push_back(Fact::of(std::move(*gpu_)));
    gpu_.reset();
    path_.clear();
  }

  void end_snapshot() {
    end_gpu();
    path_.clear();
    if (!gpus_.empty()) snapshot_.set("gpus", Fact::of(std::move(gpus_)));
    gpus_.clear();
    if (!snapshot_.empty()) {
      if (const auto attached = snapshot_.integer("attached_gpus")) {
        snapshot_.set("gpu_count", *attached, snapshot_.find("attached_gpus")->line);
      }
      summarise_gpus(snapshot_);
      snapshots_.add(std::move(snapshot_));
    }
    snapshot_ = FactRecord();
  }

  Reading& reading_;
  Thinned<FactRecord> snapshots_{kSnapshots};
  FactRecord snapshot_;
  std::vector<Fact> gpus_;
  std::optional<FactRecord> gpu_;
  std::vector<FactRecord> processes_;
  std::vector<Element> path_;
};

}  // namespace

int recognise_smi_xml(const Head& head) {
  if (contains(head.text, "<nvidia_smi_log>") || contains(head.text, "nvsmi_device")) return confidence::kSure;
  int marks = 0;
  for (const std::string_view mark :
       {"</fb_memory_usage>", "<gpu_power_readings>", "<pcie_gen>", "</performance_state>", "<product_name>",
        "<clocks_throttle_reasons>", "<clocks_event_reasons>", "<gpu id=\""}) {
    marks += contains(head.text, mark) ? 1 : 0;
  }
  return marks >= 2 ? 80 : confidence::kNone;
}

void read_smi_xml(std::string_view text, Reading& reading) { SmiXml(reading).read(text); }

}  // namespace tare
