#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/collective_expectation.h"
#include "audit/collective_rules.h"
#include "audit/collective_run_seen.h"
#include "audit/loss.h"
#include "base/text.h"

namespace tare {
namespace {

// Large enough that the rate counts and not the start: below, a healthy A100 node has 155 of its 230 GB/s.
constexpr double kLargeBytes = 1024.0 * 1024 * 1024;
constexpr double kMiddleBytes = 32.0 * 1024 * 1024;
// Shares of the expectation. Healthy single nodes reach 0.79 (alltoall) to 1.12 (all-reduce with NVLS) of it; at middle
// sizes 0.62 and more.
constexpr double kWellShare = 0.7;
// Between nodes paths collide, most of all those of alltoall.
constexpr double kWellShareBetween = 0.6;
constexpr double kWellShareBetweenAll = 0.5;
constexpr double kWellShareMiddle = 0.45;
constexpr double kBadShare = 0.4;
// Where it is a guess how GPUs or nodes are joined only far less says something.
constexpr double kGuessShare = 0.3;
constexpr double kGuessHolds = 1.3;
// What one GPU and its NIC move at most: PCIe 5.0 x16, or an 800 Gb/s NIC on PCIe 6.0.
constexpr double kOneGpuGbPerS = 100;
// NVLink SHARP and trees move less than the ring that bus bandwidth is defined by.
constexpr double kAboveLine = 1.02;
// Nodes of one kind agree within some percent on the same test.
constexpr double kSlowNode = 0.9;
constexpr double kSlowPair = 0.85;

struct Judged {
  const SizeResult* result = nullptr;
  std::optional<BusExpectation> expected;
  double share = 0;
};

Judged judge(const Observed& observed, const BenchRun& run) {
  Judged judged;
  judged.result = run.peak();
  if (judged.result == nullptr || run.alone) return judged;
  judged.expected = expected_busbw(observed, run, judged.result->bytes);
  if (judged.expected) judged.share = judged.result->busbw_gb_per_s / judged.expected->busbw_gb_per_s;
  return judged;
}

double well_share(const BenchRun& run, const Judged& judged) {
  if (!judged.expected->sure) return kGuessShare;
  if (judged.result->bytes < kLargeBytes) return kWellShareMiddle;
  if (!judged.expected->between_nodes) return kWellShare;
  return run.judged_as == "alltoall" || run.judged_as == "all_gather" ? kWellShareBetweenAll : kWellShareBetween;
}

bool is_slow(const BenchRun& run, const Judged& judged) {
  return judged.expected && judged.result->bytes >= kMiddleBytes && judged.share < well_share(run, judged);
}

// A guess that is far off does not hold: containers of one node with a host name each, cards with bridges.
bool holds(const Judged& judged) {
  if (!judged.expected) return false;
  return judged.expected->sure || (judged.share >= kWellShare && judged.share <= kGuessHolds);
}

FindingSeverity severity_of(const Judged& judged) {
  if (!judged.expected->sure) return judged.expected->between_nodes ? FindingSeverity::kMedium : FindingSeverity::kLow;
  return judged.share < kBadShare ? FindingSeverity::kHigh : FindingSeverity::kMedium;
}

std::vector<std::string> fix_slow(bool between_nodes) {
  if (between_nodes) {
    return {"NCCL_DEBUG=INFO: NET/IB and GDRDMA in the channels? then all NICs: as many as rails",
            "ib_write_bw between two nodes on each rail; then all_reduce_perf on pairs of nodes to find the slow one",
            "PCIe: ACS off, NIC and GPU under one switch, MaxReadReq 4096; a VM: NCCL_TOPO_FILE"};
  }
  return {"nvidia-smi nvlink -s and nvidia-smi topo -m: all links up? systemctl status nvidia-fabricmanager",
          "NCCL_DEBUG=INFO: P2P between all GPUs, no SHM; unset NCCL_P2P_DISABLE, NCCL_ALGO, NCCL_PROTO",
          "idle GPUs: nvidia-smi must show no other process; clocks: nvidia-smi -q -d PERFORMANCE"};
}

void slow(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const Judged judged = judge(observed, run);
    if (!is_slow(run, judged)) continue;
    const SizeResult& result = *judged.result;
    const BusExpectation& expected = *judged.expected;
    Finding finding = make_finding(
        rule, severity_of(judged), subject_of(run),
        fmt::format("{}: {:.1f} GB/s at {}, {:.0f} are to be expected ({:.0f} %)", words_of(run), result.busbw_gb_per_s,
                    size_words(result.bytes), expected.busbw_gb_per_s, 100 * judged.share));
    finding.cause = expected.sure ? fmt::format("Expected by {}. ", expected.source)
                                  : fmt::format("How these nodes are joined is not known; {}. ", expected.source);
    finding.cause +=
        expected.between_nodes
            ? "Usual causes: TCP instead of RDMA, no GPUDirect, rails that are down or not used, ACS, congestion."
            : "Usual causes: NVLinks down, P2P off, shared memory, a throttled or busy GPU.";
    finding.expected = fmt::format("{:.0f} GB/s", expected.busbw_gb_per_s);
    finding.measured = fmt::format("{:.1f} GB/s", result.busbw_gb_per_s);
    finding.confidence = expected.confidence;
    finding.evidence.push_back(
        evidence_of(*run.seen, result.line,
                    fmt::format("busbw {:.2f} GB/s at {}", result.busbw_gb_per_s, size_words(result.bytes))));
    finding.fix = fix_slow(expected.between_nodes);
    if (run.hosts.size() > 1) finding.nodes = run.hosts;
    const AuditSetting& setting = observed.setting();
    const FormulaInput& share = expected.between_nodes ? setting.inter_node_comm_share : setting.intra_node_comm_share;
    if (expected.sure) {
      finding.loss = slower_communication(share, 1 / judged.share, "expected over measured bus bandwidth", *run.ranks,
                                          "ranks of the benchmark");
    } else {
      finding.loss_unknown = "what these nodes can do is not certain";
    }
    finding.consequences = {"collective.in-place", "collective.small-latency"};
    findings.push_back(std::move(finding));
  }
}

// What was reached, said once a run, with the share of what can be expected where that is known.
void reached(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const Judged judged = judge(observed, run);
    if (judged.result == nullptr || run.alone || judged.result->bytes < kMiddleBytes || is_slow(run, judged)) continue;
    const SizeResult& result = *judged.result;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, subject_of(run), "");
    finding.title =
        fmt::format("{}: {:.1f} GB/s at {}", words_of(run), result.busbw_gb_per_s, size_words(result.bytes));
    finding.measured = fmt::format("{:.1f} GB/s", result.busbw_gb_per_s);
    finding.confidence = 0.9;
    if (holds(judged) && judged.expected->sure) {
      finding.title += fmt::format(", {:.0f} % of what is to be expected", 100 * judged.share);
      finding.expected = fmt::format("{:.0f} GB/s", judged.expected->busbw_gb_per_s);
      finding.cause = fmt::format("Healthy: expected by {}.", judged.expected->source);
      finding.confidence = judged.expected->confidence;
    } else {
      finding.cause = run.gpu == nullptr ? "The list of devices is not there: what these GPUs can do is not known."
                                         : "How these GPUs and nodes are joined is not known: no verdict.";
    }
    finding.evidence.push_back(
        evidence_of(*run.seen, result.line,
                    fmt::format("busbw {:.2f} GB/s at {}", result.busbw_gb_per_s, size_words(result.bytes))));
    findings.push_back(std::move(finding));
  }
}

void above_line(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const Judged judged = judge(observed, run);
    if (!judged.expected || !judged.expected->sure || run.collective != "all_reduce") continue;
    const double line = judged.expected->line_rate_gb_per_s;
    if (line <= 0 || judged.result->busbw_gb_per_s < kAboveLine * line) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, subject_of(run),
                                   fmt::format("{:.0f} GB/s of bus bandwidth over links of {:.0f} GB/s is no error",
                                               judged.result->busbw_gb_per_s, line));
    finding.cause =
        run.is_between_nodes()
            ? "Bus bandwidth is defined by a ring; a tree over two nodes, or NVLink SHARP, sends less than that."
            : "Bus bandwidth is defined by a ring; NVLink SHARP reduces in the switch and sends half of it.";
    finding.expected = fmt::format("up to {:.0f} GB/s by ring", line);
    finding.measured = fmt::format("{:.1f} GB/s", judged.result->busbw_gb_per_s);
    finding.confidence = 0.85;
    finding.evidence.push_back(
        evidence_of(*run.seen, judged.result->line, fmt::format("busbw {:.2f} GB/s", judged.result->busbw_gb_per_s)));
    findings.push_back(std::move(finding));
  }
}

void one_gpu_per_node(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    if (!run.is_between_nodes() || run.ranks != run.nodes || run.alone || run.peak() == nullptr) continue;
    if (run.peak()->bytes < kMiddleBytes || run.peak()->busbw_gb_per_s > kOneGpuGbPerS) continue;
    const SizeResult& result = *run.peak();
    Finding finding = make_finding(
        rule, FindingSeverity::kInfo, subject_of(run),
        fmt::format("one GPU a node: {:.1f} GB/s is not the bandwidth of the nodes", result.busbw_gb_per_s));
    finding.cause =
        "A GPU drives what its own PCIe link carries, some 50 GB/s with PCIe 5.0 x16: the other NICs of the node stay "
        "idle.";
    finding.measured = fmt::format("{:.1f} GB/s", result.busbw_gb_per_s);
    finding.confidence = 0.9;
    finding.evidence.push_back(
        evidence_of(*run.seen, result.line, fmt::format("{:g} ranks on {:g} nodes", *run.ranks, *run.nodes)));
    finding.fix = {"measure with all GPUs of the nodes: -g 1 and one rank a GPU, or -g 8"};
    findings.push_back(std::move(finding));
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Finding slow_node_finding(const Rule& rule, const BenchRun& run, const std::string& node, double least, double usual) {
  const double share = least / usual;
  Finding finding =
      make_finding(rule, share < 0.5 ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"node", node, node},
                   fmt::format("{} reaches {:.1f} GB/s where other nodes reach {:.1f}", node, least, usual));
  finding.expected = fmt::format("{:.1f} GB/s", usual);
  finding.measured = fmt::format("{:.1f} GB/s", least);
  finding.confidence = 0.85;
  finding.evidence.push_back(evidence_of(*run.seen, run.peak()->line, fmt::format("{} with {}", run.collective, node)));
  return finding;
}

// Nodes that ran the same test alone: one that is slower than the rest.
void slow_alone(const Rule& rule, const Observed& observed, const std::vector<BenchRun>& runs,
                std::vector<Finding>& findings) {
  std::map<std::string, std::vector<const BenchRun*>> alike;
  for (const BenchRun& run : runs) {
    if (run.alone || run.peak() == nullptr || !run.is_one_node() || run.hosts.size() != 1) continue;
    if (run.hosts.front() == "localhost" || run.peak()->bytes < kMiddleBytes) continue;
    alike[fmt::format("{}/{:g}/{}/{:g}", run.collective, run.ranks.value_or(0), run.facts->text("gpu"),
                      run.sizes.back().bytes)]
        .push_back(&run);
  }
  for (const auto& [key, group] : alike) {
    std::map<std::string, const BenchRun*> best;
    for (const BenchRun* const run : group) {
      const BenchRun*& kept = best[run->hosts.front()];
      if (kept == nullptr || run->peak()->busbw_gb_per_s > kept->peak()->busbw_gb_per_s) kept = run;
    }
    if (best.size() < 3) continue;
    std::vector<double> values;
    values.reserve(best.size());
    for (const auto& [host, run] : best) values.push_back(run->peak()->busbw_gb_per_s);
    const double usual = median(values);
    for (const auto& [host, run] : best) {
      const double value = run->peak()->busbw_gb_per_s;
      if (value >= kSlowNode * usual) continue;
      Finding finding = slow_node_finding(rule, *run, host, value, usual);
      finding.cause =
          "The same test on nodes of one kind: links down, a throttled GPU, or another process on that node.";
      finding.fix = fix_slow(false);
      finding.consequences = {"collective.slow"};
      finding.loss = slower_communication(observed.setting().intra_node_comm_share, usual / value,
                                          "median of the nodes over this one", run->ranks.value_or(1),
                                          "ranks of the benchmark on the node");
      findings.push_back(std::move(finding));
    }
  }
}

struct Pair {
  std::string a, b;
  const BenchRun* run = nullptr;
  double value = 0;
};

// Pairs of nodes: a node all of whose pairs are slow.
void slow_in_pairs(const Rule& rule, const Observed& observed, const std::vector<BenchRun>& runs,
                   std::vector<Finding>& findings) {
  std::map<std::string, std::vector<Pair>> alike;
  for (const BenchRun& run : runs) {
    if (run.alone || run.peak() == nullptr || run.hosts.size() != 2 || run.peak()->bytes < kMiddleBytes) continue;
    alike[fmt::format("{}/{:g}", run.collective, run.ranks.value_or(0))].push_back(
        {run.hosts[0], run.hosts[1], &run, run.peak()->busbw_gb_per_s});
  }
  for (const auto& [key, pairs] : alike) {
    std::map<std::string, std::vector<const Pair*>> by_node;
    for (const Pair& pair : pairs) {
      by_node[pair.a].push_back(&pair);
      by_node[pair.b].push_back(&pair);
    }
    for (const auto& [node, own] : by_node) {
      std::vector<double> others;
      for (const Pair& pair : pairs) {
        if (pair.a != node && pair.b != node) others.push_back(pair.value);
      }
      const auto best =
          std::max_element(own.begin(), own.end(), [](const Pair* a, const Pair* b) { return a->value < b->value; });
      if (own.size() < 2 || others.empty() || (*best)->value >= kSlowPair * median(others)) continue;
      Finding finding = slow_node_finding(rule, *(*best)->run, node, (*best)->value, median(others));
      finding.title += fmt::format(", in all of its {} pairs", own.size());
      finding.cause = "Every pair with this node is slow and pairs without it are not: its NIC, cable or switch port.";
      finding.fix = {"ibstat, ibqueryerrors and ethtool -S on that node; lspci: width and speed of its NICs",
                     "keep it out of jobs until a pair with it is as fast as the others"};
      finding.consequences = {"collective.slow"};
      const double ranks = (*best)->run->ranks.value_or(2);
      finding.loss = slower_communication(observed.setting().inter_node_comm_share, median(others) / (*best)->value,
                                          "pairs without the node over pairs with it", ranks, "ranks of a pair");
      findings.push_back(std::move(finding));
    }
  }
}

void slow_node(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::vector<BenchRun> runs = bench_runs(observed);
  slow_alone(rule, observed, runs, findings);
  slow_in_pairs(rule, observed, runs, findings);
}

constexpr const char* kPerformance = "nccl-tests doc/PERFORMANCE.md";

constexpr Rule kRules[] = {
    {"collective.slow", "Bus bandwidth below what the fabric can do",
     "The largest sizes of a benchmark against the links of these GPUs and the NICs of these nodes.",
     "nccl-tests doc/PERFORMANCE.md, nccl#1412, nccl-tests#380", slow},
    {"collective.reached", "What a benchmark reached",
     "The best bus bandwidth, with the share of the expectation where that is known.", kPerformance, reached},
    {"collective.above-line", "Bus bandwidth above the line rate",
     "NVLink SHARP and trees send less than the ring that bus bandwidth is defined by.", "nccl-tests#196", above_line},
    {"collective.one-gpu-a-node", "One GPU a node", "One GPU uses one NIC's worth of bandwidth.",
     "nccl-tests#232, nccl#1357", one_gpu_per_node},
    {"collective.slow-node", "One node slower than the others",
     "The same test on several nodes, or on pairs of them, names the node that holds up all.", "nccl-tests#106",
     slow_node},
};

}  // namespace

std::span<const Rule> collective_speed_rules() { return kRules; }

}  // namespace tare
