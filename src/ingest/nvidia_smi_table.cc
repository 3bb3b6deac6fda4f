#include "ingest/nvidia_smi_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/gpu_fields.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/running_stat.h"
#include "ingest/scan.h"
#include "ingest/smi_errors.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kSnapshots = 300;
constexpr std::size_t kRows = 4096;  // of one section of one snapshot
constexpr std::size_t kSeries = 512;

using Cells = std::vector<std::string_view>;

// What stands between the bars; the last bar may be missing.
Cells cells_of(std::string_view body) {
  Cells cells;
  if (body.starts_with('|')) body.remove_prefix(1);
  while (cells.size() < 16) {
    const std::size_t bar = body.find('|');
    cells.push_back(trim(body.substr(0, bar)));
    if (bar == std::string_view::npos) break;
    body.remove_prefix(bar + 1);
  }
  if (cells.size() > 1 && cells.back().empty()) cells.pop_back();
  return cells;
}

bool is_separator(std::string_view body) {
  return body.size() >= 3 && body.find_first_not_of("+-=| \t") == std::string_view::npos &&
         body.find_first_of("-=") != std::string_view::npos;
}

// "00000000:1B:00.0", "0000:02:00.0".
bool is_bus_id(std::string_view word) {
  return word.size() >= 7 && std::count(word.begin(), word.end(), ':') == 2 && contains(word, ".");
}

bool is_temperature(std::string_view word) {
  return (word.ends_with('C') && to_number(word.substr(0, word.size() - 1))) || word == "N/A" || word == "ERR!";
}

std::optional<std::int64_t> index_of(std::string_view word) {
  if (word.ends_with('.')) word.remove_suffix(1);
  const std::optional<std::int64_t> index = to_integer(word);
  return index && *index >= 0 && *index < 100000 ? index : std::nullopt;
}

// "89W / 300W", "N/A /  N/A", "9MiB / 11441MiB", "89W/300W": the slash that parts two values.
std::pair<std::string_view, std::string_view> halves(std::string_view text) {
  std::size_t slash = text.find(" / ");
  if (slash != std::string_view::npos) {
    ++slash;
  } else {
    for (const std::string_view unit : {"W/", "B/", "!/", "A/ "}) {
      const std::size_t at = text.find(unit);
      if (at != std::string_view::npos && slash == std::string_view::npos) slash = at + 1;
    }
  }
  if (slash == std::string_view::npos || slash >= text.size()) return {trim(text), {}};
  return {trim(text.substr(0, slash)), trim(text.substr(slash + 1))};
}

Fact cell_value(std::string_view text, std::int64_t line) {
  return text.empty() ? Fact::unknown(line) : measured_value(text, line);
}

class SmiTableReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text;
    const std::size_t bar = text.find_first_of("|+");
    if (bar == std::string_view::npos) return plain_line(text, line.number, reading);
    const std::string_view body = trim(text.substr(bar));
    if (body.starts_with('+') && !is_separator(body)) return plain_line(text, line.number, reading);
    if (is_separator(body)) {
      if (!wrapped_.empty()) flush_wrapped(reading);
      return in_table_ || body.size() > 20;
    }
    if (!wrapped_.empty()) flush_wrapped(reading);
    if (!body.ends_with('|') && body.size() > 40) {  // the terminal was too narrow
      wrapped_.assign(body);
      wrapped_line_ = line.number;
      return in_table_ || known_cells(cells_of(body));
    }
    return row(body, line.number, reading);
  }

  void finish(Reading& reading) override {
    if (!wrapped_.empty()) flush_wrapped(reading);
    end_snapshot();
    const std::int64_t count = snapshots_.seen();
    if (snapshots_.every() > 1) {
      reading.note("of " + std::to_string(count) + " tables every " + std::to_string(snapshots_.every()) +
                   "th is kept");
    }
    set_snapshots(reading.facts, std::move(snapshots_.kept()), count);
    if (count > 1) add_series(reading.facts);
    if (!errors_.empty()) reading.facts.set("errors", Fact::of(std::move(errors_)));
  }

 private:
  enum class Section { kGpus, kMig, kProcesses, kOther };

  bool plain_line(std::string_view text, std::int64_t line, Reading& reading) {
    const std::string_view bare = trim(split_line_prefix(text).text);
    if (bare.empty()) return in_table_;
    if (!wrapped_.empty()) {  // goes on here when it ends as a row does
      if (wrapped_.size() + bare.size() < 400 && bare.ends_with('|')) {
        wrapped_ += bare;
        const std::string joined = std::move(wrapped_);
        wrapped_.clear();
        return row(joined, wrapped_line_, reading);
      }
      flush_wrapped(reading);
    }
    if (const std::optional<SmiError> error = smi_error(bare)) {
      if (errors_.size() < 64) errors_.push_back(Fact::of(error_record(*error, bare, line)));
      return true;
    }
    if (looks_like_time(bare)) {
      time_ = std::string(bare);
      time_line_ = line;
      return true;
    }
    if (bare != "...") in_table_ = false;
    return false;
  }

  static FactRecord error_record(const SmiError& error, std::string_view text, std::int64_t line) {
    FactRecord record(line);
    record.set("error", error.what);
    record.set("text", as_text(text.substr(0, Reading::kUnreadText)));
    return record;
  }

  // "Wed Sep 25 10:40:24 2024", also of other locales: a clock and a year.
  static bool looks_like_time(std::string_view text) {
    if (text.size() > 48) return false;
    bool clock = false, year = false;
    for (const std::string_view word : words_in(text)) {
      clock = clock || (word.size() == 8 && word[2] == ':' && word[5] == ':');
      const auto number = to_integer(word);
      year = year || (word.size() == 4 && number && *number > 2000 && *number < 2100);
    }
    return clock && year;
  }

  static bool known_cells(const Cells& cells) {
    return std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
      return contains(cell, "NVIDIA-SMI") || contains(cell, "MiB /") || contains(cell, "Bus-Id");
    });
  }

  void flush_wrapped(Reading& reading) {
    const std::string text = std::move(wrapped_);
    wrapped_.clear();
    row(text, wrapped_line_, reading);
  }

  bool row(std::string_view body, std::int64_t line, Reading& reading) {
    const Cells cells = cells_of(body);
    if (cells.empty()) return false;
    if (contains(cells.front(), "NVIDIA-SMI")) return header(cells.front(), line);
    if (title(cells.front(), line)) return true;
    if (is_heading(cells)) return true;
    if (cells.size() >= 3 && cells.size() <= 4 && section_ != Section::kMig) return gpu_row(cells, line, reading);
    if (section_ == Section::kMig) return mig_row(cells, body, line, reading);
    if (cells.size() == 1 && in_table_) return process_row(cells.front(), line, reading);
    return false;
  }

  bool header(std::string_view cell, std::int64_t line) {
    end_snapshot();
    begin(line);
    const auto version = [&](std::string_view name, std::string_view marker) {
      const auto rest = after(cell, marker);
      if (!rest || rest->empty()) return;
      const std::vector<std::string_view> words = words_in(*rest);
      if (!words.empty()) snapshot_.set(name, words.front(), line);
    };
    version("nvidia_smi", contains(cell, "NVIDIA-SMI version") ? "NVIDIA-SMI version" : "NVIDIA-SMI");
    version("driver", contains(cell, "KMD Version:") ? "KMD Version:" : "Driver Version:");
    version("cuda", contains(cell, "CUDA UMD Version:") ? "CUDA UMD Version:" : "CUDA Version:");
    return true;
  }

  void begin(std::int64_t line) {
    in_table_ = true;
    section_ = Section::kGpus;
    if (snapshot_.line == 0) snapshot_.line = line;
    if (!time_.empty() && !snapshot_.has("timestamp")) {
      snapshot_.set("timestamp", time_, time_line_);
      time_.clear();
    }
  }

  bool title(std::string_view cell, std::int64_t line) {
    if (cell.starts_with("Processes:") || cell.starts_with("Compute processes:")) {
      begin(line);
      section_ = Section::kProcesses;
      return true;
    }
    if (cell.starts_with("MIG devices:")) {
      begin(line);
      section_ = Section::kMig;
      return true;
    }
    if (cell.starts_with("No running processes found")) {
      begin(line);
      snapshot_.list("processes", line);
      return true;
    }
    if (cell.starts_with("No MIG devices found")) {
      snapshot_.list("mig_devices", line);
      return true;
    }
    return false;
  }

  // The words that stand above the columns.
  bool is_heading(const Cells& cells) {
    static constexpr std::array<std::string_view, 12> kWords = {
        "Persistence-M", "Driver-Model", "Bus-Id", "Disp.A",       "Volatile Uncorr. ECC", "Pwr:Usage/Cap",
        "Memory-Usage",  "GPU-Util",     "MIG M.", "Process name", "BAR1-Usage",           "GPU Memory"};
    for (const std::string_view cell : cells) {
      for (const std::string_view word : kWords) {
        if (!contains(cell, word)) continue;
        in_table_ = true;
        if (word == "Process name") section_ = Section::kProcesses;
        if (word == "Persistence-M" || word == "Driver-Model") {
          if (!pending_gpus_.empty()) end_snapshot();  // a table without its header
          section_ = Section::kGpus;
          driver_model_ = word == "Driver-Model";
        }
        return true;
      }
    }
    if (section_ == Section::kProcesses) return cells.front().starts_with("ID ") || contains(cells.front(), "Usage ");
    return section_ == Section::kMig && !cells.empty() &&
           (cells.back() == "ECC|" || cells.back() == "ECC" || (cells.size() > 2 && cells[2] == "ECC"));
  }

  bool gpu_row(const Cells& cells, std::int64_t line, Reading& reading) {
    const std::vector<std::string_view> first = words_in(cells[0]);
    const std::vector<std::string_view> second = words_in(cells[1]);
    if (!first.empty() && !second.empty() && index_of(first.front()) && is_bus_id(second.front())) {
      return first_row(first, second, cells, line, reading);
    }
    if (cells[0].empty() && cells[1].empty()) return third_row(cells.back(), line);
    if (first.size() >= 3 && is_temperature(first[1]) &&
        (contains(cells[1], "MiB") || contains(cells[1], "N/A") || contains(cells[1], "ERR!") ||
         contains(cells[1], "Unknown") || contains(cells[1], "Insufficient") || contains(cells[1], "Not Supported"))) {
      return second_row(first, cells, line, reading);
    }
    if (in_table_ && section_ == Section::kGpus) {
      reading.cannot_use(line, cells[0], "a row of the GPU table that is not as expected");
      return true;
    }
    return false;
  }

  bool first_row(const std::vector<std::string_view>& first, const std::vector<std::string_view>& second,
                 const Cells& cells, std::int64_t line, Reading& reading) {
    if (section_ != Section::kGpus || !in_table_) begin(line);
    const std::int64_t index = *index_of(first.front());
    // The first GPU again: another table whose header is missing.
    if (std::any_of(pending_gpus_.begin(), pending_gpus_.end(),
                    [index](const FactRecord& gpu) { return gpu.integer("index") == index; })) {
      end_snapshot();
      begin(line);
    }
    if (pending_gpus_.size() >= kRows) {
      reading.cannot_use(line, cells[0], "too many GPUs in one table");
      return true;
    }
    FactRecord gpu(line);
    gpu.set("index", index, line);
    std::size_t name_end = first.size();
    static constexpr std::array<std::string_view, 8> kModes = {"On",   "Off", "WDDM", "TCC",
                                                               "MCDM", "N/A", "ERR!", "[N/A]"};
    const bool has_mode = first.size() > 2 && std::find(kModes.begin(), kModes.end(), first.back()) != kModes.end();
    if (has_mode) --name_end;
    std::string name;
    for (std::size_t i = 1; i < name_end; ++i) name += (name.empty() ? "" : " ") + std::string(first[i]);
    gpu.set("name", name, line);
    if (contains(name, "...")) gpu.set("name_is_cut", true, line);
    if (has_mode) {
      const bool model = driver_model_ || first.back() == "WDDM" || first.back() == "TCC" || first.back() == "MCDM";
      gpu.set(model ? "driver_model" : "persistence", cell_value(first.back(), line));
    }
    gpu.set("bus_id", second.front(), line);
    if (second.size() > 1) gpu.set("display_active", cell_value(second[1], line));
    set_ecc(gpu, cells[2], line);
    pending_gpus_.push_back(std::move(gpu));
    needs_second_ = true;
    return true;
  }

  // A count, "N/A" without ECC, "Off" where it is switched off, "On" where MIG devices have the counts.
  static void set_ecc(FactRecord& gpu, std::string_view cell, std::int64_t line) {
    if (cell == "Off" || cell == "On") {
      gpu.set("ecc", cell, line);
      gpu.set_unknown("ecc_uncorrectable", line);
    } else {
      gpu.set("ecc_uncorrectable", cell_value(cell, line));
    }
  }

  bool second_row(const std::vector<std::string_view>& words, const Cells& cells, std::int64_t line, Reading& reading) {
    if (!needs_second_ || pending_gpus_.empty()) {
      if (pending_gpus_.size() >= kRows) return true;
      begin(line);
      reading.cannot_use(line, cells[0],
                         "the row above it, with the GPU's index and name, is missing; its values are kept");
      pending_gpus_.push_back(FactRecord(line));
      pending_gpus_.back().set_unknown("index", line);
    }
    needs_second_ = false;
    FactRecord& gpu = pending_gpus_.back();
    gpu.set("fan_pct", cell_value(words[0], line));
    gpu.set("temp_c", cell_value(words[1], line));
    std::size_t at = 2;
    gpu.set("pstate", cell_value(words[at], line));
    const std::size_t power_from = static_cast<std::size_t>(words[at].data() - cells[0].data()) + words[at].size();
    const auto [power, limit] = halves(cells[0].substr(power_from));
    gpu.set("power_w", cell_value(power, line));
    gpu.set("power_limit_w", cell_value(limit, line));
    const auto [used, total] = halves(cells[1]);
    gpu.set("mem_used_mib", cell_value(used, line));
    gpu.set("mem_total_mib", cell_value(total, line));
    const std::vector<std::string_view> last = words_in(cells[2]);
    if (!last.empty()) {
      gpu.set("util_pct", cell_value(last.front(), line));
      const std::string_view mode = trim(cells[2].substr(last.front().size()));
      if (!mode.empty()) gpu.set("compute_mode", cell_value(mode, line));
    }
    return true;
  }

  bool third_row(std::string_view cell, std::int64_t line) {
    if (cell.empty() || pending_gpus_.empty()) return in_table_;
    if (cell == "N/A" || cell.starts_with("Enabled") || cell.starts_with("Disabled") || cell == "ERR!") {
      pending_gpus_.back().set("mig", cell_value(cell, line));
      return true;
    }
    return false;
  }

  bool mig_row(const Cells& cells, std::string_view body, std::int64_t line, Reading& reading) {
    if (contains(body, "GPU  GI") || contains(body, "ID  ID")) return true;
    const std::vector<std::string_view> ids = words_in(cells[0]);
    std::vector<Fact>& devices = snapshot_.list("mig_devices", line);
    if (ids.size() >= 4 && index_of(ids[0]) && cells.size() >= 2) {
      if (devices.size() >= kRows) return true;
      FactRecord device(line);
      device.set_parsed("gpu", ids[0]);
      device.set_parsed("gi", ids[1]);
      device.set_parsed("ci", ids[2]);
      device.set_parsed("mig_device", ids[3]);
      const auto [used, total] = halves(cells[1]);
      device.set("mem_used_mib", cell_value(used, line));
      device.set("mem_total_mib", cell_value(total, line));
      if (cells.size() > 2) add_units(device, cells, line);
      devices.push_back(Fact::of(std::move(device)));
      return true;
    }
    if (ids.empty() && cells.size() >= 2 && contains(cells[1], "MiB") && !devices.empty()) {
      FactRecord& device = std::get<FactRecord>(devices.back().value);
      const auto [used, total] = halves(cells[1]);
      device.set("bar1_used_mib", cell_value(used, line));
      device.set("bar1_total_mib", cell_value(total, line));
      return true;
    }
    if (cells.size() == 1 && !ids.empty() && index_of(ids[0])) return process_row(cells[0], line, reading);
    return true;
  }

  // "14      0" then "1   0    0    0    0": SMs, uncorrectable errors, shared engines.
  static void add_units(FactRecord& device, const Cells& cells, std::int64_t line) {
    const std::vector<std::string_view> sm = words_in(cells[2]);
    if (!sm.empty()) device.set("sm_count", cell_value(sm[0], line));
    if (sm.size() > 1) device.set("ecc_uncorrectable", cell_value(sm[1], line));
    if (cells.size() < 4) return;
    static constexpr std::array<std::string_view, 5> kEngines = {"ce", "enc", "dec", "ofa", "jpg"};
    const std::vector<std::string_view> engines = words_in(cells[3]);
    for (std::size_t i = 0; i < engines.size() && i < kEngines.size(); ++i) {
      device.set(std::string("shared_") + std::string(kEngines[i]), cell_value(engines[i], line));
    }
  }

  static bool is_type(std::string_view word) {
    static constexpr std::array<std::string_view, 7> kTypes = {"C", "G", "C+G", "M", "M+C", "M+G", "M+C+G"};
    return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
  }

  bool process_row(std::string_view cell, std::int64_t line, Reading& reading) {
    const std::vector<std::string_view> words = words_in(cell);
    if (words.size() < 2 || !index_of(words[0])) return section_ != Section::kGpus;
    const auto type = std::find_if(words.begin() + 1, words.end(), is_type);
    std::size_t at = 1;
    FactRecord process(line);
    process.set_parsed("gpu", words[0]);
    const std::size_t ids = type == words.end() ? 1 : static_cast<std::size_t>(type - words.begin()) - 1;
    if (ids >= 3) {
      process.set_parsed("gi", words[1]);
      process.set_parsed("ci", words[2]);
      at = 3;
    }
    const std::optional<std::int64_t> pid = to_integer(words[at]);
    if (!pid) {
      if (section_ == Section::kProcesses) reading.cannot_use(line, cell, "a process row without its process id");
      return section_ == Section::kProcesses;
    }
    process.set("pid", *pid, line);
    ++at;
    if (at < words.size() && is_type(words[at])) process.set("type", words[at++], line);
    std::string_view rest =
        at < words.size() ? cell.substr(static_cast<std::size_t>(words[at].data() - cell.data())) : "";
    set_name_and_memory(process, rest, line);
    std::vector<Fact>& list = snapshot_.list("processes", line);
    if (snapshot_.line == 0) begin(line);
    if (list.size() < kRows) list.push_back(Fact::of(std::move(process)));
    return true;
  }

  static void set_name_and_memory(FactRecord& process, std::string_view rest, std::int64_t line) {
    rest = trim(rest);
    for (const std::string_view ending : {"N/A", "Insufficient Permissions", "Not Supported", "[Not Supported]"}) {
      if (!rest.ends_with(ending)) continue;
      process.set("name", trim(rest.substr(0, rest.size() - ending.size())), line);
      process.set_unknown("mem_used_mib", line);
      return;
    }
    const std::size_t blank = rest.find_last_of(" \t");
    const std::string_view last = blank == std::string_view::npos ? rest : rest.substr(blank + 1);
    if (last.ends_with("MiB") && to_measure(last)) {
      process.set("name", trim(rest.substr(0, rest.size() - last.size())), line);
      process.set("mem_used_mib", measured_value(last, line));
    } else {
      process.set("name", rest, line);
      process.set_unknown("mem_used_mib", line);
    }
  }

  void end_snapshot() {
    for (const FactRecord& gpu : pending_gpus_) add_to_series(gpu);
    if (!pending_gpus_.empty()) {
      std::vector<Fact> list;
      for (FactRecord& gpu : pending_gpus_) list.push_back(Fact::of(std::move(gpu)));
      snapshot_.set("gpus", Fact::of(std::move(list)));
    }
    pending_gpus_.clear();
    needs_second_ = false;
    if (!snapshot_.empty()) {
      summarise_gpus(snapshot_);
      snapshots_.add(std::move(snapshot_));
    }
    snapshot_ = FactRecord();
    in_table_ = false;
  }

  void add_to_series(const FactRecord& gpu) {
    const auto index = gpu.integer("index");
    if (!index || (series_.size() >= kSeries && series_.count(*index) == 0)) return;
    auto& stats = series_[*index];
    for (std::size_t i = 0; i < kSeriesNames.size(); ++i) {
      const Fact* const fact = gpu.find(kSeriesNames[i]);
      if (fact != nullptr) stats[i].add(fact->number());
    }
  }

  // How each GPU's values ran over the tables.
  void add_series(FactRecord& facts) const {
    std::vector<Fact> list;
    for (const auto& [index, stats] : series_) {
      FactRecord record;
      record.set("index", index);
      for (std::size_t i = 0; i < kSeriesNames.size(); ++i) record.set(kSeriesNames[i], Fact::of(stats[i].record()));
      list.push_back(Fact::of(std::move(record)));
    }
    if (!list.empty()) facts.set("series", Fact::of(std::move(list)));
  }

  static constexpr std::array<std::string_view, 5> kSeriesNames = {"util_pct", "power_w", "temp_c", "mem_used_mib",
                                                                   "fan_pct"};
  Thinned<FactRecord> snapshots_{kSnapshots};
  FactRecord snapshot_;
  std::vector<FactRecord> pending_gpus_;
  std::map<std::int64_t, std::array<RunningStat, 5>> series_;
  std::vector<Fact> errors_;
  Section section_ = Section::kGpus;
  bool in_table_ = false, needs_second_ = false, driver_model_ = false;
  std::string time_, wrapped_;
  std::int64_t time_line_ = 0, wrapped_line_ = 0;
};

// A row of a GPU, of either kind.
bool is_gpu_line(std::string_view line) {
  if (!contains(line, "|")) return false;
  return (contains(line, "MiB /") || contains(line, "MiB/")) &&
         (contains(line, "%") || contains(line, "N/A") || contains(line, "Default"));
}

}  // namespace

int recognise_smi_table(const Head& head) {
  std::string_view text = head.text;
  int marks = 0, lines = 0, others = 0;
  bool header = false;
  while (!text.empty() && lines < 20000) {
    const std::string_view line = trim(next_line(text));
    if (line.empty()) continue;
    ++lines;
    if (contains(line, "NVIDIA-SMI") && contains(line, "|")) {
      header = true;
      ++marks;
    } else if (is_gpu_line(line) || contains(line, "Volatile Uncorr. ECC") || contains(line, "Pwr:Usage/Cap") ||
               (line.starts_with('|') && (contains(line, "MIG devices:") || contains(line, "Process name")))) {
      ++marks;
    } else if (line.find_first_of("|+") == std::string_view::npos) {
      ++others;
      const char c = line.front();
      const bool words = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (words && smi_error(line)) header = true, ++marks;
    }
  }
  if (marks == 0) return confidence::kNone;
  const bool mostly = others * 2 <= lines || others < 12;
  if (header) return mostly ? confidence::kSure : confidence::kLikely;
  return mostly ? 75 : confidence::kPossible + 15;
}

std::unique_ptr<LineReader> open_smi_table() { return std::make_unique<SmiTableReader>(); }

}  // namespace tare
