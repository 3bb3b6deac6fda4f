#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audit/collective_rules.h"
#include "audit/collective_run_seen.h"
#include "audit/loss.h"

namespace tare {
namespace {

constexpr double kMiB = 1024.0 * 1024;
// A healthy curve rises and stays within a tenth of its best.
constexpr double kCollapse = 0.5;
constexpr double kDecline = 0.7;
constexpr double kDip = 0.5;
constexpr double kSidesApart = 0.3;
constexpr double kRepeatsApart = 0.2;
// Small collectives take 13 to 90 us within a node, 30 to 150 us between nodes with RDMA.
constexpr double kSlowInNodeUs = 200;
constexpr double kSlowUs = 500;

void collapse(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const SizeResult* const peak = run.peak();
    if (peak == nullptr || run.alone || peak->bytes < kMiB / 4 || peak->busbw_gb_per_s < 1) continue;
    std::vector<const SizeResult*> after;
    for (const SizeResult& size : run.sizes) {
      if (size.bytes > peak->bytes) after.push_back(&size);
    }
    if (after.size() < 2) continue;
    const double last = after.back()->busbw_gb_per_s;
    const double best = (*std::max_element(after.begin(), after.end(), [](const SizeResult* a, const SizeResult* b) {
                          return a->busbw_gb_per_s < b->busbw_gb_per_s;
                        }))->busbw_gb_per_s;
    const bool collapsed = last < kCollapse * peak->busbw_gb_per_s;
    // The fall must hold: the last sizes, not one of them.
    const double before_last = after[after.size() - 2]->busbw_gb_per_s;
    if (last >= kDecline * peak->busbw_gb_per_s || before_last >= 0.8 * peak->busbw_gb_per_s) continue;
    const auto first = std::find_if(after.begin(), after.end(), [&](const SizeResult* size) {
      return size->busbw_gb_per_s < kDecline * peak->busbw_gb_per_s;
    });
    // Transfers through the host's memory are faster while they fit its caches.
    const bool cached = run.is_one_node() && (run.gpu == nullptr || run.gpu->link_domain <= 2);
    const FindingSeverity severity = cached      ? FindingSeverity::kLow
                                     : collapsed ? FindingSeverity::kHigh
                                                 : FindingSeverity::kMedium;
    Finding finding = make_finding(rule, severity, subject_of(run),
                                   fmt::format("{}: bandwidth falls from {:.1f} to {:.1f} GB/s from {} on",
                                               words_of(run), peak->busbw_gb_per_s, last, size_words((*first)->bytes)));
    finding.cause =
        run.is_one_node()
            ? "Large messages should be the fastest: clocks or power that drop under load, a staging buffer, or "
              "another "
              "process."
            : "Large messages should be the fastest: congestion or loss on paths between switches (PFC, ECN, routing) "
              "once "
              "the buffers are full. If only nodes of different racks show it, it is the fabric and not the hosts.";
    finding.expected = fmt::format("{:.1f} GB/s and more", peak->busbw_gb_per_s);
    finding.measured = fmt::format("{:.1f} GB/s at {}", last, size_words(after.back()->bytes));
    finding.confidence = best < kDecline * peak->busbw_gb_per_s ? 0.9 : 0.7;
    finding.evidence.push_back(evidence_of(
        *run.seen, peak->line, fmt::format("{}: {:.2f} GB/s", size_words(peak->bytes), peak->busbw_gb_per_s)));
    finding.evidence.push_back(
        evidence_of(*run.seen, (*first)->line,
                    fmt::format("{}: {:.2f} GB/s", size_words((*first)->bytes), (*first)->busbw_gb_per_s)));
    finding.fix = {
        "repeat with nodes of one leaf switch, then across racks: all_reduce_perf -b 16M -e 4G -f 2",
        "switch counters of discards, pauses and ECN while it runs; adaptive routing, PFC and ECN on every hop",
        "several flows a connection: NCCL_IB_QPS_PER_CONNECTION=4, NCCL_IB_SPLIT_DATA_ON_QPS=0"};
    const AuditSetting& setting = observed.setting();
    if (run.ranks) {
      finding.loss =
          slower_communication(run.is_one_node() ? setting.intra_node_comm_share : setting.inter_node_comm_share,
                               peak->busbw_gb_per_s / std::max(last, 0.01), "best over last bus bandwidth", *run.ranks,
                               "ranks of the benchmark");
    } else {
      finding.loss_unknown = "how many ranks took part is not known";
    }
    finding.consequences = {"collective.slow", "collective.dip", "collective.reached", "collective.one-gpu-a-node"};
    findings.push_back(std::move(finding));
  }
}

// A single size far below both neighbours.
void dip(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    if (run.alone) continue;
    std::vector<const SizeResult*> dips;
    for (std::size_t i = 1; i + 1 < run.sizes.size(); ++i) {
      const SizeResult& size = run.sizes[i];
      const double least = std::min(run.sizes[i - 1].busbw_gb_per_s, run.sizes[i + 1].busbw_gb_per_s);
      if (size.bytes >= 4 * kMiB && least >= 1 && size.busbw_gb_per_s < kDip * least) dips.push_back(&size);
    }
    if (dips.empty()) continue;
    const SizeResult& first = *dips.front();
    const bool both = first.out_busbw && first.in_busbw;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, subject_of(run),
                     fmt::format("{}: {:.1f} GB/s at {}, half of its neighbours or less{}", words_of(run),
                                 first.busbw_gb_per_s, size_words(first.bytes),
                                 dips.size() > 1 ? fmt::format(", and {} other sizes", dips.size() - 1) : ""));
    finding.cause = both ? "Both sides show it: NCCL switches algorithm or protocol at that size, and chose badly."
                         : "A disturbance, or NCCL switched algorithm at that size.";
    finding.confidence = 0.6;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, dips.size()); ++i) {
      finding.evidence.push_back(
          evidence_of(*run.seen, dips[i]->line,
                      fmt::format("{}: {:.2f} GB/s", size_words(dips[i]->bytes), dips[i]->busbw_gb_per_s)));
    }
    finding.fix = {"repeat; if it stays: NCCL_DEBUG_SUBSYS=TUNING names the choice, compare NCCL_ALGO=Ring and Tree",
                   "a tuner plugin or a newer NCCL may choose better"};
    finding.loss_unknown = "whether jobs send messages of that size is not known";
    findings.push_back(std::move(finding));
  }
}

// The first 1 KiB takes far longer than it should.
void small_latency(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    if (!run.is_nccl() || run.alone) continue;
    std::vector<double> times;
    std::int64_t line = 0;
    for (const SizeResult& size : run.sizes) {
      if (size.bytes > 16384 || size.time_us <= 0) continue;
      if (line == 0) line = size.line;
      times.push_back(size.time_us);
    }
    if (times.size() < 3) continue;
    std::sort(times.begin(), times.end());
    const double usual = times[times.size() / 2];
    const double ranks = run.ranks.value_or(0);
    const double bound =
        run.is_one_node() ? kSlowInNodeUs : kSlowUs * std::max(1.0, std::log2(std::max(ranks, 2.0)) / 8);
    if (usual < bound) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, subject_of(run),
                                   fmt::format("{}: {:.0f} us for small messages", words_of(run), usual));
    finding.cause = run.is_one_node()
                        ? "Processes wait for the CPU: power saving, a debug build, several processes on a core."
                        : "TCP instead of RDMA, a far switch, sleeping CPU cores, or one slow rank that all wait for.";
    finding.expected = run.is_one_node() ? "13 to 90 us" : "30 to 150 us";
    finding.measured = fmt::format("{:.0f} us", usual);
    finding.confidence = 0.65;
    finding.evidence.push_back(evidence_of(*run.seen, line, fmt::format("{:.0f} us", usual)));
    finding.fix = {"CPU governor performance, no deep C-states; cores bound to ranks (numactl, --bind-to core)",
                   "NCCL_DEBUG=INFO: which network is in use?"};
    finding.loss_unknown = "how many small messages a step has is not known";
    findings.push_back(std::move(finding));
  }
}

void sides_apart(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    if (run.alone || run.sizes.empty()) continue;
    std::vector<const SizeResult*> apart;
    std::size_t large = 0;
    for (const SizeResult& size : run.sizes) {
      if (size.bytes < 64 * kMiB || !size.out_busbw || !size.in_busbw) continue;
      ++large;
      const double most = std::max(*size.out_busbw, *size.in_busbw), least = std::min(*size.out_busbw, *size.in_busbw);
      if (most >= 1 && least < (1 - kSidesApart) * most) apart.push_back(&size);
    }
    if (apart.size() < 2 || apart.size() * 2 < large) continue;
    const SizeResult& last = *apart.back();
    Finding finding = make_finding(rule, FindingSeverity::kLow, subject_of(run),
                                   fmt::format("{}: {:.1f} GB/s out of place and {:.1f} in place at {}", words_of(run),
                                               *last.out_busbw, *last.in_busbw, size_words(last.bytes)));
    finding.cause =
        "Both should agree within some percent: the run was disturbed, or one side lacks registered buffers.";
    finding.confidence = 0.6;
    finding.evidence.push_back(evidence_of(*run.seen, last.line, "out of place and in place differ"));
    finding.fix = {"repeat on idle nodes with -n 50; if it stays, compare without registration (-R 0)"};
    finding.loss_unknown = "which of both a job uses is not known";
    findings.push_back(std::move(finding));
  }
}

// Repeats of one test that do not agree.
void repeats_apart(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::vector<BenchRun> runs = bench_runs(observed);
  std::map<std::string, std::vector<const BenchRun*>> alike;
  for (const BenchRun& run : runs) {
    // Without a list of devices two tables may be of any two machines.
    if (run.alone || run.hosts.empty() || run.peak() == nullptr || run.peak()->bytes < 32 * kMiB) continue;
    std::string hosts;
    for (const std::string& host : run.hosts) hosts += host + ' ';
    alike[fmt::format("{}/{}/{}/{:g}/{:g}/{}", run.seen->file->path, run.collective, hosts, run.ranks.value_or(0),
                      run.sizes.back().bytes, run.sizes.size())]
        .push_back(&run);
  }
  for (const auto& [key, group] : alike) {
    if (group.size() < 2) continue;
    const auto [least, most] = std::minmax_element(
        group.begin(), group.end(),
        [](const BenchRun* a, const BenchRun* b) { return a->peak()->busbw_gb_per_s < b->peak()->busbw_gb_per_s; });
    const double low = (*least)->peak()->busbw_gb_per_s, high = (*most)->peak()->busbw_gb_per_s;
    if (low >= (1 - kRepeatsApart) * high) continue;
    Finding finding = make_finding(
        rule, FindingSeverity::kLow, subject_of(**least),
        fmt::format("{}: {} repeats reach {:.1f} to {:.1f} GB/s", words_of(**least), group.size(), low, high));
    finding.cause =
        "Nothing changed by the header: other traffic, throttling, or settings of the runs that the file does "
        "not show.";
    finding.confidence = 0.5;
    finding.evidence.push_back(evidence_of(*(*least)->seen, (*least)->peak()->line, fmt::format("{:.1f} GB/s", low)));
    finding.evidence.push_back(evidence_of(*(*most)->seen, (*most)->peak()->line, fmt::format("{:.1f} GB/s", high)));
    finding.fix = {"repeat with the fabric idle; watch clocks (nvidia-smi dmon) and switch counters",
                   "runs with different settings belong in files of their own"};
    finding.loss_unknown = "which of them a job sees is not known";
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"collective.collapse", "Bandwidth that falls with size",
     "Large messages slower than middle ones: congestion or routing between racks, or throttling within a node.",
     "nccl#1453", collapse},
    {"collective.dip", "One size slower than its neighbours", "A switch of algorithm or a disturbance.",
     "nccl-tests doc/PERFORMANCE.md", dip},
    {"collective.small-latency", "Small messages take too long", "Latency far above that of the fabric.",
     "nccl-tests doc/PERFORMANCE.md", small_latency},
    {"collective.in-place", "In place and out of place differ", "They move the same bytes and should agree.",
     "nccl-tests doc/PERFORMANCE.md", sides_apart},
    {"collective.repeats", "Repeats that do not agree", "A measurement that is not repeatable judges nothing.",
     "nccl-tests doc/PERFORMANCE.md", repeats_apart},
};

}  // namespace

std::span<const Rule> collective_shape_rules() { return kRules; }

}  // namespace tare
