// The communicators of an NCCL log: who joined, who finished joining, who gave up, and how long it took.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ingest/format.h"
#include "ingest/kept_rows.h"
#include "ingest/nccl_line.h"

namespace tare {

class NcclComms {
 public:
  // True when the message is of a communicator's life.
  bool take(const NcclLine& line, std::int64_t number);
  void finish(Reading& reading);
  std::int64_t most_ranks() const { return most_ranks_; }
  std::int64_t ranks_line() const { return ranks_line_; }

 private:
  struct Communicator {
    std::int64_t line = 0, ranks = -1, started = 0, complete = 0, ended = 0;
  };
  bool take_life(const NcclLine& line, std::int64_t number);
  bool take_size(std::string_view message, std::int64_t number);
  bool take_timing(std::string_view message, std::int64_t number);

  std::map<std::string, Communicator, std::less<>> communicators_;  // by commId; "" where it is not printed
  KeptRows rows_{1000};
  std::int64_t started_ = 0, complete_ = 0, aborted_ = 0, destroyed_ = 0;
  std::int64_t most_ranks_ = -1, ranks_line_ = 0, most_nodes_ = -1, most_local_ = -1, nodes_line_ = 0;
  double init_most_s_ = 0, init_least_s_ = 0;
  std::int64_t timings_ = 0, timing_line_ = 0;
  std::int64_t mnnvl_ = -1;
};

// The word behind `name` and a blank: "nranks" in "rank 2 nranks 16 cudaDev 2"; empty when it is not there.
std::string_view nccl_value(std::string_view message, std::string_view name);

}  // namespace tare
