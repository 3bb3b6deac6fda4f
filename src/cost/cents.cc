#include "cost/cents.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tare {

std::optional<std::int64_t> to_cents(double usd) {
  if (!std::isfinite(usd) || std::fabs(usd) > kLargestUsd) return std::nullopt;
  return std::llround(usd * 100);
}

double to_usd(std::int64_t cents) { return static_cast<double>(cents) / 100; }

std::vector<std::int64_t> round_to_sum(std::int64_t total, const std::vector<double>& exact) {
  std::vector<std::int64_t> parts(exact.size());
  std::int64_t left = total;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    parts[i] = static_cast<std::int64_t>(std::floor(exact[i]));
    left -= parts[i];
  }
  std::vector<std::size_t> order(exact.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return exact[a] - std::floor(exact[a]) > exact[b] - std::floor(exact[b]);
  });
  // Fewer cents are over than there are parts, save for the rounding of large exact values. What is nothing stays
  // nothing as long as something else can take the cent.
  const bool all_zero = std::all_of(exact.begin(), exact.end(), [](double x) { return x <= 0; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    if (exact[order[i]] <= 0 && !all_zero) continue;
    ++parts[order[i]];
    --left;
  }
  for (std::size_t i = order.size(); left < 0; i = i == 0 ? order.size() : i) {
    --i;
    if (parts[order[i]] == 0) continue;
    --parts[order[i]];
    ++left;
  }
  return parts;
}

std::vector<std::int64_t> share_out(std::int64_t total, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> exact(weights.size(), 0.0);
  if (!(sum > 0)) {
    exact.back() = static_cast<double>(total);
    return round_to_sum(total, exact);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) exact[i] = static_cast<double>(total) * (weights[i] / sum);
  return round_to_sum(total, exact);
}

}  // namespace tare
