// Random numbers a block at a time, each a function of (seed, stream, draw) alone.
//
//   uniform   Philox4x32-10 (Salmon et al. 2011): key the seed, counter (group of four draws, stream). Draw i is word
//             (i mod 256) / 64 of the counter (i / 256) · 64 + i mod 64; x ↦ (x + ½) 2⁻³², never 0 or 1
//   triangle  inversion: u < F ? low + √(u (high − low)(mode − low)) : high − √((1 − u)(high − low)(high − mode)),
//             F = (mode − low) / (high − low), or the same of logarithms; u of the word's upper 24 bits and the
//             distance from the mode in single precision
//   normal    inversion by Acklam's rational approximation, relative error 1.2e-9
//   Poisson   inversion: the least n with P(N <= n) >= u. Summed from 0 for λ < kSummedBelow; above by Giles' (2016)
//             expansion ⌊λ + √λ w + (2 + w²)/6 … ⌋ in w = Φ⁻¹(u), which is off by one for at most 5 draws in 10,000
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/block_math.h"

namespace tare {

// The stream of a name: FNV-1a, so that it is the same on every machine.
std::uint64_t stream_of(std::string_view name);

// Draws 256 · block …; of which block the draw i is: i / 256.
void fill_uniform(DrawBlock& out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block);

struct Triangle {
  double low = 0, mode = 0, high = 0;
};
// Precondition: low <= mode <= high, low < high; for a logarithmic one low > 0, high / low < e^80.
void fill_triangle(DrawBlock& out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block,
                   const Triangle& triangle, bool logarithmic);
void to_normal(DrawBlock& uniform);  // in place

inline constexpr double kSummedBelow = 10;
// `uniform` becomes the counts. A mean that is not positive, or not a number, gives 0.
void to_poisson(DrawBlock& uniform, const DrawBlock& mean);

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

}  // namespace tare
