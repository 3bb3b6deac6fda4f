#include "ingest/nvidia_smi_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/gpu_fields.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/smi_errors.h"

namespace tare {
namespace {

constexpr std::size_t kGpus = 4096;
constexpr std::size_t kLinks = 128;  // of one GPU
constexpr std::size_t kValues = 64;  // of one link

std::optional<std::int64_t> leading_index(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && digits < 6 && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const std::optional<std::int64_t> index = to_integer(text.substr(0, digits));
  if (index) text.remove_prefix(digits);
  return index;
}

struct GpuLine {
  std::int64_t index;
  std::string_view name, uuid;
};

// "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-…)"; the UUID may be missing.
std::optional<GpuLine> gpu_line(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("GPU ")) return std::nullopt;
  text.remove_prefix(4);
  const std::optional<std::int64_t> index = leading_index(text);
  if (!index || !text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  GpuLine gpu{*index, trim(text.substr(0, text.find("(UUID"))), {}};
  if (const auto uuid = between(text, "(UUID:", ")")) gpu.uuid = *uuid;
  return gpu;
}

struct LinkLine {
  std::int64_t index;
  std::string_view rest;
};

// "Link 0: 25 GB/s", "Link 0, P2P is supported: true", "Link 0: Replay Errors: 0".
std::optional<LinkLine> link_line(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("Link ")) return std::nullopt;
  text.remove_prefix(5);
  const std::optional<std::int64_t> index = leading_index(text);
  if (!index || text.empty() || (text.front() != ':' && text.front() != ',')) return std::nullopt;
  return LinkLine{*index, trim(text.substr(1))};
}

class SmiListReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(split_line_prefix(line.text).text);
    if (text.empty()) return true;
    if (const auto gpu = gpu_line(text)) {
      start_gpu(*gpu, line.number, reading);
      return true;
    }
    if (const auto link = link_line(text)) {
      take_link(*link, line.number, reading);
      return true;
    }
    if (text.starts_with("MIG ") && contains(text, "UUID:")) {
      take_mig(text, line.number);
      return true;
    }
    if (const auto error = smi_error(text)) {
      if (FactRecord* const gpu = current()) gpu->set("error", error->what, line.number);
      if (errors_.size() < 64) {
        FactRecord record(line.number);
        record.set("error", error->what);
        record.set("text", as_text(text.substr(0, Reading::kUnreadText)));
        errors_.push_back(Fact::of(std::move(record)));
      }
      return true;
    }
    if (contains(text, "nvidia-smi")) {
      reading.facts.set_once("command", Fact::of(text.substr(text.find("nvidia-smi")), line.number));
      return true;
    }
    return false;
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    bool any_link = false;
    for (Fact& fact : gpus_) any_link = complete(std::get<FactRecord>(fact.value)) || any_link;
    if (!gpus_.empty()) {
      facts.set("gpus", Fact::of(std::move(gpus_)));
      summarise_gpus(facts);
    }
    if (any_link) add_totals(facts);
    if (!errors_.empty()) facts.set("errors", Fact::of(std::move(errors_)));
  }

 private:
  FactRecord* current() { return gpus_.empty() ? nullptr : &std::get<FactRecord>(gpus_.back().value); }

  void start_gpu(const GpuLine& gpu, std::int64_t line, Reading& reading) {
    // "nvlink -s" then "nvlink -e" in one file name the same GPUs again.
    for (std::size_t i = 0; i < gpus_.size() && i < 64; ++i) {
      const FactRecord& there = std::get<FactRecord>(gpus_[i].value);
      if (there.integer("index") != gpu.index || there.text("uuid") != gpu.uuid) continue;
      std::rotate(gpus_.begin() + static_cast<std::ptrdiff_t>(i), gpus_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  gpus_.end());
      return;
    }
    if (gpus_.size() >= kGpus) {
      reading.cannot_use(line, gpu.name, "too many GPUs");
      return;
    }
    FactRecord record(line);
    record.set("index", gpu.index);
    record.set("name", gpu.name);
    if (!gpu.uuid.empty()) record.set("uuid", gpu.uuid);
    gpus_.push_back(Fact::of(std::move(record)));
  }

  void take_mig(std::string_view text, std::int64_t line) {
    FactRecord* const gpu = current();
    if (gpu == nullptr || gpu->list("mig_devices", line).size() >= 64) return;
    FactRecord& device = gpu->append("mig_devices", line);
    const std::size_t at = text.find("Device");
    device.set("profile",
               trim(text.substr(4, at == std::string_view::npos || at < 4 ? std::string_view::npos : at - 4)));
    if (const auto index = between(text, "Device", ":")) device.set_parsed("index", *index);
    if (const auto uuid = between(text, "UUID:", ")")) device.set("uuid", *uuid);
  }

  FactRecord* link_of(std::int64_t index, std::int64_t line) {
    FactRecord* gpu = current();
    if (gpu == nullptr) {  // the GPU's own line is cut off
      gpus_.push_back(Fact::of(FactRecord(line)));
      gpu = current();
      gpu->set_unknown("index");
    }
    std::vector<Fact>& links = gpu->list("links", line);
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
      FactRecord& record = std::get<FactRecord>(link->value);
      if (record.integer("link") == index) return &record;
    }
    if (links.size() >= kLinks) return nullptr;
    FactRecord record(line);
    record.set("link", index);
    links.push_back(Fact::of(std::move(record)));
    return &std::get<FactRecord>(links.back().value);
  }

  void take_link(const LinkLine& link, std::int64_t line, Reading& reading) {
    FactRecord* const record = link_of(link.index, line);
    if (record == nullptr || record->members().size() >= kValues) {
      reading.cannot_use(line, link.rest, "too many links or values");
      return;
    }
    const std::string_view rest = link.rest;
    const std::string lower = to_lower(rest);
    if (lower.starts_with("<inactive>") || lower == "inactive" || lower == "disabled") {
      record->set("active", false, line);
      return;
    }
    if (rest.starts_with("Remote Device")) return take_remote(*record, rest, line);
    const std::optional<Measure> speed = to_measure(rest);
    if (speed && contains(speed->unit, "/s")) {
      record->set("active", true, line);
      set_measured(*record, "speed", rest, line);
      return;
    }
    const std::size_t colon = rest.find(": ");
    if (colon == std::string_view::npos) {
      record->set(std::count(rest.begin(), rest.end(), ':') >= 2 ? "remote_bus_id" : "text", rest, line);
      return;
    }
    const std::string name = snake_name(rest.substr(0, colon));
    const std::string_view value = trim(rest.substr(colon + 1));
    if (value == "true" || value == "false") {
      record->set(name, value == "true", line);
    } else {
      set_measured(*record, name, value, line);
    }
  }

  // "Remote Device 00000000:C5:00.0: Link 11"
  static void take_remote(FactRecord& record, std::string_view rest, std::int64_t line) {
    const std::vector<std::string_view> words = words_in(rest);
    if (words.size() < 3) return;
    std::string_view bus = words[2];
    if (bus.ends_with(':')) bus.remove_suffix(1);
    record.set("remote_bus_id", bus, line);
    if (words.size() >= 5 && words[3] == "Link") record.set_parsed("remote_link", words[4], line);
  }

  // What follows for one GPU. True when it has links.
  static bool complete(FactRecord& gpu) {
    const std::vector<Fact>* const links = gpu.find_list("links");
    if (links == nullptr) return false;
    std::int64_t active = 0, inactive = 0;
    double sum = 0, speed = 0;
    bool same = true;
    std::map<std::string, std::int64_t> errors;
    for (const Fact& fact : *links) {
      const FactRecord& link = *fact.as_record();
      if (const Fact* const state = link.find("active")) ++(std::get<bool>(state->value) ? active : inactive);
      if (const auto here = link.number("speed_gb_per_s")) {
        same = same && (speed == 0 || speed == *here);
        speed = *here;
        sum += *here;
      }
      for (const auto& [name, value] : link.members()) {
        if (name.ends_with("_errors") && value.number())
          errors[name] += static_cast<std::int64_t>(std::min(*value.number(), 1e15));
      }
    }
    const std::int64_t count = static_cast<std::int64_t>(links->size());
    gpu.set("link_count", count);
    if (active + inactive > 0) {
      gpu.set("active_links", active);
      gpu.set("inactive_links", inactive);
      gpu.set("sum_gb_per_s", sum);
      if (same && active > 0) gpu.set("link_gb_per_s", speed);
    }
    for (const auto& [name, value] : errors) gpu.set(name, value);
    return true;
  }

  static void add_totals(FactRecord& facts) {
    std::map<std::string, std::int64_t> sums;
    for (const Fact& fact : *facts.find_list("gpus")) {
      for (const auto& [name, value] : fact.as_record()->members()) {
        const bool counted = name == "active_links" || name == "inactive_links" || name.ends_with("_errors");
        if (const auto* const count = std::get_if<std::int64_t>(&value.value); counted && count != nullptr) {
          sums[name] = std::min(sums[name] + *count, std::int64_t{1} << 60);
        }
      }
    }
    if (const Fact* const same = facts.find("link_count")) facts.set("links_per_gpu", Fact(*same));
    if (const Fact* const same = facts.find("active_links")) facts.set("active_links_per_gpu", Fact(*same));
    if (const Fact* const same = facts.find("sum_gb_per_s")) facts.set("sum_per_gpu_gb_per_s", Fact(*same));
    for (const auto& [name, value] : sums) facts.set(name, value);
  }

  std::vector<Fact> gpus_;
  std::vector<Fact> errors_;
};

int sure_of(const Head& head, bool links) {
  std::string_view text = head.text;
  int gpus = 0, link_lines = 0, lines = 0;
  while (!text.empty() && lines < 3000) {
    const std::string_view line = trim(split_line_prefix(next_line(text)).text);
    if (line.empty()) continue;
    ++lines;
    const auto gpu = gpu_line(line);
    gpus += gpu && (!gpu->uuid.empty() || contains(line, "NVIDIA")) ? 1 : 0;
    link_lines += link_line(line) ? 1 : 0;
  }
  if (links)
    return link_lines == 0 ? confidence::kNone : (gpus + link_lines) * 2 >= lines ? 88 : confidence::kPossible + 15;
  if (gpus == 0 || link_lines > 0) return confidence::kNone;
  return gpus * 3 >= lines ? 85 : confidence::kPossible;
}

}  // namespace

int recognise_smi_nvlink(const Head& head) { return sure_of(head, true); }
int recognise_smi_list(const Head& head) { return sure_of(head, false); }
std::unique_ptr<LineReader> open_smi_list() { return std::make_unique<SmiListReader>(); }

}  // namespace tare
