// What else Megatron and DeepSpeed print around their steps: times of parts, and memory by rank.
//
//   time (ms) | forward-compute: 264.79 | backward-compute: 481.96 | optimizer: 85.49
//   (min, max) time across ranks (ms):
//       forward-backward ...............................: (1234.50, 1300.21)
//   times across ranks (ms):
//     all-grads-sync:
//        rank  0: 51.20
//   [Rank 51] (after 20 iterations) memory (MB) | allocated: 19494.4 | max allocated: 22106.0 | reserved: 26716.0
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fact.h"

namespace tare {

class TrainingTimers {
 public:
  // True when the line, or a part of it, is of this kind. `rank`: of the line's prefix, -1 without one.
  bool on_line(std::string_view line, std::int64_t number, int rank = -1);
  void to_facts(FactRecord& facts) const;
  bool empty() const { return timers_.empty() && lines_ == 0; }

 private:
  struct Timer {
    std::string name;
    std::int64_t line = 0, count = 0;
    double first = 0, last = 0, sum = 0, min = 0, max = 0;
    double slowest = 0;  // across ranks, where the log says it
    bool has_slowest = false;
  };
  struct Row {
    std::int64_t line = 0;
    int rank = -1;
    std::vector<std::pair<std::size_t, double>> values;  // timer, milliseconds
  };
  bool on_times(std::string_view rest, std::int64_t number, int rank);
  bool on_across_ranks(std::string_view line, std::int64_t number);
  bool on_each_rank(std::string_view line, std::int64_t number, int rank);
  std::size_t timer_named(std::string_view name, std::int64_t number);
  void count(std::size_t timer, double value);
  void keep(Row row);

  std::vector<Timer> timers_;
  // One timer of one rank, each time it is printed.
  struct RankTimer {
    std::int64_t line = 0, count = 0;
    double sum = 0;
    std::vector<double> values;  // the first of them
  };
  std::vector<Row> rows_;
  std::map<std::pair<std::size_t, int>, RankTimer> rank_timers_;
  std::size_t each_rank_timer_ = 0;  // whose ranks follow
  std::size_t hint_ = 0;             // timers come in the same order line after line
  std::int64_t lines_ = 0, stride_ = 1, until_next_ = 0;
  bool across_ranks_ = false, each_rank_ = false;
};

class RankMemory {
 public:
  bool on_line(std::string_view line, std::int64_t number);
  void to_facts(FactRecord& facts) const;
  bool empty() const { return ranks_.empty(); }
  std::int64_t highest_rank() const { return highest_; }

 private:
  void on_report(std::string_view before, std::string_view report, std::int64_t number);
  std::vector<FactRecord> ranks_;  // the first report of each
  std::vector<bool> seen_;
  std::int64_t highest_ = -1, reports_ = 0;
  double most_allocated_ = 0, most_reserved_ = 0;
  std::int64_t most_line_ = 0;
  std::string unit_;
};

}  // namespace tare
