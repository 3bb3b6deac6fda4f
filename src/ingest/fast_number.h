// Numbers at the speed that logs of gigabytes need.
//
// The common case (up to 19 digits that a double holds exactly, a small exponent) is one multiplication or division by
// an exact power of ten, hence correctly rounded; everything else goes to the full parser, with the same result.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace tare {

// Parses a number at `at`: sign, digits, fraction, exponent. Returns what stands behind it; nullptr when there is none.
// "nan" and "inf" are no numbers here. Does not read at or beyond `end`.
const char* parse_number_slowly(const char* at, const char* end, double& value);

inline bool is_digit_char(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The value of the eight digits in a word, the first in its lowest byte.
inline std::uint64_t value_of_eight(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  return ((digits & 0x000000FF000000FF) * 0x000F424000000064 +
          ((digits >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
         32;
}

// Appends the digits at `at` to `value`, eight at a time; more than 19 overflow, which the caller sees by their count.
inline const char* parse_digits(const char* at, const char* end, std::uint64_t& value) {
  static constexpr std::uint64_t kTens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  while (end - at >= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= 0x3030303030303030;  // digits become 0 to 9
    const std::uint64_t others = (word | (word + 0x0606060606060606)) & 0xF0F0F0F0F0F0F0F0;
    if (others == 0) {
      value = value * 100000000 + value_of_eight(word);
      at += 8;
      continue;
    }
    // The byte sums above carry only upwards, so the lowest byte that is no digit is told correctly.
    const int count = std::countr_zero(others) / 8;
    if (count == 0) return at;
    value = value * kTens[count] + value_of_eight(word << (64 - 8 * count));
    return at + count;
  }
  while (at != end && is_digit_char(*at)) value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
  return at;
}

inline const char* parse_number(const char* const begin, const char* end, double& value) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  const char* at = begin;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  std::uint64_t digits = 0;
  const char* const first = at;
  at = parse_digits(at, end, digits);
  std::int64_t count = at - first;
  std::int64_t exponent = 0;
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    at = parse_digits(at, end, digits);
    exponent = fraction - at;
    count -= exponent;
  }
  if (count == 0) return nullptr;
  if (at != end && (*at | 0x20) == 'e') {
    const char* behind = at + 1;
    const bool down = behind != end && *behind == '-';
    if (behind != end && (*behind == '-' || *behind == '+')) ++behind;
    std::int64_t stated = 0;
    const char* const from = behind;
    while (behind != end && is_digit_char(*behind) && behind - from < 4) stated = stated * 10 + (*behind++ - '0');
    if (behind != from) {
      exponent += down ? -stated : stated;
      at = behind;
    }
  }
  if (count > 19 || digits >= kExact || exponent < -22 || exponent > 22) return parse_number_slowly(begin, end, value);
  const double whole = static_cast<double>(digits);
  const double magnitude = exponent < 0 ? whole / kPowers[-exponent] : whole * kPowers[exponent];
  value = negative ? -magnitude : magnitude;
  return at;
}

}  // namespace tare
