// A bounded, evenly spread choice of a sequence of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tare {

// Keeps every item until there are `limit`, then every second, every fourth …
template <typename T>
class Thinned {
 public:
  explicit Thinned(std::size_t limit) : limit_(limit < 2 ? 2 : limit) {}

  void add(T item) {
    const bool wanted = seen_ % every_ == 0;
    ++seen_;
    if (!wanted) return;
    kept_.push_back(std::move(item));
    if (kept_.size() < limit_) return;
    std::size_t to = 0;
    for (std::size_t from = 0; from < kept_.size(); from += 2, ++to) {
      if (to != from) kept_[to] = std::move(kept_[from]);
    }
    kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(to), kept_.end());
    every_ *= 2;
  }

  const std::vector<T>& kept() const { return kept_; }
  std::vector<T>& kept() { return kept_; }
  std::int64_t seen() const { return seen_; }
  std::int64_t every() const { return every_; }  // 1: all are there

 private:
  std::size_t limit_;
  std::vector<T> kept_;
  std::int64_t seen_ = 0;
  std::int64_t every_ = 1;
};

}  // namespace tare
