#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/loss.h"
#include "audit/rank_rules.h"

namespace tare {
namespace {

constexpr double kSlowsTheWork = 0.10;       // of the time: medium, as everywhere in the audit
constexpr double kWorthSaying = 0.01;        // of the time: less is the noise of a run
constexpr double kJitterSaid = 0.05;         // what waits for changing ranks: a few per cent are usual (MegaScale, §5)
constexpr double kShortestLateness = 50e-6;  // s: below, launches and the tracer's own time are as large
constexpr double kOneCause = 0.5;            // of all waiting, for a rank to be the one that keeps the others
constexpr double kSlowTransfer = 1.5;        // times what its like take
constexpr std::size_t kFewestGroups = 3;     // to tell which one is odd
constexpr double kClocksApart = 5e-3;        // s: well above what NTP keeps in a data centre

std::string in_ms(double seconds) {
  const double ms = seconds * 1e3;
  return ms < 0.1 ? fmt::format("{:.0f} µs", ms * 1e3) : fmt::format("{:.{}f} ms", ms, ms < 1 ? 2 : 1);
}

std::string percent(double share) { return fmt::format("{:.{}f} %", share * 100, share < 0.1 ? 1 : 0); }

std::string with_article(const std::string& what) { return (what.starts_with('a') ? "an " : "a ") + what; }

struct Timed {
  RankGroup group;
  GroupTiming timing;
};

std::vector<Timed> timed_groups(const Observed& observed) {
  std::vector<Timed> timed;
  for (RankGroup& group : rank_groups(observed)) {
    std::optional<GroupTiming> timing = time_ranks(group.collectives);
    if (timing) timed.push_back({std::move(group), std::move(*timing)});
  }
  return timed;
}

const RankTiming& timing_of(const GroupTiming& timing, int rank) {
  return *std::find_if(timing.ranks.begin(), timing.ranks.end(),
                       [rank](const RankTiming& r) { return r.rank == rank; });
}

// Waiting that other kernels hide costs nothing: what the late ranks take is at most what the others' GPUs spend alone
// with collectives beyond what theirs do.
double exposed_share(const Timed& one, const LateRanks& late) {
  std::vector<double> others;
  double mine = 0;
  for (const auto& [rank, seen] : one.group.ranks) {
    if (!seen.comm_alone_s) return 1;
    if (std::find(late.ranks.begin(), late.ranks.end(), rank) != late.ranks.end()) {
      mine = std::max(mine, *seen.comm_alone_s);
    } else {
      others.push_back(*seen.comm_alone_s);
    }
  }
  if (others.empty() || !(one.timing.span_s > 0)) return 1;
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2), others.end());
  return std::max(0.0, others[others.size() / 2] - mine) / one.timing.span_s;
}

double lost_share(const Timed& one) { return std::min(one.timing.late->share, exposed_share(one, *one.timing.late)); }

// What a late rank's own trace says: its kernels take longer, or its GPU waits for the host.
std::string why_late(const Timed& one, const LateRanks& late) {
  std::vector<double> others;
  double mine = -1;
  for (const auto& [rank, seen] : one.group.ranks) {
    if (!seen.compute_s || !seen.recorded_s || !(*seen.recorded_s > 0)) return {};
    const double share = *seen.compute_s / *seen.recorded_s;
    if (rank == late.ranks.front()) {
      mine = share;
    } else if (std::find(late.ranks.begin(), late.ranks.end(), rank) == late.ranks.end()) {
      others.push_back(share);
    }
  }
  if (others.empty() || mine < 0) return {};
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2), others.end());
  const double excess = mine - others[others.size() / 2];
  if (excess >= late.share / 2) {
    return fmt::format(
        " Its own kernels run {} of the time, those of the others {}: the GPU computes slower (clocks, "
        "power, heat) or has more to do.",
        percent(mine), percent(others[others.size() / 2]));
  }
  return " Its kernels take no longer than those of the others: its GPU waits for its host (data loading, a slow or "
         "busy CPU, Python).";
}

std::string unseen(const RankGroup& group) {
  const auto seen = static_cast<double>(group.ranks.size());
  if (!(group.size > seen)) return {};
  return fmt::format(" Only {:.0f} of the group's {:.0f} ranks were recorded: another one may be later still.", seen,
                     group.size);
}

// Ranks of several pipeline stages do not come together by design.
bool may_be_by_design(const Timed& one, const LateRanks& late) {
  return one.group.pipeline && (late.ranks.size() > 1 || one.group.ranks.size() == 2);
}

void add_evidence(const Timed& one, const LateRanks& late, Finding& finding) {
  const RankExample& example = late.example;
  const std::map<int, RankSeen>& ranks = one.group.ranks;
  finding.evidence.push_back(
      evidence_of(*ranks.at(example.late_rank).seen, example.late_line,
                  fmt::format("rank {}: {} of {}, all of it transfer: it comes last", example.late_rank,
                              with_article(one.group.what), in_ms(example.late_duration_s))));
  finding.evidence.push_back(
      evidence_of(*ranks.at(example.waiting_rank).seen, example.waiting_line,
                  fmt::format("rank {}: the same one takes {}, of which it waits {} for rank {}", example.waiting_rank,
                              in_ms(example.waiting_duration_s), in_ms(example.wait_s), example.late_rank)));
  const RankTiming& first = timing_of(one.timing, example.late_rank);
  finding.evidence.push_back(evidence_of(
      *ranks.at(example.late_rank).seen, 0,
      fmt::format("last in {} of {} collectives; mean time in one: {} on rank {}, {} on rank {}", late.times_last,
                  first.collectives, in_ms(first.mean_duration_s), example.late_rank,
                  in_ms(timing_of(one.timing, example.waiting_rank).mean_duration_s), example.waiting_rank)));
}

std::string per_step(const Timed& one, double share) {
  if (!one.group.step_s) return fmt::format("{} of the time", percent(share));
  return fmt::format("{} of a step of {} ({})", in_ms(share * *one.group.step_s), in_ms(*one.group.step_s),
                     percent(share));
}

Finding late_finding(const Rule& rule, const Timed& one, double share) {
  const LateRanks& late = *one.timing.late;
  const bool by_design = may_be_by_design(one, late);
  const auto severity = share >= kSlowsTheWork && !by_design ? FindingSeverity::kMedium : FindingSeverity::kLow;
  Finding finding = make_finding(rule, severity, subject_of_ranks(late.ranks, one.group.ranks), "");
  const std::string who = name_of_ranks(late.ranks, one.group.ranks);
  const bool several = late.ranks.size() > 1;
  finding.title =
      fmt::format("{} {} late by {} per {}", who, several ? "are" : "is", in_ms(late.lateness_s), one.group.what);
  finding.cause = fmt::format(
      "The other ranks wait for {}; {} that takes long is one that waits. The transfer itself "
      "takes {}.",
      several ? "them" : "it", with_article(one.group.what), in_ms(one.timing.median_transfer_s));
  if (!several) finding.cause += why_late(one, late);
  if (by_design)
    finding.cause += " The job has pipeline stages, which end one after the other: part of it is by design.";
  finding.cause += unseen(one.group);
  add_evidence(one, late, finding);
  finding.expected = fmt::format("all ranks within {}", in_ms(std::max(one.timing.clock_error_s, kShortestLateness)));
  finding.measured =
      fmt::format("{} late, last in {} of {} collectives, {}; clocks known to {}", in_ms(late.lateness_s),
                  late.times_last, one.timing.collectives, per_step(one, share), in_ms(one.timing.clock_error_s));
  const double part = one.group.size > static_cast<double>(one.group.ranks.size()) ? 0.6 : 0.9;
  finding.confidence = by_design ? 0.4 : part;
  const std::string source = fmt::format("{} collectives of {} ranks", one.timing.collectives, one.group.ranks.size());
  finding.loss = share_lost(known_ratio("late_share", share, source), one.group.size, "ranks of the group");
  finding.fix = {
      "compare this GPU's clocks, temperature, power and PCIe link with its neighbours': nvidia-smi -q -d "
      "CLOCK,PERFORMANCE,TEMPERATURE,POWER",
      "compare the host's: CPU frequency and binding (numactl --show), data loader workers, other processes on the "
      "node",
      "swap the rank with another node: whether the lateness moves with the node or stays with the rank's work"};
  return finding;
}

// A rank that keeps the others waiting, collective after collective.
void late(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::map<std::string, std::pair<double, Finding>> worst;  // by subject: one finding, of the group where it costs most
  std::map<std::string, std::pair<std::vector<int>, std::map<int, RankSeen>>> whose;
  for (const Timed& one : timed_groups(observed)) {
    if (!one.timing.late) continue;
    const LateRanks& late = *one.timing.late;
    const double share = lost_share(one);
    if (!late.consistent || late.caused_share < kOneCause || share < kWorthSaying) continue;
    if (late.lateness_s < kShortestLateness) continue;
    Finding finding = late_finding(rule, one, share);
    const std::string key = finding.subject.node + '\n' + finding.subject.name;
    const double cost = share * one.group.size;
    const auto found = worst.find(key);
    if (found != worst.end() && found->second.first >= cost) continue;
    worst.insert_or_assign(key, std::pair(cost, std::move(finding)));
    whose.insert_or_assign(key, std::pair(late.ranks, one.group.ranks));
  }
  for (auto& [key, one] : worst) {
    look_for_cause(one.second, whose[key].first, whose[key].second, findings);
    findings.push_back(std::move(one.second));
  }
}

// Waiting for now this rank and now that.
void jitter(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::optional<Finding> worst;
  double most = 0;
  for (const Timed& one : timed_groups(observed)) {
    const GroupTiming& timing = one.timing;
    if (timing.late && timing.late->consistent && timing.late->caused_share >= kOneCause) continue;
    if (timing.jitter_share < kJitterSaid || timing.jitter_share <= most || one.group.pipeline) continue;
    if (timing.mean_last_wait_s < std::max(3 * timing.clock_error_s, kShortestLateness)) continue;
    most = timing.jitter_share;
    const auto severity = most >= kSlowsTheWork ? FindingSeverity::kMedium : FindingSeverity::kLow;
    worst = make_finding(rule, severity, {"job", one.group.name.empty() ? "all ranks" : one.group.name, ""},
                         fmt::format("{} of the time waits for ranks that take turns in being late", percent(most)));
    worst->cause =
        "No rank is late as a rule, but in each collective one is: uneven sequence lengths or experts, data "
        "loading, garbage collection, other processes. The slowest of many sets the pace.";
    std::vector<std::string> counts;
    for (const RankTiming& rank : timing.ranks) {
      counts.push_back(fmt::format("rank {} {} times", rank.rank, rank.times_last));
    }
    worst->evidence.push_back(
        evidence_of(*one.group.ranks.begin()->second.seen, 0,
                    fmt::format("last in {} collectives: {}", timing.collectives, list_names(counts, 8))));
    worst->measured =
        fmt::format("the last comes {} after the median, per {}", in_ms(timing.mean_last_wait_s), one.group.what);
    worst->expected = fmt::format("less than {}", percent(kJitterSaid));
    worst->confidence = 0.7;
    worst->loss = share_lost(known_ratio("jitter_share", most, fmt::format("{} collectives", timing.collectives)),
                             one.group.size, "ranks of the group");
    worst->fix = {"give each rank the same work: pack or bucket sequences by length, balance experts",
                  "collect garbage on all ranks at the same step (gc.disable(), gc.collect() every N steps)",
                  "give each rank its own cores: numactl or torchrun --numa-binding, and enough loader workers"};
  }
  if (worst) findings.push_back(std::move(*worst));
}

bool alike(const Timed& a, const Timed& b) {
  return a.group.size == b.group.size && a.group.signature == b.group.signature && !a.group.signature.empty();
}

bool whole(const Timed& one) { return one.group.size == static_cast<double>(one.group.ranks.size()); }

// One process group among its like whose data moves slower, once all its ranks are there.
void slow_transfer(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  const std::vector<Timed> timed = timed_groups(observed);
  for (const Timed& one : timed) {
    std::vector<double> others;
    for (const Timed& other : timed) {
      if (&other != &one && alike(one, other) && whole(other)) others.push_back(other.timing.median_transfer_s);
    }
    if (!whole(one) || others.size() + 1 < kFewestGroups) continue;
    std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2), others.end());
    const double usual = others[others.size() / 2], mine = one.timing.median_transfer_s;
    const double excess = (mine - usual) * static_cast<double>(one.timing.collectives);
    const double share = one.timing.span_s > 0 ? excess / one.timing.span_s : 0;
    if (!(usual > 0) || mine < kSlowTransfer * usual || share < kWorthSaying) continue;
    std::vector<int> ranks;
    for (const auto& [rank, seen] : one.group.ranks) ranks.push_back(rank);
    const auto severity = share >= kSlowsTheWork ? FindingSeverity::kMedium : FindingSeverity::kLow;
    Finding finding = make_finding(rule, severity, subject_of_ranks(ranks, one.group.ranks), "");
    finding.title =
        fmt::format("{}: {}'s transfer takes {}, in {} groups like it {}", name_of_ranks(ranks, one.group.ranks),
                    with_article(one.group.what), in_ms(mine), others.size(), in_ms(usual));
    finding.cause =
        "All its ranks are there when it begins, so it is not waiting: its links are slower than those of its "
        "like.";
    finding.evidence.push_back(evidence_of(*one.group.ranks.begin()->second.seen,
                                           one.timing.late ? one.timing.late->example.late_line : 0,
                                           fmt::format("{} collectives of {}", one.timing.collectives,
                                                       one.group.name.empty() ? "the group" : one.group.name)));
    finding.expected = in_ms(usual);
    finding.measured = in_ms(mine);
    finding.confidence = 0.7;
    finding.loss = share_lost(known_ratio("slow_share", share, "transfer beyond that of its like"), one.group.size,
                              "ranks of the group");
    finding.fix = {"check the links of these ranks: nvidia-smi nvlink -e, ibstat, lspci -vv (LnkSta)",
                   "run nccl-tests on these GPUs alone and compare: all_reduce_perf -b 64M -e 1G -f 2"};
    look_for_cause(finding, ranks, one.group.ranks, findings);
    findings.push_back(std::move(finding));
  }
}

// Clocks that differ: times of different nodes cannot be laid side by side as they are.
void clock_offset(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  std::optional<Finding> worst;
  double most = kClocksApart;
  for (const Timed& one : timed_groups(observed)) {
    if (!one.group.common_time) continue;
    const auto by_offset = [](const RankTiming& a, const RankTiming& b) { return a.clock_offset_s < b.clock_offset_s; };
    const auto [behind, ahead] = std::minmax_element(one.timing.ranks.begin(), one.timing.ranks.end(), by_offset);
    const double apart = ahead->clock_offset_s - behind->clock_offset_s;
    const double error = std::max(ahead->clock_error_s, behind->clock_error_s);
    if (apart < std::max(most, 3 * error)) continue;
    most = apart;
    const std::map<int, RankSeen>& ranks = one.group.ranks;
    const bool odd_is_ahead = ahead->clock_offset_s > -behind->clock_offset_s;  // further from the median
    const RankTiming& odd = odd_is_ahead ? *ahead : *behind;
    worst = make_finding(rule, FindingSeverity::kInfo, subject_of_ranks({odd.rank}, ranks),
                         fmt::format("the clock of {} is {} ahead of that of {}", name_of_ranks({ahead->rank}, ranks),
                                     in_ms(apart), name_of_ranks({behind->rank}, ranks)));
    worst->cause =
        "Collectives end on all ranks together, but not by the ranks' clocks. Times here are corrected for it; "
        "laid side by side as they are, traces and logs of these ranks show lateness that is none.";
    worst->evidence.push_back(evidence_of(
        *ranks.at(odd.rank).seen, 0, fmt::format("over {} collectives, known to {}", odd.collectives, in_ms(error))));
    worst->expected = "below " + in_ms(kClocksApart);
    worst->measured = in_ms(apart);
    worst->confidence = 0.9;
    worst->fix = {"chronyc tracking on each node; one time source for all"};
  }
  if (worst) findings.push_back(std::move(*worst));
}

constexpr Rule kRules[] = {
    {"rank.late", "A rank that keeps the others waiting",
     "A collective ends on all ranks together once the last has come: the late rank's collectives look short, those of "
     "the others long.",
     "arXiv:2402.15627, nccl#1298", late},
    {"rank.jitter", "Ranks that take turns in being late",
     "The slowest of many ranks sets the pace of each step, although none is slow as a rule.", "arXiv:2402.15627",
     jitter},
    {"rank.slow-transfer", "A process group that is slower than its like",
     "With waiting taken out, a collective of the same size takes longer in one group: its links are slower.",
     "nccl-tests#106", slow_transfer},
    {"rank.clock-offset", "Clocks of ranks that differ",
     "Times of different nodes are not comparable as they are; what looks late may be a clock.", "arXiv:2402.15627",
     clock_offset},
};

}  // namespace

std::span<const Rule> rank_timing_rules() { return kRules; }

}  // namespace tare
