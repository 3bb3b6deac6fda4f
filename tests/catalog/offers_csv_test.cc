#include "catalog/offers_csv.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

Catalog small_catalog() {
  Catalog catalog;
  Accelerator gpu;
  gpu.id = "H100-SXM5-80GB";
  gpu.aliases = {"H100-SXM"};
  catalog.accelerators.push_back(gpu);
  NodeType node;
  node.id = "lab/hgx";
  node.provider = "lab";
  node.instance = "hgx";
  node.gpu = gpu.id;
  node.gpus = 8;
  node.delivery = {"bare_metal", "none", "whole", "dedicated"};
  catalog.node_types.push_back(node);
  return catalog;
}

std::string errors(const std::string& text) {
  const auto table = read_offers_csv(text, "o.csv", small_catalog());
  return table ? "no error" : render(table.error());
}

TEST(OffersCsv, OnlyFiveColumnsAreNeeded) {
  const auto table =
      read_offers_csv("gpu,gpus,provider,instance,price_usd_per_h\nh100-sxm,8,lab,hgx,20\n", "o.csv", small_catalog());
  ASSERT_TRUE(table) << render(table.error());
  const Offer& offer = table->offers.at(0);
  EXPECT_EQ(offer.id, "lab/hgx/*/on_demand");
  EXPECT_EQ(offer.gpu, "H100-SXM5-80GB");
  EXPECT_EQ(offer.node_type, "lab/hgx");
  EXPECT_EQ(offer.delivery.tenancy, "dedicated");
  EXPECT_EQ(offer.currency, "USD");
  EXPECT_EQ(offer.suspect, "");
  EXPECT_EQ(offer.source.place, "o.csv:2");
}

TEST(OffersCsv, MissingColumns) {
  EXPECT_EQ(errors("provider,instance,gpu\nlab,hgx,H100-SXM\n"),
            "o.csv:1: error: expected a column 'gpus', found none [missing-column]\n"
            "  help: the first line names the columns, in any order\n"
            "o.csv:1: error: expected a column 'price_usd_per_h', found none [missing-column]\n"
            "  help: the first line names the columns, in any order\n");
}

TEST(OffersCsv, AnotherCurrencyIsLeftOutWithItsReason) {
  const auto table = read_offers_csv(
      "provider,instance,gpu,gpus,price_usd_per_h,currency\nlab,hgx,H100-SXM,8,20,EUR\nlab,x,H100-SXM,1,3,usd\n",
      "o.csv", small_catalog());
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->offers.size(), 1u);
  EXPECT_EQ(render(table->left_out),
            "o.csv:2:23: warning: expected a price in USD, found one in 'EUR' [other-currency]\n"
            "  lab,hgx,H100-SXM,8,20,EUR\n"
            "                        ^~~\n"
            "  help: no exchange rate is built in, convert it first\n");
}

TEST(OffersCsv, AGpuCountThatIsNotTheNodeTypesIsSuspect) {
  const auto table =
      read_offers_csv("provider,instance,gpu,gpus,price_usd_per_h\nlab,hgx,H100-SXM,12,20\n", "o.csv", small_catalog());
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->offers.at(0).suspect, "listed with 12 GPUs, node type lab/hgx has 8");
}

TEST(OffersCsv, TwoPricesOfOneDate) {
  const std::string header = "provider,instance,gpu,gpus,price_usd_per_h,date,suspect\n";
  EXPECT_EQ(errors(header + "lab,x,H100-SXM,8,20,2026-01-01,\nLab,X,H100-SXM,8,21,2026-01-01,\n"),
            "o.csv:3:18: error: a second price of lab/x/*/on_demand of the same date (2026-01-01) [ambiguous-price]\n"
            "  Lab,X,H100-SXM,8,21,2026-01-01,\n"
            "                   ^~\n"
            "  help: give the rows their dates, or mark one as suspect\n");
  EXPECT_EQ(errors(header + "lab,x,H100-SXM,8,20,2026-01-01,\nlab,x,H100-SXM,8,21,2026-01-01,typo\n"), "no error");
  EXPECT_EQ(errors(header + "lab,x,H100-SXM,8,20,2026-01-01,\nlab,x,H100-SXM,8,21,2026-01-02,\n"), "no error");
}

TEST(OffersCsv, EveryErrorOfARow) {
  EXPECT_EQ(
      errors(
          "provider,instance,gpu,gpus,price_usd_per_h,purchase,term,date,date_from,date_to,price_low_usd_per_h,host\n"
          "lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"),
      "o.csv:2:16: error: expected at least 1 in column 'gpus' [not-positive]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                 ^\n"
      "o.csv:2:18: error: expected a price, found 0 [not-positive]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                   ^\n"
      "  help: leave out what has no price\n"
      "o.csv:2:20: error: expected one of on_demand, spot, reserved, owned, found 'spott' [unknown-value]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                     ^~~~~\n"
      "  help: did you mean \"spot\"?\n"
      "o.csv:2:26: error: expected a length of time in column 'term', found 'soon' [unknown-value]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                           ^~~~\n"
      "  help: a number and one of h, d, w, mo, y, such as 1y\n"
      "o.csv:2:31: error: expected a date in column 'date', found '2026-02-30' [not-a-date]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                                ^~~~~~~~~~\n"
      "  help: write it as 2026-11-30\n"
      "o.csv:2:53: error: expected a span of dates, found 2026-02-01 to 2026-01-01 [unordered-range]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                                                      ^~~~~~~~~~\n"
      "o.csv:2:64: error: expected low <= base <= high, found 5, 0, - [unordered-range]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                                                                 ^\n"
      "o.csv:2:66: error: expected one of bare_metal, vm, unknown, found 'metal' [unknown-value]\n"
      "  lab,x,H100-SXM,0,0,spott,soon,2026-02-30,2026-02-01,2026-01-01,5,metal\n"
      "                                                                   ^~~~~\n");
}

TEST(OffersCsv, UnknownGpuAndNodeType) {
  EXPECT_EQ(errors("provider,instance,gpu,gpus,price_usd_per_h,node_type\nlab,x,H100-SMX,8,,lab/hgxx\n"),
            "o.csv:2:7: error: unknown GPU 'H100-SMX' [unknown-gpu]\n"
            "  lab,x,H100-SMX,8,,lab/hgxx\n"
            "        ^~~~~~~~\n"
            "  help: `tare catalog gpus` lists them\n"
            "o.csv:2:18: error: expected a value in column 'price_usd_per_h', found an empty field [missing-value]\n"
            "  lab,x,H100-SMX,8,,lab/hgxx\n"
            "                   ^\n"
            "o.csv:2:19: error: unknown node type 'lab/hgxx' [unknown-node-type]\n"
            "  lab,x,H100-SMX,8,,lab/hgxx\n"
            "                    ^~~~~~~~\n"
            "  help: did you mean \"lab/hgx\"?\n");
}

// What is written reads back as the same offers, shipped ones and hard ones.
TEST(OffersCsv, RoundTrip) {
  const auto catalog = load_catalog();
  ASSERT_TRUE(catalog);
  std::vector<Offer> offers = catalog->offers;
  offers[0].source.note = "a \"quoted\", note\nof two lines";
  offers[0].certifications = {"iso27001", "soc2"};
  offers[0].regions_seen = {"us-east-1", "eu-west-1"};
  offers[0].price_usd_per_h = 1.0 / 3;
  offers[0].price_low_usd_per_h = 0.1;
  offers[0].price_high_usd_per_h = 1e9;
  offers[0].date = parse_date("2026-02-28");
  const std::string text = write_offers_csv(offers);
  const auto read = read_offers_csv(text, "o.csv", *catalog);
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(read->offers.size(), offers.size());
  EXPECT_EQ(write_offers_csv(read->offers), text);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    EXPECT_EQ(read->offers[i].id, offers[i].id);
    EXPECT_EQ(read->offers[i].price_usd_per_h, offers[i].price_usd_per_h);
    EXPECT_EQ(read->offers[i].node_type, offers[i].node_type) << offers[i].id;
    EXPECT_EQ(read->offers[i].delivery.host, offers[i].delivery.host);
    EXPECT_EQ(read->offers[i].suspect, offers[i].suspect);
    EXPECT_EQ(read->offers[i].source.note, offers[i].source.note);
  }
}

}  // namespace
}  // namespace tare
