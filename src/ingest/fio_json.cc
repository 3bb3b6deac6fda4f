#include "ingest/fio_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "ingest/fio_values.h"
#include "ingest/json_tree.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kDocumentsKept = 500;
constexpr std::size_t kMembersKept = 500;  // of a record whose names the input chooses

std::string snake(std::string_view name) {
  std::string out = to_lower(trim(name));
  for (char& c : out) {
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) c = '_';
  }
  return out;
}

void copy(const FactRecord& from, std::string_view name, FactRecord& into, std::string_view as) {
  if (const Fact* const fact = from.find(name); fact != nullptr && !fact->as_record() && !fact->as_list()) {
    into.set(as, *fact);
  }
}

// {"min": 1, "mean": 2, "percentile": {"99.000000": 3}, "bins": {…}} with the unit in the names.
FactRecord latency(const FactRecord& from, const std::string& unit) {
  FactRecord into(from.line);
  copy(from, "min", into, "min_" + unit);
  copy(from, "max", into, "max_" + unit);
  copy(from, "mean", into, "avg_" + unit);
  copy(from, "stddev", into, "stdev_" + unit);
  copy(from, "N", into, "samples");
  const FactRecord* percentiles = from.find_record("percentile");
  if (percentiles == nullptr) percentiles = from.find_record("percentiles");
  if (percentiles != nullptr && !percentiles->empty()) {
    FactRecord named(percentiles->line);
    for (const auto& [name, value] : percentiles->members()) named.add(percentile_name(name), value);
    into.set("percentiles_" + unit, Fact::of(std::move(named)));
  }
  if (const FactRecord* const bins = from.find_record("bins")) {
    into.set("bin_count", static_cast<std::int64_t>(bins->members().size()), bins->line);
  }
  return into;
}

FactRecord direction(const FactRecord& from) {
  FactRecord into(from.line);
  copy(from, "iops", into, "iops");
  copy(from, "bw", into, "bw_kib_per_s");
  copy(from, "bw_bytes", into, "bw_bytes_per_s");
  // fio 2 wrote KiB under the name of bytes.
  copy(from, "io_bytes", into, from.has("io_kbytes") || from.has("bw_bytes") ? "io_bytes" : "io_kib");
  copy(from, "io_kbytes", into, "io_kib");
  copy(from, "runtime", into, "runtime_ms");
  for (const char* const name : {"total_ios", "short_ios", "drop_ios"}) copy(from, name, into, name);
  for (const char* const name : {"slat", "clat", "lat"}) {
    for (const auto& [suffix, unit] : {std::pair("_ns", "ns"), std::pair("", "us"), std::pair("_us", "us")}) {
      const FactRecord* const found = from.find_record(std::string(name) + suffix);
      if (found != nullptr) into.set(name, Fact::of(latency(*found, unit)));
    }
  }
  for (const char* const name : {"min", "max", "mean", "dev"}) {
    copy(from, std::string("bw_") + name, into, std::string("bw_") + name + "_kib_per_s");
    copy(from, std::string("iops_") + name, into, std::string("iops_") + name);
  }
  copy(from, "bw_agg", into, "bw_share_pct");
  for (const char* const name : {"bw_samples", "iops_stddev", "iops_samples"}) copy(from, name, into, name);
  return into;
}

bool moved_data(const FactRecord& direction) {
  return direction.number("total_ios").value_or(0) > 0 || direction.number("io_bytes").value_or(0) > 0 ||
         direction.number("io_kib").value_or(0) > 0 || direction.number("iops").value_or(0) > 0;
}

void add_shares(const FactRecord& from, std::string_view name, FactRecord& into, const std::string& unit) {
  const FactRecord* const shares = from.find_record(name);
  if (shares == nullptr) return;
  FactRecord& all = into.record("latency_share_pct", shares->line);
  for (const auto& [bound, share] : shares->members()) {
    if (!share.number() || all.members().size() >= kMembersKept) continue;
    const bool above = bound.starts_with(">=");
    all.set(fmt::format("{}_{}{}", above ? "ge" : "le", above ? bound.substr(2) : bound, unit), share);
  }
}

void add_options(const FactRecord& from, FactRecord& into) {
  for (const auto& [name, value] : from.members()) {
    if (into.members().size() >= kMembersKept) return;
    if (!value.as_record() && !value.as_list()) into.set(snake(name), value);
  }
}

FactRecord job_facts(const FactRecord& from, const FactRecord* global) {
  FactRecord job(from.line);
  copy(from, "jobname", job, "name");
  copy(from, "groupid", job, "group");
  copy(from, "error", job, "error");
  copy(from, "elapsed", job, "elapsed_s");
  copy(from, "job_runtime", job, "job_runtime_ms");
  FactRecord options(from.line);
  if (global != nullptr) add_options(*global, options);
  if (const FactRecord* const own = from.find_record("job options")) add_options(*own, options);
  if (!options.empty()) job.set("options", Fact::of(std::move(options)));
  for (const char* const name : {"read", "write", "trim", "mixed"}) {
    const FactRecord* const found = from.find_record(name);
    if (found == nullptr) continue;
    FactRecord facts = direction(*found);
    if (moved_data(facts)) job.set(name, Fact::of(std::move(facts)));
  }
  copy(from, "usr_cpu", job, "usr_cpu_pct");
  copy(from, "sys_cpu", job, "sys_cpu_pct");
  for (const char* const name : {"ctx", "majf", "minf"}) copy(from, name, job, name);
  if (const FactRecord* const depths = from.find_record("iodepth_level")) {
    job.set("io_depths_pct", Fact::of(*depths));
  }
  for (const auto& [name, unit] :
       {std::pair("latency_ns", "ns"), std::pair("latency_us", "us"), std::pair("latency_ms", "ms")}) {
    add_shares(from, name, job, unit);
  }
  copy(from, "latency_depth", job, "latency_depth");
  return job;
}

FactRecord disk_facts(const FactRecord& from) {
  FactRecord disk(from.line);
  for (const auto& [name, value] : from.members()) {
    if (value.as_record() || value.as_list() || disk.members().size() >= kMembersKept) continue;
    disk.set(name == "util" ? "util_pct" : name == "aggr_util" ? "aggr_util_pct" : snake(name), value);
  }
  return disk;
}

// What is asked first, of the first job: its options as fio was given them, texts.
void add_first_job(FactRecord& facts) {
  const std::vector<Fact>* const jobs = facts.find_list("jobs");
  if (jobs == nullptr || jobs->empty()) return;
  const FactRecord job = *jobs->front().as_record();
  if (const FactRecord* const options = job.find_record("options")) {
    for (const char* const name : {"rw", "bs", "iodepth", "numjobs", "filename", "ioengine", "direct", "size"}) {
      if (const Fact* const option = options->find(name)) facts.set_once(name, *option);
    }
    if (const Fact* const option = options->find("readwrite")) facts.set_once("rw", *option);
    if (const Fact* const option = options->find("blocksize")) facts.set_once("bs", *option);
  }
  for (const char* const way : {"read", "write", "trim"}) {
    double iops = 0, rate = 0;
    bool any = false;
    for (const Fact& fact : *facts.find_list("jobs")) {
      const FactRecord* const one = fact.as_record()->find_record(way);
      if (one == nullptr) continue;
      any = true;
      iops += one->number("iops").value_or(0);
      rate += one->number("bw_kib_per_s").value_or(0);
    }
    if (!any) continue;
    facts.set(std::string(way) + "_iops", iops);
    facts.set(std::string(way) + "_bw_kib_per_s", rate);
  }
}

FactRecord run_facts(const FactRecord& from) {
  FactRecord facts(from.line);
  copy(from, "fio version", facts, "fio_version");
  for (const char* const name : {"timestamp", "timestamp_ms", "time"}) copy(from, name, facts, name);
  const FactRecord* const global = from.find_record("global options");
  if (global != nullptr && !global->empty()) {
    FactRecord options(global->line);
    add_options(*global, options);
    facts.set("global_options", Fact::of(std::move(options)));
  }
  for (const char* const list : {"jobs", "client_stats"}) {
    const std::vector<Fact>* const jobs = from.find_list(list);
    for (std::size_t i = 0; jobs != nullptr && i < jobs->size(); ++i) {
      if (const FactRecord* const job = (*jobs)[i].as_record(); job != nullptr && !job->empty()) {
        facts.list(list).push_back(Fact::of(job_facts(*job, global)));
      }
    }
  }
  const std::vector<Fact>* const disks = from.find_list("disk_util");
  for (std::size_t i = 0; disks != nullptr && i < disks->size(); ++i) {
    if (const FactRecord* const disk = (*disks)[i].as_record(); disk != nullptr && !disk->empty()) {
      facts.list("disks").push_back(Fact::of(disk_facts(*disk)));
    }
  }
  add_first_job(facts);
  return facts;
}

bool is_fio(const FactRecord& root) {
  return root.has("fio version") || (root.has("jobs") && (root.has("disk_util") || root.has("global options"))) ||
         root.has("client_stats");
}

}  // namespace

int recognise_fio_json(const Head& head) {
  if (contains(head.text, "\"fio version\"")) return 97;
  if (contains(head.text, "\"jobname\"") &&
      (contains(head.text, "\"job options\"") || contains(head.text, "\"iops\""))) {
    return 90;
  }
  return confidence::kNone;
}

void read_fio_json(std::string_view text, Reading& reading) {
  std::vector<Fact> runs;
  std::int64_t line = 1;
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    line += std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(std::min(open, text.size())), '\n');
    if (open == std::string_view::npos) break;
    const JsonTree tree = read_json_tree(text.substr(open), line);
    const FactRecord* const root = tree.root.as_record();
    const std::size_t used = std::max<std::size_t>(tree.used, 1);
    if (root != nullptr && is_fio(*root)) {
      ++count;
      FactRecord facts = run_facts(*root);
      if (!tree.complete) {
        facts.set("complete", false);
        reading.cannot_use(tree.fault_line, "", "the JSON is damaged: " + tree.fault);
      }
      if (runs.size() < kDocumentsKept) runs.push_back(Fact::of(std::move(facts)));
    } else if (root != nullptr && root->has("jobname") && root->has("read")) {
      // The document's beginning is missing, or it is damaged before this job.
      if (runs.empty()) runs.push_back(Fact::of(FactRecord(line))), ++count;
      std::get<FactRecord>(runs.back().value).list("jobs").push_back(Fact::of(job_facts(*root, nullptr)));
      std::get<FactRecord>(runs.back().value).set("complete", false);
    }
    line += std::count(text.begin() + static_cast<std::ptrdiff_t>(open),
                       text.begin() + static_cast<std::ptrdiff_t>(open + used), '\n');
    at = open + used;
  }
  if (runs.empty()) return;
  reading.facts = *runs.back().as_record();
  if (count > 1) {
    reading.note(std::to_string(count) +
                 " fio documents: the facts outside 'runs' are those of the last, which is the result where they are "
                 "the interim reports of one run (--status-interval)");
    reading.facts.list("runs") = std::move(runs);
  }
  reading.facts.set("run_count", count);
}

}  // namespace tare
