#include "collective_cases.h"

#include <fmt/format.h>

#include "rule_case.h"

namespace tare {

std::string bench_text(const BenchText& bench) {
  std::string text = fmt::format(
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: {} iters: {} agg iters: 1 "
      "validation: 1 graph: 0\n#\n# Using devices\n",
      bench.warmup, bench.iters);
  int rank = 0;
  for (const std::string& host : bench.hosts) {
    for (int device = 0; device < bench.gpus_per_host; ++device, ++rank) {
      text += fmt::format("#  Rank {:2} Group  0 Pid {} on {} device {:2} [0000:{:02x}:00] {}\n", rank, 4000 + rank,
                          host, device, 0x10 + device, bench.gpu);
    }
  }
  text +=
      "#\n#                                                              out-of-place                       in-place\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
      "#wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";
  const double n = static_cast<double>(rank);
  for (const BenchRow& row : bench.rows) {
    const double alg = row.busbw / (2 * (n - 1) / n), in_alg = row.in_busbw.value_or(row.busbw) / (2 * (n - 1) / n);
    const double time = row.time_us > 0 ? row.time_us : static_cast<double>(row.bytes) / alg / 1e3;
    text += fmt::format("{:12} {:13} float sum -1 {:.2f} {:.2f} {:.2f} {} {:.2f} {:.2f} {:.2f} {}\n", row.bytes,
                        row.bytes / 4, time, alg, row.busbw, row.wrong, time, in_alg, row.in_busbw.value_or(row.busbw),
                        row.wrong);
  }
  return text + fmt::format("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {}\n#\n", 77.125);
}

namespace {

using Severity = FindingSeverity;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

std::string one_node(double busbw, const char* host = "w7", const char* gpu = "NVIDIA A100-SXM4-80GB") {
  return bench_text({.hosts = {host},
                     .gpus_per_host = 8,
                     .gpu = gpu,
                     .rows = {{kGiB / 2, busbw * 0.97}, {kGiB, busbw * 0.99}, {4 * kGiB, busbw}}});
}

std::string pair(const char* a, const char* b, double busbw) {
  return bench_text({.hosts = {a, b}, .gpus_per_host = 8, .gpu = "NVIDIA H200", .rows = {{kGiB, busbw}}});
}

std::string curve(const std::vector<double>& busbw, std::int64_t first = 4 * kMiB) {
  BenchText bench{.hosts = {"w1", "w2"}, .gpus_per_host = 8, .gpu = "NVIDIA H200"};
  for (const double value : busbw) {
    bench.rows.push_back({first, value});
    first *= 2;
  }
  return bench_text(bench);
}

std::string small(double time_us) {
  return bench_text(
      {.hosts = {"w1"},
       .gpus_per_host = 4,
       .gpu = "NVIDIA A100-SXM4-80GB",
       .rows = {{1024, 0.02, time_us}, {2048, 0.04, time_us}, {4096, 0.08, time_us}, {8192, 0.16, time_us}}});
}

std::string old_table(const char* error) {
  return std::string(
             "#                                                       out-of-place                       in-place\n"
             "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  "
             "error\n"
             "#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
             "    67108864      16777216     float     sum   1200.0   55.92   97.87  ") +
         error + "   1201.0   55.88   97.79  " + error + "\n";
}

std::string alone() {
  std::string text;
  for (int i = 0; i < 2; ++i) {
    text +=
        "# nThread 1 nGpus 1 minBytes 64 maxBytes 64 step: 1048576(bytes) warmup iters: 5 iters: 20 validation: 1\n#\n"
        "# Using devices\n";
  }
  return text +
         "#   Rank  0 Pid   77 on w1 device  0 [0x00] NVIDIA A30\n#   Rank  0 Pid   78 on w2 device  0 [0x00] NVIDIA "
         "A30\n";
}

std::string host_copies(const std::vector<double>& values) {
  std::string text = "nvbandwidth Version: v0.8\n";
  std::string head = "  ", row = " 0";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += fmt::format("Device {}: NVIDIA A100-SXM4-80GB (00000000:{:02x}:00)\n", i, 16 + i);
    head += fmt::format("  {:8}", i);
    row += fmt::format("  {:8.2f}", values[i]);
  }
  return text + "\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n" + head +
         "\n" + row + "\n\nSUM host_to_device_memcpy_ce 1.0\n";
}

std::string peer_copies(double all, double of_gpu2) {
  std::string text = "nvbandwidth Version: v0.8\n", head = "  ", rows;
  for (int i = 0; i < 8; ++i) {
    text += fmt::format("Device {}: NVIDIA H100 80GB HBM3 (00000000:{:02x}:00)\n", i, 16 + i);
    head += fmt::format("  {:8}", i);
    rows += fmt::format(" {}", i);
    for (int k = 0; k < 8; ++k) {
      rows += i == k ? fmt::format("  {:>8}", "N/A") : fmt::format("  {:8.2f}", i == 2 || k == 2 ? of_gpu2 : all);
    }
    rows += "\n";
  }
  return text + "\nRunning device_to_device_memcpy_write_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n" +
         head + "\n" + rows + "\nSUM device_to_device_memcpy_write_ce 1.0\n";
}

const char* const kPort =
    "CA 'mlx5_0'\n\tCA type: MT4123\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 200\n"
    "\t\tLink layer: InfiniBand\n";

std::string osu(double megabytes) {
  return fmt::format(
      "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1048576              {:.2f}\n4194304              "
      "{:.2f}\n",
      megabytes * 0.98, megabytes);
}

std::vector<RuleCase> result_cases() {
  const std::string right = one_node(231);
  return {
      {"collective.wrong-values",
       "AtOneSize",
       {{"b.txt", bench_text({.hosts = {"w3"},
                              .gpus_per_host = 4,
                              .gpu = "NVIDIA L40S",
                              .rows = {{kMiB, 3.5}, {2 * kMiB, 5.5, 0, 12}}})}},
       true,
       Severity::kHigh,
       "w3",
       "wrong results at 1 sizes"},
      {"collective.wrong-values", "AllRight", {{"b.txt", right}}, false},
      {"collective.wrong-values", "RoundingIsNot", {{"b.txt", old_table("3e-07")}}, false},
      {"collective.float-error", "OldColumn", {{"b.txt", old_table("3e-07")}}, true, Severity::kInfo, "", "3e-07"},
      {"collective.float-error", "NoDeviation", {{"b.txt", old_table("0e+00")}}, false},
      {"collective.not-multi-node", "TwoRanks0", {{"b.txt", alone()}}, true, Severity::kHigh, "", "2 processes"},
      {"collective.not-multi-node", "OneList", {{"b.txt", right}}, false},
      {"collective.failed",
       "NcclFailure",
       {{"b.txt", right + "w7: Test NCCL failure common.cu:1005 'unhandled system error'\n"}},
       true,
       Severity::kHigh,
       "w7",
       "unhandled system error"},
      {"collective.failed", "Passed", {{"b.txt", right}}, false},
      {"collective.small-only", "UpTo8KiB", {{"b.txt", small(31)}}, true, Severity::kInfo, "w1", "8 KiB"},
      {"collective.small-only", "UpTo4GiB", {{"b.txt", right}}, false},
      {"collective.average",
       "TheTailAlone",
       {{"b.txt", "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 61.5\n"}},
       true,
       Severity::kInfo,
       "",
       "61.5 GB/s is the average"},
      {"collective.average", "WithRows", {{"b.txt", right}}, false},
      {"collective.bits",
       "EarlyScript",
       {{"b.txt",
         "0:\n duration: 0.9000 sec\n algo throughput: 71111111111.0 bps, 71.1111 Gbps\n busbw: 66.6667  Gbps\n"
         "1:\n duration: 0.9000 sec\n algo throughput: 71111111111.0 bps, 71.1111 Gbps\n busbw: 66.6667  Gbps\n"}},
       true,
       Severity::kInfo,
       "all_reduce",
       "8.3 GB/s"},
      {"collective.bits", "BytesAreBytes", {{"b.txt", right}}, false},
      {"collective.few-iterations",
       "NoWarmUp",
       {{"b.txt",
         bench_text({.hosts = {"w3"}, .gpus_per_host = 2, .gpu = "NVIDIA L4", .rows = {{kMiB, 3.5}}, .warmup = 0})}},
       true,
       Severity::kLow,
       "w3",
       "no warm-up"},
      {"collective.few-iterations", "Defaults", {{"b.txt", right}}, false},
      {"collective.mixed-gpus",
       "TwoKinds",
       {{"b.txt",
         "# Using devices\n#  Rank  0 Group  0 Pid 7 on w1 device  0 [0x10] NVIDIA A10\n"
         "#  Rank  1 Group  0 Pid 8 on w1 device  1 [0x11] NVIDIA L4\n# Avg bus bandwidth    : 4.5\n"}},
       true,
       Severity::kLow,
       "w1",
       "NVIDIA A10, NVIDIA L4"},
      {"collective.mixed-gpus", "OneKind", {{"b.txt", right}}, false},
  };
}

std::vector<RuleCase> speed_cases() {
  std::string pairs, even;
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"n1", "n2"}, {"n1", "n3"}, {"n2", "n3"}, {"n1", "n4"}, {"n2", "n4"}, {"n3", "n4"}}) {
    const bool third = std::string_view(a) == "n3" || std::string_view(b) == "n3";
    pairs += pair(a, b, third ? 171 : 352);
    even += pair(a, b, 352);
  }
  return {
      {"collective.slow", "NvlinkNotUsed", {{"b.txt", one_node(19.5)}}, true, Severity::kHigh, "w7", "19.5 GB/s"},
      {"collective.slow", "AThirdMissing", {{"b.txt", one_node(171)}}, true, Severity::kMedium, "w7", "to be expected"},
      {"collective.slow",
       "TwoNodesFarBelowTheirNics",
       {{"k/ibstat.txt", kPort},
        {"k/b.txt", bench_text({.hosts = {"w1", "w2"},
                                .gpus_per_host = 8,
                                .gpu = "NVIDIA A100-SXM4-80GB",
                                .rows = {{kGiB, 7.5}, {2 * kGiB, 7.9}}})}},
       true,
       Severity::kHigh,
       "all_reduce, 16 ranks",
       "7.9 GB/s"},
      {"collective.slow", "Healthy", {{"b.txt", one_node(231)}}, false},
      {"collective.slow", "PcieCardsAreNotJudgedClosely", {{"b.txt", one_node(9.5, "w7", "NVIDIA L40S")}}, false},
      {"collective.slow", "NetworkNotKnown", {{"b.txt", pair("n1", "n2", 181)}}, false},
      {"collective.reached", "Healthy", {{"b.txt", one_node(231)}}, true, Severity::kInfo, "w7", "231.0 GB/s at 4 GiB"},
      {"collective.reached", "SmallOnly", {{"b.txt", small(31)}}, false},
      {"collective.above-line",
       "NvlinkSharp",
       {{"b.txt", one_node(476, "w7", "NVIDIA H100 80GB HBM3")}},
       true,
       Severity::kInfo,
       "w7",
       "476 GB/s"},
      {"collective.above-line", "BelowTheLine", {{"b.txt", one_node(361, "w7", "NVIDIA H100 80GB HBM3")}}, false},
      {"collective.one-gpu-a-node",
       "TwoNodes",
       {{"b.txt",
         bench_text({.hosts = {"w1", "w2"}, .gpus_per_host = 1, .gpu = "NVIDIA H200", .rows = {{kGiB, 47.5}}})}},
       true,
       Severity::kInfo,
       "all_reduce, 2 ranks",
       "47.5 GB/s"},
      {"collective.one-gpu-a-node", "EightEach", {{"b.txt", pair("n1", "n2", 352)}}, false},
      {"collective.slow-node", "InAllItsPairs", {{"p.txt", pairs}}, true, Severity::kHigh, "n3", "all of its 3 pairs"},
      {"collective.slow-node",
       "OneOfFourAlone",
       {{"a.txt", one_node(231, "n1")},
        {"b.txt", one_node(230, "n2")},
        {"c.txt", one_node(196, "n3")},
        {"d.txt", one_node(232, "n4")}},
       true,
       Severity::kMedium,
       "n3",
       "196.0 GB/s where other nodes reach"},
      {"collective.slow-node", "AllPairsAlike", {{"p.txt", even}}, false},
  };
}

std::vector<RuleCase> shape_cases() {
  return {
      {"collective.collapse",
       "LargeSizesFall",
       {{"b.txt", curve({41, 88, 141, 201, 63, 61, 60})}},
       true,
       Severity::kHigh,
       "all_reduce, 16 ranks",
       "from 201.0 to 60.0 GB/s from 64 MiB on"},
      {"collective.collapse",
       "AThirdLess",
       {{"b.txt", curve({41, 88, 141, 201, 135, 131, 129})}},
       true,
       Severity::kMedium,
       "all_reduce, 16 ranks",
       "129.0"},
      {"collective.collapse", "Rising", {{"b.txt", curve({41, 88, 141, 201, 241, 262, 271})}}, false},
      {"collective.collapse", "OnlyTheLastSize", {{"b.txt", curve({41, 88, 141, 201, 199, 198, 120})}}, false},
      {"collective.dip",
       "OneSize",
       {{"b.txt", curve({41, 88, 141, 60, 241, 262, 271})}},
       true,
       Severity::kLow,
       "all_reduce, 16 ranks",
       "60.0 GB/s at 32 MiB"},
      {"collective.dip", "Rising", {{"b.txt", curve({41, 88, 141, 201, 241, 262, 271})}}, false},
      {"collective.small-latency", "OneNode", {{"b.txt", small(731)}}, true, Severity::kLow, "w1", "731 us"},
      {"collective.small-latency", "AsUsual", {{"b.txt", small(31)}}, false},
      {"collective.in-place",
       "HalfOfTheOther",
       {{"b.txt", bench_text({.hosts = {"w3"},
                              .gpus_per_host = 8,
                              .gpu = "NVIDIA A100-SXM4-80GB",
                              .rows = {{kGiB, 229, 0, 0, 111}, {2 * kGiB, 231, 0, 0, 113}}})}},
       true,
       Severity::kLow,
       "w3",
       "231.0 GB/s out of place and 113.0 in place"},
      {"collective.in-place", "Alike", {{"b.txt", one_node(231)}}, false},
      {"collective.repeats",
       "HalfTheSecondTime",
       {{"b.txt", one_node(231) + one_node(151)}},
       true,
       Severity::kLow,
       "w7",
       "151.0 to 231.0"},
      {"collective.repeats", "Alike", {{"b.txt", one_node(231) + one_node(228)}}, false},
  };
}

std::vector<RuleCase> copy_cases() {
  return {
      {"collective.host-copy",
       "OneGpuSlow",
       {{"v.txt", host_copies({24.5, 24.6, 6.2, 24.4})}},
       true,
       Severity::kMedium,
       "GPU2",
       "6.2 GB/s"},
      {"collective.host-copy",
       "AllOnOlderPcie",
       {{"v.txt", host_copies({12.5, 12.6, 12.4, 12.5})}},
       true,
       Severity::kLow,
       "the machine",
       "all GPUs"},
      {"collective.host-copy", "Alike", {{"v.txt", host_copies({24.5, 24.6, 24.3, 24.4})}}, false},
      {"collective.peer-copy",
       "OneGpuSlow",
       {{"v.txt", peer_copies(391.5, 196.5)}},
       true,
       Severity::kMedium,
       "GPU2",
       "196.5 GB/s"},
      {"collective.peer-copy",
       "AllOverPcie",
       {{"v.txt", peer_copies(41.5, 41.5)}},
       true,
       Severity::kMedium,
       "the machine",
       "nvlink4 has 450"},
      {"collective.peer-copy", "Alike", {{"v.txt", peer_copies(391.5, 390.5)}}, false},
      {"collective.copy-failed",
       "Error",
       {{"v.txt",
         "nvbandwidth Version: v0.8\nRunning device_to_device_memcpy_read_ce.\nERROR: peer access is not supported\n"}},
       true,
       Severity::kHigh,
       "the machine",
       "peer access"},
      {"collective.copy-failed",
       "Waived",
       {{"v.txt", "nvbandwidth Version: v0.8\nRunning device_to_device_memcpy_read_ce.\nWaived: \n"}},
       false},
      {"collective.mpi-below",
       "Tcp",
       {{"k/ibstat.txt", kPort}, {"k/osu.txt", osu(4100)}},
       true,
       Severity::kMedium,
       "k",
       "4.1 GB/s"},
      {"collective.mpi-below", "LineRate", {{"k/ibstat.txt", kPort}, {"k/osu.txt", osu(24100)}}, false},
  };
}

}  // namespace

std::span<const RuleCase> collective_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all;
    for (const auto subject : {result_cases, speed_cases, shape_cases, copy_cases}) {
      for (RuleCase& one : subject()) all.push_back(std::move(one));
    }
    return all;
  }();
  return cases;
}

}  // namespace tare
