#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/collective_rules.h"
#include "audit/collective_run_seen.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// The column "error" of old versions is the largest relative deviation from a sum in double: 1e-7 to 1e-6 in float,
// 1e-3 in half, 1e-2 in bfloat16.
constexpr double kRounding = 0.05;
constexpr double kSmallBytes = 1024.0 * 1024;

std::int64_t line_of(const FactRecord& facts, std::string_view name) {
  const Fact* const fact = facts.find(name);
  return fact != nullptr && fact->line > 0 ? fact->line : facts.line;
}

// Rows whose column #wrong is above 0.
std::vector<const FactRecord*> wrong_rows(const FactRecord& run) {
  std::vector<const FactRecord*> rows;
  for (const FactRecord* const row : records_of(run, "rows")) {
    const bool wrong =
        row->number("out_of_place_wrong").value_or(0) > 0 || row->number("in_place_wrong").value_or(0) > 0;
    if (wrong) rows.push_back(row);
  }
  return rows;
}

void wrong_values(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const FactRecord& facts = *run.facts;
    const std::vector<const FactRecord*> rows = wrong_rows(facts);
    const double out_of_bounds = facts.number("out_of_bounds").value_or(0);
    const double deviation = facts.number("largest_deviation").value_or(0);
    const bool failed = out_of_bounds > 0 || facts.text("status") == "FAILED";
    if (rows.empty() && !failed && deviation < 1) continue;
    Finding finding = make_finding(rule, FindingSeverity::kHigh, subject_of(run), "");
    finding.title = !rows.empty() ? fmt::format("{}: wrong results at {} sizes", words_of(run), rows.size())
                    : failed      ? fmt::format("{}: {:g} values out of bounds, FAILED", words_of(run), out_of_bounds)
                                  : fmt::format("{}: results deviate by {:g}", words_of(run), deviation);
    finding.cause =
        "The collective returns other numbers than it should: gradients are corrupt. A GPU, an NVLink or NIC, P2P "
        "behind an "
        "IOMMU, or a bug of this version of NCCL.";
    finding.expected = "#wrong 0";
    finding.confidence = rows.empty() ? 0.8 : 0.95;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, rows.size()); ++i) {
      finding.evidence.push_back(
          evidence_of(*run.seen, rows[i]->line,
                      fmt::format("{} bytes: #wrong {:g}, in place {:g}", rows[i]->integer("bytes").value_or(0),
                                  rows[i]->number("out_of_place_wrong").value_or(0),
                                  rows[i]->number("in_place_wrong").value_or(0))));
    }
    if (rows.empty()) {
      finding.evidence.push_back(evidence_of(*run.seen, line_of(facts, failed ? "status" : "largest_deviation"),
                                             failed ? "Out of bounds values : FAILED" : "column error"));
    }
    finding.fix = {
        "stop training on these nodes; repeat with NCCL_P2P_DISABLE=1, then NCCL_ALGO=Ring, then fewer GPUs: "
        "which one makes it right?",
        "dcgmi diag -r 3 on the nodes; IOMMU off or pt and ACS off; another version of NCCL"};
    if (run.ranks) {
      finding.loss = whole_gpus_lost(*run.ranks, "ranks of the benchmark: their work cannot be trusted");
    } else {
      finding.loss_unknown = "how many GPUs took part is not known";
    }
    findings.push_back(std::move(finding));
  }
}

void float_error(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const double deviation = run.facts->number("largest_deviation").value_or(0);
    if (deviation <= 0 || deviation > kRounding) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, subject_of(run),
                                   fmt::format("error up to {:.0e} is rounding, not corruption", deviation));
    finding.cause =
        "Old versions print the deviation from a sum in another order, not the number of wrong values; sums of floats "
        "depend on their order.";
    finding.measured = fmt::format("{:.0e}", deviation);
    finding.confidence = 0.95;
    for (const FactRecord* const row : records_of(*run.facts, "rows")) {
      const double most =
          std::max(row->number("out_of_place_error").value_or(0), row->number("in_place_error").value_or(0));
      if (most <= 0 || finding.evidence.size() >= 2) continue;
      finding.evidence.push_back(evidence_of(*run.seen, row->line, fmt::format("error {:.0e}", most)));
    }
    if (finding.evidence.empty()) finding.evidence.push_back(evidence_of(*run.seen, run.facts->line, "column error"));
    findings.push_back(std::move(finding));
  }
}

void not_multi_node(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    if (!run.alone) continue;
    const double headers = run.facts->number("parameter_headers").value_or(0);
    Finding finding = make_finding(rule, FindingSeverity::kHigh, subject_of(run),
                                   fmt::format("{:g} processes ran by themselves: this is no measurement between {}",
                                               std::max(headers, 2.0), run.hosts.size() > 1 ? "nodes" : "ranks"));
    finding.cause =
        "Each printed a header and has its own rank 0: the program was built without MPI=1 and knows of no other.";
    finding.expected = "one header, ranks 0 to n-1";
    finding.measured = fmt::format("{:g} headers, {:g} ranks with a number that is taken", headers,
                                   run.facts->number("repeated_ranks").value_or(0));
    finding.confidence = 0.95;
    std::size_t zeros = 0;
    for (const FactRecord* const device : records_of(*run.facts, "devices")) {
      if (device->integer("rank") != 0 || ++zeros > 2) continue;
      finding.evidence.push_back(
          evidence_of(*run.seen, device->line, fmt::format("Rank 0 on {}", device->text("host"))));
    }
    if (finding.evidence.empty()) {
      finding.evidence.push_back(evidence_of(*run.seen, line_of(*run.facts, "parameters"), "a second header"));
    }
    finding.fix = {"make MPI=1 MPI_HOME=<path of MPI>, then mpirun -np <ranks> …; the list must show ranks 0 to n-1",
                   "srun: add --mpi=pmix (or pmi2), else each task is its own world"};
    finding.consequences = {"collective.slow", "collective.reached", "collective.small-only"};
    finding.loss_unknown = "nothing is lost but the measurement";
    findings.push_back(std::move(finding));
  }
}

void failed_test(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const std::vector<Fact>* const failures = run.facts->find_list("failures");
    if (failures == nullptr || failures->empty()) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kHigh, subject_of(run),
                     fmt::format("the benchmark failed: {}", trim(failures->front().text()).substr(0, 140)));
    finding.cause = "A call of NCCL or CUDA returned an error; the rank that failed first says why.";
    finding.confidence = 0.9;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, failures->size()); ++i) {
      finding.evidence.push_back(evidence_of(*run.seen, (*failures)[i].line, std::string((*failures)[i].text())));
    }
    finding.fix = {"repeat with NCCL_DEBUG=WARN: the first warning is the cause",
                   "out of memory: -e smaller; invalid device: more ranks than GPUs on a node"};
    finding.loss_unknown = "whether jobs fail the same way is not known";
    findings.push_back(std::move(finding));
  }
}

void small_only(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    if (run.sizes.empty() || run.sizes.back().bytes >= kSmallBytes || run.alone) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kInfo, subject_of(run),
                     fmt::format("sizes up to {} say nothing of bandwidth", size_words(run.sizes.back().bytes)));
    finding.cause = is_true(*run.facts, "elided") || run.facts->number("cut_rows").value_or(0) > 0
                        ? "The table is cut: its large sizes are not there. Small ones measure latency."
                        : "Small messages measure latency; bandwidth shows from some 32 MiB on.";
    finding.measured = fmt::format("{} at most", size_words(run.sizes.back().bytes));
    finding.confidence = 0.95;
    finding.evidence.push_back(evidence_of(*run.seen, run.sizes.back().line, "the largest size"));
    finding.fix = {"all_reduce_perf -b 8 -e 8G -f 2"};
    findings.push_back(std::move(finding));
  }
}

// The tool's average over all sizes stands alone: people read it as the bandwidth.
void average_alone(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const std::optional<double> average = run.facts->number("avg_busbw_gb_per_s");
    if (!average || *average <= 0 || !run.sizes.empty() || run.alone) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, subject_of(run),
                                   fmt::format("{:.1f} GB/s is the average over all sizes, not a bandwidth", *average));
    finding.cause =
        "nccl-tests average small and large messages alike: it depends on -b and -e. A run from 8 bytes on averages a "
        "third "
        "of what its largest sizes reach.";
    finding.measured = fmt::format("{:.1f} GB/s on average", *average);
    finding.confidence = 0.9;
    finding.evidence.push_back(evidence_of(*run.seen, line_of(*run.facts, "avg_busbw_gb_per_s"),
                                           fmt::format("Avg bus bandwidth {:g}", *average)));
    finding.fix = {"look at the rows of 1 GiB and more"};
    findings.push_back(std::move(finding));
  }
}

// Bits that look like bytes.
void bits(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("all_reduce_bench.py")) {
    const std::optional<double> gbps = seen.facts->number("busbw_median_gbps");
    if (!gbps) continue;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, {"job", "all_reduce", seen.node},
                                   fmt::format("{:.1f} Gbps are bits: {:.1f} GB/s", *gbps, *gbps / 8));
    finding.cause = "nccl-tests and data sheets of NVLink count bytes; NICs and this script count bits.";
    finding.measured = fmt::format("{:.1f} GB/s", *gbps / 8);
    finding.confidence = 0.95;
    const std::vector<const FactRecord*> blocks = records_of(*seen.facts, "blocks");
    finding.evidence.push_back(evidence_of(seen, blocks.empty() ? seen.facts->line : blocks.front()->line,
                                           fmt::format("busbw {:.1f} Gbps", *gbps)));
    findings.push_back(std::move(finding));
  }
}

// A benchmark that measures its own start.
void few_iterations(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kFew = 5;  // nccl-tests' default is 20
  for (const BenchRun& run : bench_runs(observed)) {
    const FactRecord* const parameters = run.facts->find_record("parameters");
    if (parameters == nullptr || run.sizes.empty()) continue;
    const std::optional<double> iters = parameters->number("iters"), warmup = parameters->number("warmup_iters");
    const bool cold = warmup && *warmup == 0;
    const bool few = iters && *iters < kFew;
    if (!cold && !few) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, subject_of(run),
                                   cold ? std::string("no warm-up: the first iteration sets up connections")
                                        : fmt::format("{:g} iterations a size are too few", *iters));
    finding.cause = "NCCL connects and registers memory in the first call of a size; with few iterations that counts.";
    finding.expected = "20 iterations after 5 of warm-up";
    finding.measured = fmt::format("{:g} after {:g}", iters.value_or(0), warmup.value_or(0));
    finding.confidence = 0.8;
    finding.evidence.push_back(
        evidence_of(*run.seen, parameters->line > 0 ? parameters->line : run.facts->line,
                    fmt::format("warmup iters: {:g} iters: {:g}", warmup.value_or(0), iters.value_or(0))));
    finding.fix = {"-w 5 -n 20"};
    findings.push_back(std::move(finding));
  }
}

void mixed_gpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const BenchRun& run : bench_runs(observed)) {
    const std::vector<std::string> kinds = texts_of(*run.facts, "gpus");
    if (kinds.size() < 2) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, subject_of(run),
                                   fmt::format("ranks run on different GPUs: {}", list_names(kinds)));
    finding.cause = "The slowest link and the smallest memory set the pace of all.";
    finding.confidence = 0.8;
    std::set<std::string> shown;
    for (const FactRecord* const device : records_of(*run.facts, "devices")) {
      if (!shown.insert(std::string(device->text("gpu"))).second || shown.size() > 4) continue;
      finding.evidence.push_back(evidence_of(*run.seen, device->line, std::string(device->text("gpu"))));
    }
    finding.fix = {"a partition or label for each kind, so that a job gets one"};
    finding.loss_unknown = "what the faster ones would do is not measured";
    findings.push_back(std::move(finding));
  }
}

constexpr Rule kRules[] = {
    {"collective.wrong-values", "Wrong results", "#wrong above 0 or Out of bounds FAILED: data is corrupt.",
     "nccl#1184, nccl-tests#131", wrong_values},
    {"collective.float-error", "Deviations that are rounding",
     "The column error of old versions at 1e-7 is no corruption.", "nccl#1244", float_error},
    {"collective.not-multi-node", "Processes that ran alone",
     "Two headers and two ranks 0: built without MPI, n runs of one process each.", "nccl-tests#107", not_multi_node},
    {"collective.failed", "A benchmark that failed", "Test NCCL failure and its kin.", "nccl-tests README",
     failed_test},
    {"collective.small-only", "Only small sizes were measured", "They measure latency, not bandwidth.",
     "nccl-tests doc/PERFORMANCE.md", small_only},
    {"collective.average", "The average over sizes", "It is no bandwidth that anything reaches.",
     "nccl-tests doc/PERFORMANCE.md", average_alone},
    {"collective.bits", "Gbps are bits", "84 Gbps are 10.5 GB/s.", "bigscience-workshop/bigscience all_reduce_bench",
     bits},
    {"collective.few-iterations", "Too few iterations or no warm-up", "The start of a collective is measured with it.",
     "nccl-tests README", few_iterations},
    {"collective.mixed-gpus", "Different GPUs in one run", "The slowest sets the pace.", "nccl-tests README",
     mixed_gpus},
};

}  // namespace

std::span<const Rule> collective_result_rules() { return kRules; }

}  // namespace tare
