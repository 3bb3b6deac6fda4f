#include "base/quantity.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"

namespace tare {
namespace {

double value(std::string_view text, Dimension dimension) {
  const auto result = parse_quantity(text, dimension);
  EXPECT_TRUE(result) << text;
  return result.value_or(std::nan(""));
}

std::string error(std::string_view text, Dimension dimension) {
  const auto result = parse_quantity(text, dimension);
  EXPECT_FALSE(result) << text;
  return result ? std::string() : render(result.error());
}

std::string rule(std::string_view text, Dimension dimension) {
  const auto result = parse_quantity(text, dimension);
  return result ? std::string("none") : result.error().at(0).rule;
}

TEST(Quantity, ReadsBaseUnits) {
  EXPECT_DOUBLE_EQ(value("72h", Dimension::kDuration), 72 * 3600);
  EXPECT_DOUBLE_EQ(value(" 1.5 min ", Dimension::kDuration), 90);
  EXPECT_DOUBLE_EQ(value("30us", Dimension::kDuration), 30e-6);
  EXPECT_DOUBLE_EQ(value("30 µs", Dimension::kDuration), 30e-6);
  EXPECT_DOUBLE_EQ(value("2w", Dimension::kDuration), 14 * 86400);
  EXPECT_DOUBLE_EQ(value("120GB", Dimension::kBytes), 120e9);
  EXPECT_DOUBLE_EQ(value("80 GiB", Dimension::kBytes), 80 * 1073741824.0);
  EXPECT_DOUBLE_EQ(value("400Gb/s", Dimension::kBandwidth), 50e9);
  EXPECT_DOUBLE_EQ(value("3.35TB/s", Dimension::kBandwidth), 3.35e12);
  EXPECT_DOUBLE_EQ(value("60000 USD", Dimension::kMoney), 60000);
  EXPECT_DOUBLE_EQ(value("700W", Dimension::kPower), 700);
  EXPECT_DOUBLE_EQ(value("0.12 USD/kWh", Dimension::kEnergyPrice), 0.12 / 3.6e6);
  EXPECT_DOUBLE_EQ(value("120 USD/MWh", Dimension::kEnergyPrice), 0.12 / 3.6e6);
  EXPECT_DOUBLE_EQ(value("5%", Dimension::kRatio), 0.05);
  EXPECT_DOUBLE_EQ(value("0.05", Dimension::kRatio), 0.05);
  EXPECT_DOUBLE_EQ(value("-1e3 s", Dimension::kDuration), -1000);
}

TEST(Quantity, NamesEveryAcceptedUnit) {
  for (const Dimension dimension : {Dimension::kDuration, Dimension::kBytes, Dimension::kBandwidth, Dimension::kMoney,
                                    Dimension::kPower, Dimension::kEnergyPrice}) {
    for (const std::string_view unit : split(accepted_units(dimension), ',')) {
      EXPECT_GT(value("1" + std::string(trim(unit)), dimension), 0) << unit;
    }
  }
}

TEST(Quantity, ABareNumberNeedsItsUnit) {
  EXPECT_EQ(error("72", Dimension::kDuration),
            "error: expected a unit after the number, found only '72' [missing-unit]\n"
            "  help: accepted: s, ms, us, min, h, d, w\n");
}

TEST(Quantity, BitsAndBytesAreNotGuessed) {
  EXPECT_EQ(error("400 gb/s", Dimension::kBandwidth),
            "error: unknown unit 'gb/s' [unknown-unit]\n"
            "  help: did you mean GB/s or Gb/s? accepted: B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, "
            "b/s, kb/s, Mb/s, Gb/s, Tb/s\n");
  EXPECT_EQ(rule("400Gbps", Dimension::kBandwidth), "unknown-unit");
  EXPECT_EQ(rule("120Gb", Dimension::kBytes), "unknown-unit");
}

TEST(Quantity, KnowsNoExchangeRate) {
  EXPECT_EQ(error("60000 EUR", Dimension::kMoney),
            "error: unknown unit 'EUR' [unknown-unit]\n"
            "  help: accepted: USD; no exchange rate is built in, convert other currencies first\n");
}

TEST(Quantity, RefusesWhatIsNoNumber) {
  EXPECT_EQ(error("60,000 USD", Dimension::kMoney),
            "error: expected a number and its unit, found '60,000 USD' [not-a-number]\n"
            "  help: write the number first, without separators, such as \"30 USD\"; accepted: USD\n");
  for (const char* text : {"", " ", "h", "inf h", "nan h", "-inf h", "infinity", "1_000 s", "1.2.3 s", "$5", "--5 s",
                           "1e999 s", "1e308 w", ". s", "nan"}) {
    EXPECT_EQ(rule(text, Dimension::kDuration), "not-a-number") << text;
  }
  for (const char* text : {"0x10 s", "1 s s", "1 s/", "5ss", "1e s"}) {
    EXPECT_EQ(rule(text, Dimension::kDuration), "unknown-unit") << text;
  }
  EXPECT_EQ(rule("nan", Dimension::kRatio), "not-a-number");
  EXPECT_EQ(rule("5 %%", Dimension::kRatio), "unknown-unit");
}

TEST(Quantity, CutsLongInputInMessages) {
  EXPECT_LT(error("1 " + std::string(100'000, 'x'), Dimension::kDuration).size(), 300u);
}

TEST(Quantity, FormatsDurations) {
  EXPECT_EQ(format_duration(72 * 3600), "72 h");
  EXPECT_EQ(format_duration(0.0413), "41.3 ms");
  EXPECT_EQ(format_duration(5.2 * 86400), "5.2 d");
  EXPECT_EQ(format_duration(4 * 86400), "4 d");
  EXPECT_EQ(format_duration(95 * 3600), "95 h");
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(90), "90 s");
  EXPECT_EQ(format_duration(119.96), "2 min");
  EXPECT_EQ(format_duration(0.99996), "1 s");
  EXPECT_EQ(format_duration(0.00099996), "1 ms");
  EXPECT_EQ(format_duration(7196), "2 h");
  EXPECT_EQ(format_duration(-0.5), "-500 ms");
  EXPECT_EQ(format_duration(1e-9), "0.001 us");
  EXPECT_EQ(format_duration(1e9), "11,574 d");
  EXPECT_EQ(format_duration(std::nan("")), "unknown");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "infinite");
}

TEST(Quantity, FormatsBytesAndRates) {
  EXPECT_EQ(format_bytes(120e9), "120 GB");
  EXPECT_EQ(format_bytes(999.9e6), "1 GB");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1.5e18), "1,500 PB");
  EXPECT_EQ(format_gib(71.3 * 1073741824.0), "71.3 GiB");
  EXPECT_EQ(format_gib(64u << 20), "64 MiB");
  EXPECT_EQ(format_gib(1640 * 1073741824.0), "1,640 GiB");
  EXPECT_EQ(format_bits_per_s(50e9), "400 Gb/s");
  EXPECT_EQ(format_bits_per_s(0.1), "0.8 b/s");
}

TEST(Quantity, FormatsMoney) {
  EXPECT_EQ(format_usd(60000), "$60,000");
  EXPECT_EQ(format_usd(-743), "-$743");
  EXPECT_EQ(format_usd(18432, 2), "$18,432.00");
  EXPECT_EQ(format_usd(999.995, 2), "$1,000.00");
  EXPECT_EQ(format_usd(-0.3), "$0");
  EXPECT_EQ(format_usd(-123456.7, 1), "-$123,456.7");
  EXPECT_EQ(format_usd(std::nan("")), "unknown");
}

TEST(Quantity, FormatsCounts) {
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(-0.2), "0");
  EXPECT_EQ(format_count(1e300), "1e+300");
  EXPECT_EQ(format_si(1.23e6), "1.23M");
  EXPECT_EQ(format_si(20e9), "20G");
  EXPECT_EQ(format_si(6.738e9, 4), "6.738G");
  EXPECT_EQ(format_si(999.7), "1k");
  EXPECT_EQ(format_si(0.05), "0.05");
  EXPECT_EQ(format_si(0), "0");
}

double positive(int least_exponent, int most_exponent) {
  const int exponent = *rc::gen::inRange(least_exponent, most_exponent);
  return *rc::gen::inRange(1000, 10000) * 1e-3 * std::pow(10.0, exponent);
}

// What is printed can be typed again, to the digits shown.
RC_GTEST_PROP(QuantityProperty, DurationRoundTrips, ()) {
  const double seconds = positive(-9, 7);
  RC_ASSERT(std::fabs(parse_quantity(format_duration(seconds), Dimension::kDuration).value() / seconds - 1) < 0.006);
}

RC_GTEST_PROP(QuantityProperty, BytesAndRatesRoundTrip, ()) {
  const double bytes = positive(0, 17);
  RC_ASSERT(std::fabs(parse_quantity(format_bytes(bytes), Dimension::kBytes).value() / bytes - 1) < 0.006);
  const double rate = positive(0, 13);
  RC_ASSERT(std::fabs(parse_quantity(format_bits_per_s(rate), Dimension::kBandwidth).value() / rate - 1) < 0.006);
}

RC_GTEST_PROP(QuantityProperty, AnyTextIsAValueOrOneError, (const std::string& text)) {
  const auto dimension = static_cast<Dimension>(*rc::gen::inRange(0, 7));
  const auto result = parse_quantity(text, dimension);
  if (result) {
    RC_ASSERT(std::isfinite(*result));
  } else {
    RC_ASSERT(result.error().size() == 1u);
    RC_ASSERT(find_not_text(result.error()[0].text) == std::string_view::npos);
  }
}

RC_GTEST_PROP(QuantityProperty, FormatsAnyDouble, ()) {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  double value = 0;
  static_assert(sizeof value == sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  for (const std::string& text : {format_duration(value), format_bytes(value), format_gib(value),
                                  format_bits_per_s(value), format_count(value), format_si(value)}) {
    RC_ASSERT(!text.empty() && text.size() < 40u);
  }
  RC_ASSERT(!format_usd(value, 2).empty());
}

}  // namespace
}  // namespace tare
