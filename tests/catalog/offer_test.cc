#include "catalog/offer.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

Offer offer_of(std::string date, std::string from = {}, std::string to = {}) {
  Offer offer;
  offer.provider = "AWS";
  offer.instance = "p5 48xlarge";
  offer.date = parse_date(date);
  offer.date_from = parse_date(from);
  offer.date_to = parse_date(to);
  return offer;
}

TEST(OfferId, IsLowerCaseWithoutBlanks) {
  Offer offer = offer_of("");
  EXPECT_EQ(make_offer_id(offer), "aws/p5-48xlarge/*/on_demand");
  offer.region = "us-East-1";
  offer.purchase = Purchase::kReserved;
  offer.term = "1y";
  EXPECT_EQ(make_offer_id(offer), "aws/p5-48xlarge/us-east-1/reserved-1y");
}

TEST(PriceAge, CountsFromTheDateOrTheEndOfTheSpan) {
  const Date as_of = *parse_date("2026-11-30");
  EXPECT_EQ(price_age_days(offer_of("2026-11-20"), as_of), 10);
  EXPECT_EQ(price_age_days(offer_of("", "2025-06-01", "2026-08-31"), as_of), 91);
  EXPECT_EQ(price_age_days(offer_of(""), as_of), std::nullopt);
  EXPECT_EQ(price_age_days(offer_of("", "2025-06-01"), as_of), std::nullopt);
}

TEST(Stale, UndatedOrTooOld) {
  const Date as_of = *parse_date("2026-11-30");
  EXPECT_FALSE(is_stale(offer_of("2026-06-03"), as_of, 180));
  EXPECT_TRUE(is_stale(offer_of("2026-06-02"), as_of, 180));
  EXPECT_TRUE(is_stale(offer_of(""), as_of, 180));
  EXPECT_FALSE(is_stale(offer_of("", "2025-06-01", "2026-08-31"), as_of, 180));
}

TEST(PriceDateText, SaysWhichItIs) {
  EXPECT_EQ(price_date_text(offer_of("2026-05-24")), "2026-05-24");
  EXPECT_EQ(price_date_text(offer_of("", "2025-06-01", "2026-08-31")), "2025-06..2026-08");
  EXPECT_EQ(price_date_text(offer_of("", "2025-06-01", "2025-06-30")), "2025-06");
  EXPECT_EQ(price_date_text(offer_of("", "", "2026-08-31")), "until 2026-08");
  EXPECT_EQ(price_date_text(offer_of("", "2025-06-01")), "since 2025-06");
  EXPECT_EQ(price_date_text(offer_of("")), "undated");
}

TEST(PurchaseNames, RoundTrip) {
  for (const std::string& name : purchase_names()) EXPECT_EQ(name_of(parse_purchase(name).value()), name);
  EXPECT_EQ(parse_purchase("ondemand"), std::nullopt);
}

}  // namespace
}  // namespace tare
