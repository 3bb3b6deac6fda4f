#include "catalog/offer_selection.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

Offer price(double usd, std::string date, std::string suspect = {}, Purchase purchase = Purchase::kOnDemand) {
  Offer offer;
  offer.provider = "a";
  offer.instance = "x";
  offer.purchase = purchase;
  offer.price_usd_per_h = usd;
  offer.gpus = 1;
  offer.date = parse_date(date);
  offer.suspect = std::move(suspect);
  offer.id = make_offer_id(offer);
  return offer;
}

Offer span(double usd, std::string from, std::string to) {
  Offer offer = price(usd, "");
  offer.date_from = parse_date(from);
  offer.date_to = parse_date(to);
  return offer;
}

std::vector<double> prices(const std::vector<Offer>& offers) {
  std::vector<double> result;
  for (const Offer& offer : offers) result.push_back(*offer.price_usd_per_h);
  return result;
}

using Prices = std::vector<double>;

TEST(SelectOffers, TheNewestCounts) {
  const auto selection = select_offers({{price(3, "2024-01-01"), price(1, "2026-01-01"), price(2, "2025-01-01")}});
  EXPECT_EQ(prices(selection.current), Prices{1});
  EXPECT_EQ(prices(selection.history), (Prices{2, 3}));
}

TEST(SelectOffers, ASuspectRowNeverSupersedes) {
  const auto selection = select_offers({{price(1, "2026-01-01", "typo"), price(2, "2025-01-01")}});
  EXPECT_EQ(prices(selection.current), Prices{2});
  EXPECT_EQ(prices(selection.history), Prices{1});
}

TEST(SelectOffers, ASuspectRowAloneStays) {
  const auto selection = select_offers({{price(1, "2026-01-01", "typo")}});
  EXPECT_EQ(selection.current.at(0).suspect, "typo");
}

TEST(SelectOffers, ADateGoesBeforeASpanThatBeganEarlier) {
  const auto selection = select_offers({{span(1, "2025-06-01", "2026-08-31"), price(2, "2026-05-24"), price(3, "")}});
  EXPECT_EQ(prices(selection.current), Prices{2});
  EXPECT_EQ(prices(selection.history), (Prices{1, 3}));
}

TEST(SelectOffers, AnOverlaidPriceGoesBeforeTheShippedOne) {
  const auto selection = select_offers({{price(1, "2026-05-24")}, {price(2, "")}});
  EXPECT_EQ(prices(selection.current), Prices{2});
  EXPECT_EQ(prices(selection.history), Prices{1});
}

TEST(SelectOffers, AnOverlaidRowReplacesTheOneOfItsDate) {
  const auto selection = select_offers(
      {{price(1, "2026-05-24"), price(3, "2020-01-01", "old typo")}, {price(1, "2026-05-24", "not sold any more")}});
  ASSERT_EQ(selection.current.size(), 1u);
  EXPECT_EQ(selection.current[0].suspect, "not sold any more");
  EXPECT_EQ(prices(selection.history), Prices{3});
}

TEST(SelectOffers, OrderOfTheFileDecidesLast) {
  EXPECT_EQ(prices(select_offers({{price(5, "2026-05-24", "a"), price(4, "2026-05-24", "b")}}).current), Prices{5});
}

TEST(SelectOffers, SpotAtTheOnDemandPriceIsSuspect) {
  const auto selection =
      select_offers({{price(2, "2026-01-01", "", Purchase::kSpot), price(2, "2025-01-01"), price(9, "2020-01-01")}});
  ASSERT_EQ(selection.current.size(), 2u);
  EXPECT_EQ(selection.current[0].suspect, "");
  EXPECT_EQ(selection.current[1].id, "a/x/*/spot");
  EXPECT_EQ(selection.current[1].suspect, "spot price equal to the on-demand price: no spot market");
}

TEST(SelectOffers, SpotBelowIsSpot) {
  const auto selection = select_offers({{price(1.9, "2026-01-01", "", Purchase::kSpot), price(2, "2025-01-01")}});
  EXPECT_EQ(selection.current.at(1).suspect, "");
}

}  // namespace
}  // namespace tare
