// What the rules over fio's runs share.
#pragma once

#include <optional>
#include <string>

#include "audit/fio_runs.h"
#include "audit/rule.h"

namespace tare {

std::string disk_rate_text(double bytes_per_s);  // "3.20 GB/s", "17 MB/s"
std::string run_name(const FioRun& run);         // its label or its job's name
// The disk that the run was on: the one that was named, else the only one whose counters moved; empty where unknown.
std::string disk_of(const FioRun& run);
// A finding about the run's disk, or about the run where no disk is known.
Finding finding_of(const Rule& rule, FindingSeverity severity, const FioRun& run, std::int64_t line, std::string text);

// Of the reads that fio issued, how many reached a disk; unknown where no disk is listed.
std::optional<double> disk_share_of_reads(const FioRun& run);
bool served_from_memory(const FioRun& run);
// Through the page cache, as far as options or counters show it.
bool is_buffered(const FioRun& run);

}  // namespace tare
