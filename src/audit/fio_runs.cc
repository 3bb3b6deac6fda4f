#include "audit/fio_runs.h"

#include <algorithm>
#include <array>

#include "audit/storage_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

std::optional<double> number_or_text(const FactRecord& record, std::string_view name) {
  if (const std::optional<double> plain = record.number(name)) return plain;
  return to_number(trim(record.text(name)));
}

std::string text_or_number(const FactRecord& record, std::string_view name) {
  const Fact* const fact = record.find(name);
  if (fact == nullptr) return {};
  if (const std::optional<double> number = fact->number()) return std::to_string(static_cast<long long>(*number));
  return std::string(fact->text());
}

std::int64_t line_of(const FactRecord& record, std::string_view name) {
  const Fact* const fact = record.find(name);
  return fact != nullptr && fact->line > 0 ? fact->line : record.line;
}

// A value under one of several units: {"_us", 1}, {"_ns", 1e-3}, {"_ms", 1e3}.
std::optional<double> percentile_us(const FactRecord& latency, std::string_view percentile) {
  for (const auto& [name, scale] : {std::pair("percentiles_us", 1.0), std::pair("percentiles_ns", 1e-3),
                                    std::pair("percentiles_ms", 1e3), std::pair("percentiles_s", 1e6)}) {
    const FactRecord* const all = latency.find_record(name);
    const std::optional<double> value = all == nullptr ? std::nullopt : all->number(percentile);
    if (value) return *value * scale;
  }
  return std::nullopt;
}

FioLatency latency_of(const FactRecord& side) {
  for (const char* const name : {"clat", "lat"}) {
    const FactRecord* const latency = side.find_record(name);
    if (latency == nullptr) continue;
    FioLatency found{percentile_us(*latency, "p50"), percentile_us(*latency, "p99")};
    if (found.p50_us) return found;
  }
  return {};
}

std::optional<double> bytes_of(const FactRecord& side) {
  for (const auto& [name, scale] :
       {std::pair("io_bytes", 1.0), std::pair("io_kib", 1024.0), std::pair("io_mib", 1048576.0),
        std::pair("io_gib", 1073741824.0), std::pair("io_tib", 1099511627776.0)}) {
    if (const std::optional<double> value = side.number(name)) return *value * scale;
  }
  return std::nullopt;
}

// The member that begins so, whatever unit its name ends in.
std::optional<double> beginning_with(const FactRecord& record, std::string_view beginning) {
  for (const auto& [name, value] : record.members()) {
    if (name.starts_with(beginning) && value.number()) return value.number();
  }
  return std::nullopt;
}

// Bandwidth over time: "bw" of a text report, bw_mean and bw_dev of JSON.
void set_spread(const FactRecord& from, FioSide& side) {
  const FactRecord* const bw = from.find_record("bw");
  const std::optional<double> mean = bw != nullptr ? beginning_with(*bw, "avg_") : beginning_with(from, "bw_mean_");
  const std::optional<double> stdev = bw != nullptr ? beginning_with(*bw, "stdev_") : beginning_with(from, "bw_dev_");
  const std::optional<double> least = bw != nullptr ? beginning_with(*bw, "min_") : beginning_with(from, "bw_min_");
  side.bw_samples = (bw != nullptr ? bw->number("samples") : from.number("bw_samples")).value_or(0);
  if (!mean || *mean <= 0) return;
  if (stdev) side.bw_stdev_ratio = *stdev / *mean;
  if (least) side.bw_min_ratio = *least / *mean;
}

FioSide side_of(const FactRecord& from, std::string_view way, std::int64_t line) {
  FioSide side;
  side.way = way;
  side.line = line;
  side.iops = from.number("iops");
  side.bytes_per_s = from.number("bw_bytes_per_s").value_or(from.number("bw_kib_per_s").value_or(0) * 1024);
  side.bytes = bytes_of(from);
  std::optional<double> ms = from.number("runtime_ms");
  if (!ms) ms = from.number("runtime_max_ms");
  if (ms) side.runtime_s = *ms / 1e3;
  side.latency = latency_of(from);
  set_spread(from, side);
  return side;
}

std::vector<FioSide> sides_of(const FactRecord& from) {
  std::vector<FioSide> sides;
  for (const char* const way : {"read", "write"}) {
    if (const FactRecord* const side = from.find_record(way)) sides.push_back(side_of(*side, way, line_of(from, way)));
  }
  return sides;
}

// "le_250us", "ge_2000ms" -> the bound in µs.
std::optional<double> bound_us(std::string_view name) {
  if (!name.starts_with("le_")) return std::nullopt;
  const std::optional<Measure> bound = to_measure(name.substr(3));
  if (!bound) return std::nullopt;
  if (bound->unit == "ns") return bound->value * 1e-3;
  if (bound->unit == "us") return bound->value;
  return bound->unit == "ms" ? std::optional<double>(bound->value * 1e3) : std::nullopt;
}

std::vector<FioShare> shares_of(const FactRecord& job) {
  std::vector<FioShare> shares;
  const FactRecord* const all = job.find_record("latency_share_pct");
  if (all == nullptr) return shares;
  for (const auto& [name, share] : all->members()) {
    const std::optional<double> bound = bound_us(name);
    if (bound && share.number()) shares.push_back({0, *bound, *share.number()});
  }
  std::sort(shares.begin(), shares.end(), [](const FioShare& a, const FioShare& b) { return a.to_us < b.to_us; });
  return shares;
}

// fio's own bounds: 2, 4, 10, 20, 50, 100, 250, 500, 750 and 1000 of each unit. A report leaves empty ones out.
void set_lower_bounds(std::vector<FioShare>& shares) {
  static constexpr std::array<double, 10> kBounds = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};
  for (FioShare& share : shares) {
    for (double unit : {1e-3, 1.0, 1e3}) {
      for (const double bound : kBounds) {
        if (bound * unit < share.to_us) share.from_us = std::max(share.from_us, bound * unit);
      }
    }
  }
}

bool is_on(const FactRecord& options, std::string_view name) {
  const std::string value = text_or_number(options, name);
  const Fact* const fact = options.find(name);
  // An option without value is on: "direct" : "".
  return fact != nullptr && (value.empty() || value == "1" || value == "true") && !is_false(options, name);
}

void set_options(const FactRecord& options, FioJob& job) {
  job.filename = options.has("filename") ? text_or_number(options, "filename") : text_or_number(options, "directory");
  // fio's default is to go through the page cache.
  job.direct = is_on(options, "direct") || (options.has("buffered") && text_or_number(options, "buffered") == "0") ||
               text_or_number(options, "ioengine") == "io_uring_cmd";
  for (const char* const name : {"rate", "rate_iops", "thinktime"}) {
    const std::string value = text_or_number(options, name);
    job.rate_limited = job.rate_limited || (!value.empty() && value != "0");
  }
  for (const char* const name : {"end_fsync", "fsync_on_close", "fsync", "fdatasync", "sync"}) {
    const std::string value = text_or_number(options, name);
    job.syncs_writes = job.syncs_writes || (options.has(name) && value != "0" && value != "none");
  }
}

FioJob job_of(const FactRecord& from) {
  FioJob job;
  job.name = from.text("name");
  job.line = from.line;
  job.error = static_cast<int>(from.integer("error").value_or(0));
  job.sides = sides_of(from);
  job.shares = shares_of(from);
  job.shares_line = line_of(from, "latency_share_pct");
  set_lower_bounds(job.shares);
  if (const FactRecord* const options = from.find_record("options")) set_options(*options, job);
  if (const FactRecord* const issued = from.find_record("issued")) job.issued_reads = issued->number("total_read");
  if (const FactRecord* const read = from.find_record("read"); read != nullptr && !job.issued_reads) {
    job.issued_reads = read->number("total_ios");
  }
  const FactRecord* const cpu = from.find_record("cpu");
  const std::optional<double> user = cpu != nullptr ? cpu->number("usr_pct") : from.number("usr_cpu_pct");
  const std::optional<double> system = cpu != nullptr ? cpu->number("sys_pct") : from.number("sys_cpu_pct");
  if (user && system) job.cpu_pct = *user + *system;
  return job;
}

FioDisk disk_of(const FactRecord& from) {
  FioDisk disk;
  disk.name = from.text("name");
  disk.line = from.line;
  disk.reads = from.number("read_ios");
  disk.read_merges = from.has("read_merges") ? from.number("read_merges") : from.number("read_merge");
  disk.read_ticks_ms = from.number("read_ticks");
  disk.writes = from.number("write_ios");
  disk.write_ticks_ms = from.number("write_ticks");
  disk.util_pct = from.number("util_pct");
  return disk;
}

void add_up(const FioSide& side, std::vector<FioSide>& totals) {
  const auto found =
      std::find_if(totals.begin(), totals.end(), [&](const FioSide& one) { return one.way == side.way; });
  if (found == totals.end()) {
    totals.push_back(side);
    return;
  }
  found->bytes_per_s += side.bytes_per_s;
  found->iops = found->iops && side.iops ? std::optional<double>(*found->iops + *side.iops) : std::nullopt;
  found->bytes = found->bytes && side.bytes ? std::optional<double>(*found->bytes + *side.bytes) : std::nullopt;
  if (side.runtime_s) found->runtime_s = std::max(found->runtime_s.value_or(0), *side.runtime_s);
}

void set_definition(const FactRecord& facts, FioRun& run) {
  run.rw = facts.text("rw");
  run.engine = facts.text("ioengine");
  run.filename = text_or_number(facts, "filename");
  run.depth = number_or_text(facts, "iodepth");
  run.processes = number_or_text(facts, "numjobs");
  if (const std::string bs = text_or_number(facts, "bs"); !bs.empty()) {
    run.block_bytes = size_in_bytes(bs.substr(0, bs.find_first_of("-,")));
  }
  run.defined = !run.rw.empty();
}

FioRun run_of(const Seen& seen, const FactRecord& facts) {
  FioRun run;
  run.seen = seen;
  run.line = facts.line;
  run.label = facts.text("label");
  set_definition(facts, run);
  for (const FactRecord* const job : records_of(facts, "jobs")) run.jobs.push_back(job_of(*job));
  for (const FactRecord* const disk : records_of(facts, "disks")) run.disks.push_back(disk_of(*disk));
  // JSON gives a process each its own job; with group_reporting the option says how many they are.
  if (run.jobs.size() > 1) run.processes = std::max(run.processes.value_or(1), static_cast<double>(run.jobs.size()));
  for (const FioJob& job : run.jobs) {
    for (const FioSide& side : job.sides) add_up(side, run.totals);
  }
  const bool have_rates =
      std::any_of(run.totals.begin(), run.totals.end(), [](const FioSide& side) { return side.bytes_per_s > 0; });
  if (have_rates) return run;
  // The summaries of the groups are what an excerpt has left.
  std::vector<FioSide> of_groups;
  for (const FactRecord* const group : records_of(facts, "groups")) {
    for (const FioSide& side : sides_of(*group)) add_up(side, of_groups);
  }
  if (!of_groups.empty()) run.totals = std::move(of_groups);
  return run;
}

// JSON documents of the same job one after another are interim reports of one run.
bool are_interim(const std::vector<const FactRecord*>& runs) {
  const auto name = [](const FactRecord* run) {
    const std::vector<const FactRecord*> jobs = records_of(*run, "jobs");
    return jobs.empty() ? std::string_view() : jobs.front()->text("name");
  };
  return std::all_of(runs.begin(), runs.end(), [&](const FactRecord* run) { return name(run) == name(runs.front()); });
}

}  // namespace

std::optional<bool> FioRun::direct() const {
  bool all = true;
  for (const FioJob& job : jobs) {
    if (!job.direct) return std::nullopt;
    all = all && *job.direct;
  }
  return jobs.empty() ? std::nullopt : std::optional<bool>(all);
}

bool FioRun::rate_limited() const {
  return std::any_of(jobs.begin(), jobs.end(), [](const FioJob& job) { return job.rate_limited; });
}

double FioRun::requests_in_flight() const {
  const double each = is_synchronous(engine) ? 1 : depth.value_or(1);
  return std::max(1.0, each) * std::max(1.0, processes.value_or(1));
}

const FioSide* FioRun::total(std::string_view way) const {
  const auto found = std::find_if(totals.begin(), totals.end(), [&](const FioSide& side) { return side.way == way; });
  return found == totals.end() ? nullptr : &*found;
}

std::vector<FioRun> fio_runs(const Observed& observed) {
  std::vector<FioRun> runs;
  for (const Seen& seen : observed.of_kind("fio")) {
    std::vector<const FactRecord*> all = records_of(*seen.facts, "runs");
    const bool json = seen.format->name == "fio --output-format=json";
    if (all.size() < 2 || (json && are_interim(all))) all = {seen.facts};
    for (const FactRecord* const facts : all) runs.push_back(run_of(seen, *facts));
  }
  return runs;
}

bool is_synchronous(std::string_view engine) {
  return engine == "sync" || engine == "psync" || engine == "vsync" || engine == "pvsync" || engine == "pvsync2" ||
         engine == "mmap";
}

}  // namespace tare
