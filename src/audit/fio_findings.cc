#include "audit/fio_findings.h"

#include <fmt/format.h>

#include <utility>

#include "audit/storage_rules.h"

namespace tare {
namespace {

// Reads that the disks of the machine did themselves; unknown where none is listed.
std::optional<double> reads_of_disks(const FioRun& run) {
  std::optional<double> reads;
  for (const FioDisk& disk : run.disks) {
    if (disk.reads) reads = reads.value_or(0) + *disk.reads + disk.read_merges.value_or(0);
  }
  return reads;
}

}  // namespace

std::string disk_rate_text(double bytes_per_s) {
  return bytes_per_s >= 1e9 ? fmt::format("{:.2f} GB/s", bytes_per_s / 1e9)
                            : fmt::format("{:.0f} MB/s", bytes_per_s / 1e6);
}

std::string run_name(const FioRun& run) {
  if (!run.label.empty()) {  // "// Linux 6.1:"
    const std::size_t first = run.label.find_first_not_of("/#* "), last = run.label.find_last_not_of(": ");
    if (first != std::string::npos && last >= first) return run.label.substr(first, last - first + 1);
  }
  if (!run.jobs.empty() && !run.jobs.front().name.empty()) return run.jobs.front().name;
  return "fio";
}

std::string disk_of(const FioRun& run) {
  if (run.filename.starts_with("/dev/") && run.filename.find(':') == std::string::npos) {
    return std::string(short_disk_name(run.filename));
  }
  return run.disks.size() == 1 ? run.disks.front().name : std::string();
}

Finding finding_of(const Rule& rule, FindingSeverity severity, const FioRun& run, std::int64_t line, std::string text) {
  const std::string disk = disk_of(run);
  Finding finding = make_finding(rule, severity, {"disk", disk.empty() ? run_name(run) : disk, run.seen.node}, "");
  finding.evidence.push_back(evidence_of(run.seen, line, std::move(text)));
  return finding;
}

std::optional<double> disk_share_of_reads(const FioRun& run) {
  double issued = 0;
  for (const FioJob& job : run.jobs) issued += job.issued_reads.value_or(0);
  const std::optional<double> reads = reads_of_disks(run);
  return reads && issued > 0 ? std::optional<double>(*reads / issued) : std::nullopt;
}

bool served_from_memory(const FioRun& run) {
  constexpr double kMostReachTheDisk = 0.7;  // large requests are split, so a disk counts more of them, not fewer
  const std::optional<double> share = disk_share_of_reads(run);
  return run.total("read") != nullptr && share && *share < kMostReachTheDisk && run.direct() != true;
}

bool is_buffered(const FioRun& run) { return run.direct() == false || served_from_memory(run); }

}  // namespace tare
