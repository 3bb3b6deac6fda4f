#include "ingest/field_scan.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tare {
namespace {

constexpr std::uint16_t kNoDot = 0xFFFF;
constexpr std::size_t kUnread = ~std::size_t{0};

// '0' in the places below 1 to 8 digits that were moved to the top.
constexpr std::array<std::uint64_t, 9> kZeroDigits = {0x3030303030303030, 0x0030303030303030, 0x0000303030303030,
                                                      0x0000003030303030, 0x0000000030303030, 0x0000000000303030,
                                                      0x0000000000003030, 0x0000000000000030, 0x0000000000000000};
constexpr std::array<std::uint32_t, 5> kZeroDigits4 = {0x30303030, 0x00303030, 0x00003030, 0x00000030, 0x00000000};
constexpr std::array<double, 9> kPower = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
constexpr std::array<std::uint64_t, 9> kWhole = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

[[gnu::always_inline]] inline std::uint64_t valid_bits(std::size_t left) {
  return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

#if defined(__x86_64__)
#define TARE_FOR_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt"), always_inline))

struct Sse2Bytes {
  __m128i part[4];
  [[gnu::always_inline]] explicit Sse2Bytes(const char* at) {
    for (int i = 0; i < 4; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at) + i);
  }
  [[gnu::always_inline]] std::uint64_t equal(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    std::uint64_t mask = 0;
    for (int i = 0; i < 4; ++i) {
      const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(part[i], wanted)));
      mask |= static_cast<std::uint64_t>(bits) << (16 * i);
    }
    return mask;
  }
  [[gnu::always_inline]] static std::size_t count_bits(std::uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555;
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return static_cast<std::size_t>((x * 0x0101010101010101) >> 56);
  }
  [[gnu::always_inline]] static std::size_t first_bit(std::uint64_t x) {
    return static_cast<std::size_t>(__builtin_ctzll(x | std::uint64_t{1} << 63));
  }
};

struct Avx2Bytes {
  __m256i part[2];
  TARE_FOR_AVX2 explicit Avx2Bytes(const char* at) {
    part[0] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    part[1] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + 1);
  }
  TARE_FOR_AVX2 std::uint64_t equal(char c) const {
    const __m256i wanted = _mm256_set1_epi8(c);
    const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part[0], wanted)));
    const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part[1], wanted)));
    return low | static_cast<std::uint64_t>(high) << 32;
  }
  TARE_FOR_AVX2 static std::size_t first_bit(std::uint64_t x) { return _tzcnt_u64(x); }  // 64 for none
  TARE_FOR_AVX2 static std::size_t count_bits(std::uint64_t x) {
    return static_cast<std::size_t>(__builtin_popcountll(x));
  }
};

#define FIELD_KERNEL_NAME sse2_kernel
#define FIELD_KERNEL_TARGET
#define FIELD_KERNEL_INLINE [[gnu::always_inline]]
#define FIELD_KERNEL_BYTES Sse2Bytes
#include "ingest/field_kernel.inc"
#undef FIELD_KERNEL_NAME
#undef FIELD_KERNEL_TARGET
#undef FIELD_KERNEL_INLINE
#undef FIELD_KERNEL_BYTES

#define FIELD_KERNEL_NAME avx2_kernel
#define FIELD_KERNEL_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define FIELD_KERNEL_INLINE TARE_FOR_AVX2
#define FIELD_KERNEL_BYTES Avx2Bytes
#include "ingest/field_kernel.inc"
#undef FIELD_KERNEL_NAME
#undef FIELD_KERNEL_TARGET
#undef FIELD_KERNEL_INLINE
#undef FIELD_KERNEL_BYTES

using Read = decltype(&sse2_kernel::read);

Read choose() {
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
  return wide ? avx2_kernel::read : sse2_kernel::read;
}

#else

struct PlainBytes {
  const char* at;
  explicit PlainBytes(const char* from) : at(from) {}
  std::uint64_t equal(char c) const {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < 64; ++i) mask |= static_cast<std::uint64_t>(at[i] == c) << i;
    return mask;
  }
  static std::size_t count_bits(std::uint64_t x) { return static_cast<std::size_t>(std::popcount(x)); }
  static std::size_t first_bit(std::uint64_t x) { return static_cast<std::size_t>(std::countr_zero(x)); }
};

#define FIELD_KERNEL_NAME plain_kernel
#define FIELD_KERNEL_TARGET
#define FIELD_KERNEL_INLINE [[gnu::always_inline]]
#define FIELD_KERNEL_BYTES PlainBytes
#include "ingest/field_kernel.inc"

using Read = decltype(&plain_kernel::read);
Read choose() { return plain_kernel::read; }

#endif

}  // namespace

bool FieldScan::read(std::string_view line, char separator, const Column* columns, std::size_t count, double* values) {
  static const Read kernel = choose();
  if (std::endian::native != std::endian::little || line.size() > kBytes - 64 || count > kFields - 64) return false;
  const std::size_t odd =
      kernel(line, separator, columns, count, values, begin_.data(), end_.data(), dots_.data(), odd_.data());
  odd_count_ = odd == kUnread ? 0 : odd;
  return odd != kUnread;
}

}  // namespace tare
