// Rates and latencies that fio measured: capped, slow, uneven.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "audit/fio_findings.h"
#include "audit/storage_rules.h"

namespace tare {
namespace {

// Two lumps of requests with next to nothing between.
struct Lumps {
  double fast_us = 0, slow_from_us = 0, slow_to_us = 0, slow_pct = 0;
};

std::optional<Lumps> lumps_of(const std::vector<FioShare>& shares) {
  // A device that is slow spreads its requests; a limiter lets them go or holds them for one of its periods.
  constexpr double kLump = 10, kValley = 0.2, kHeldUs = 10'000, kApart = 4;
  for (std::size_t slow = shares.size(); slow-- > 0;) {
    if (shares[slow].pct < kLump || shares[slow].from_us < kHeldUs) continue;
    double fast_pct = 0, fast_us = 0, valley = 100;
    for (std::size_t i = 0; i < slow; ++i) {
      if (shares[i].to_us * kApart <= shares[slow].from_us && shares[i].pct > fast_pct) {
        fast_pct = shares[i].pct, fast_us = shares[i].to_us;
      }
    }
    for (std::size_t i = 0; i < slow; ++i) {
      if (shares[i].to_us > fast_us) valley = std::min(valley, shares[i].pct);
    }
    // Bounds that nothing falls between are not printed.
    const bool next = slow > 0 && shares[slow - 1].to_us < shares[slow].from_us;
    if (next) valley = 0;
    if (fast_pct >= kLump && valley <= kValley * std::min(fast_pct, shares[slow].pct)) {
      return Lumps{fast_us, shares[slow].from_us, shares[slow].to_us, shares[slow].pct};
    }
  }
  return std::nullopt;
}

void throttled(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kStarvesBytesPerS = 100e6;
  for (const FioRun& run : fio_runs(observed)) {
    if (is_buffered(run) || run.rate_limited()) continue;
    for (const FioJob& job : run.jobs) {
      const std::optional<Lumps> lumps = lumps_of(job.shares);
      if (!lumps) continue;
      const FioSide* const side = run.totals.empty() ? nullptr : &run.totals.front();
      const double rate = side == nullptr ? 0 : side->bytes_per_s;
      const bool starves = rate > 0 && rate < kStarvesBytesPerS;
      const std::string held = fmt::format("{:.0f} % of requests take {:.0f} to {:.0f} ms", lumps->slow_pct,
                                           lumps->slow_from_us / 1e3, lumps->slow_to_us / 1e3);
      Finding finding =
          finding_of(rule, starves ? FindingSeverity::kMedium : FindingSeverity::kLow, run, job.shares_line, held);
      finding.title = fmt::format("{}, most others less than {:.3g} ms: throttled{}", held, lumps->fast_us / 1e3,
                                  rate > 0 ? " at " + disk_rate_text(rate) : "");
      finding.cause =
          "Two kinds of latency with nothing between are those of a limiter: the volume's IOPS or bandwidth cap, "
          "or burst credits that ran out.";
      finding.expected = "one kind of latency";
      finding.measured = held;
      finding.confidence = 0.75;
      finding.loss_unknown = "how much of a step waits for this volume is not known";
      finding.fix = {
          "look up the cap of the volume and of the instance; provision IOPS, or use local NVMe for data and caches",
          "iostat -x 1 while the job reads: is the rate a round number, as caps are?"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

// What a disk should give at least, by its name, and where that is from.
struct DiskClass {
  double bytes_per_s = 0;
  std::string source;
};

bool is_network_disk(const Observed& observed, const FioRun& run, std::string_view disk) {
  for (const Seen& seen : observed.of_kind_beside("hw-inventory", run.seen)) {
    for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
      const std::string_view name = short_disk_name(device->has("node") ? device->text("node") : device->text("name"));
      if (name == disk && !network_disk_of(device->text("model")).empty()) return true;
    }
  }
  return false;
}

DiskClass class_of(const Observed& observed, std::string_view disk, std::string_view way) {
  if (disk.starts_with("nvme")) {
    const CostParameter& rate =
        parameter(observed.catalog(), way == "read" ? "local_nvme_read_bytes_per_s" : "local_nvme_write_bytes_per_s");
    return {rate.low.value_or(rate.base), "parameter " + rate.id};
  }
  // One spinning disk reads or writes this in one stream; flash behind any name is faster.
  constexpr double kSpinningBytesPerS = 150e6;
  return {kSpinningBytesPerS, "one spinning disk"};
}

// Enough asked for that the disk is the limit: large blocks and several of them, or very large ones. A head that seeks
// is slower: random requests count for flash only.
bool is_large_and_deep(const FioRun& run, std::string_view disk) {
  constexpr double kLargeBlock = 128 * 1024.0, kVeryLargeBlock = 1048576.0, kDeep = 4;
  const double block = run.block_bytes.value_or(0);
  const bool random = run.rw.starts_with("rand") && !disk.starts_with("nvme");
  return !random && block >= kLargeBlock && (run.requests_in_flight() >= kDeep || block >= kVeryLargeBlock);
}

void slow_disk(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kLow = 0.5, kVeryLow = 0.2;
  for (const FioRun& run : fio_runs(observed)) {
    const std::string disk = disk_of(run);
    if (disk.empty() || run.totals.size() != 1 || !is_large_and_deep(run, disk) || is_buffered(run)) continue;
    if (run.rate_limited() || is_network_disk(observed, run, disk)) continue;
    const FioSide& side = run.totals.front();
    const DiskClass expected = class_of(observed, disk, side.way);
    const double ratio = side.bytes_per_s / expected.bytes_per_s;
    if (side.bytes_per_s <= 0 || ratio >= kLow) continue;
    Finding finding = finding_of(rule, ratio < kVeryLow ? FindingSeverity::kMedium : FindingSeverity::kLow, run,
                                 side.line, fmt::format("{} {}", side.way, disk_rate_text(side.bytes_per_s)));
    finding.title =
        fmt::format("{} {}s {}, {} should give {} and more", disk, side.way, disk_rate_text(side.bytes_per_s),
                    disk.starts_with("nvme") ? "a local NVMe disk" : "any disk", disk_rate_text(expected.bytes_per_s));
    finding.cause =
        "Large requests, several in flight: the disk itself, its link, its temperature or a cap is the limit. "
        "Network volumes carry the same names as disks.";
    finding.expected = fmt::format("{} ({})", disk_rate_text(expected.bytes_per_s), expected.source);
    finding.measured = disk_rate_text(side.bytes_per_s);
    finding.confidence = 0.6;
    finding.loss_unknown = "how much of a step waits for this disk is not known";
    finding.fix = {"nvme list: is it a local disk at all?",
                   "nvme smart-log: temperature, percentage_used, critical_warning",
                   "lspci -vvv of its controller: LnkSta against LnkCap"};
    findings.push_back(std::move(finding));
  }
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// "nvme3n1" -> "nvme", "sdb" -> "sd": disks of one kind.
std::string kind_of_disk(std::string_view name) {
  if (name.starts_with("nvme")) return "nvme";
  return std::string(name.substr(0, 2));
}

// A disk's mean service time, in ms a request.
std::optional<double> service_ms(const FioDisk& disk) {
  constexpr double kEnough = 1000;
  const double requests = disk.reads.value_or(0) + disk.writes.value_or(0);
  if (requests < kEnough || (!disk.read_ticks_ms && !disk.write_ticks_ms)) return std::nullopt;
  return (disk.read_ticks_ms.value_or(0) + disk.write_ticks_ms.value_or(0)) / requests;
}

void one_disk_slower(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr std::size_t kLeast = 3;
  constexpr double kSlower = 2;
  for (const FioRun& run : fio_runs(observed)) {
    std::map<std::string, std::vector<const FioDisk*>> by_kind;
    for (const FioDisk& disk : run.disks) {
      if (service_ms(disk)) by_kind[kind_of_disk(disk.name)].push_back(&disk);
    }
    for (const auto& [kind, disks] : by_kind) {
      std::vector<double> times;
      for (const FioDisk* const disk : disks) times.push_back(*service_ms(*disk));
      const double usual = median_of(times);
      if (disks.size() < kLeast || usual <= 0) continue;
      for (const FioDisk* const disk : disks) {
        const double time = *service_ms(*disk);
        if (time < kSlower * usual) continue;
        Finding finding = make_finding(rule, FindingSeverity::kMedium, {"disk", disk->name, run.seen.node}, "");
        finding.evidence.push_back(
            evidence_of(run.seen, disk->line, fmt::format("{}: {:.2f} ms a request", disk->name, time)));
        finding.title = fmt::format("{} takes {:.2f} ms a request, its {} peers {:.2f} ms", disk->name, time,
                                    disks.size() - 1, usual);
        finding.cause =
            "A stripe runs at the pace of its slowest disk: this one is failing, hot, or on a link that trained down.";
        finding.expected = fmt::format("{:.2f} ms", usual);
        finding.measured = fmt::format("{:.2f} ms", time);
        finding.confidence = 0.8;
        finding.loss_unknown = "how much of a step waits for these disks is not known";
        finding.fix = {"nvme smart-log /dev/" + disk->name + ": media_errors, temperature, percentage_used",
                       "lspci -vvv of its controller: LnkSta; dmesg | grep " + disk->name, "replace it"};
        findings.push_back(std::move(finding));
      }
    }
  }
}

// Runs that asked for the same: their rates can be compared.
std::string definition_of(const FioRun& run) {
  return fmt::format("{}|{}|{}|{}|{}", run.rw, run.block_bytes.value_or(0), run.engine, run.depth.value_or(0),
                     run.processes.value_or(0));
}

void node_slower(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr std::size_t kLeast = 3;
  constexpr double kSlower = 0.7;
  std::map<std::string, std::map<std::string, std::pair<double, FioRun>>> rates;  // by definition and way, by node
  for (const FioRun& run : fio_runs(observed)) {
    if (run.seen.node.empty() || !run.defined) continue;
    for (const FioSide& side : run.totals) {
      auto& best = rates[definition_of(run) + side.way][run.seen.node];
      if (side.bytes_per_s > best.first) best = {side.bytes_per_s, run};
    }
  }
  for (const auto& [definition, by_node] : rates) {
    std::vector<double> values;
    for (const auto& [node, rate] : by_node) values.push_back(rate.first);
    const double usual = median_of(values);
    if (by_node.size() < kLeast || usual <= 0) continue;
    for (const auto& [node, rate] : by_node) {
      if (rate.first >= kSlower * usual) continue;
      Finding finding =
          make_finding(rule, FindingSeverity::kMedium, {"node", node, node},
                       fmt::format("{}: {}, the other {} nodes {}", run_name(rate.second), disk_rate_text(rate.first),
                                   by_node.size() - 1, disk_rate_text(usual)));
      finding.evidence.push_back(evidence_of(rate.second.seen, rate.second.line, disk_rate_text(rate.first)));
      finding.cause =
          "The same test on machines that should be alike: this node's disks, network or mount are slower, and "
          "jobs over all nodes wait for it.";
      finding.expected = disk_rate_text(usual);
      finding.measured = disk_rate_text(rate.first);
      finding.confidence = 0.75;
      finding.loss_unknown = "how much of a step waits for data is not known";
      finding.fix = {"compare with a peer: mount options, nvme list, lspci -vvv, ethtool, dmesg"};
      findings.push_back(std::move(finding));
    }
  }
}

void runs_differ(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kApart = 2;
  using Rated = std::vector<std::pair<double, FioRun>>;
  std::map<std::tuple<std::string, std::string, std::string>, Rated> same;  // by file, definition and way
  for (const FioRun& run : fio_runs(observed)) {
    for (const FioSide& side : run.totals) {
      if (side.bytes_per_s > 0)
        same[{run.seen.file->path, definition_of(run) + run.filename, side.way}].emplace_back(side.bytes_per_s, run);
    }
  }
  std::set<std::pair<std::string, std::string>> told;  // reads and writes of the same runs once
  for (const auto& [key, rated] : same) {
    if (rated.size() < 2) continue;
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    const auto [slow, fast] = std::minmax_element(rated.begin(), rated.end(), less);
    if (fast->first < kApart * slow->first || !told.insert({std::get<0>(key), std::get<1>(key)}).second) continue;
    const auto is_named = [](const FioRun& run) { return run.defined || !run.label.empty(); };
    const bool defined = is_named(slow->second) && is_named(fast->second);
    Finding finding =
        finding_of(rule, defined ? FindingSeverity::kLow : FindingSeverity::kInfo, slow->second, slow->second.line,
                   fmt::format("{}: {}", run_name(slow->second), disk_rate_text(slow->first)));
    finding.evidence.push_back(evidence_of(fast->second.seen, fast->second.line,
                                           fmt::format("{}: {}", run_name(fast->second), disk_rate_text(fast->first))));
    finding.title = fmt::format("{} runs of {} differ {:.1f} times: {} to {}", rated.size(),
                                defined ? "the same test" : "what seems the same test", fast->first / slow->first,
                                disk_rate_text(slow->first), disk_rate_text(fast->first));
    finding.cause =
        "Something other than the disk decides: kernel, scheduler, caches, other users, or the state of the flash.";
    finding.expected = "runs within a few percent";
    finding.measured = fmt::format("{:.1f} times", fast->first / slow->first);
    finding.confidence = defined ? 0.8 : 0.5;
    if (defined) finding.loss_unknown = "which of the runs the work resembles is not known";
    finding.fix = {
        "change one thing at a time; compare kernel, /sys/block/*/queue/scheduler, mount options, fill level"};
    findings.push_back(std::move(finding));
  }
}

void long_tail(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kTimes = 50, kStallUs = 20'000;
  for (const FioRun& run : fio_runs(observed)) {
    if (is_buffered(run)) continue;
    for (const FioJob& job : run.jobs) {
      const auto stalls = [](const FioSide& side) {
        return side.latency.p50_us && side.latency.p99_us && *side.latency.p99_us >= kStallUs &&
               *side.latency.p99_us >= kTimes * *side.latency.p50_us;
      };
      const auto side = std::find_if(job.sides.begin(), job.sides.end(), stalls);
      if (side == job.sides.end() || lumps_of(job.shares)) continue;
      Finding finding = finding_of(
          rule, FindingSeverity::kLow, run, side->line,
          fmt::format("p50 {:.3g} ms, p99 {:.3g} ms", *side->latency.p50_us / 1e3, *side->latency.p99_us / 1e3));
      finding.title = fmt::format("one {} in a hundred takes {:.0f} ms and more, half of them {:.3g} ms", side->way,
                                  *side->latency.p99_us / 1e3, *side->latency.p50_us / 1e3);
      finding.cause =
          "Stalls of garbage collection, of a shared store, or of retries: a step that waits for all its samples "
          "meets one almost every time.";
      finding.expected = fmt::format("p99 below {} times the median", kTimes);
      finding.measured = fmt::format("{:.0f} times", *side->latency.p99_us / *side->latency.p50_us);
      finding.confidence = 0.7;
      finding.loss_unknown = "how far ahead the data loader reads is not known";
      finding.fix = {"more prefetch in the data loader hides it; fstrim and more free space where it is flash"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

void unsteady(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kSamples = 20, kSpread = 0.4;
  for (const FioRun& run : fio_runs(observed)) {
    if (is_buffered(run)) continue;
    for (const FioJob& job : run.jobs) {
      const auto varies = [](const FioSide& side) {
        return side.bw_samples >= kSamples && side.bw_stdev_ratio.value_or(0) >= kSpread;
      };
      const auto side = std::find_if(job.sides.begin(), job.sides.end(), varies);
      if (side == job.sides.end()) continue;
      Finding finding = finding_of(rule, FindingSeverity::kLow, run, side->line,
                                   fmt::format("standard deviation {:.0f} % of the mean", 100 * *side->bw_stdev_ratio));
      finding.title = fmt::format("{} rate of {} varies by {:.0f} % during the run", side->way, run_name(run),
                                  100 * *side->bw_stdev_ratio);
      finding.cause =
          "The fast area of the flash is full, the disk gets hot, burst credits end, or others use it, too: the "
          "mean is no rate to plan with.";
      finding.expected = fmt::format("below {:.0f} %", 100 * kSpread);
      finding.measured = fmt::format("{:.0f} %", 100 * *side->bw_stdev_ratio);
      finding.confidence = 0.7;
      finding.loss_unknown = "how long the work writes in one go is not known";
      finding.fix = {"fio --write_bw_log: when does it drop? nvme smart-log: temperature; plan with the lower rate"};
      findings.push_back(std::move(finding));
      break;
    }
  }
}

constexpr Rule kRules[] = {
    {"storage.throttled", "Two kinds of latency: a limiter",
     "The volume's cap or burst credits bound it, not the medium.", "cloud volume documentation", throttled},
    {"storage.slow-disk", "A rate far below what the kind of disk gives",
     "The disk, its link, its temperature or a cap is the limit.", "fio(1)", slow_disk},
    {"storage.disk-slower-than-peers", "One disk of several is slower",
     "A stripe runs at the pace of its slowest disk.", "fio(1)", one_disk_slower},
    {"storage.node-slower-than-peers", "One node's storage is slower", "Jobs over all nodes wait for it.", "fio(1)",
     node_slower},
    {"storage.runs-differ", "The same test with very different results", "Something other than the disk decides.",
     "lkml 2022-03-31", runs_differ},
    {"storage.long-tail", "A few requests that take very long",
     "A step that waits for all its samples meets one each time.", "fio(1)", long_tail},
    {"storage.unsteady", "A rate that varies during the run", "The mean is no rate to plan with.", "fio(1)", unsteady},
};

}  // namespace

std::span<const Rule> storage_rate_rules() { return kRules; }

}  // namespace tare
