// Elementary functions without branches or calls, for loops that are vectorised.
#pragma once

#include <bit>
#include <cstdint>

#include "base/simd.h"

namespace tare {

// e^x within 2 ulp for |x| <= 700; beyond it the value at that end.
//   x = n ln 2 + r, |r| <= ln 2 / 2; e^r by its series to r^13 (the rest is below 1e-17); 2^n into the exponent.
TARE_INLINE double vector_exp(double x) {
  constexpr double kEnd = 700;
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kLn2High = 6.93145751953125e-1, kLn2Low = 1.42860682030941723212e-6;
  constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number in the low bits
  x = x < -kEnd ? -kEnd : x;
  x = x > kEnd ? kEnd : x;
  const double shifted = x * kLog2E + kRound;
  const double n = shifted - kRound;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double low = (1 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  const double middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const double high = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800)) +
                      r4 * (1.0 / 479001600 + r * (1.0 / 6227020800));
  const double series = low + r4 * (middle + r4 * high);
  const auto exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) + exponent);
}

// ln x within 4 ulp for normal x > 0.
//   x = 2^n m, m in [√½, √2); ln m = 2 atanh(s), s = (m − 1)/(m + 1), by its series to s^21.
TARE_INLINE double vector_log(double x) {
  constexpr std::uint64_t kHalfRoot = 0x3fe6a09e667f3bcdULL;  // √½
  constexpr double kLn2High = 6.93145751953125e-1, kLn2Low = 1.42860682030941723212e-6;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t above = bits - kHalfRoot;
  // The exponent n as the low bits of a double: no conversion from 64-bit integers is needed.
  const std::uint64_t exponent = (above + (1024ULL << 52)) >> 52;
  const double n = std::bit_cast<double>(exponent | 0x4330000000000000ULL) - (4503599627370496.0 + 1024);
  const double m = std::bit_cast<double>(bits - (((exponent - 1024) & 0xfff) << 52));
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  const double series =
      1.0 / 3 +
      z * (1.0 / 5 +
           z * (1.0 / 7 +
                z * (1.0 / 9 +
                     z * (1.0 / 11 +
                          z * (1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z * (1.0 / 19 + z * (1.0 / 21)))))))));
  return n * kLn2High + (2 * s + (n * kLn2Low + 2 * s * z * series));
}

}  // namespace tare
