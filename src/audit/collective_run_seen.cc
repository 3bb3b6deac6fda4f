#include "audit/collective_run_seen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "ingest/collective_rows.h"

namespace tare {
namespace {

std::vector<SizeResult> sizes_of(const FactRecord& facts) {
  std::map<std::int64_t, SizeResult> by_size;
  for (const CollectiveRow& row : collective_rows(facts)) {
    if (row.bytes <= 0) continue;
    SizeResult& one = by_size[row.bytes];
    std::optional<double>& side = row.in_place ? one.in_busbw : one.out_busbw;
    // A size that stands more than once, of cycles: the best of them.
    side = std::max(side.value_or(0), row.busbw);
    if (one.line == 0 || row.busbw > one.busbw_gb_per_s ||
        (row.busbw == one.busbw_gb_per_s && row.time_us < one.time_us)) {
      one.busbw_gb_per_s = row.busbw;
      one.time_us = row.time_us;
    }
    one.bytes = static_cast<double>(row.bytes);
    if (one.line == 0) one.line = row.line;
  }
  std::vector<SizeResult> sizes;
  sizes.reserve(by_size.size());
  for (auto& [bytes, one] : by_size) sizes.push_back(one);
  return sizes;
}

// Bandwidths of a table of all_reduce_bench.py have no times.
std::vector<SizeResult> sizes_of_bench(const FactRecord& facts) {
  std::vector<SizeResult> sizes;
  for (const FactRecord* const row : records_of(facts, "rows")) {
    const std::optional<double> bytes = row->number("bytes"), bus = row->number("busbw_gb_per_s");
    if (bytes && bus && *bytes > 0) sizes.push_back({*bytes, *bus, 0, *bus, std::nullopt, row->line});
  }
  std::sort(sizes.begin(), sizes.end(), [](const SizeResult& a, const SizeResult& b) { return a.bytes < b.bytes; });
  return sizes;
}

BenchRun run_of(const Observed& observed, const Seen& seen, const FactRecord& facts) {
  BenchRun run;
  run.seen = &seen;
  run.facts = &facts;
  run.collective = run.judged_as = std::string(facts.text("collective"));
  if (run.collective.empty()) {
    // What the columns leave open has one formula of bus bandwidth: all_gather or alltoall, broadcast or sendrecv.
    const std::vector<std::string> candidates = texts_of(facts, "collective_candidates");
    run.collective = join(candidates, " or ");
    if (std::find(candidates.begin(), candidates.end(), "all_gather") != candidates.end()) run.judged_as = "all_gather";
  }
  run.ranks = facts.number("ranks");
  run.nodes = facts.number("nodes");
  run.hosts = texts_of(facts, "hosts");
  run.gpu = accelerator_named(observed.catalog(), facts.text("gpu"));
  if (run.gpu == nullptr) run.gpu = observed.accelerator_beside(seen);
  run.sizes = sizes_of(facts);
  if (run.sizes.empty()) run.sizes = sizes_of_bench(facts);
  // Built without MPI every process prints a header and is its own rank 0.
  const double headers = facts.number("parameter_headers").value_or(1);
  run.alone = facts.number("repeated_ranks").value_or(0) > 0 || headers > 1;
  return run;
}

}  // namespace

const SizeResult* BenchRun::peak() const {
  const auto found = std::max_element(sizes.begin(), sizes.end(), [](const SizeResult& a, const SizeResult& b) {
    return a.busbw_gb_per_s < b.busbw_gb_per_s;
  });
  return found == sizes.end() ? nullptr : &*found;
}

bool BenchRun::is_nccl() const {
  const std::string_view format = seen->format->name;
  return format == "nccl-tests" || format == "nccl-tests JSON";
}

std::vector<BenchRun> bench_runs(const Observed& observed) {
  std::vector<BenchRun> runs;
  for (const char* const format : {"nccl-tests", "nccl-tests JSON", "nccom-test", "all_reduce_bench.py"}) {
    for (const Seen& seen : observed.of_format(format)) {
      const std::vector<const FactRecord*> list = records_of(*seen.facts, "runs");
      if (list.empty()) runs.push_back(run_of(observed, seen, *seen.facts));
      for (const FactRecord* const one : list) runs.push_back(run_of(observed, seen, *one));
    }
  }
  return runs;
}

std::string words_of(const BenchRun& run) {
  std::string words = run.collective.empty() ? std::string("a collective") : run.collective;
  if (run.ranks) words += fmt::format(" over {:g} ranks", *run.ranks);
  if (run.is_between_nodes()) words += fmt::format(" on {:g} nodes", *run.nodes);
  return words;
}

Subject subject_of(const BenchRun& run) {
  const bool named = run.is_one_node() && run.hosts.size() == 1 && run.hosts.front() != "localhost";
  if (named) return {"node", run.hosts.front(), run.seen->node};
  std::string name = run.collective.empty() ? std::string("collective") : run.collective;
  if (run.ranks) name += fmt::format(", {:g} ranks", *run.ranks);
  return {"job", name, run.seen->node};
}

std::string size_words(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

}  // namespace tare
