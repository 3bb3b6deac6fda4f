#include "ingest/nvidia_smi_dmon.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/telemetry_runs.h"

namespace tare {
namespace {

std::vector<std::string_view> header_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (text.starts_with('#')) text.remove_prefix(1);  // a "#" further on is the unit of a process id
  for (std::string_view word : words_in(text)) {
    while (word.ends_with(',')) word.remove_suffix(1);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool holds(const std::vector<std::string_view>& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view one) { return equals_ignoring_case(one, word); });
}

// "# gpu   pwr gtemp …", "#Date       Time        gpu    pwr": some of the columns that dmon and pmon have.
bool is_header(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || !holds(words, "gpu")) return false;
  static constexpr std::array<std::string_view, 24> kColumns = {
      "pwr",   "gtemp", "mtemp", "sm",    "mem",   "enc", "dec", "mclk", "pclk", "fb",  "bar1", "rxpci",
      "txpci", "pviol", "tviol", "sbecc", "dbecc", "pci", "pid", "type", "jpg",  "ofa", "ccpm", "command"};
  return std::any_of(kColumns.begin(), kColumns.end(), [&](std::string_view name) { return holds(words, name); });
}

// "# Idx     W     C", "#HH:MM:SS    Idx", "#YYYYMMDD   HH:MM:SS".
bool is_units(const std::vector<std::string_view>& words) { return holds(words, "Idx"); }

TelemetryTable::Column column_of(std::string_view name, std::string_view unit) {
  TelemetryTable::Column column;
  column.printed = std::string(name);
  column.name = snake_name(name);
  using Role = TelemetryTable::Role;
  if (column.name == "gpu" || column.name == "pid") {
    column.role = Role::kKey;
  } else if (column.name == "date" || column.name == "time") {
    column.role = Role::kTime;
  } else if (column.name == "command" || column.name == "type") {
    column.role = Role::kText;
  } else if (const std::string_view ending = unit_ending(unit); !ending.empty()) {
    column.name += "_" + std::string(ending);
  }
  return column;
}

class SmiDmonReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text;
    if (runs_.running() && is_row_start(text) && runs_.table().take(text, line.number) == TelemetryTable::Row::kTaken) {
      return true;
    }
    return other_line(text, line.number, reading);
  }

  void finish(Reading& reading) override {
    start_table();
    runs_.finish(reading, false);
  }

 private:
  // Rows begin with the index of a GPU, a date or a clock.
  static bool is_row_start(std::string_view text) {
    const std::size_t at = text.find_first_not_of(" \t");
    return at != std::string_view::npos && text[at] >= '0' && text[at] <= '9';
  }

  bool other_line(std::string_view raw, std::int64_t line, Reading& reading) {
    const PrefixedLine split = split_line_prefix(raw);
    const std::string_view text = trim(split.text);
    if (text.empty()) return true;
    if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
      const std::vector<std::string_view> words = header_words(text.substr(hash));
      if (is_units(words)) return take_units(words, line);
      if (is_header(words)) return take_header(words, contains(text, ","), line);
    }
    if (contains(text, "nvidia-smi") && (contains(text, "dmon") || contains(text, "pmon"))) {
      take_command(text, line);
      return true;
    }
    if (runs_.running() || !header_.empty()) {
      start_table();
      if (runs_.running() && is_row_start(text)) return runs_.take(text, line, split.speaker, reading);
    }
    foreign_ = true;
    return false;
  }

  // "dmon -i 3,6 -d 5": what it was asked for.
  void take_command(std::string_view text, std::int64_t line) {
    start_table();
    runs_.end();
    header_.clear();
    FactRecord& about = runs_.about();
    about = FactRecord(line);
    const std::string_view command = text.substr(text.find("nvidia-smi"));
    about.set("command", command, line);
    const std::string_view delay = option_value(command, "-d", "--delay");
    if (!delay.empty()) about.set_parsed("interval_s", delay, line);
    const std::string_view sets = option_value(command, "-s", "--select");
    if (!sets.empty()) about.set("selected", sets, line);
    foreign_ = true;
  }

  bool take_header(const std::vector<std::string_view>& words, bool commas, std::int64_t line) {
    std::vector<std::string> names(words.begin(), words.end());
    if (runs_.running() && !foreign_ && names == header_) return true;  // repeated every so many rows
    start_table();
    runs_.end();
    header_ = std::move(names);
    header_line_ = line;
    commas_ = commas;
    units_.clear();
    units_seen_ = foreign_ = false;
    return true;
  }

  bool take_units(const std::vector<std::string_view>& words, std::int64_t) {
    if (units_seen_) return true;
    units_.assign(words.begin(), words.end());
    start_table();
    return true;
  }

  // Once the header is known, with its units or without.
  void start_table() {
    if (header_.empty() || units_seen_) return;
    std::vector<TelemetryTable::Column> columns;
    const bool same = units_.size() == header_.size();
    for (std::size_t i = 0; i < header_.size(); ++i)
      columns.push_back(column_of(header_[i], same ? units_[i] : std::string()));
    const bool rest = !columns.empty() && columns.back().printed == "command";
    const bool processes = std::find(header_.begin(), header_.end(), "pid") != header_.end();
    runs_.of(processes ? "process" : "gpu");
    runs_.start(header_line_, std::move(columns), commas_ ? ',' : ' ', rest);
    units_seen_ = true;
  }

  TelemetryRuns runs_{"gpu"};
  std::vector<std::string> header_, units_;
  std::int64_t header_line_ = 0;
  bool units_seen_ = false, commas_ = false;
  bool foreign_ = false;  // something else stood since the last header
};

// A header in the first lines of what could be any file.
int sure_of(const Head& head, bool processes) {
  std::string_view text = head.text;
  int lines = 0;
  bool header = false, other = false;
  while (!text.empty() && lines < 5000 && !header) {
    const std::string_view line = split_line_prefix(next_line(text)).text;
    ++lines;
    const std::size_t hash = line.find('#');
    if (hash == std::string_view::npos || line.size() > 400) continue;
    const std::vector<std::string_view> words = header_words(line.substr(hash));
    if (!is_header(words)) continue;
    const bool of_processes = holds(words, "pid");
    header = of_processes == processes;
    other = other || !header;
  }
  if (!header) return confidence::kNone;
  return lines < 40 && !other ? confidence::kSure : confidence::kLikely;
}

}  // namespace

int recognise_smi_dmon(const Head& head) { return sure_of(head, false); }
int recognise_smi_pmon(const Head& head) { return sure_of(head, true); }
std::unique_ptr<LineReader> open_smi_dmon() { return std::make_unique<SmiDmonReader>(); }

}  // namespace tare
