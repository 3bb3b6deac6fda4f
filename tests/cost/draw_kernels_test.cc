#include "cost/draw_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace tare {
namespace {

constexpr int kBlocks = 400;

// One stream's uniform numbers.
std::vector<double> uniform(std::uint64_t seed, std::uint64_t stream, int blocks = kBlocks) {
  std::vector<double> values;
  DrawBlock block;
  for (int b = 0; b < blocks; ++b) {
    fill_uniform(block, seed, stream, static_cast<std::uint32_t>(b));
    values.insert(values.end(), std::begin(block.at), std::end(block.at));
  }
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

// The known answers that Random123 ships (kat_vectors).
TEST(Philox, IsThatOfItsAuthors) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draws, AreTheWordsOfTheirCounters) {
  const std::uint64_t seed = 0x123456789abcdef0ULL, stream = 0xfedcba9876543210ULL;
  DrawBlock block;
  fill_uniform(block, seed, stream, 3);
  for (const int i : {0, 1, 63, 64, 130, 255}) {
    const auto words = philox({static_cast<std::uint32_t>(3 * 64 + i % 64), 0, static_cast<std::uint32_t>(stream),
                               static_cast<std::uint32_t>(stream >> 32)},
                              {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    EXPECT_EQ(block.at[i], (words[static_cast<std::size_t>(i / 64)] + 0.5) * 0x1p-32) << i;
  }
}

TEST(Draws, AreUniformAndDoNotDependOnEachOther) {
  const std::vector<double> a = uniform(1, 2), b = uniform(1, 3), c = uniform(2, 2);
  EXPECT_NEAR(mean(a), 0.5, 0.004);  // 4 standard errors of 102,400 draws
  double ab = 0, ac = 0, square = 0, next = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_GT(a[i], 0);
    EXPECT_LT(a[i], 1);
    ab += (a[i] - 0.5) * (b[i] - 0.5);
    ac += (a[i] - 0.5) * (c[i] - 0.5);
    square += (a[i] - 0.5) * (a[i] - 0.5);
    if (i > 0) next += (a[i] - 0.5) * (a[i - 1] - 0.5);
  }
  EXPECT_NEAR(square / static_cast<double>(a.size()), 1.0 / 12, 0.001);
  EXPECT_NEAR(ab / square, 0, 0.0125);
  EXPECT_NEAR(ac / square, 0, 0.0125);
  EXPECT_NEAR(next / square, 0, 0.0125);
}

TEST(Draws, StreamsAreTheSameOnEveryMachine) {
  EXPECT_EQ(stream_of(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(stream_of("a"), 0xaf63dc4c8601ec8cULL);  // FNV-1a's own test values
  EXPECT_EQ(stream_of("foobar"), 0x85944171f73967e8ULL);
}

DrawBlock constant(double value) {
  DrawBlock block;
  std::fill_n(block.at, kBlock, value);
  return block;
}

// Against the quantile by its formula, for the very uniform numbers that it is drawn from.
void expect_quantiles(const Triangle& t, bool logarithmic) {
  DrawBlock u, x;
  fill_uniform(u, 5, 6, 7);
  fill_triangle(x, 5, 6, 7, t, logarithmic);
  const auto to = [&](double v) { return logarithmic ? std::log(v) : v; };
  const double low = to(t.low), mode = to(t.mode), high = to(t.high);
  for (int i = 0; i < kBlock; ++i) {
    const double p = u.at[i];
    const double q = p < (mode - low) / (high - low) ? low + std::sqrt(p * (high - low) * (mode - low))
                                                     : high - std::sqrt((1 - p) * (high - low) * (high - mode));
    const double expected = logarithmic ? std::exp(q) : q;
    EXPECT_NEAR(x.at[i], expected, 3e-6 * (high - low) * (logarithmic ? expected : 1)) << p;
    EXPECT_GE(x.at[i], t.low - 1e-6 * (t.high - t.low));
    EXPECT_LE(x.at[i], t.high + 1e-6 * (t.high - t.low));
  }
}

TEST(Draws, TriangleIsTheInverseOfItsDistribution) {
  expect_quantiles({1, 2, 5}, false);
  expect_quantiles({-3, 0, 1}, false);
  expect_quantiles({0, 0, 1}, false);
  expect_quantiles({7, 9, 9}, false);
  expect_quantiles({1, 2, 50}, true);
  expect_quantiles({1e-12, 1e-12, 1e-3}, true);
  expect_quantiles({1e-9, 1e12, 1e12}, true);
}

TEST(Draws, NormalIsTheInverseOfItsDistribution) {
  for (double u = 0x1p-33; u < 1; u = u < 0.01 ? u * 3 : u + 0.003) {
    DrawBlock block = constant(u);
    to_normal(block);
    const double z = block.at[200];
    const double found = 0.5 * std::erfc(-z / std::sqrt(2.0));
    EXPECT_NEAR(found, u, 5e-8 * u) << u;
  }
}

// P(N <= n) over a fine grid of uniform numbers, against the distribution's sum.
double worst_difference(double lambda) {
  std::vector<double> counts;
  constexpr int kGrid = 400;
  for (int g = 0; g < kGrid; ++g) {
    DrawBlock block;
    for (int i = 0; i < kBlock; ++i) block.at[i] = (g * kBlock + i + 0.5) / (kGrid * kBlock);
    to_poisson(block, constant(lambda));
    counts.insert(counts.end(), std::begin(block.at), std::end(block.at));
  }
  EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end())) << lambda;  // more luck, fewer failures
  double worst = 0, cumulative = 0;
  for (int n = 0; n <= lambda + 12 * std::sqrt(lambda) + 12; ++n) {
    cumulative += std::exp(n * std::log(lambda) - lambda - std::lgamma(n + 1));
    const auto at_most = std::upper_bound(counts.begin(), counts.end(), n + 0.5) - counts.begin();
    worst = std::max(worst, std::fabs(static_cast<double>(at_most) / static_cast<double>(counts.size()) - cumulative));
  }
  return worst;
}

TEST(Draws, PoissonIsExactWhereItIsSummed) {
  for (const double lambda : {0.001, 0.1, 1.0, 3.7, 9.99}) EXPECT_LT(worst_difference(lambda), 2e-5) << lambda;
}

TEST(Draws, PoissonIsCloseWhereItIsExpanded) {
  for (const double lambda : {10.0, 11.5, 20.0, 100.0, 3000.0, 1e5})
    EXPECT_LT(worst_difference(lambda), 2e-4) << lambda;
}

TEST(Draws, PoissonOfNothingIsNothing) {
  for (const double lambda : {0.0, -3.0, std::nan("")}) {
    DrawBlock block = constant(0.999);
    to_poisson(block, constant(lambda));
    EXPECT_EQ(block.at[0], 0);
  }
}

// Small and large means in one block do not disturb each other.
TEST(Draws, PoissonOfMixedMeans) {
  DrawBlock u = constant(0.5), lambda;
  for (int i = 0; i < kBlock; ++i) lambda.at[i] = i % 2 == 0 ? 2.3 : 1000;
  to_poisson(u, lambda);
  EXPECT_EQ(u.at[0], 2);
  EXPECT_EQ(u.at[1], 1000);
}

}  // namespace
}  // namespace tare
