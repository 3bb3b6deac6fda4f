#include "ingest/kept_rows.h"

#include <fmt/format.h>

namespace tare {

bool KeptRows::wants_next() {
  if (rows_.size() >= limit_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); i += 2) {
      if (i != kept) rows_[kept] = std::move(rows_[i]);
      ++kept;
    }
    rows_.resize(kept);
    every_ *= 2;
  }
  return seen_++ % every_ == 0;
}

void KeptRows::give(FactRecord& facts, std::string_view name, Reading& reading) {
  if (rows_.empty()) return;
  if (thinned()) {
    reading.note(
        fmt::format("of {} entries of '{}' every {}th is listed; counts and sums are over all", seen_, name, every_));
  }
  facts.list(name) = std::move(rows_);
  rows_.clear();
}

}  // namespace tare
