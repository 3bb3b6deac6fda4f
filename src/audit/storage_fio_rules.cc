// What a run of fio did not measure: memory instead of a disk, latency instead of rate, a part of the run.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/fio_findings.h"
#include "audit/storage_rules.h"

namespace tare {
namespace {

bool syncs(const FioRun& run) {
  return std::all_of(run.jobs.begin(), run.jobs.end(), [](const FioJob& job) { return job.syncs_writes; });
}

void page_cache(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const FioRun& run : fio_runs(observed)) {
    const FioSide* const read = run.total("read");
    const FioSide* const side = read != nullptr ? read : run.total("write");
    if (side == nullptr || !is_buffered(run) || (read == nullptr && syncs(run))) continue;
    const std::optional<double> share = disk_share_of_reads(run);
    const bool seen = served_from_memory(run);
    Finding finding = finding_of(rule, FindingSeverity::kInfo, run, side->line,
                                 seen ? fmt::format("{:.0f} % of the reads reached a disk", 100 * *share)
                                      : std::string("direct=0, which is the default"));
    finding.title =
        seen ? fmt::format("{} of reads came from the page cache, not from the disk", disk_rate_text(side->bytes_per_s))
             : fmt::format("{} of buffered {}s: memory is measured with the disk", disk_rate_text(side->bytes_per_s),
                           side->way);
    finding.cause = read != nullptr ? "Without direct=1 a file that was read or laid out before is read from memory."
                                    : "Without direct=1 or a sync at the end writes are done when they are in memory.";
    finding.expected = "direct=1";
    finding.measured = seen ? fmt::format("{:.0f} % of reads at the disk", 100 * *share) : "direct=0";
    finding.confidence = seen ? 0.85 : 0.8;
    finding.fix = {read != nullptr ? "fio --direct=1, on a file larger than memory; or drop the caches first"
                                   : "fio --direct=1, or --end_fsync=1"};
    findings.push_back(std::move(finding));
  }
}

void depth_one(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLargeBlock = 4 * 1048576.0;  // blocks this large keep a disk busy one at a time
  for (const FioRun& run : fio_runs(observed)) {
    if (!run.defined || run.totals.empty() || run.requests_in_flight() > 1) continue;
    if (run.block_bytes.value_or(0) >= kLargeBlock) continue;
    const bool ignored = is_synchronous(run.engine) && run.depth.value_or(1) > 1;
    if (!ignored && !run.depth && run.engine.empty()) continue;
    const FioSide& side = run.totals.front();
    Finding finding = finding_of(
        rule, FindingSeverity::kInfo, run, run.line > 0 ? run.line : side.line,
        fmt::format("ioengine={}, iodepth={}", run.engine.empty() ? "?" : run.engine, run.depth.value_or(1)));
    finding.title = ignored ? fmt::format("iodepth={} has no effect with ioengine={}: one request at a time",
                                          run.depth.value_or(1), run.engine)
                            : fmt::format("one request at a time: {} is what latency allows, not what the disk can",
                                          disk_rate_text(side.bytes_per_s));
    finding.cause =
        "A disk answers many requests side by side; with one in flight the rate is block size over latency.";
    finding.confidence = 0.85;
    finding.fix = {"fio --ioengine=libaio --direct=1 --iodepth=32 --numjobs=4 --group_reporting for what the disk can",
                   "keep depth 1 to see latency"};
    findings.push_back(std::move(finding));
  }
}

void too_short(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLeastSeconds = 10;  // caches of disks, burst credits and turbo end later
  for (const FioRun& run : fio_runs(observed)) {
    for (const FioSide& side : run.totals) {
      if (!side.runtime_s || *side.runtime_s >= kLeastSeconds || side.bytes_per_s <= 0) continue;
      Finding finding = finding_of(rule, FindingSeverity::kInfo, run, side.line,
                                   fmt::format("{:.1f} s of {}s", *side.runtime_s, side.way));
      finding.title = fmt::format("{:.1f} s are too short a run: {} may be a cache or a burst", *side.runtime_s,
                                  disk_rate_text(side.bytes_per_s));
      finding.cause =
          "Caches of disks and controllers, SLC areas of flash and burst credits of volumes last for seconds to "
          "minutes.";
      finding.expected = fmt::format("{} s and more", kLeastSeconds);
      finding.measured = fmt::format("{:.1f} s", *side.runtime_s);
      finding.confidence = 0.8;
      finding.fix = {"fio --time_based --runtime=120 --ramp_time=10, on more data than caches hold"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

// Errors of the medium or the device, by errno: EIO, ENXIO, ENODEV, ENODATA, EILSEQ (verify), EREMOTEIO.
bool is_device_error(int error) {
  static const std::set<int> kErrors = {5, 6, 19, 61, 84, 121};
  return kErrors.contains(error);
}

void run_failed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr int kNoSpace = 28;
  for (const FioRun& run : fio_runs(observed)) {
    for (const FioJob& job : run.jobs) {
      if (job.error == 0) continue;
      const bool device = is_device_error(job.error);
      Finding finding = finding_of(rule, device ? FindingSeverity::kHigh : FindingSeverity::kLow, run, job.line,
                                   fmt::format("{}: err={}", job.name, job.error));
      finding.title = device ? fmt::format("fio stopped with error {}: the device failed a request", job.error)
                             : fmt::format("fio stopped with error {}{}: its numbers are of a part of the run",
                                           job.error, job.error == kNoSpace ? " (no space left)" : "");
      finding.cause =
          device ? "Reads or writes of the disk failed (errno 5 is an I/O error, 84 data that differ from what was "
                   "written): data on it are in danger."
                 : "The run ended early; rates and latencies are not those that were asked for.";
      finding.expected = "err= 0";
      finding.measured = fmt::format("err= {}", job.error);
      finding.confidence = device ? 0.85 : 0.9;
      finding.loss_unknown = device ? "what is kept on this disk is not known" : "";
      finding.fix = device ? std::vector<std::string>{"dmesg | grep -i -e 'I/O error' -e nvme -e blk_update",
                                                      "nvme smart-log or smartctl -a; take the disk out of use"}
                           : std::vector<std::string>{"free space or mend the options, and run it again"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

void in_memory(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const FioRun& run : fio_runs(observed)) {
    std::string where = run.engine == "null" ? "ioengine=null" : "";
    std::int64_t line = run.line;
    for (const FioJob& job : run.jobs) {
      if (!job.filename.starts_with("/dev/shm") && !job.filename.starts_with("/dev/ram") && job.filename != "/dev/null")
        continue;
      where = job.filename;
      line = job.line;
    }
    for (const FioDisk& disk : run.disks) {
      if (!disk.name.starts_with("zram") && !disk.name.starts_with("ram")) continue;
      where = disk.name;
      line = disk.line;
    }
    if (where.empty()) continue;
    Finding finding = finding_of(rule, FindingSeverity::kInfo, run, line, where);
    finding.title = fmt::format("{} is memory: no disk was measured", where);
    finding.cause = "The file lies in memory, or the engine moves no data at all.";
    finding.confidence = 0.95;
    finding.fix = {"fio --directory=/path/on/the/disk --direct=1"};
    findings.push_back(std::move(finding));
  }
}

void cpu_bound(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kBusyPct = 95;
  for (const FioRun& run : fio_runs(observed)) {
    if (is_buffered(run)) continue;
    for (const FioJob& job : run.jobs) {
      if (job.cpu_pct.value_or(0) < kBusyPct || run.totals.empty()) continue;
      Finding finding =
          finding_of(rule, FindingSeverity::kInfo, run, job.line, fmt::format("cpu {:.0f} %", *job.cpu_pct));
      finding.title = fmt::format("fio itself used {:.0f} % of its cores: {} may be the CPU's limit, not the disk's",
                                  *job.cpu_pct, disk_rate_text(run.totals.front().bytes_per_s));
      finding.cause =
          "Each process has one core; when that is full, more disks or requests add nothing. Engines that poll are "
          "always at 100 %.";
      finding.confidence = 0.6;
      finding.fix = {
          "fio --numjobs=N with N up to the cores near the disk, --ioengine=io_uring, --cpus_allowed_policy=split"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

constexpr Rule kRules[] = {
    {"storage.fio-page-cache", "fio measured memory with the disk", "Without direct=1 the page cache answers.",
     "fio(1)", page_cache},
    {"storage.fio-depth-one", "fio with one request in flight", "It measures latency; a disk can do more.", "fio(1)",
     depth_one},
    {"storage.fio-too-short", "fio ran for seconds only", "Caches and bursts last longer.", "fio(1)", too_short},
    {"storage.fio-failed", "fio ended with an error",
     "The device failed a request, or the numbers are of a part of the run.", "fio(1)", run_failed},
    {"storage.fio-in-memory", "fio on memory", "No disk was measured.", "fio(1)", in_memory},
    {"storage.fio-cpu-bound", "fio bound by its CPU", "The disk may do more than was measured.", "fio(1)", cpu_bound},
};

}  // namespace

std::span<const Rule> storage_fio_rules() { return kRules; }

}  // namespace tare
