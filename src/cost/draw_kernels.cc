#include "cost/draw_kernels.h"

#include <algorithm>
#include <cmath>

#include "base/vector_math.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define TARE_HAS_AVX2
#endif

namespace tare {

// In a named namespace: versions of a function are chosen at load time by name.
namespace draw_loops {

constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr int kWords = 4;
constexpr int kLanes = kBlock / kWords;

// A word of 32 bits in 64, as the multiplication needs it; what is above the 32 bits is cut off where it matters.
struct Counter {
  std::uint64_t word[kWords];
};

constexpr std::uint64_t kLow = 0xffffffff;

TARE_INLINE void rounds(Counter& c, std::uint32_t key0, std::uint32_t key1) {
#pragma GCC unroll 10
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = (c.word[0] & kLow) * kMultiplier0;
    const std::uint64_t product1 = (c.word[2] & kLow) * kMultiplier1;
    c.word[0] = (product1 >> 32) ^ c.word[1] ^ key0;
    c.word[1] = product1;
    c.word[2] = (product0 >> 32) ^ c.word[3] ^ key1;
    c.word[3] = product0;
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
}

// 32 bits as a number in (0, 1). OR-ing them into the low bits of 2^52 makes 2^52 + x without a conversion.
TARE_INLINE double unit(std::uint64_t bits) {
  const double shifted = std::bit_cast<double>((bits & kLow) | 0x4330000000000000ULL);
  return (shifted - (4503599627370496.0 - 0.5)) * 0x1p-32;
}

void uniform(double* out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block) {
  const auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  const std::uint64_t first = std::uint64_t{block} * kLanes;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t group = first + lane;
    Counter c{{group, group >> 32, stream, stream >> 32}};
    rounds(c, key0, key1);
    for (int w = 0; w < kWords; ++w) out[static_cast<std::uint64_t>(w * kLanes) + lane] = unit(c.word[w]);
  }
}

#ifdef TARE_HAS_AVX2
// The same, four lanes at a time: a compiler makes shifts and additions of a multiplication by a constant, which are
// four times slower here than the multiplication of 32 by 32 bits.
#define TARE_WIDE(x) _mm256_set1_epi64x(static_cast<long long>(x))
__attribute__((target("avx2"))) void uniform_avx2(double* out, std::uint64_t seed, std::uint64_t stream,
                                                  std::uint32_t block) {
  __m256i keys0[kRounds], keys1[kRounds];
  for (int r = 0; r < kRounds; ++r) {
    keys0[r] = TARE_WIDE(
        static_cast<std::uint32_t>(static_cast<std::uint32_t>(seed) + static_cast<std::uint32_t>(r) * kWeyl0));
    keys1[r] = TARE_WIDE(
        static_cast<std::uint32_t>(static_cast<std::uint32_t>(seed >> 32) + static_cast<std::uint32_t>(r) * kWeyl1));
  }
  const __m256i multiplier0 = TARE_WIDE(kMultiplier0), multiplier1 = TARE_WIDE(kMultiplier1), low = TARE_WIDE(kLow);
  const __m256i exponent = TARE_WIDE(0x4330000000000000ULL);
  const __m256d offset = _mm256_set1_pd(4503599627370496.0 - 0.5), scale = _mm256_set1_pd(0x1p-32);
  const __m256i steps = _mm256_set_epi64x(3, 2, 1, 0);
  for (int lane = 0; lane < kLanes; lane += 4) {
    const __m256i group =
        _mm256_add_epi64(TARE_WIDE(std::uint64_t{block} * kLanes + static_cast<std::uint64_t>(lane)), steps);
    __m256i c[kWords] = {group, _mm256_srli_epi64(group, 32), TARE_WIDE(stream), TARE_WIDE(stream >> 32)};
#pragma GCC unroll 10
    for (int r = 0; r < kRounds; ++r) {
      const __m256i product0 = _mm256_mul_epu32(c[0], multiplier0);
      const __m256i product1 = _mm256_mul_epu32(c[2], multiplier1);
      c[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), c[1]), keys0[r]);
      c[1] = product1;
      c[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), c[3]), keys1[r]);
      c[3] = product0;
    }
    for (int w = 0; w < kWords; ++w) {
      const __m256d shifted = _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(c[w], low), exponent));
      _mm256_store_pd(out + w * kLanes + lane, _mm256_mul_pd(_mm256_sub_pd(shifted, offset), scale));
    }
  }
}
#undef TARE_WIDE
#endif

TARE_VECTORISED void triangle(double* x, double low, double mode, double high) {
  const double at_mode = (mode - low) / (high - low);
  const double below = (high - low) * (mode - low), above = (high - low) * (high - mode);
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
    const double u = x[i];
    const bool is_below = u < at_mode;
    const double root = __builtin_sqrt((is_below ? u : 1 - u) * (is_below ? below : above));
    x[i] = (is_below ? low : high) + (is_below ? root : -root);
  }
}

// Acklam: central region in r = u − ½, tails in √(−2 ln p); both are computed and one is chosen.
TARE_INLINE double normal_of(double u) {
  constexpr double kTail = 0.02425;
  const double r = u - 0.5;
  const double p = 0.5 - (r < 0 ? -r : r);
  const double s = r * r;
  const double central_over =
      (((((-3.969683028665376e+01 * s + 2.209460984245205e+02) * s - 2.759285104469687e+02) * s +
         1.383577518672690e+02) *
            s -
        3.066479806614716e+01) *
           s +
       2.506628277459239e+00) *
      r;
  const double central_under =
      ((((-5.447609879822406e+01 * s + 1.615858368580409e+02) * s - 1.556989798598866e+02) * s +
        6.680131188771972e+01) *
           s -
       1.328068155288572e+01) *
          s +
      1;
  const double t = __builtin_sqrt(-2 * vector_log(p));
  const double tail_over = ((((-7.784894002430293e-03 * t - 3.223964580411365e-01) * t - 2.400758277161838e+00) * t -
                             2.549732539343734e+00) *
                                t +
                            4.374664141464968e+00) *
                               t +
                           2.938163982698783e+00;
  const double tail_under =
      (((7.784695709041462e-03 * t + 3.224671290700398e-01) * t + 2.445134137142996e+00) * t + 3.754408661907416e+00) *
          t +
      1;
  const bool in_tail = p < kTail;
  const double value = (in_tail ? tail_over : central_over) / (in_tail ? tail_under : central_under);
  return in_tail && r > 0 ? -value : value;
}

TARE_VECTORISED void normal(double* x) { TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) x[i] = normal_of(x[i]); }

TARE_VECTORISED void exponential(double* x) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) x[i] = vector_exp(x[i]);
}

TARE_VECTORISED void poisson_expansion(double* out, const double* uniform, const double* mean) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
    const double w = normal_of(uniform[i]);
    const double l = mean[i] >= kSummedBelow ? mean[i] : kSummedBelow;
    const double root = __builtin_sqrt(l);
    const double w2 = w * w;
    const double n = l + root * w + (2 + w2) * (1.0 / 6) - w * (2 + w2) * (1.0 / 72) / root +
                     ((-8.0 / 405) + w2 * (7.0 / 810 + w2 * (1.0 / 270))) / l;
    out[i] = n > 0 ? __builtin_floor(n) : 0;
  }
}

// One term of the sum for all: P(N <= k) grows by the term, and those below their u count on. True: any still does.
TARE_VECTORISED bool poisson_terms(double* count, double* term, double* sum, const double* uniform, const double* mean,
                                   int first, int last) {
  for (int k = first; k < last; ++k) {
    const double inverse = 1.0 / (k + 1);
    TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
      count[i] += uniform[i] > sum[i] ? 1.0 : 0.0;
      term[i] *= mean[i] * inverse;
      sum[i] += term[i];
    }
  }
  int more = 0;
  for (int i = 0; i < kBlock; ++i) more |= uniform[i] > sum[i];
  return more != 0;
}

}  // namespace draw_loops

namespace {

// Each mean below kSummedBelow, else zero: e^−λ and the terms after it, while any draw lies above the sum. The sum ends
// below 1 by rounding, hence the last term.
void sum_poisson(Block& count, const Block& uniform, const Block& mean) {
  constexpr int kStep = 4, kLast = 64;
  Block term, sum;
  for (int i = 0; i < kBlock; ++i) term.at[i] = -mean.at[i];
  draw_loops::exponential(term.at);
  sum = term;
  std::fill_n(count.at, kBlock, 0.0);
  bool more = true;
  for (int k = 0; more && k < kLast; k += kStep) {
    more = draw_loops::poisson_terms(count.at, term.at, sum.at, uniform.at, mean.at, k, k + kStep);
  }
}

}  // namespace

std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

void fill_uniform(Block& out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block) {
#ifdef TARE_HAS_AVX2
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return draw_loops::uniform_avx2(out.at, seed, stream, block);
#endif
  draw_loops::uniform(out.at, seed, stream, block);
}

void to_triangle(Block& values, const Triangle& triangle) {
  draw_loops::triangle(values.at, triangle.low, triangle.mode, triangle.high);
}

void to_normal(Block& values) { draw_loops::normal(values.at); }

void to_exponential(Block& values) { draw_loops::exponential(values.at); }

void to_poisson(Block& uniform, const Block& mean) {
  Block small, counts;
  bool any_small = false, any_large = false;
  for (int i = 0; i < kBlock; ++i) {
    const bool is_small = mean.at[i] < kSummedBelow;
    small.at[i] = is_small && mean.at[i] > 0 ? mean.at[i] : 0;
    any_small = any_small || small.at[i] > 0;
    any_large = any_large || mean.at[i] >= kSummedBelow;
  }
  std::fill_n(counts.at, kBlock, 0.0);
  if (any_small) sum_poisson(counts, uniform, small);
  if (any_large) {
    Block large;
    draw_loops::poisson_expansion(large.at, uniform.at, mean.at);
    for (int i = 0; i < kBlock; ++i) {
      if (mean.at[i] >= kSummedBelow) counts.at[i] = large.at[i];
    }
  }
  uniform = counts;
}

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  draw_loops::Counter c{{counter[0], counter[1], counter[2], counter[3]}};
  draw_loops::rounds(c, key[0], key[1]);
  std::array<std::uint32_t, 4> words{};
  for (std::size_t w = 0; w < words.size(); ++w) words[w] = static_cast<std::uint32_t>(c.word[w]);
  return words;
}

}  // namespace tare
