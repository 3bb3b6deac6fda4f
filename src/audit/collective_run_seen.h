// One launch of a collective benchmark as the rules see it: its rows by size, who took part, on which GPUs.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/finding.h"
#include "audit/observed.h"

namespace tare {

// The better of both sides of a row: out of place and in place.
struct SizeResult {
  double bytes = 0;
  double busbw_gb_per_s = 0;
  double time_us = 0;
  std::optional<double> out_busbw, in_busbw;
  std::int64_t line = 0;
};

struct BenchRun {
  const Seen* seen = nullptr;
  const FactRecord* facts = nullptr;
  std::string collective;  // "all_reduce", "all_gather or alltoall"; empty where not known
  std::string judged_as;   // one of them, whose expectation stands for all
  std::optional<double> ranks;
  std::optional<double> nodes;  // of the list of devices
  std::vector<std::string> hosts;
  const Accelerator* gpu = nullptr;
  std::vector<SizeResult> sizes;  // ascending; of sizes above 0
  bool alone = false;             // several processes that each ran by themselves

  const SizeResult* peak() const;  // nullptr without rows
  bool is_nccl() const;            // nccl-tests and rccl-tests, not nccom-test
  bool is_one_node() const { return nodes == 1; }
  bool is_between_nodes() const { return nodes.value_or(1) > 1; }
};

std::vector<BenchRun> bench_runs(const Observed& observed);

// "all_reduce, 16 ranks"; the node where it ran on one.
Subject subject_of(const BenchRun& run);
std::string words_of(const BenchRun& run);  // "all_reduce over 16 ranks"

// "256 MiB", "8 GiB", "640 B".
std::string size_words(double bytes);

}  // namespace tare
