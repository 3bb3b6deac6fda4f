// Rows of a long file, thinned evenly so that they fit in memory: of any number at most `limit` stay, and these are
// every n-th.
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/format.h"

namespace tare {

class KeptRows {
 public:
  explicit KeptRows(std::size_t limit = 4000) : limit_(limit) {}

  // Whether the next row will stay for now; one that will not need not be built. Counts it.
  bool wants_next();
  void add(FactRecord row) { rows_.push_back(Fact::of(std::move(row))); }

  std::int64_t seen() const { return seen_; }
  bool thinned() const { return every_ > 1; }
  const std::vector<Fact>& rows() const { return rows_; }
  // Puts the rows into `facts` as a list of that name; says in a note when some were left out.
  void give(FactRecord& facts, std::string_view name, Reading& reading);

 private:
  std::size_t limit_;
  std::vector<Fact> rows_;
  std::int64_t seen_ = 0;
  std::int64_t every_ = 1;
};

}  // namespace tare
