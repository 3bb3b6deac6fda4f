#include "ingest/fio_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ingest/fio_values.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kRunsKept = 500;
constexpr std::size_t kReportsKept = 200;
constexpr std::size_t kJobsKept = 1000;
constexpr std::size_t kMembersKept = 100;  // of a record whose names the input chooses

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "bw=3D60.8GiB/s" -> "bw=60.8GiB/s" (quoted-printable of mail).
std::string decode_quoted_printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '=' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_version(std::string_view text) {
  return (text.starts_with("fio-") || text.starts_with("fio ")) && text.size() > 4 && text.size() < 60 &&
         text[4] >= '0' && text[4] <= '9' && text.find(' ', 4) == std::string_view::npos;
}

// "read:" / "read :" / "  WRITE:" -> "read"; empty when the line does not begin so.
std::string_view direction(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kNames = {"read", "write", "trim", "mixed",
                                                             "READ", "WRITE", "TRIM", "MIXED"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (!text.starts_with(kNames[i])) continue;
    const std::string_view behind = trim(text.substr(kNames[i].size()));
    if (behind.starts_with(':') && contains(behind, "=")) return kNames[i % 4];
  }
  return {};
}

// Whole numbers as such.
void set_number(FactRecord& into, std::string_view name, double number, std::int64_t line) {
  if (number >= -1e15 && number <= 1e15 && number == std::floor(number)) {
    into.set(name, static_cast<std::int64_t>(number), line);
  } else {
    into.set(name, number, line);
  }
}

void set_rate(FactRecord& into, const std::string& name, std::string_view text, bool old_units, std::int64_t line) {
  const std::optional<FioAmount> amount = fio_amount(text, old_units);
  if (!amount) return;
  into.set(name + "_" + amount->unit + "_per_s", amount->value, line);
  into.set_once(name + "_bytes_per_s", Fact::of(amount->bytes, line));
}

void set_size(FactRecord& into, const std::string& name, std::string_view text, bool old_units, std::int64_t line) {
  const std::optional<FioAmount> amount = fio_amount(text, old_units);
  if (!amount) return;
  into.set(name + "_" + (amount->unit.empty() ? "b" : amount->unit), amount->value, line);
}

// "min=1, max=2, avg=1.5, stdev=0.5, samples=4" under the given unit.
void set_statistics(FactRecord& into, std::string_view text, std::string_view unit, std::int64_t line) {
  for (const auto& [key, value] : fio_pairs(text)) {
    if (key.empty() || key.size() > 20 || into.members().size() >= kMembersKept) continue;
    if (key == "per") {
      if (const std::optional<Measure> share = to_measure(value)) into.set("share_pct", share->value, line);
    } else if (value.ends_with('.')) {
      continue;  // cut
    } else if (const std::optional<double> number = fio_count(value)) {
      set_number(into, std::string(key) + (key == "samples" || unit.empty() ? "" : "_" + std::string(unit)), *number,
                 line);
    }
  }
}

// "1=0.1%, >=64=0.0%" -> {"1": 0.1, "ge_64": 0}
void set_shares(FactRecord& into, std::string_view text, std::string_view prefix, std::string_view unit,
                std::int64_t line) {
  for (auto [key, value] : fio_pairs(text)) {
    const bool above = key.starts_with(">=");
    if (above) key.remove_prefix(2);
    const std::optional<Measure> share = to_measure(value);
    if (!share || key.empty() || key.size() > 8 || into.members().size() >= kMembersKept) continue;
    into.set((above ? "ge_" : std::string(prefix)) + std::string(key) + std::string(unit), share->value, line);
  }
}

// One run: what is printed between one "fio-3.x" and the next.
struct FioRun {
  FactRecord facts;
  std::int64_t reports = 0;
  FactRecord report;  // the one that is being read
  Thinned<Fact> earlier{kReportsKept};
  bool groups_seen = false;
  bool old_units = false;
};

class FioReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (line.text.size() > 8192) return false;
    reading_ = &reading;
    std::string_view text = without_line_tags(line.text);
    if (!mail_ && contains(text, "=3D")) mail_ = true;
    if (mail_ && trim(text).ends_with('=')) {
      const std::string_view part = trim(text);
      if (held_.size() > 65'536) held_.clear();
      held_ += decode_quoted_printable(part.substr(0, part.size() - 1));
      held_line_ = held_line_ == 0 ? line.number : held_line_;
      return true;
    }
    const std::int64_t number = held_line_ == 0 ? line.number : held_line_;
    std::string whole;
    if (mail_) {
      whole = std::exchange(held_, {}) + decode_quoted_printable(text);
      held_line_ = 0;
      text = whole;
    }
    return on_unwrapped(text, number);
  }

  void finish(Reading& reading) override {
    flush_wrapped();
    end_run();
    FactRecord& facts = reading.facts;
    if (runs_ == 0) return;
    facts = std::move(first_);
    facts.set("run_count", runs_);
    if (runs_ > 1) {
      facts.list("runs") = std::move(list_);
      reading.note(std::to_string(runs_) + " runs in one file: the facts outside 'runs' are those of the first");
    }
    if (eta_ > 0) facts.set("progress_lines", eta_);
  }

 private:
  // Mail wraps long lines behind a comma.
  bool on_unwrapped(std::string_view text, std::int64_t line) {
    const std::string_view part = trim(text);
    if (!wrapped_.empty()) {
      if (continues(part)) {
        wrapped_ += " " + std::string(part);
        if (!part.ends_with(',') || wrapped_.size() > 8192) flush_wrapped();
        return true;
      }
      flush_wrapped();
    }
    if (part.ends_with(',') && !part.starts_with('|') && contains(part, "=") && !part.ends_with("],")) {
      wrapped_ = std::string(text);
      wrapped_line_ = line;
      return true;
    }
    return on_text(text, line);
  }
  static bool continues(std::string_view part) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, std::min(equals, part.size()));
    if (!direction(part).empty() || contains(key, ":")) return false;
    return equals != std::string_view::npos || contains(part, "iB/s-");
  }
  void flush_wrapped() {
    if (wrapped_.empty()) return;
    const std::string text = std::exchange(wrapped_, {});
    on_text(text, wrapped_line_);
  }

  bool on_text(std::string_view raw, std::int64_t line) {
    const std::string_view text = trim(raw);
    if (text.empty()) return false;
    if (on_structure(text, line) || on_job_line(text, line)) return true;
    if (text == "..." && run_) return true;
    label_ = text.size() < 200 ? std::string(text) : std::string();
    label_line_ = line;
    return false;
  }

  FioRun& run(std::int64_t line) {
    if (run_) return *run_;
    run_.emplace();
    run_->facts.line = line;
    if (!label_.empty() && line - label_line_ <= 3) run_->facts.set("label", label_, label_line_);
    return *run_;
  }

  // What stands between reports: versions, definitions, headers, group and disk sections.
  bool on_structure(std::string_view text, std::int64_t line) {
    if (is_version(text)) return on_version(text, line);
    if (contains(text, ": (g=") && contains(text, "rw=")) return on_definition(text, line);
    if (contains(text, ": (groupid=")) return on_job_header(text, line);
    if (text.starts_with("Run status group ")) return on_group(text, line);
    if (text.starts_with("Disk stats")) {
      section_ = Section::kDisks;
      run(line);
      return true;
    }
    if (text.starts_with("Starting ") && (contains(text, "process") || contains(text, "thread"))) {
      if (const std::optional<Measure> count = to_measure(text.substr(9)))
        set_number(run(line).facts, "workers", count->value, line);
      return true;
    }
    if (text.starts_with("Jobs: ") && contains(text, "(f=")) {
      ++eta_;
      return true;
    }
    if (text.starts_with("fio: ")) {
      FactRecord& facts = run(line).facts;
      if (facts.list("messages").size() < 50) facts.list("messages").push_back(Fact::of(text.substr(5), line));
      return true;
    }
    return contains(text, "Laying out IO file");
  }

  bool on_version(std::string_view text, std::int64_t line) {
    if (run_ && (run_->reports > 0 || !run_->report.empty() || run_->facts.has("fio_version"))) end_run();
    run(line).facts.set("fio_version", text, line);
    return true;
  }

  // "name: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) …, ioengine=libaio, iodepth=32"
  bool on_definition(std::string_view text, std::int64_t line) {
    if (run_ && (run_->groups_seen || run_->reports > 0)) end_run();
    FactRecord& facts = run(line).facts;
    if (facts.list("definitions").size() >= kJobsKept) return true;
    FactRecord& job = facts.append("definitions", line);
    job.set("name", trim(text.substr(0, text.find(": (g="))));
    if (const auto group = between(text, "(g=", ")")) job.set_parsed("group", *group);
    if (const auto rw = between(text, "rw=", ",")) job.set("rw", *rw);
    if (const auto engine = between(text, "ioengine=", ",")) job.set("ioengine", *engine);
    if (const auto depth = between(text, "iodepth=", ",")) job.set_parsed("iodepth", *depth);
    const std::string_view sizes = between(text, "bs=", ", ioengine").value_or("");
    if (contains(sizes, "(R)")) {
      job.set("bs_read", block_size(between(sizes, "(R)", ",").value_or("")));
      job.set("bs_write", block_size(between(sizes, "(W)", ",").value_or("")));
      if (contains(sizes, "(T)")) job.set("bs_trim", block_size(between(sizes, "(T)", ",").value_or("")));
    } else {
      const std::vector<std::string_view> parts = split(sizes, '/');
      if (!parts.empty()) job.set("bs_read", block_size(parts[0]));
      if (parts.size() > 1) job.set("bs_write", block_size(parts[1]));
      if (parts.size() > 2) job.set("bs_trim", block_size(parts[2]));
    }
    return true;
  }
  // "4096B-4096B" -> "4096B"
  static std::string_view block_size(std::string_view range) {
    range = trim(range);
    const std::size_t dash = range.find('-');
    const bool same = dash != std::string_view::npos && range.substr(0, dash) == range.substr(dash + 1);
    return same ? range.substr(0, dash) : range;
  }

  // "name: (groupid=0, jobs=2): err= 0: pid=17789: Mon Nov 30 15:54:31 2026"
  bool on_job_header(std::string_view text, std::int64_t line) {
    if (run_ && run_->groups_seen) {
      // A report of the same job again is an interim state of it (--status-interval); another job is another run.
      same_job(text) ? end_report() : end_run();
    }
    FioRun& current = run(line);
    section_ = Section::kJob;
    side_.clear();
    percentiles_.clear();
    if (current.report.list("jobs").size() >= kJobsKept) {
      current.report.list("jobs").pop_back();
      current.report.set("jobs_not_listed", current.report.integer("jobs_not_listed").value_or(0) + 1);
    }
    FactRecord& job = current.report.append("jobs", line);
    current.report.line = current.report.line == 0 ? line : current.report.line;
    job.set("name", trim(text.substr(0, text.find(": (groupid="))));
    if (const auto group = between(text, "groupid=", ",")) job.set_parsed("group", *group);
    if (const auto jobs = between(text, "jobs=", ")")) job.set_parsed("jobs", *jobs);
    if (const auto error = between(text, "err=", ":")) {
      if (const std::optional<Measure> code = to_measure(*error)) set_number(job, "error", code->value, line);
    }
    if (const auto pid = between(text, " pid=", ":")) job.set_parsed("pid", *pid);
    if (const auto behind = after(text, " pid=")) {
      const std::size_t colon = behind->find(": ");
      if (colon != std::string_view::npos) job.set("time", trim(behind->substr(colon + 2)));
    }
    return true;
  }
  bool same_job(std::string_view header) const {
    const std::vector<Fact>* const jobs = run_->report.find_list("jobs");
    if (jobs == nullptr || jobs->empty()) return false;
    const std::optional<std::string_view> pid = between(header, " pid=", ":");
    const std::string_view name = trim(header.substr(0, header.find(": (groupid=")));
    for (const Fact& fact : *jobs) {
      const FactRecord& job = *fact.as_record();
      if (job.text("name") == name && pid && job.integer("pid") == to_integer(*pid)) return true;
    }
    return false;
  }

  bool on_group(std::string_view text, std::int64_t line) {
    const std::optional<Measure> number = to_measure(text.substr(17));
    if (run_ && run_->groups_seen) {
      // The same group again without its job's report before it: another run.
      const std::vector<Fact>* const groups = run_->report.find_list("groups");
      for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i) {
        if (number && (*groups)[i].as_record()->number("group") == number->value) {
          end_run();
          break;
        }
      }
    }
    FioRun& current = run(line);
    current.groups_seen = true;
    section_ = Section::kGroups;
    if (current.report.list("groups").size() >= kJobsKept) return true;
    FactRecord& group = current.report.append("groups", line);
    current.report.line = current.report.line == 0 ? line : current.report.line;
    if (number) group.set("group", static_cast<std::int64_t>(std::clamp(number->value, 0.0, 1e9)));
    return true;
  }

  bool on_job_line(std::string_view text, std::int64_t line) {
    if (const std::string_view way = direction(text); !way.empty()) {
      return section_ == Section::kGroups ? on_group_direction(text, way, line) : on_direction(text, way, line);
    }
    if (section_ == Section::kDisks && contains(text, ": ios=")) return on_disk(text, line);
    return on_latency(text, line) || on_percentiles(text, line) || on_rates(text, line) || on_job_totals(text, line);
  }

  FactRecord& job(std::int64_t line) {
    FioRun& current = run(line);
    std::vector<Fact>& jobs = current.report.list("jobs");
    if (jobs.empty() || current.groups_seen) {
      if (current.groups_seen) end_run();
      return run(line).report.append("jobs", line);
    }
    return std::get<FactRecord>(jobs.back().value);
  }
  // The direction that is being read; "io" where the line that names it is missing.
  FactRecord& side(std::int64_t line) {
    FactRecord& of = job(line);
    return of.record(side_.empty() ? "io" : side_, line);
  }

  bool on_direction(std::string_view text, std::string_view way, std::int64_t line) {
    if (!contains(text, "IOPS=") && !contains(text, "iops=")) {
      // A group's line whose heading is missing.
      if (contains(text, "run=") || contains(text, "mint=")) return on_group_direction(text, way, line);
      return false;
    }
    FactRecord& of = job(line);
    section_ = Section::kJob;
    side_ = std::string(way);
    percentiles_.clear();
    FactRecord& into = of.record(side_, line);
    if (contains(text, "IOPS=")) {
      if (const auto iops = fio_count(between(text, "IOPS=", ",").value_or(""))) set_number(into, "iops", *iops, line);
      const std::string_view rate = after(text, "BW=").value_or("");
      set_rate(into, "bw", rate, false, line);
      if (const auto decimal = between(rate, "(", ")")) set_rate(into, "bw", *decimal, false, line);
      // "(2147MiB/6001msec)": the second bracket.
      const std::size_t second = rate.find(")(");
      const std::string_view total = second == std::string_view::npos ? std::string_view() : rate.substr(second + 2);
      set_size(into, "io", total.substr(0, total.find('/')), false, line);
      if (const auto time = between(total, "/", "msec")) into.set_parsed("runtime_ms", *time);
      return true;
    }
    run_->old_units = true;
    if (const auto iops = fio_count(between(text, "iops=", ",").value_or(""))) set_number(into, "iops", *iops, line);
    set_size(into, "io", between(text, "io=", ",").value_or(""), true, line);
    set_rate(into, "bw", between(text, "bw=", ",").value_or(""), true, line);
    if (const auto time = between(text, "runt=", "msec")) into.set_parsed("runtime_ms", *time);
    return true;
  }

  // "READ: bw=358MiB/s (375MB/s), 358MiB/s-358MiB/s (…), io=2147MiB (2252MB), run=6001-6001msec"
  bool on_group_direction(std::string_view text, std::string_view way, std::int64_t line) {
    FioRun& current = run(line);
    current.groups_seen = true;
    std::vector<Fact>& groups = current.report.list("groups");
    FactRecord& group =
        groups.empty() ? current.report.append("groups", line) : std::get<FactRecord>(groups.back().value);
    FactRecord& into = group.record(way, line);
    const bool old = contains(text, "aggrb=");
    const std::string_view rate = after(text, old ? "aggrb=" : "bw=").value_or("");
    set_rate(into, "bw", rate, old, line);
    if (!old) {
      if (const auto decimal = between(rate, "(", ")")) set_rate(into, "bw", *decimal, false, line);
    }
    set_size(into, "io", after(text, " io=").value_or(after(text, ":io=").value_or("")), old, line);
    if (const auto slowest = between(text, old ? "minb=" : "), ", old ? "," : "-")) {
      set_rate(into, "bw_min", *slowest, old, line);
    }
    if (const auto fastest = between(text, old ? "maxb=" : "/s-", old ? "," : " ")) {
      set_rate(into, "bw_max", *fastest, old, line);
    }
    if (const auto shortest = between(text, old ? "mint=" : "run=", old ? "msec" : "-")) {
      into.set_parsed("runtime_min_ms", *shortest);
    }
    const std::string_view times = after(text, old ? "maxt=" : "run=").value_or("");
    const std::size_t dash = old ? std::string_view::npos : times.find('-');
    if (const auto longest = to_measure(dash == std::string_view::npos ? times : times.substr(dash + 1))) {
      set_number(into, "runtime_max_ms", longest->value, line);
    }
    return true;
  }

  // "vda: ios=541786/4, merge=7/0, ticks=271419/1, in_queue=271423, util=92.57%"
  bool on_disk(std::string_view text, std::int64_t line) {
    FioRun& current = run(line);
    if (current.report.list("disks").size() >= kJobsKept) return true;
    FactRecord& disk = current.report.append("disks", line);
    disk.set("name", trim(text.substr(0, text.find(": ios="))));
    for (const auto& [key, value] : fio_pairs(text.substr(text.find(": ios=") + 2))) {
      const std::size_t slash = value.find('/');
      if (key.empty() || key.size() > 20 || disk.members().size() >= kMembersKept) continue;
      if (slash != std::string_view::npos) {
        disk.set_parsed("read_" + std::string(key), value.substr(0, slash));
        disk.set_parsed("write_" + std::string(key), value.substr(slash + 1));
      } else if (const std::optional<Measure> number = to_measure(value)) {
        set_number(disk, std::string(key) + (number->unit == "%" ? "_pct" : ""), number->value, line);
      }
    }
    return true;
  }

  // "clat (usec): min=142, max=11195, avg=692.82, stdev=596.01" and "lat (usec)   : 250=0.10%, 500=16.44%"
  bool on_latency(std::string_view text, std::int64_t line) {
    for (const std::string_view name : {"slat", "clat", "lat"}) {
      if (!text.starts_with(name) || text.size() <= name.size()) continue;
      const std::string_view behind = trim(text.substr(name.size()));
      const std::size_t close = behind.find(')');
      if (!behind.starts_with('(') || close == std::string_view::npos) continue;
      const std::string_view unit = time_unit(behind.substr(1, close - 1));
      const std::size_t colon = behind.find(':', close);
      if (unit.empty() || colon == std::string_view::npos) continue;
      const std::string_view values = behind.substr(colon + 1);
      if (contains(values, "min=") || contains(values, "avg=")) {
        set_statistics(side(line).record(name, line), values, unit, line);
      } else {
        set_shares(job(line).record("latency_share_pct", line), values, "le_", unit, line);
      }
      return true;
    }
    return false;
  }

  // "clat percentiles (usec):", then "|  1.00th=[  306],  5.00th=[  326], …"
  bool on_percentiles(std::string_view text, std::int64_t line) {
    const std::size_t at = text.find(" percentiles (");
    if (at != std::string_view::npos) {
      const std::string_view unit = time_unit(between(text, " percentiles (", ")").value_or(""));
      std::string name(text.substr(0, at));
      name = name.substr(name.rfind(' ') + 1);
      if (unit.empty() || name.size() > 8) return false;
      percentiles_ = name;
      percentile_unit_ = std::string(unit);
      return true;
    }
    if (!text.starts_with('|') || !contains(text, "th=[")) return false;
    if (percentiles_.empty()) percentiles_ = "clat", percentile_unit_ = "unit_not_shown";
    FactRecord& into = side(line).record(percentiles_, line).record("percentiles_" + percentile_unit_, line);
    for (const auto& [key, value] : fio_pairs(text.substr(1))) {
      const std::size_t th = key.find("th");
      if (th > 12 || !value.starts_with('[')) continue;
      if (into.members().size() >= kMembersKept) break;
      const std::string_view number = value.substr(1, value.find(']') - 1);
      if (const std::optional<double> time = fio_count(number)) {
        set_number(into, percentile_name(key.substr(0, th)), *time, line);
      }
    }
    return true;
  }

  // "bw (  KiB/s): min=…, per=100.00%, …", "iops        : min=…"
  bool on_rates(std::string_view text, std::int64_t line) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view values = text.substr(colon + 1);
    if (text.starts_with("bw ") && contains(text.substr(0, colon), "B") && contains(values, "=")) {
      const std::string_view unit = between(text, "(", "/").value_or("");
      set_statistics(side(line).record("bw", line), values, to_lower(trim(unit)) + "_per_s", line);
      return true;
    }
    if (text.starts_with("iops ") && contains(values, "=")) {
      set_statistics(side(line).record("iops_samples", line), values, "", line);
      return true;
    }
    return false;
  }

  bool on_job_totals(std::string_view text, std::int64_t line) {
    const std::size_t colon = text.find(':');
    if (colon > 30) return false;
    const std::string_view name = trim(text.substr(0, colon));
    const std::string_view values = text.substr(colon + 1);
    if (!contains(values, "=")) return false;
    if (name == "cpu") {
      FactRecord& cpu = job(line).record("cpu", line);
      for (const auto& [key, value] : fio_pairs(values)) {
        const std::optional<Measure> number = to_measure(value);
        if (number && key.size() < 12)
          set_number(cpu, std::string(key) + (number->unit == "%" ? "_pct" : ""), number->value, line);
      }
      return true;
    }
    if (name == "IO depths") return set_shares(job(line).record("io_depths_pct", line), values, "", "", line), true;
    if (name == "submit") return set_shares(job(line).record("submit_pct", line), values, "", "", line), true;
    if (name == "complete") return set_shares(job(line).record("complete_pct", line), values, "", "", line), true;
    if (name.starts_with("issued")) return on_issued(values, line);
    if (name == "latency") {
      FactRecord& target = job(line).record("latency_target", line);
      for (const auto& [key, value] : fio_pairs(values)) {
        const std::optional<Measure> number = to_measure(value);
        if (number && key.size() < 12)
          set_number(target, std::string(key) + (number->unit == "%" ? "_pct" : ""), number->value, line);
      }
      return true;
    }
    if (name == "errors") return job(line).set("errors", trim(values), line), true;
    return false;
  }

  // "total=549719,0,0,0 short=0,0,0,0 dropped=…" or "total=r=262144/w=0/d=0, short=…"
  bool on_issued(std::string_view values, std::int64_t line) {
    FactRecord& issued = job(line).record("issued", line);
    for (const std::string_view name : {"total", "short", "dropped", "drop"}) {
      const auto found = between(values, std::string(name) + "=", " ");
      if (!found) continue;
      static constexpr std::array<const char*, 4> kWays = {"read", "write", "trim", "sync"};
      std::size_t i = 0;
      for (std::string_view part : split(*found, contains(*found, "/") ? '/' : ',')) {
        if (const std::size_t equals = part.rfind('='); equals != std::string_view::npos)
          part = part.substr(equals + 1);
        while (part.ends_with(',')) part.remove_suffix(1);
        if (i < kWays.size() && to_integer(part)) {
          issued.set((name == "drop" ? std::string("dropped") : std::string(name)) + "_" + kWays[i], *to_integer(part),
                     line);
        }
        ++i;
      }
    }
    return true;
  }

  // An excerpt may lack the line that names the direction: where the group has one only, it is that.
  static void name_lone_side(FactRecord& report) {
    const std::vector<Fact>* const groups = report.find_list("groups");
    const Fact* const jobs = report.find("jobs");
    if (groups == nullptr || groups->size() != 1 || jobs == nullptr) return;
    std::string only;
    for (const auto& [name, value] : groups->front().as_record()->members()) {
      if (value.as_record() == nullptr) continue;
      if (!only.empty()) return;
      only = name;
    }
    if (only.empty()) return;
    for (Fact& fact : report.list("jobs")) {
      FactRecord& job = std::get<FactRecord>(fact.value);
      const Fact* const io = job.find("io");
      if (io == nullptr || job.has(only)) continue;
      FactRecord renamed(job.line);
      for (const auto& [name, value] : job.members()) renamed.set(name == "io" ? only : name, value);
      job = std::move(renamed);
    }
  }

  void end_report() {
    if (!run_ || run_->report.empty()) return;
    name_lone_side(run_->report);
    ++run_->reports;
    run_->earlier.add(Fact::of(std::exchange(run_->report, FactRecord())));
    run_->groups_seen = false;
    section_ = Section::kNone;
  }

  void end_run() {
    if (!run_) return;
    if (run_->report.empty() && run_->reports == 0 && !run_->facts.has("definitions") &&
        !run_->facts.has("fio_version")) {
      run_.reset();
      return;
    }
    name_lone_side(run_->report);
    FactRecord last = run_->report;
    end_report();
    FactRecord facts = std::move(run_->facts);
    for (const auto& [name, value] : last.members()) facts.set(name, value);
    facts.set("report_count", run_->reports);
    if (run_->reports > 1) {
      reading_->note("line " + std::to_string(facts.line) + ": " + std::to_string(run_->reports) +
                     " reports of one run; each counts from the start, so the last is the result");
      facts.list("reports") = std::move(run_->earlier.kept());
    }
    add_first_job(facts);
    ++runs_;
    if (runs_ == 1) first_ = facts;
    if (list_.size() < kRunsKept) list_.push_back(Fact::of(std::move(facts)));
    run_.reset();
    side_.clear();
    percentiles_.clear();
    section_ = Section::kNone;
  }

  // What is asked first, of the first job.
  static void add_first_job(FactRecord& facts) {
    if (const std::vector<Fact>* const definitions = facts.find_list("definitions");
        definitions && !definitions->empty()) {
      const FactRecord job = *definitions->front().as_record();
      for (const char* const name : {"rw", "ioengine", "iodepth"}) {
        if (const Fact* const value = job.find(name)) facts.set_once(name, *value);
      }
      const bool writes = contains(job.text("rw"), "write") && !contains(job.text("rw"), "read");
      if (const Fact* const size = job.find(writes ? "bs_write" : "bs_read")) facts.set_once("bs", *size);
    }
    if (const std::vector<Fact>* const jobs = facts.find_list("jobs"); jobs && !jobs->empty()) {
      if (const Fact* const count = jobs->front().as_record()->find("jobs")) facts.set_once("numjobs", Fact(*count));
    }
  }

  enum class Section { kNone, kJob, kGroups, kDisks };
  Reading* reading_ = nullptr;
  std::optional<FioRun> run_;
  Section section_ = Section::kNone;
  std::string side_, percentiles_, percentile_unit_;
  bool mail_ = false;
  std::string held_, wrapped_, label_;
  std::int64_t held_line_ = 0, wrapped_line_ = 0, label_line_ = 0;
  std::int64_t runs_ = 0, eta_ = 0;
  FactRecord first_;
  std::vector<Fact> list_;
};

}  // namespace

int recognise_fio_text(const Head& head) {
  int marks = 0;
  for (std::string_view text = head.text; !text.empty() && marks < 4;) {
    const std::string_view line = trim(without_line_tags(next_line(text)));
    if (line.size() > 4096) continue;
    if (line.starts_with("Run status group ") || contains(line, "(groupid=") || is_version(line)) {
      marks += 2;
    } else if ((contains(line, "rw=") && contains(line, "ioengine=") && contains(line, ": (g=")) ||
               (line.starts_with("issued") && contains(line, "total=")) || contains(line, "clat percentiles (") ||
               line.starts_with("clat (") || line.starts_with("slat (") ||
               line.starts_with("Disk stats (read/write)")) {
      ++marks;
    } else if (!direction(line).empty() && (contains(line, "IOPS=") || contains(line, "iops=")) &&
               (contains(line, "BW=") || contains(line, "bw="))) {
      marks += 2;
    } else if (!direction(line).empty() &&
               (contains(line, "aggrb=") || (contains(line, "bw=") && contains(line, "run=")))) {
      marks += 2;
    }
  }
  if (marks >= 4) return 95;
  return marks >= 2 ? 75 : marks == 1 ? confidence::kPossible : confidence::kNone;
}

std::unique_ptr<LineReader> open_fio_text() { return std::make_unique<FioReader>(); }

}  // namespace tare
