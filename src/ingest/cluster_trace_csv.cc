#include "ingest/cluster_trace_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "ingest/csv_lines.h"
#include "ingest/kept_rows.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr auto kGpuColumns = std::to_array<std::string_view>(
    {"num_gpu", "num_gpus", "gpu_num", "plan_gpu", "gpus", "gpu", "gpu_count", "total_gpus"});
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::size_t column_of(const std::vector<std::string>& headings, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < headings.size(); ++i) {
      if (equals_ignoring_case(headings[i], name)) return i;
    }
  }
  return kNone;
}

// Headings of such a list, by what only they have together.
bool is_headings(const std::vector<std::string>& headings) {
  if (headings.size() < 3 || headings.size() > 60) return false;
  const auto has = [&headings](std::initializer_list<std::string_view> names) {
    return column_of(headings, std::span(names.begin(), names.size())) != kNone;
  };
  const bool gpus = column_of(headings, kGpuColumns) != kNone;
  if (gpus && has({"cpu_milli", "gpu_milli", "memory_mib", "plan_cpu", "inst_num"})) return true;
  if (gpus && has({"duration", "gpu_time", "submit_time", "start_time", "creation_time", "queue", "vc"}) &&
      has({"timestamp", "job_id", "jobid", "job_name", "submit_time", "user", "name"}) &&
      !has({"partition", "avail"})) {
    return true;
  }
  return has({"DSW"}) && has({"ASW"});
}

class TraceList : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (headings_.empty()) {
      const char separator = CsvLines::separator_of(line.text);
      std::vector<std::string> headings = csv_fields(line.text, separator == '\0' ? ',' : separator);
      if (!is_headings(headings)) return false;
      csv_ = CsvLines(separator);
      headings_ = std::move(headings);
      for (std::string& heading : headings_) heading = to_lower(heading);
      gpu_column_ = column_of(headings_, kGpuColumns);
      heading_line_ = line.number;
      return true;
    }
    if (trim(line.text).empty()) return true;
    csv_.take(line.text, line.number, rows_);
    take_rows(reading);
    return true;
  }

  void finish(Reading& reading) override {
    if (headings_.empty()) return;
    csv_.finish(rows_);
    take_rows(reading);
    FactRecord& facts = reading.facts;
    facts.set("list",
              column("sn") != kNone    ? "nodes"
              : column("dsw") != kNone ? "network"
              : is_pods()              ? "pods"
                                       : "jobs",
              heading_line_);
    std::vector<Fact>& columns = facts.list("columns", heading_line_);
    for (const std::string& heading : headings_) columns.push_back(Fact::of(heading, heading_line_));
    facts.set("row_count", count_);
    if (gpu_column_ != kNone) {
      if (gpus_ == std::floor(gpus_) && gpus_ < 1e15) {
        facts.set("gpus_total", static_cast<std::int64_t>(gpus_));
      } else {
        facts.set("gpus_total", gpus_);
      }
      facts.set("rows_with_gpus", with_gpus_);
    }
    if (column("gpu_milli") != kNone) {
      facts.set("shared_gpu_rows", shared_);
      facts.set("gpu_share_total", gpu_milli_ / 1000);
    }
    for (const auto& [name, counts] : counts_) {
      FactRecord& record = facts.record(name + "_counts");
      for (const auto& [value, count] : counts) record.add(value.empty() ? "(empty)" : value, Fact::of(count));
    }
    kept_.give(facts, "rows", reading);
  }

 private:
  std::size_t column(std::string_view name) const {
    const auto found = std::find(headings_.begin(), headings_.end(), name);
    return found == headings_.end() ? kNone : static_cast<std::size_t>(found - headings_.begin());
  }
  bool is_pods() const {
    return column("gpu_milli") != kNone || column("pod_phase") != kNone || column("cpu_milli") != kNone;
  }

  void take_rows(Reading& reading) {
    for (const CsvRow& row : rows_) take_row(row, reading);
    rows_.clear();
  }

  std::optional<double> number(const CsvRow& row, std::size_t at) const {
    return at < row.fields.size() ? to_number(row.fields[at]) : std::nullopt;
  }

  void take_row(const CsvRow& row, Reading& reading) {
    if (row.fields.size() != headings_.size()) {
      reading.cannot_use(
          row.line, join(row.fields, ","),
          row.fields.size() < headings_.size() ? "fewer columns than the header" : "more columns than the header");
      return;
    }
    ++count_;
    const double gpus = number(row, gpu_column_).value_or(0);
    const std::optional<double> milli = number(row, column("gpu_milli"));
    gpus_ += gpus;
    if (gpus > 0) ++with_gpus_;
    if (milli && gpus > 0) {
      gpu_milli_ += gpus * *milli;
      if (*milli < 1000) ++shared_;
    }
    for (const std::string_view name :
         {"pod_phase", "qos", "status", "state", "model", "gpu_spec", "gpu_type", "cluster", "vc"}) {
      const std::size_t at = column(name);
      if (at >= row.fields.size()) continue;
      std::map<std::string, std::int64_t>& counts = counts_[std::string(name)];
      const std::string& value = row.fields[at];
      if (counts.size() < 200 || counts.count(value) > 0) ++counts[value];
    }
    if (!kept_.wants_next()) return;
    FactRecord record(row.line);
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (!record.has(headings_[i])) record.set_parsed(headings_[i], row.fields[i]);
    }
    kept_.add(std::move(record));
  }

  CsvLines csv_;
  std::vector<CsvRow> rows_;
  std::vector<std::string> headings_;
  std::size_t gpu_column_ = kNone;
  std::int64_t heading_line_ = 0, count_ = 0, with_gpus_ = 0, shared_ = 0;
  double gpus_ = 0, gpu_milli_ = 0;
  std::map<std::string, std::map<std::string, std::int64_t>> counts_;
  KeptRows kept_;
};

int recognise(const Head& head) {
  std::string_view rest = head.text;
  for (int i = 0; i < 5 && !rest.empty(); ++i) {
    const std::string_view line = next_line(rest);
    if (line.size() > 4000) return confidence::kNone;
    const char separator = CsvLines::separator_of(line);
    if (separator != '\0' && separator != '|' && is_headings(csv_fields(line, separator))) return confidence::kSure;
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open() { return std::make_unique<TraceList>(); }

}  // namespace

Format cluster_trace_csv_format() { return {"kubernetes", "cluster trace", recognise, open, nullptr}; }

}  // namespace tare
