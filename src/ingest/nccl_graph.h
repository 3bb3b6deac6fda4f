// What NCCL plans over its ranks: rings, trees, NVLS heads, the graphs that it searched, channel counts.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/format.h"
#include "ingest/kept_rows.h"

namespace tare {

class NcclGraph {
 public:
  bool take(std::string_view message, std::int64_t line);
  void finish(Reading& reading);
  int highest_rank() const { return highest_rank_; }

 private:
  bool take_ring(std::string_view message, std::int64_t line);
  bool take_trees(std::string_view message, std::int64_t line);
  bool take_head(std::string_view message, std::int64_t line);
  bool take_counts(std::string_view message, std::int64_t line);
  bool take_pattern(std::string_view message, std::int64_t line);
  bool take_connected(std::string_view message, std::int64_t line);

  struct Kept {
    Fact fact;
    std::int64_t count = 0;
  };
  std::map<std::pair<int, int>, Fact> rings_;  // by channel and their number
  std::map<int, Fact> heads_;
  std::map<std::string, Kept, std::less<>> patterns_, channels_;
  std::map<std::string, std::int64_t, std::less<>> connected_;
  KeptRows trees_{2000};
  std::size_t numbers_ = 0;
  int highest_rank_ = -1, tree_channels_ = 0;
  std::int64_t nvls_yes_ = 0, nvls_no_ = 0, nvls_line_ = 0, connected_line_ = 0;
};

}  // namespace tare
