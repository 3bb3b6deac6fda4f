#include "cost/percentiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tare {
namespace {

constexpr std::size_t kBins = 1024;
constexpr std::array<double, 3> kShares = {0.1, 0.5, 0.9};

std::size_t rank_of(double share, std::size_t count) {
  const double wanted = std::ceil(share * static_cast<double>(count) * (1 - 1e-12));
  return static_cast<std::size_t>(std::max(wanted, 1.0)) - 1;
}

// Values in bins of equal width: only the bin of a rank needs to be ordered.
class Bins {
 public:
  explicit Bins(std::span<const double> values) : values_(values) {
    bool any = false;
    for (const double v : values) {
      if (!std::isfinite(v)) continue;
      low_ = any ? std::min(low_, v) : v;
      high_ = any ? std::max(high_, v) : v;
      any = true;
    }
    scale_ = high_ > low_ ? (kBins - 1) / (high_ - low_) : 0;
    for (const double v : values) ++counts_[bin_of(v)];
  }

  double at_rank(std::size_t rank) {
    std::size_t bin = 0;
    while (rank >= counts_[bin]) rank -= counts_[bin++];
    found_.clear();
    for (const double v : values_) {
      if (bin_of(v) == bin) found_.push_back(v);
    }
    const auto place = found_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(found_.begin(), place, found_.end());
    return *place;
  }

 private:
  // Never falls when the value rises; what is infinite goes to the last bin.
  std::size_t bin_of(double value) const {
    const double bin = (value - low_) * scale_;
    return bin < kBins ? static_cast<std::size_t>(static_cast<std::int32_t>(bin)) : kBins - 1;
  }

  std::span<const double> values_;
  double low_ = 0, high_ = 0, scale_ = 0;
  std::array<std::uint32_t, kBins> counts_{};
  std::vector<double> found_;
};

}  // namespace

Percentiles percentiles(std::span<const double> values) {
  Bins bins(values);
  std::array<double, 3> found{};
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = bins.at_rank(rank_of(kShares[i], values.size()));
  return {found[0], found[1], found[2]};
}

}  // namespace tare
