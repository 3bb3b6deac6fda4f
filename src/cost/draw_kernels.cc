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

// The words of 64 counters: word w of lane l at w · 64 + l.
void words(std::uint32_t* out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block) {
  const auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t group = std::uint64_t{block} * kLanes + static_cast<std::uint64_t>(lane);
    Counter c{{group, group >> 32, stream, stream >> 32}};
    rounds(c, key0, key1);
    for (int w = 0; w < kWords; ++w) out[w * kLanes + lane] = static_cast<std::uint32_t>(c.word[w]);
  }
}

#ifdef TARE_HAS_AVX2
// The same, four lanes of 64 bits at a time: a compiler makes shifts and additions of a multiplication by a constant,
// which are four times slower here than the multiplication of 32 by 32 bits.
#define TARE_AVX2 __attribute__((target("avx2")))
#define TARE_WIDE(x) _mm256_set1_epi64x(static_cast<long long>(x))

struct Keys {
  __m256i first[kRounds], second[kRounds];
};

TARE_AVX2 TARE_INLINE void rounds_avx2(__m256i* c, const Keys& keys) {
  const __m256i multiplier0 = TARE_WIDE(kMultiplier0), multiplier1 = TARE_WIDE(kMultiplier1);
#pragma GCC unroll 10
  for (int r = 0; r < kRounds; ++r) {
    const __m256i product0 = _mm256_mul_epu32(c[0], multiplier0);
    const __m256i product1 = _mm256_mul_epu32(c[2], multiplier1);
    c[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), c[1]), keys.first[r]);
    c[1] = product1;
    c[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), c[3]), keys.second[r]);
    c[3] = product0;
  }
}

// The low halves of eight lanes.
TARE_AVX2 TARE_INLINE __m256i low_halves(__m256i a, __m256i b) {
  const __m256 mixed = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
  return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xd8);
}

TARE_AVX2 void words_avx2(std::uint32_t* out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block) {
  Keys keys;
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int r = 0; r < kRounds; ++r, key0 += kWeyl0, key1 += kWeyl1) {
    keys.first[r] = TARE_WIDE(key0);
    keys.second[r] = TARE_WIDE(key1);
  }
  const __m256i steps = _mm256_set_epi64x(3, 2, 1, 0);
  __m256i group = _mm256_add_epi64(TARE_WIDE(std::uint64_t{block} * kLanes), steps);
  for (int lane = 0; lane < kLanes; lane += 8) {
    const __m256i next = _mm256_add_epi64(group, TARE_WIDE(4));
    __m256i a[kWords] = {group, _mm256_srli_epi64(group, 32), TARE_WIDE(stream), TARE_WIDE(stream >> 32)};
    __m256i b[kWords] = {next, _mm256_srli_epi64(next, 32), TARE_WIDE(stream), TARE_WIDE(stream >> 32)};
    rounds_avx2(a, keys);
    rounds_avx2(b, keys);
    for (int w = 0; w < kWords; ++w) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(out + static_cast<std::ptrdiff_t>(w) * kLanes + lane),
                         low_halves(a[w], b[w]));
    }
    group = _mm256_add_epi64(group, TARE_WIDE(8));
  }
}
#undef TARE_WIDE
#undef TARE_AVX2
#endif

struct alignas(64) Words {
  std::uint32_t at[kBlock];
};

// (x + ½) 2⁻³². Moved to where a conversion of signed numbers reaches.
TARE_VECTORISED void uniform(double* out, const std::uint32_t* words) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
    out[i] = (static_cast<double>(static_cast<std::int32_t>(words[i] ^ 0x80000000u)) + 2147483648.5) * 0x1p-32;
  }
}

// The distance from the mode, in single precision: its upper 24 bits are enough for what is random.
TARE_VECTORISED void triangle(float* out, const std::uint32_t* words, float at_mode, float to_low, float to_high,
                              float below, float above) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
    const float u = (static_cast<float>(static_cast<std::int32_t>(words[i] >> 8)) + 0.5f) * 0x1p-24f;
    const bool is_below = u < at_mode;
    const float root = __builtin_sqrtf((is_below ? u : 1 - u) * (is_below ? below : above));
    out[i] = is_below ? to_low + root : to_high - root;
  }
}

// e^x in single precision (Cephes expf): relative error 1e-7, exactly 1 at 0. Precondition: |x| < 80.
TARE_INLINE float exp_of(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  const float series =
      ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r +
       1.6666665459e-1f) *
          r +
      5.0000001201e-1f;
  const float value = series * (r * r) + r + 1;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) + (std::bit_cast<std::uint32_t>(shifted) << 23));
}

TARE_VECTORISED void add_to_mode(double* out, const float* distance, double mode) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) out[i] = mode + static_cast<double>(distance[i]);
}

TARE_VECTORISED void multiply_mode(double* out, float* distance, double mode) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) distance[i] = exp_of(distance[i]);
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) out[i] = mode * static_cast<double>(distance[i]);
}

// Acklam's approximation: a quotient of polynomials in r = u − ½, and in √(−2 ln p) where p = min(u, 1 − u) is small.
constexpr double kTail = 0.02425;

TARE_VECTORISED void normal_middle(double* out, const double* uniform) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
    const double r = uniform[i] - 0.5;
    const double s = r * r;
    const double over = (((((-3.969683028665376e+01 * s + 2.209460984245205e+02) * s - 2.759285104469687e+02) * s +
                           1.383577518672690e+02) *
                              s -
                          3.066479806614716e+01) *
                             s +
                         2.506628277459239e+00) *
                        r;
    const double under = ((((-5.447609879822406e+01 * s + 1.615858368580409e+02) * s - 1.556989798598866e+02) * s +
                           6.680131188771972e+01) *
                              s -
                          1.328068155288572e+01) *
                             s +
                         1;
    out[i] = over / under;
  }
}

double normal_tail(double p) {
  const double t = std::sqrt(-2 * vector_log(p));
  const double over = ((((-7.784894002430293e-03 * t - 3.223964580411365e-01) * t - 2.400758277161838e+00) * t -
                        2.549732539343734e+00) *
                           t +
                       4.374664141464968e+00) *
                          t +
                      2.938163982698783e+00;
  const double under =
      (((7.784695709041462e-03 * t + 3.224671290700398e-01) * t + 2.445134137142996e+00) * t + 3.754408661907416e+00) *
          t +
      1;
  return over / under;
}

// One draw in twenty lies in a tail.
void normal(double* out, const double* uniform) {
  normal_middle(out, uniform);
  for (int i = 0; i < kBlock; ++i) {
    if (uniform[i] < kTail) out[i] = normal_tail(uniform[i]);
    if (uniform[i] > 1 - kTail) out[i] = -normal_tail(1 - uniform[i]);
  }
}

TARE_VECTORISED void exponential(double* x) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) x[i] = vector_exp(x[i]);
}

// From standard normal numbers, in place.
TARE_VECTORISED void poisson_expansion(double* out, const double* mean) {
  TARE_INDEPENDENT for (int i = 0; i < kBlock; ++i) {
    const double w = out[i];
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
void sum_poisson(DrawBlock& count, const DrawBlock& uniform, const DrawBlock& mean) {
  constexpr int kStep = 4, kLast = 64;
  DrawBlock term, sum;
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

namespace {

void fill_words(draw_loops::Words& out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block) {
#ifdef TARE_HAS_AVX2
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return draw_loops::words_avx2(out.at, seed, stream, block);
#endif
  draw_loops::words(out.at, seed, stream, block);
}

}  // namespace

void fill_uniform(DrawBlock& out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block) {
  draw_loops::Words words;
  fill_words(words, seed, stream, block);
  draw_loops::uniform(out.at, words.at);
}

void fill_triangle(DrawBlock& out, std::uint64_t seed, std::uint64_t stream, std::uint32_t block,
                   const Triangle& triangle, bool logarithmic) {
  draw_loops::Words words;
  fill_words(words, seed, stream, block);
  const auto scale = [&](double x) { return logarithmic ? std::log(x / triangle.mode) : x - triangle.mode; };
  const double to_low = scale(triangle.low), to_high = scale(triangle.high), width = to_high - to_low;
  alignas(64) float distance[kBlock];
  const auto f = [](double x) { return static_cast<float>(x); };
  draw_loops::triangle(distance, words.at, f(-to_low / width), f(to_low), f(to_high), f(width * -to_low),
                       f(width * to_high));
  if (logarithmic) {
    draw_loops::multiply_mode(out.at, distance, triangle.mode);
  } else {
    draw_loops::add_to_mode(out.at, distance, triangle.mode);
  }
}

void to_normal(DrawBlock& uniform) {
  DrawBlock normal;
  draw_loops::normal(normal.at, uniform.at);
  uniform = normal;
}

void to_poisson(DrawBlock& uniform, const DrawBlock& mean) {
  DrawBlock small, counts;
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
    DrawBlock large;
    draw_loops::normal(large.at, uniform.at);
    draw_loops::poisson_expansion(large.at, mean.at);
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
