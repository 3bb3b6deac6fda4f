// Whole cents, shared out so that the parts sum to the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tare {

// A bill above this is not money: ten trillion dollars. Below it a double holds every cent.
inline constexpr double kLargestUsd = 1e13;

// Rounded half away from zero; nullopt when not finite or beyond kLargestUsd.
std::optional<std::int64_t> to_cents(double usd);
double to_usd(std::int64_t cents);

// `total` ≥ 0 in the proportions of `weights` (none negative) by largest remainder: each part is its exact share
// rounded down or up, the parts with the largest remainders (the earlier at a tie) are rounded up. Without any weight
// the last part takes it all. Precondition: weights is not empty.
std::vector<std::int64_t> share_out(std::int64_t total, const std::vector<double>& weights);

}  // namespace tare
