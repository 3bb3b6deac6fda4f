#include "ingest/fio_terse.h"

#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/fio_values.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kJobsKept = 5000;

// "3;fio-3.33;job;0;0;…"
bool is_terse(std::string_view line) {
  const std::size_t semicolon = line.find(';');
  if (semicolon != 1 || line[0] < '2' || line[0] > '5') return false;
  return line.substr(2).starts_with("fio-") || line.substr(2).starts_with("fio ");
}

class Fields {
 public:
  explicit Fields(std::string_view line) : fields_(split(line, ';')) {}
  bool more() const { return at_ < fields_.size(); }
  std::string_view next() { return more() ? trim(fields_[at_++]) : std::string_view(); }
  void put(FactRecord& into, std::string_view name) {
    std::string_view field = next();
    if (field.ends_with('%')) field.remove_suffix(1);
    if (!field.empty()) into.set_parsed(name, field);
  }

 private:
  std::vector<std::string_view> fields_;
  std::size_t at_ = 0;
};

void read_latency(Fields& fields, FactRecord& into, const char* name, bool percentiles) {
  FactRecord& latency = into.record(name);
  for (const char* const part : {"min_us", "max_us", "avg_us", "stdev_us"}) fields.put(latency, part);
  if (!percentiles) return;
  FactRecord shares(into.line);
  for (int i = 0; i < 20; ++i) {
    const std::string_view field = fields.next();  // "99.000000%=440"
    const std::size_t equals = field.find("%=");
    if (equals == std::string_view::npos || equals == 0 || equals > 12) continue;
    if (to_number(field.substr(0, equals)).value_or(0) <= 0) continue;
    shares.set_parsed(percentile_name(field.substr(0, equals)), field.substr(equals + 2));
  }
  if (!shares.empty()) latency.set("percentiles_us", Fact::of(std::move(shares)));
}

FactRecord read_direction(Fields& fields, int version, std::int64_t line) {
  FactRecord into(line);
  fields.put(into, "io_kib");
  fields.put(into, "bw_kib_per_s");
  fields.put(into, "iops");
  fields.put(into, "runtime_ms");
  read_latency(fields, into, "slat", false);
  read_latency(fields, into, "clat", true);
  read_latency(fields, into, "lat", false);
  for (const char* const name :
       {"bw_min_kib_per_s", "bw_max_kib_per_s", "bw_share_pct", "bw_mean_kib_per_s", "bw_dev_kib_per_s"}) {
    fields.put(into, name);
  }
  if (version >= 5) {
    for (const char* const name : {"bw_samples", "iops_min", "iops_max", "iops_mean", "iops_dev", "iops_samples"}) {
      fields.put(into, name);
    }
  }
  return into;
}

class TerseReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = trim(without_line_tags(line.text));
    if (text.size() > 16'384 || !is_terse(text)) return false;
    Fields fields(text);
    FactRecord job(line.number);
    const int version = fields.next().front() - '0';
    job.set("terse_version", version);
    job.set("fio_version", fields.next());
    if (version == 2) {
      reading.cannot_use(line.number, text, "terse version 2: its fields are not known to this reader");
      return true;
    }
    job.set("name", fields.next());
    fields.put(job, "group");
    fields.put(job, "error");
    for (const char* const way : {"read", "write", "trim"}) {
      if (std::string_view(way) == "trim" && version < 4) continue;
      FactRecord facts = read_direction(fields, version, line.number);
      if (facts.number("io_kib").value_or(0) > 0 || facts.number("iops").value_or(0) > 0) {
        job.set(way, Fact::of(std::move(facts)));
      }
    }
    read_rest(fields, job);
    if (!job.has("cpu")) reading.cannot_use(line.number, text, "the line is cut");
    jobs_.add(std::move(job));
    return true;
  }

  void finish(Reading& reading) override {
    if (jobs_.seen() == 0) return;
    FactRecord& facts = reading.facts;
    const FactRecord& first = jobs_.kept().front();
    facts.line = first.line;
    facts.set("fio_version", *first.find("fio_version"));
    facts.set("job_count", jobs_.seen());
    if (jobs_.every() > 1) facts.set("jobs_kept_every", jobs_.every());
    for (FactRecord& job : jobs_.kept()) facts.list("jobs").push_back(Fact::of(std::move(job)));
  }

 private:
  static void read_rest(Fields& fields, FactRecord& job) {
    if (!fields.more()) return;
    FactRecord& cpu = job.record("cpu");
    for (const char* const name : {"usr_pct", "sys_pct", "ctx", "majf", "minf"}) fields.put(cpu, name);
    FactRecord depths(job.line);
    for (const char* const name : {"1", "2", "4", "8", "16", "32", "ge_64"}) fields.put(depths, name);
    if (!depths.empty()) job.set("io_depths_pct", Fact::of(std::move(depths)));
    FactRecord shares(job.line);
    for (const char* const name :
         {"le_2us",   "le_4us",    "le_10us",  "le_20us",   "le_50us",   "le_100us", "le_250us", "le_500us",
          "le_750us", "le_1000us", "le_2ms",   "le_4ms",    "le_10ms",   "le_20ms",  "le_50ms",  "le_100ms",
          "le_250ms", "le_500ms",  "le_750ms", "le_1000ms", "le_2000ms", "ge_2000ms"}) {
      fields.put(shares, name);
    }
    if (!shares.empty()) job.set("latency_share_pct", Fact::of(std::move(shares)));
    // Disks follow in groups of nine; a description or an error may stand behind them.
    while (fields.more() && job.list("disks").size() < 256) {
      const std::string_view name = fields.next();
      if (name.empty() || to_number(name)) break;
      FactRecord disk(job.line);
      disk.set("name", name);
      for (const char* const part : {"read_ios", "write_ios", "read_merge", "write_merge", "read_ticks", "write_ticks",
                                     "in_queue", "util_pct"}) {
        fields.put(disk, part);
      }
      if (!disk.has("util_pct")) break;
      job.list("disks").push_back(Fact::of(std::move(disk)));
    }
    if (job.list("disks").empty()) {
      FactRecord without(job.line);
      for (const auto& [name, value] : job.members()) {
        if (name != "disks") without.set(name, value);
      }
      job = std::move(without);
    }
  }

  Thinned<FactRecord> jobs_{kJobsKept};
};

}  // namespace

int recognise_fio_terse(const Head& head) {
  for (std::string_view text = head.text; !text.empty();) {
    if (is_terse(trim(without_line_tags(next_line(text))))) return 96;
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open_fio_terse() { return std::make_unique<TerseReader>(); }

}  // namespace tare
