#include "ingest/nccl_tests_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ingest/collective_row.h"
#include "ingest/collective_run.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::string_view kNcclTests = "nccl-tests";
constexpr std::string_view kNccomTest = "nccom-test (AWS Trainium)";

bool is_debug_line(std::string_view text) {
  return contains(text, " NCCL INFO ") || contains(text, " NCCL WARN ") || contains(text, " NCCL TRACE ") ||
         contains(text, " NCCL ERROR ");
}

// "nThread" -> "threads", "warmup iters" -> "warmup_iters".
std::string parameter_name(std::string_view words) {
  if (words == "nThread") return "threads";
  if (words == "nGpus") return "gpus_per_thread";
  if (words == "minBytes") return "min_bytes";
  if (words == "maxBytes") return "max_bytes";
  std::string name = to_lower(words);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

// "nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 …"
void read_parameters(std::string_view text, std::int64_t line, FactRecord& into) {
  std::string name;
  for (std::string_view word : words_in(text.substr(text.find("nThread")))) {
    const bool value = !name.empty() && (name.ends_with(':') || to_number(word).has_value());
    if (!value) {
      name += (name.empty() ? "" : " ") + std::string(word);
      if (name.size() > 60) return;
      continue;
    }
    if (name.ends_with(':')) name.pop_back();
    std::string key = parameter_name(name);
    name.clear();
    const std::size_t bracket = word.find('(');
    if (bracket != std::string_view::npos && word.ends_with(')')) {
      key += "_" + std::string(word.substr(bracket + 1, word.size() - bracket - 2));
      word = word.substr(0, bracket);
    }
    if (!into.has(key)) into.set(key, Fact::parsed(word, line));
  }
}

// "Rank  0 Group  0 Pid 17 on node1 device  0 [0000:4e:00] NVIDIA H100 80GB HBM3"
std::optional<CollectiveDevice> read_device(std::string_view text, std::int64_t line) {
  const std::size_t at = text.find("Rank ");
  if (at == std::string_view::npos || !contains(text, " device ")) return std::nullopt;
  const std::vector<std::string_view> words = words_in(text.substr(at));
  CollectiveDevice device;
  device.line = line;
  std::size_t i = 0;
  for (; i + 1 < words.size(); ++i) {
    const std::optional<std::int64_t> number = to_integer(words[i + 1]);
    if (words[i] == "Rank") device.rank = number;
    if (words[i] == "Group") device.group = number;
    if (words[i] == "Pid") device.pid = number;
    if (words[i] == "on") device.host = std::string(words[i + 1]);
    if (words[i] == "device") break;
  }
  if (!device.rank || i + 1 >= words.size()) return std::nullopt;
  device.device = to_integer(words[i + 1]);
  const std::optional<std::string_view> behind = after(text.substr(at), " device ");
  const std::size_t open = behind ? behind->find('[') : std::string_view::npos;
  const std::size_t close = behind ? behind->find(']') : std::string_view::npos;
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return device;
  device.bus_id = std::string(behind->substr(open + 1, close - open - 1));
  device.gpu = std::string(trim(behind->substr(close + 1)));
  return device;
}

bool says_elided(std::string_view text) {
  text = trim(text);
  return text.size() >= 2 && text.size() < 12 && text.find_first_not_of(". \xe2\x80\xa6") == std::string_view::npos;
}

class NcclTestsReader : public LineReader {
 public:
  explicit NcclTestsReader(std::string_view tool) : tool_(tool) {}

  bool on_line(const Line& line, Reading& reading) override {
    reading_ = &reading;
    if (line.text.size() > 4096) return false;
    const std::string_view text = without_line_tags(line.text);
    if (is_debug_line(text)) return on_debug_line(text, line.number, reading);
    const std::string clean = without_inner_tags(text);
    return on_header(text, line.number) || on_table_line(clean, line.number, reading) ||
           on_summary(text, line.number) || on_other(text, line.number);
  }

  void finish(Reading& reading) override {
    close_run(reading);
    finish_facts(reading);
  }

 private:
  CollectiveRun& run(std::int64_t line) {
    if (run_.line == 0) {
      run_.line = line;
      if (!command_.empty()) {
        run_.command = std::exchange(command_, {});
        run_.command_line = command_line_;
        run_.line = command_line_;
        if (const std::string_view name = collective_named_in(run_.command); !name.empty()) {
          run_.collective = std::string(name);
          run_.collective_line = command_line_;
        }
      }
    }
    return run_;
  }

  // A header behind results is that of the next run. A run becomes facts at once: of a log of any length, no more is
  // held.
  void begin_if_over(Reading& reading) {
    if (!run_.has_results() && !pending_) return;
    close_run(reading);
  }
  void close_run(Reading& reading) {
    drop_pending(reading);
    if (!run_.empty()) take(run_, reading);
    run_ = CollectiveRun();
  }

  bool on_debug_line(std::string_view text, std::int64_t line, Reading& reading) {
    const std::vector<std::string_view> words = words_in(std::string_view(text).substr(0, 256));
    if (!nccl_version_line_ && contains(text, "NCCL version ")) {
      const std::optional<std::string_view> version = after(text, "NCCL version ");
      nccl_version_ = std::string(words_in(*version).empty() ? "" : words_in(*version).front());
      nccl_version_line_ = line;
    }
    if (!nccl_ranks_ && contains(text, " nranks ")) {
      const std::vector<std::string_view> behind = words_in(*after(text, " nranks "));
      if (!behind.empty()) nccl_ranks_ = to_integer(behind.front());
      nccl_ranks_line_ = line;
    }
    const std::size_t at = find_row(words);
    if (at == std::string_view::npos) return false;  // the debug log's own reader wants it
    begin_row(read_row(words, at, run(line).columns), line, reading);
    return true;
  }

  bool on_header(std::string_view text, std::int64_t line) {
    if (contains(text, "nccl-tests version") || contains(text, "rccl-tests: Version") ||
        contains(text, "RCCL-tests version")) {
      begin_if_over(*reading_);
      read_versions(text, line);
      return true;
    }
    if (contains(text, "Collective test starting")) {
      begin_if_over(*reading_);
      name_collective(text, line);
      return true;
    }
    if (contains(text, "nThread ")) {
      begin_if_over(*reading_);
      ++run(line).parameter_headers;
      read_parameters(text, line, run_.parameters);
      run_.parameters.line = run_.parameters.line == 0 ? line : run_.parameters.line;
      return true;
    }
    if (std::optional<CollectiveDevice> device = read_device(text, line)) {
      begin_if_over(*reading_);
      if (run(line).devices.size() < CollectiveRun::kDevicesKept) run_.devices.push_back(std::move(*device));
      return true;
    }
    if (std::optional<CollectiveColumns> columns = collective_columns(text)) {
      begin_if_over(*reading_);
      ++run(line).column_headers;
      run_.columns = std::move(*columns);
      return true;
    }
    return contains(text, "out-of-place") || (contains(text, "(us)") && contains(text, "(GB/s)")) ||
           contains(text, "Using devices");
  }

  void name_collective(std::string_view text, std::int64_t line) {
    const std::string_view name = collective_named_in(text);
    if (name.empty()) return;
    run(line).collective = std::string(name);
    run_.collective_line = line;
  }

  void read_versions(std::string_view text, std::int64_t line) {
    FactRecord& versions = run(line).versions;
    if (const auto version = after(text, "nccl-tests version")) {
      const std::vector<std::string_view> words = words_in(*version);
      if (!words.empty()) versions.set("nccl_tests_version", words.front(), line);
    } else if (const auto rccl = after(text, "ersion")) {
      versions.set("rccl_tests_version", trim(rccl->starts_with(':') ? rccl->substr(1) : *rccl), line);
    }
    for (const char* const which : {"headers", "library"}) {
      const auto code = after(text, "nccl-" + std::string(which) + "=");
      const std::optional<std::int64_t> number =
          code && !words_in(*code).empty() ? to_integer(words_in(*code).front()) : std::nullopt;
      if (!number) continue;
      versions.set("nccl_" + std::string(which) + "_code", *number, line);
      versions.set("nccl_" + std::string(which), nccl_version_text(*number), line);
    }
  }

  bool on_table_line(std::string_view text, std::int64_t line, Reading& reading) {
    const std::vector<std::string_view> words = words_in(text);
    if (const std::size_t at = find_row(words); at != std::string_view::npos) {
      if (!run_.averages.empty()) close_run(reading);
      begin_row(read_row(words, at, run(line).columns), line, reading);
      return true;
    }
    if (are_values(words) && words.size() >= 4 && words.size() <= 18) return on_values(words, line, reading);
    if (says_elided(text) && run_.rows.seen() > 0) {
      drop_pending(reading);
      run_.elided = true;
      return true;
    }
    return cut_row(words, line, reading);
  }

  // Values without their row: the rest of a row that another line cut, or a row that lost its beginning.
  bool on_values(const std::vector<std::string_view>& words, std::int64_t line, Reading& reading) {
    if (pending_ && !pending_->whole) {
      if (pending_->out.any) {
        CollectiveCells rest;
        read_values(words, 0, run_.columns, rest);
        pending_->in = rest.out;
        pending_->whole = pending_->out.whole && pending_->in.whole;
      } else {
        read_values(words, 0, run_.columns, *pending_);
      }
      drop_pending(reading);
      return true;
    }
    if (words.size() % 4 != 0 && words.size() % 3 != 0) return false;
    CollectiveCells row;
    row.line = line;
    read_values(words, 0, run(line).columns, row);
    row.whole = false;
    run_.add(std::move(row));
    return true;
  }

  // "   671088" at the end of an excerpt.
  bool cut_row(const std::vector<std::string_view>& words, std::int64_t line, Reading& reading) {
    if (words.empty() || words.size() > 2 || run_.rows.seen() == 0 || !to_integer(words[0])) return false;
    if (words.size() == 2 && !to_integer(words[1])) return false;
    reading.cannot_use(line, words[0], "the row is cut before its values");
    ++run_.cut_rows;
    return true;
  }

  void begin_row(CollectiveCells row, std::int64_t line, Reading& reading) {
    drop_pending(reading);
    row.line = line;
    pending_ = std::move(row);
    if (pending_->whole) drop_pending(reading);
  }

  // The row that was waited for, as far as it came.
  void drop_pending(Reading& reading) {
    if (!pending_) return;
    CollectiveCells row = std::move(*pending_);
    pending_.reset();
    if (!row.out.any && !row.in.any) {
      ++run_.cut_rows;
      reading.cannot_use(row.line, std::to_string(row.bytes.value_or(0)) + " " + row.type,
                         "the row is cut before its values");
      return;
    }
    if (!row.whole)
      reading.cannot_use(row.line, std::to_string(row.bytes.value_or(0)) + " " + row.type, "the row is cut");
    run_.add(std::move(row));
  }

  bool on_summary(std::string_view text, std::int64_t line) {
    if (const auto behind = after(text, "Out of bounds values")) {
      const std::vector<std::string_view> words = words_in(behind->starts_with(':') ? behind->substr(1) : *behind);
      run(line).summary_line = line;
      if (!words.empty()) run_.out_of_bounds = to_integer(words[0]);
      if (words.size() > 1) run_.status = std::string(words[1]);
      return true;
    }
    for (const std::string_view marker : {"Avg bus bandwidth", "Average bus bandwidth"}) {
      const auto behind = after(text, marker);
      if (!behind) continue;
      const std::optional<Measure> value = to_measure(behind->starts_with(':') ? behind->substr(1) : *behind);
      if (!value) return true;
      run(line).averages.emplace_back(line, value->value);
      if (value->unit == "OK" || value->unit == "FAILED") run_.average_status = std::string(value->unit);
      return true;
    }
    if (contains(text, "Collective test concluded")) {
      if (!run_.empty()) name_collective(text, line);
      return true;
    }
    return false;
  }

  bool on_other(std::string_view text, std::int64_t line) {
    const bool failure = contains(text, "Test NCCL failure") || contains(text, "Test CUDA failure") ||
                         contains(text, "Test failure ") || contains(text, "Test timeout") ||
                         contains(text, "NCCL failure ") || text.starts_with("# error:");
    if (failure) {
      if (run(line).failures.size() < 50) run_.failures.emplace_back(line, std::string(trim(text.substr(0, 300))));
      return true;
    }
    if (text.starts_with("#") && contains(text, "GPU memory usage")) return true;
    if (!text.starts_with("#") && !collective_named_in(text).empty()) {
      begin_if_over(*reading_);
      if (run_.empty()) {
        run_ = CollectiveRun();
        command_ = std::string(trim(text.substr(0, 1000)));
        command_line_ = line;
      }
      return true;
    }
    return trim(text) == "#" && run_.line != 0;
  }

  void take(CollectiveRun& run, Reading& reading) {
    run.tool = std::string(tool_);
    note_doubts(run, reading);
    ++runs_;
    rows_ += run.whole_rows;
    const bool with_rows = rows_listed_ < kRowsListed;
    rows_listed_ += static_cast<std::int64_t>(run.rows.kept().size());
    if (runs_ == 1) {
      first_ = facts_of(run, true);
    } else if (runs_ == 2) {
      list_.push_back(Fact::of(first_));
    }
    if (run.rows.every() > 1 || !with_rows) thinned_ = true;
    if (runs_ > 1 && list_.size() < kRunsListed) list_.push_back(Fact::of(facts_of(run, with_rows)));
    if (run.peak && (!peak_ || run.peak->busbw_gb_per_s > peak_->busbw_gb_per_s)) peak_ = run.peak;
    if (run.smallest && (!smallest_ || *run.smallest < *smallest_)) smallest_ = run.smallest;
    if (run.largest && (!largest_ || *run.largest > *largest_)) largest_ = run.largest;
  }

  static void note_doubts(const CollectiveRun& run, Reading& reading) {
    std::vector<std::int64_t> ranks;
    for (const CollectiveDevice& device : run.devices) ranks.push_back(device.rank.value_or(-1));
    std::sort(ranks.begin(), ranks.end());
    const bool repeated = std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
    if (repeated || run.parameter_headers > 1) {
      reading.note("line " + std::to_string(run.line) +
                   ": several processes each printed a header and ranks of their own: built without MPI, they ran "
                   "alone, and their numbers are no measurement between nodes");
    }
    if (run.elided) reading.note("rows were left out of the table ('...')");
  }

  void finish_facts(Reading& reading) {
    FactRecord& facts = reading.facts;
    if (runs_ == 0) return;
    const std::int64_t line = first_.line;
    facts = runs_ == 1 ? std::move(first_) : FactRecord(line);
    if (runs_ > 1) merge_runs(facts);
    facts.set("run_count", runs_);
    if (nccl_version_line_) facts.set("nccl_version", nccl_version_, *nccl_version_line_);
    if (nccl_ranks_) facts.set("nccl_ranks", *nccl_ranks_, nccl_ranks_line_);
    if (thinned_) reading.note("the tables are long: rows are listed in part, sums and peaks are of all");
  }

  // Of several runs: sums, extremes, and what all of them share by the first.
  void merge_runs(FactRecord& facts) {
    for (const char* const name :
         {"tool", "collective", "ranks", "nodes", "gpu", "nccl_tests_version", "nccl_library"}) {
      bool same = true;
      const Fact* const first = first_.find(name);
      for (const Fact& run : list_) {
        const Fact* const other = run.as_record()->find(name);
        same = same && first != nullptr && other != nullptr && first->value.index() == other->value.index() &&
               first->text() == other->text() && first->number() == other->number();
      }
      if (same) facts.set(name, *first);
    }
    facts.set("data_rows", rows_);
    if (smallest_) facts.set("smallest_bytes", *smallest_);
    if (largest_) facts.set("largest_bytes", *largest_);
    if (peak_) {
      facts.set("peak_busbw_gb_per_s", peak_->busbw_gb_per_s, peak_->line);
      facts.set("peak_in_place", peak_->in_place, peak_->line);
      if (peak_->bytes) facts.set("peak_bytes", *peak_->bytes, peak_->line);
    }
    facts.set("runs", Fact::of(std::move(list_), first_.line));
  }

  static constexpr std::int64_t kRowsListed = 20'000;
  static constexpr std::size_t kRunsListed = 2000;

  std::string_view tool_;
  CollectiveRun run_;
  Reading* reading_ = nullptr;  // of the line at hand
  std::optional<CollectiveCells> pending_;
  std::string command_;
  std::int64_t command_line_ = 0;
  std::optional<std::int64_t> nccl_version_line_;
  std::string nccl_version_;
  std::optional<std::int64_t> nccl_ranks_;
  std::int64_t nccl_ranks_line_ = 0;
  std::int64_t runs_ = 0, rows_ = 0, rows_listed_ = 0;
  bool thinned_ = false;
  FactRecord first_;
  std::vector<Fact> list_;
  std::optional<CollectivePeak> peak_;
  std::optional<std::int64_t> smallest_, largest_;
};

}  // namespace

int recognise_nccl_tests(const Head& head) {
  int tables = 0;  // rows, and the lines only this tool prints
  int headers = 0;
  int debug = 0;
  for (std::string_view text = head.text; !text.empty();) {
    const std::string_view line = next_line(text);
    if (line.size() > 4096) continue;
    if (contains(line, " NCCL ") && is_debug_line(line)) {
      ++debug;
      continue;
    }
    if (contains(line, "busbw") && contains(line, "algbw")) {
      if (contains(line, "time:")) return confidence::kNone;  // nccom-test
      if (collective_columns(line)) tables += 3;
    } else if (contains(line, "Out of bounds values") || contains(line, "Avg bus bandwidth") ||
               contains(line, "nccl-tests version") || contains(line, "Collective test starting")) {
      tables += 3;
    } else if (contains(line, "nThread ") && contains(line, "minBytes")) {
      ++headers;
    } else if (contains(line, "Rank ") && contains(line, " device ") && read_device(line, 1)) {
      ++headers;
    } else if (contains(line, "Test NCCL failure") || contains(line, "Test CUDA failure")) {
      ++headers;
    } else if (contains(line, " float ") || contains(line, "half") || contains(line, "int") || contains(line, "fp") ||
               contains(line, "double") || contains(line, "f8")) {
      const std::string clean = without_inner_tags(line.substr(0, 512));
      const std::vector<std::string_view> words = words_in(clean);
      const std::size_t at = find_row(words);
      if (at != std::string_view::npos && words.size() >= at + 6) ++tables;
    }
  }
  if (tables == 0 && headers == 0) return confidence::kNone;
  if (debug > 2 * tables + (tables > 0 ? headers : 0)) return 50;
  if (tables >= 2) return 96;
  return headers > 1 || tables > 0 ? 70 : 50;
}

std::unique_ptr<LineReader> open_nccl_tests() { return std::make_unique<NcclTestsReader>(kNcclTests); }

int recognise_nccom_test(const Head& head) {
  for (std::string_view text = head.text; !text.empty();) {
    const std::string_view line = next_line(text);
    if (line.size() < 4096 && contains(line, "busbw(") && contains(line, "time:") && collective_columns(line))
      return 95;
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open_nccom_test() { return std::make_unique<NcclTestsReader>(kNccomTest); }

}  // namespace tare
