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

// Whole numbers near `exact` (none negative, not empty) that sum to `total` by largest remainder: each is rounded down,
// and the cents that are over go to the largest remainders, the earlier at a tie. When `total` is the rounded sum each
// part is within a cent of its exact value.
std::vector<std::int64_t> round_to_sum(std::int64_t total, const std::vector<double>& exact);

// `total` ≥ 0 in the proportions of `weights` (none negative, not empty), rounded as above. Without any weight the last
// part takes it all.
std::vector<std::int64_t> share_out(std::int64_t total, const std::vector<double>& weights);

}  // namespace tare
