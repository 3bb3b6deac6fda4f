#include "ingest/lsblk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/block_devices.h"
#include "ingest/column_table.h"
#include "ingest/json_tree.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kDevicesKept = 20'000;

constexpr std::array<std::string_view, 58> kColumns = {
    "NAME",         "KNAME",      "PATH",        "MAJ:MIN",   "FSAVAIL",   "FSSIZE",  "FSTYPE",     "FSUSED",
    "FSUSE%",       "FSVER",      "FSROOTS",     "LABEL",     "UUID",      "PTUUID",  "PTTYPE",     "PARTTYPE",
    "PARTTYPENAME", "PARTLABEL",  "PARTUUID",    "PARTFLAGS", "RA",        "RO",      "RM",         "HOTPLUG",
    "MODEL",        "SERIAL",     "SIZE",        "STATE",     "OWNER",     "GROUP",   "MODE",       "ROTA",
    "TRAN",         "TYPE",       "SCHED",       "RQ-SIZE",   "PHY-SEC",   "LOG-SEC", "MIN-IO",     "OPT-IO",
    "ALIGNMENT",    "DISC-ALN",   "DISC-GRAN",   "DISC-MAX",  "DISC-ZERO", "WSAME",   "RAND",       "WWN",
    "HCTL",         "MOUNTPOINT", "MOUNTPOINTS", "VENDOR",    "REV",       "PKNAME",  "SUBSYSTEMS", "ZONED",
    "DAX",          "START"};

bool is_heading(std::string_view line) {
  const std::vector<std::string_view> words = words_in(line);
  if (words.size() < 2 || words.size() > 64) return false;
  const bool named = std::find(words.begin(), words.end(), "NAME") != words.end() ||
                     std::find(words.begin(), words.end(), "KNAME") != words.end();
  if (!named) return false;
  std::size_t known = 0;
  for (const std::string_view word : words) {
    if (std::find(kColumns.begin(), kColumns.end(), word) != kColumns.end()) ++known;
  }
  // "NAME READY STATUS" of another program has one column of lsblk's.
  return known >= 2 && known * 3 >= words.size() * 2 && !contains(line, "STATUS") && !contains(line, "READY");
}

// NAME="/dev/sda" TYPE="disk" …
bool is_pairs(std::string_view line) {
  line = trim(line);
  return (line.starts_with("NAME=\"") || line.starts_with("KNAME=\"")) && line.ends_with('"') &&
         (contains(line, " SIZE=\"") || contains(line, " TYPE=\"") || contains(line, " ROTA=\"") ||
          contains(line, " MOUNTPOINT=\"") || contains(line, " MODEL=\"") || contains(line, " MAJ:MIN=\"") ||
          contains(line, " MAJ_MIN=\""));
}

// "├─sda1", "`-sda1", "  └─md0" -> the name and how deep it stands.
struct TreeName {
  std::string name;
  std::size_t depth = 0;
};
TreeName tree_name(std::string_view cell, std::size_t begin) {
  std::size_t at = 0;
  while (at < cell.size() && !(cell[at] >= 'a' && cell[at] <= 'z') && !(cell[at] >= 'A' && cell[at] <= 'Z') &&
         !(cell[at] >= '0' && cell[at] <= '9') && cell[at] != '/') {
    ++at;
  }
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if ((static_cast<unsigned char>(cell[i]) & 0xC0) != 0x80) ++drawn;
  }
  return {std::string(cell.substr(at)), (begin + drawn + 1) / 2};
}

class LsblkReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = without_line_tags(line.text);
    if (text.size() > 8192) return false;
    if (is_pairs(text)) return on_pairs(trim(text), line.number, reading);
    if (is_heading(text)) {
      table_.emplace(text);
      name_ = static_cast<std::size_t>(std::find(table_->headings().begin(), table_->headings().end(), "NAME") -
                                       table_->headings().begin());
      if (name_ >= table_->headings().size()) name_ = 0;
      parents_.clear();
      ++listings_;
      return true;
    }
    if (trim(text).empty()) {
      table_.reset();
      return false;
    }
    return table_ && on_row(text, line.number, reading);
  }

  void finish(Reading& reading) override {
    if (listings_ > 1) reading.facts.set("listing_count", listings_);
    summarise_block_devices(reading);
  }

 private:
  bool on_row(std::string_view text, std::int64_t line, Reading& reading) {
    const std::vector<std::string> cells = table_->cells(text);
    const std::vector<PlacedWord> words = placed_words(text);
    if (words.empty() || words[0].text.starts_with("lsblk:") || text.starts_with("$") || text.starts_with("#"))
      return false;
    // A further mount point stands alone under its heading.
    const auto filled =
        std::count_if(cells.begin(), cells.end(), [](const std::string& cell) { return !cell.empty(); });
    if (filled == 1 && !cells.back().empty() && table_->headings().back().starts_with("MOUNTPOINT") &&
        last_ != nullptr) {
      last_->list("further_mountpoints").push_back(Fact::of(std::string_view(cells.back()), line));
      return true;
    }
    const TreeName name = tree_name(cells[name_], words[0].begin);
    if (name.name.empty()) {
      reading.cannot_use(line, text, "no device name in the row");
      return true;
    }
    if (reading.facts.list("devices").size() >= kDevicesKept) return true;
    FactRecord& device = reading.facts.append("devices", line);
    last_ = &device;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      set_block_device_field(
          device, table_->headings()[i],
          i == name_ ? Fact::of(std::string_view(name.name), line) : Fact::of(std::string_view(cells[i]), line));
    }
    set_parent(device, name);
    return true;
  }

  void set_parent(FactRecord& device, const TreeName& name) {
    const std::size_t depth = std::min<std::size_t>(name.depth, 64);
    if (parents_.empty()) base_ = depth;
    const std::size_t level = depth > base_ ? depth - base_ : 0;
    if (level > 0 && !parents_.empty()) {
      device.set("parent", std::string_view(parents_[std::min(level, parents_.size()) - 1]));
    }
    parents_.resize(std::min(level, parents_.size()));
    parents_.push_back(name.name);
  }

  static bool on_pairs(std::string_view text, std::int64_t line, Reading& reading) {
    if (reading.facts.list("devices").size() >= kDevicesKept) return true;
    FactRecord& device = reading.facts.append("devices", line);
    while (!text.empty()) {
      const std::size_t equals = text.find("=\"");
      if (equals == std::string_view::npos) break;
      const std::size_t close = text.find('"', equals + 2);
      const std::string_view value =
          text.substr(equals + 2, close == std::string_view::npos ? close : close - equals - 2);
      const std::string_view key = trim(text.substr(0, equals));
      if (key != "PKNAME") set_block_device_field(device, key, Fact::of(value, line));
      if (key == "PKNAME" && !value.empty()) device.set("parent", value);
      text = close == std::string_view::npos ? std::string_view() : text.substr(close + 1);
    }
    return true;
  }

  std::optional<ColumnTable> table_;
  std::size_t name_ = 0, base_ = 0;
  std::vector<std::string> parents_;
  FactRecord* last_ = nullptr;
  std::int64_t listings_ = 0;
};

void add_devices(const std::vector<Fact>& from, std::vector<Fact>& into) {
  // Children are kept flat, with the name of their parent: iteratively, since they may nest.
  struct Entry {
    const FactRecord* record;
    std::string parent;
  };
  std::vector<Entry> waiting;
  for (auto it = from.rbegin(); it != from.rend(); ++it) {
    if (it->as_record() != nullptr) waiting.push_back({it->as_record(), ""});
  }
  while (!waiting.empty() && into.size() < kDevicesKept) {
    const Entry entry = std::move(waiting.back());
    waiting.pop_back();
    FactRecord device(entry.record->line);
    for (const auto& [name, value] : entry.record->members()) {
      if (name == "children") continue;
      if (value.as_list() != nullptr) {
        std::vector<Fact> items;
        for (const Fact& item : *value.as_list()) {
          if (!item.is_unknown()) items.push_back(item);
        }
        if (device.members().size() < 100) device.set(name, Fact::of(std::move(items), value.line));
      } else if (value.as_record() == nullptr) {
        set_block_device_field(device, name, value);
      }
    }
    if (!entry.parent.empty()) device.set("parent", std::string_view(entry.parent));
    const std::vector<Fact>* const children = entry.record->find_list("children");
    const std::string name(device.text("name"));
    for (std::size_t i = children == nullptr ? 0 : children->size(); i-- > 0;) {
      if ((*children)[i].as_record() != nullptr) waiting.push_back({(*children)[i].as_record(), name});
    }
    into.push_back(Fact::of(std::move(device)));
  }
}

}  // namespace

int recognise_lsblk(const Head& head) {
  bool heading = false;
  int pairs = 0;
  for (std::string_view text = head.text; !text.empty();) {
    const std::string_view line = without_line_tags(next_line(text));
    if (line.size() > 8192) continue;
    if (contains(line, "NAME") && is_heading(line)) {
      heading = true;
      break;
    }
    if (is_pairs(line) && ++pairs >= 2) break;
  }
  return heading || pairs > 0 ? 92 : confidence::kNone;
}

std::unique_ptr<LineReader> open_lsblk() { return std::make_unique<LsblkReader>(); }

int recognise_lsblk_json(const Head& head) { return contains(head.text, "\"blockdevices\"") ? 96 : confidence::kNone; }

void read_lsblk_json(std::string_view text, Reading& reading) {
  std::size_t open = text.find('{');
  if (open == std::string_view::npos) open = 0;
  const JsonTree tree = read_json_tree(
      text.substr(open), 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
  const FactRecord* const root = tree.root.as_record();
  if (root == nullptr) return;
  if (const std::vector<Fact>* const devices = root->find_list("blockdevices")) {
    add_devices(*devices, reading.facts.list("devices"));
  }
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", "the JSON is damaged: " + tree.fault);
  summarise_block_devices(reading);
}

}  // namespace tare
