#include <fmt/format.h>

#include "storage_cases.h"

namespace tare {
namespace {

// A report of fio 3, of one job that reads.
struct Report {
  const char* rw = "read";
  const char* bs = "1024KiB";
  const char* engine = "libaio";
  int depth = 16;
  int processes = 1;
  int error = 0;
  int mib_per_s = 3100;
  int seconds = 60;
  int p50_us = 900, p99_us = 2100;
  int bw_stdev = 40000;     // KiB/s, of mib_per_s * 1024 in the mean
  const char* shares = "";  // of the latency lines
  int issued = 186000;
  int user_pct = 3, system_pct = 12;
  const char* disk = "nvme1n1";
  int disk_ios = 1488000;  // large requests are split
};

std::string text_of(const Report& r) {
  const int mean = r.mib_per_s * 1024;
  return fmt::format(
      "job: (g=0): rw={0}, bs=(R) {1}-{1}, (W) {1}-{1}, (T) {1}-{1}, ioengine={2}, iodepth={3}\n"
      "fio-3.28\nStarting {4} process\n\n"
      "job: (groupid=0, jobs={4}): err={5:2d}: pid=4242: Tue Mar  4 10:00:00 2025\n"
      "  read: IOPS={6}, BW={7}MiB/s ({7}MB/s)({8}MiB/{9}msec)\n"
      "    clat (usec): min=100, max=90000, avg={10}.00, stdev=10.00\n"
      "    clat percentiles (usec):\n"
      "     |  1.00th=[  150], 50.00th=[{10:5d}], 99.00th=[{11:5d}]\n"
      "   bw (  KiB/s): min={12}, max={13}, per=100.00%, avg={13}.00, stdev={14}.00, samples=119\n"
      "{15}"
      "  cpu          : usr={16}.00%, sys={17}.00%, ctx=1000, majf=0, minf=10\n"
      "     issued rwts: total={18},0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\n"
      "Run status group 0 (all jobs):\n"
      "   READ: bw={7}MiB/s ({7}MB/s), {7}MiB/s-{7}MiB/s ({7}MB/s-{7}MB/s), io={8}MiB ({8}MB), run={9}-{9}msec\n\n"
      "Disk stats (read/write):\n"
      "  {19}: ios={20}/0, merge=0/0, ticks=50000/0, in_queue=50000, util=99.00%\n",
      r.rw, r.bs, r.engine, r.depth, r.processes, r.error, r.issued / r.seconds, r.mib_per_s, r.mib_per_s * r.seconds,
      r.seconds * 1000, r.p50_us, r.p99_us, mean / 2, mean, r.bw_stdev, r.shares, r.user_pct, r.system_pct, r.issued,
      r.disk, r.disk_ios);
}

CaseFile file_of(const Report& report) { return {"fio.txt", text_of(report)}; }

Report with_shares(const char* shares, int mib_per_s) {
  Report report;
  report.rw = "randread";
  report.bs = "4096B";
  report.shares = shares;
  report.mib_per_s = mib_per_s;
  report.bw_stdev = 100;
  report.disk = "sdf";
  return report;
}

std::string json_of(const char* options, const char* direction) {
  return fmt::format(
      R"({{"fio version": "fio-3.35", "jobs": [{{"jobname": "j", "groupid": 0, "error": 0, "job options": {{{0}}},
"{1}": {{"io_bytes": 64424509440, "bw_bytes": 1073741824, "bw": 1048576, "iops": 1024, "runtime": 60000, "total_ios": 61440}}}}]}})",
      options, direction);
}

std::string disks_of(int slow_ticks) {
  Report report;
  std::string text = text_of(report);
  text += "  nvme2n1: ios=1480000/0, merge=0/0, ticks=51000/0, in_queue=51000, util=98.00%\n";
  text += fmt::format("  nvme3n1: ios=1490000/0, merge=0/0, ticks={0}/0, in_queue={0}, util=99.90%\n", slow_ticks);
  return text;
}

std::vector<CaseFile> three_nodes(int third_mib_per_s) {
  std::vector<CaseFile> files;
  for (const auto& [node, rate] :
       {std::pair("node1", 2900), std::pair("node2", 3000), std::pair("node3", third_mib_per_s)}) {
    Report report;
    report.mib_per_s = rate;
    files.push_back({node == std::string("node1")   ? "node1/fio.txt"
                     : node == std::string("node2") ? "node2/fio.txt"
                                                    : "node3/fio.txt",
                     text_of(report)});
  }
  for (const char* const path : {"node1/numa.txt", "node2/numa.txt", "node3/numa.txt"}) {
    files.push_back({path, "available: 1 nodes (0)\nnode 0 cpus: 0 1\nnode 0 size: 64000 MB\nnode 0 free: 32000 MB\n"});
  }
  return files;
}

std::string two_runs(int first, int second) {
  Report one, other;
  one.mib_per_s = first;
  other.mib_per_s = second;
  return text_of(one) + "\n" + text_of(other);
}

const char* const kHeld =
    "  lat (usec)   : 500=22.00%, 750=31.00%\n"
    "  lat (msec)   : 2=9.00%, 4=1.00%, 100=37.00%\n";
const char* const kSpread =
    "  lat (usec)   : 750=5.00%\n"
    "  lat (msec)   : 2=15.00%, 4=20.00%, 10=25.00%, 20=20.00%, 50=15.00%\n";

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium, kHigh = FindingSeverity::kHigh;

// A report with one thing changed.
template <typename Change>
CaseFile changed(Change change) {
  Report report;
  change(report);
  return file_of(report);
}

std::vector<RuleCase> measurement_cases() {
  return {
      {"storage.fio-page-cache",
       "FewReachTheDisk",
       {changed([](Report& r) { r.disk_ios = 9000; })},
       true,
       kInfo,
       "nvme1n1",
       "page cache"},
      {"storage.fio-page-cache", "AllReachTheDisk", {file_of({})}, false},
      {"storage.fio-page-cache",
       "BufferedByDefault",
       {{"fio.json", json_of(R"("rw": "read", "bs": "1m", "filename": "/data/f")", "read")}},
       true,
       kInfo,
       "",
       "buffered reads"},
      {"storage.fio-page-cache",
       "Direct",
       {{"fio.json", json_of(R"("rw": "read", "bs": "1m", "direct": "1", "filename": "/data/f")", "read")}},
       false},
      {"storage.fio-page-cache",
       "WritesSyncedAtTheEnd",
       {{"fio.json", json_of(R"("rw": "write", "bs": "1m", "end_fsync": "1")", "write")}},
       false},
      {"storage.fio-depth-one",
       "OneAtATime",
       {changed([](Report& r) { r.depth = 1, r.bs = "4096B", r.mib_per_s = 44; })},
       true,
       kInfo,
       "nvme1n1",
       "one request at a time"},
      {"storage.fio-depth-one",
       "DepthOfASyncEngine",
       {changed([](Report& r) { r.engine = "psync", r.bs = "4096B", r.mib_per_s = 44; })},
       true,
       kInfo,
       "nvme1n1",
       "no effect"},
      {"storage.fio-depth-one", "Sixteen", {file_of({})}, false},
      {"storage.fio-too-short",
       "FourSeconds",
       {changed([](Report& r) { r.seconds = 4; })},
       true,
       kInfo,
       "nvme1n1",
       "4.0 s"},
      {"storage.fio-too-short", "AMinute", {file_of({})}, false},
      {"storage.fio-failed", "IoError", {changed([](Report& r) { r.error = 5; })}, true, kHigh, "nvme1n1", "error 5"},
      {"storage.fio-failed", "NoSpace", {changed([](Report& r) { r.error = 28; })}, true, kLow, "nvme1n1", "no space"},
      {"storage.fio-failed", "Ended", {file_of({})}, false},
      {"storage.fio-in-memory",
       "SharedMemory",
       {{"fio.json", json_of(R"("rw": "read", "bs": "1m", "direct": "0", "filename": "/dev/shm/f")", "read")}},
       true,
       kInfo,
       "",
       "is memory"},
      {"storage.fio-in-memory", "Disk", {file_of({})}, false},
      {"storage.fio-cpu-bound",
       "CoreIsFull",
       {changed([](Report& r) { r.user_pct = 24, r.system_pct = 75; })},
       true,
       kInfo},
      {"storage.fio-cpu-bound", "CoreHasRoom", {file_of({})}, false},
  };
}

std::vector<RuleCase> rate_cases() {
  return {
      {"storage.throttled", "HeldRequests", {file_of(with_shares(kHeld, 31))}, true, kMedium, "sdf", "throttled"},
      {"storage.throttled", "SlowDiskSpreads", {file_of(with_shares(kSpread, 31))}, false},
      {"storage.slow-disk",
       "FifthOfWhatNvmeGives",
       {changed([](Report& r) { r.mib_per_s = 410; })},
       true,
       kMedium,
       "nvme1n1",
       "should give"},
      {"storage.slow-disk", "AsFastAsExpected", {file_of({})}, false},
      {"storage.slow-disk", "SmallBlocks", {changed([](Report& r) { r.bs = "4096B", r.mib_per_s = 410; })}, false},
      {"storage.disk-slower-than-peers",
       "OneOfThree",
       {{"fio.txt", disks_of(160000)}},
       true,
       kMedium,
       "nvme3n1",
       "its 2 peers"},
      {"storage.disk-slower-than-peers", "AllAlike", {{"fio.txt", disks_of(52000)}}, false},
      {"storage.node-slower-than-peers", "Third", {three_nodes(1500)}, true, kMedium, "node3", "the other 2 nodes"},
      {"storage.node-slower-than-peers", "AllAlike", {three_nodes(2800)}, false},
      {"storage.runs-differ", "ThreeTimes", {{"fio.txt", two_runs(1000, 3000)}}, true, kLow, "nvme1n1", "3.0 times"},
      {"storage.runs-differ", "AFewPercent", {{"fio.txt", two_runs(2900, 3000)}}, false},
      {"storage.long-tail",
       "Stalls",
       {changed([](Report& r) { r.p50_us = 400, r.p99_us = 60000; })},
       true,
       kLow,
       "nvme1n1",
       "one read in a hundred"},
      {"storage.long-tail", "Even", {file_of({})}, false},
      {"storage.unsteady",
       "HalfOfTheMean",
       {changed([](Report& r) { r.bw_stdev = 1600000; })},
       true,
       kLow,
       "nvme1n1",
       "varies"},
      {"storage.unsteady", "Steady", {file_of({})}, false},
  };
}

}  // namespace

std::vector<RuleCase> fio_cases() {
  std::vector<RuleCase> cases = measurement_cases();
  const std::vector<RuleCase> rates = rate_cases();
  cases.insert(cases.end(), rates.begin(), rates.end());
  return cases;
}

}  // namespace tare
