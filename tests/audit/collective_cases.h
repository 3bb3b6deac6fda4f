// Tables of all_reduce_perf with numbers of their own, for cases and tests of the collective rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare {

struct BenchRow {
  std::int64_t bytes = 0;
  double busbw = 0;    // GB/s
  double time_us = 0;  // 0: what the bandwidth gives
  int wrong = 0;
  std::optional<double> in_busbw = {};  // none: as out of place
};

struct BenchText {
  std::vector<std::string> hosts;
  int gpus_per_host = 8;
  std::string gpu;
  std::vector<BenchRow> rows = {};
  int warmup = 5, iters = 20;
};
std::string bench_text(const BenchText& bench);

}  // namespace tare
