#include "ingest/dcgmi_nvlink.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_speaker.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kDevices = 4096;
constexpr std::array<std::pair<char, std::string_view>, 4> kStates = {
    {{'U', "up"}, {'D', "down"}, {'X', "disabled"}, {'_', "not_supported"}}};

// "gpuId 0:", "physicalId 8:"
std::optional<std::int64_t> device_id(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text = trim(text.substr(word.size()));
  if (text.ends_with(':')) text.remove_suffix(1);
  return to_integer(text);
}

bool is_letters(std::string_view text) {
  if (text.empty()) return false;
  for (const std::string_view word : words_in(text)) {
    if (word.size() != 1 || std::string_view("UDX_").find(word.front()) == std::string_view::npos) return false;
  }
  return true;
}

class DcgmiNvlinkReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(split_line_prefix(line.text).text);
    if (text.empty() || text.starts_with("+--") || contains(text, "NvLink Link Status")) return true;
    if (text == "GPUs:" || text == "NvSwitches:" || text.starts_with("Key:")) return true;
    if (text.starts_with("No NvSwitches found")) {
      no_switches_ = line.number;
      return true;
    }
    if (contains(text, "dcgmi nvlink")) {
      reading.facts.set_once("command", Fact::of(text.substr(text.find("dcgmi")), line.number));
      return true;
    }
    if (const auto gpu = device_id(text, "gpuId")) return start(gpus_, *gpu, line.number);
    if (const auto device = device_id(text, "physicalId")) return start(switches_, *device, line.number);
    if (const auto device = device_id(text, "Switch")) return start(switches_, *device, line.number);
    if (current_ != nullptr && is_letters(text)) {
      take(text);
      return true;
    }
    return false;
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    put(facts, gpus_, "gpu", "gpus", "links_");
    if (!switches_.empty()) {
      put(facts, switches_, "nvswitch", "nvswitches", "nvswitch_links_");
    } else if (no_switches_ > 0) {
      facts.set("nvswitch_count", 0, no_switches_);
    }
  }

 private:
  struct Device {
    std::int64_t id, line;
    std::string letters;
  };

  bool start(std::vector<Device>& list, std::int64_t id, std::int64_t line) {
    if (list.size() >= kDevices) return true;
    current_ = &list;
    list.push_back({id, line, {}});
    return true;
  }

  void take(std::string_view text) {
    std::string& letters = current_->back().letters;
    for (const std::string_view word : words_in(text)) {
      if (letters.size() < 256) letters += word;
    }
  }

  static void put(FactRecord& facts, const std::vector<Device>& devices, std::string_view one, std::string_view many,
                  const std::string& sum) {
    if (devices.empty()) return;
    std::vector<Fact> list;
    std::array<std::int64_t, 4> totals{};
    std::array<std::optional<std::int64_t>, 4> same{};
    std::array<bool, 4> agree{true, true, true, true};
    for (const Device& device : devices) {
      FactRecord record(device.line);
      record.set("index", device.id);
      record.set("links", device.letters, device.line + 1);
      record.set("link_count", static_cast<std::int64_t>(device.letters.size()), device.line + 1);
      for (std::size_t i = 0; i < kStates.size(); ++i) {
        const std::int64_t count = std::count(device.letters.begin(), device.letters.end(), kStates[i].first);
        record.set(kStates[i].second, count, device.line + 1);
        totals[i] += count;
        agree[i] = agree[i] && (!same[i] || *same[i] == count);
        same[i] = count;
      }
      list.push_back(Fact::of(std::move(record)));
    }
    facts.set(std::string(one) + "_count", static_cast<std::int64_t>(devices.size()), devices.front().line);
    for (std::size_t i = 0; i < kStates.size(); ++i) facts.set(sum + std::string(kStates[i].second), totals[i]);
    for (std::size_t i = 0; i < kStates.size(); ++i) {
      if (agree[i] && same[i]) facts.set(sum + std::string(kStates[i].second) + "_per_" + std::string(one), *same[i]);
    }
    facts.set(many, Fact::of(std::move(list)));
  }

  std::vector<Device> gpus_, switches_;
  std::vector<Device>* current_ = nullptr;
  std::int64_t no_switches_ = 0;
};

}  // namespace

int recognise_dcgmi_nvlink(const Head& head) {
  if (contains(head.text, "NvLink Link Status") || contains(head.text, "Key: Up=U")) return confidence::kSure;
  return contains(head.text, "gpuId ") && contains(head.text, "U U") ? 80 : confidence::kNone;
}

std::unique_ptr<LineReader> open_dcgmi_nvlink() { return std::make_unique<DcgmiNvlinkReader>(); }

}  // namespace tare
