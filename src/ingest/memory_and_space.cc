#include "ingest/memory_and_space.h"

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kListed = 4096;

bool is_free_heading(std::string_view line) {
  return contains(line, "total") && contains(line, "used") && contains(line, "free") &&
         (contains(line, "buff/cache") || contains(line, "buffers")) && !contains(line, ":");
}
bool is_df_heading(std::string_view line) {
  return trim(line).starts_with("Filesystem") && contains(line, "Mounted on") && words_in(line).size() < 32;
}

class FreeReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(without_line_tags(line.text));
    if (text.size() > 400) return false;
    if (is_free_heading(text)) {
      columns_.clear();
      for (const std::string_view word : words_in(text)) {
        columns_.emplace_back(word == "buff/cache" ? "buff_cache" : word);
      }
      return true;
    }
    const bool memory = text.starts_with("Mem:");
    if (columns_.empty() || (!memory && !text.starts_with("Swap:"))) return false;
    FactRecord& row = reading.facts.record(memory ? "memory" : "swap", line.number);
    const std::vector<std::string_view> words = words_in(text.substr(text.find(':') + 1));
    // Without a unit free prints KiB; -b, -m, -g and -h say otherwise by the command or the suffix only.
    for (std::size_t i = 0; i < words.size() && i < columns_.size(); ++i)
      row.set_parsed(columns_[i], words[i], line.number);
    return true;
  }
  void finish(Reading& reading) override {
    const FactRecord* const memory = reading.facts.find_record("memory");
    if (memory != nullptr && memory->integer("total")) {
      reading.note("the numbers carry no unit: free prints KiB unless it was asked for another (-b, -m, -g)");
    }
  }

 private:
  std::vector<std::string> columns_;
};

class DfReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(without_line_tags(line.text));
    if (text.size() > 2000) return false;
    if (is_df_heading(text)) {
      columns_.clear();
      for (const std::string_view word : words_in(text)) columns_.emplace_back(word);
      if (columns_.size() >= 2) columns_.pop_back(), columns_.back() = "Mounted on";
      pending_.clear();
      return true;
    }
    if (columns_.empty()) return false;
    std::vector<std::string_view> words = words_in(text);
    std::string joined;
    if (!pending_.empty()) {
      joined = pending_ + " " + std::string(text);  // a long device name stands on a line of its own
      pending_.clear();
      words = words_in(joined);
    }
    if (words.size() == 1 && contains(text, "/")) {
      pending_ = std::string(text);
      return true;
    }
    if (words.size() < columns_.size()) return false;
    if (reading.facts.list("filesystems").size() >= kListed) return true;
    FactRecord& row = reading.facts.append("filesystems", line.number);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string value(words[i]);
      for (std::size_t j = i + 1; i + 1 == columns_.size() && j < words.size(); ++j)
        value += " " + std::string(words[j]);
      set(row, columns_[i], value);
    }
    return true;
  }
  void finish(Reading& reading) override {
    const std::vector<Fact>* const rows = reading.facts.find_list("filesystems");
    if (rows != nullptr) reading.facts.set("filesystem_count", static_cast<std::int64_t>(rows->size()));
  }

 private:
  static void set(FactRecord& row, const std::string& heading, std::string_view value) {
    if (heading == "Filesystem") return void(row.set("filesystem", value));
    if (heading == "Mounted on") return void(row.set("mounted_on", value));
    if (heading == "Type") return void(row.set("type", value));
    if (heading.ends_with("se%") || heading == "Capacity") {
      const std::string name = heading.starts_with("I") ? "inodes_used_pct" : "used_pct";
      const std::optional<Measure> share = to_measure(value);
      share ? row.set(name, share->value) : row.set_unknown(name);
      return;
    }
    // "1K-blocks", "1024-blocks", "1M-blocks", "Size"
    std::string name = to_lower(heading);
    for (char& c : name) {
      if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) c = '_';
    }
    row.set_parsed(name.ends_with("blocks") ? "blocks_" + name.substr(0, name.find('_')) : name, value);
  }

  std::vector<std::string> columns_;
  std::string pending_;
};

bool has_line(const Head& head, bool (*is_heading)(std::string_view)) {
  int lines = 0;
  for (std::string_view text = head.text; !text.empty() && lines < 2000; ++lines) {
    const std::string_view line = without_line_tags(next_line(text));
    if (line.size() < 400 && is_heading(line)) return true;
  }
  return false;
}

}  // namespace

int recognise_free(const Head& head) {
  return contains(head.text, "Mem:") && has_line(head, is_free_heading) ? 75 : confidence::kNone;
}
int recognise_df(const Head& head) {
  return contains(head.text, "Mounted on") && has_line(head, is_df_heading) ? 80 : confidence::kNone;
}

std::unique_ptr<LineReader> open_free() { return std::make_unique<FreeReader>(); }
std::unique_ptr<LineReader> open_df() { return std::make_unique<DfReader>(); }

}  // namespace tare
