#include <gtest/gtest.h>

#include "ingest/bill_rows.h"
#include "ingest/money.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  static const FactRecord none;
  const std::vector<Fact>* const items = facts.find_list(list);
  if (items == nullptr || index >= items->size() || (*items)[index].as_record() == nullptr) return none;
  return *(*items)[index].as_record();
}

double amount(std::string_view text, bool comma = false) {
  DecimalMark mark{comma};
  const auto found = parse_amount(text, mark);
  return found ? found->value : -1e9;
}

TEST(Money, Notations) {
  EXPECT_DOUBLE_EQ(amount("$1,234.56"), 1234.56);
  EXPECT_DOUBLE_EQ(amount("1.234,56 €"), 1234.56);
  EXPECT_DOUBLE_EQ(amount("(12.30)"), -12.3);
  EXPECT_DOUBLE_EQ(amount("-0,075"), -0.075);
  EXPECT_DOUBLE_EQ(amount("CHF 1'234.50"), 1234.5);
  EXPECT_DOUBLE_EQ(amount("1 234,50", true), 1234.5);
  EXPECT_DOUBLE_EQ(amount("1,234"), 1234);
  EXPECT_DOUBLE_EQ(amount("1,234", true), 1.234);
  EXPECT_DOUBLE_EQ(amount("8.0E-7"), 8e-7);
  EXPECT_EQ(amount("none"), -1e9);
  DecimalMark mark;
  EXPECT_EQ(parse_amount("51.24 gibibyte month", mark)->rest, "gibibyte month");
  EXPECT_EQ(currency_of_heading("Cost in CHF"), "CHF");
  EXPECT_EQ(currency_of_heading("price_usd_hour"), "USD");
  EXPECT_EQ(currency_of_heading("customer"), "");
}

TEST(Bill, FocusCountsWhatACommitmentCovers) {
  const FileFacts file = read_text(
      "\"BilledCost\",\"EffectiveCost\",\"ListCost\",\"BillingCurrency\",\"ChargeCategory\",\"PricingCategory\","
      "\"ServiceName\",\"Tags\"\n"
      "0.0000,1.25,2.00,USD,Usage,Committed,Compute,\"{\"\"team\"\": \"\"a\nb\"\"}\"\n"
      "-3.50,-3.50,NULL,USD,Credit,NULL,Compute,NULL\n");
  EXPECT_EQ(kind_of(file), "billing");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("dialect"), "FOCUS 1.0");
  EXPECT_EQ(facts.integer("row_count"), 2);
  EXPECT_EQ(facts.number("cost"), -3.5);
  EXPECT_EQ(facts.number("effective_cost"), -2.25);
  EXPECT_EQ(facts.integer("covered_rows"), 1);
  EXPECT_EQ(facts.integer("negative_cost_rows"), 1);
  EXPECT_EQ(facts.find_record("pricing_categories")->integer("NULL"), 1);
  EXPECT_EQ(item(facts, "rows", 0).find_record("tags")->text("team"), "a\nb");
  EXPECT_EQ(item(facts, "rows", 1).line, 4);
  EXPECT_FALSE(item(facts, "rows", 1).has("list_cost"));
}

TEST(Bill, CurTakesTheEffectiveCostOfTheCover) {
  const FactRecord facts = facts_of(read_text(
      "lineItem/LineItemType,lineItem/UnblendedCost,lineItem/CurrencyCode,lineItem/ProductCode,lineItem/UsageAmount,"
      "reservation/EffectiveCost,savingsPlan/SavingsPlanEffectiveCost,product/instanceType,resourceTags/user:Team\n"
      "DiscountedUsage,0,USD,AmazonEC2,1,20.5,,p5.48xlarge,red\n"
      "SavingsPlanCoveredUsage,98,USD,AmazonEC2,1,,61,p5.48xlarge,\n"
      "Usage,98,USD,AmazonEC2,1,,,p5.48xlarge,\n"));
  EXPECT_EQ(facts.text("dialect"), "AWS CUR 1");
  EXPECT_EQ(facts.number("cost"), 196);
  EXPECT_EQ(facts.number("effective_cost"), 179.5);
  EXPECT_EQ(item(facts, "rows", 0).find_record("tags")->text("user:Team"), "red");
  EXPECT_EQ(item(facts, "instance_types", 0).integer("rows"), 3);
}

TEST(Bill, AzureHeadingsInOtherLanguagesAndBareMembers) {
  const FactRecord facts = facts_of(read_text(
      "\xEF\xBB\xBFGruppe (ResourceGroup),Kategorie (MeterCategory),PreTaxCost (PreTaxCost),Menge (UsageQuantity),"
      "Info (AdditionalInfo),Currency\n"
      "rg,Virtual Machines,\"12,5\",3,\"\"\"ServiceType\"\": \"\"Standard_ND96isr_H100_v5\"\", \"\"VCPUs\"\": "
      "96\",EUR\n"));
  EXPECT_EQ(facts.text("dialect"), "Azure cost export");
  EXPECT_EQ(facts.number("cost"), 12.5);
  EXPECT_EQ(item(facts, "rows", 0).text("instance_type"), "Standard_ND96isr_H100_v5");
  EXPECT_EQ(item(facts, "rows", 0).integer("vcpus"), 96);
}

TEST(Bill, AnInvoiceWithItsTotal) {
  const FileFacts file = read_text(
      "Invoice 2026-17;;;\n"
      "Beschreibung;Menge;Einheit;Betrag (EUR)\n"
      "8x H100 Server;720;h;14.400,00 €\n"
      "Speicher;10;TB;250,50 €\n"
      "Summe;;;14.650,50 €\n");
  EXPECT_EQ(kind_of(file), "billing");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("dialect"), "invoice");
  EXPECT_EQ(facts.text("currency"), "EUR");
  EXPECT_EQ(facts.number("cost"), 14650.5);
  EXPECT_EQ(facts.number("stated_total"), 14650.5);
  EXPECT_EQ(facts.integer("row_count"), 2);
  EXPECT_EQ(facts.find_record("usage_by_unit")->number("h"), 720);
}

TEST(Bill, SkyPilotColumnsInAnyOrder) {
  const FactRecord facts =
      facts_of(read_text("InstanceType,AcceleratorName,AcceleratorCount,Price,Region,GpuInfo,SpotPrice\n"
                         "big8,H100,8,24.00,north,\"{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81920}}], "
                         "'TotalGpuMemoryInMiB': 655360}\",0.00\n"));
  const FactRecord& offer = item(facts, "offers", 0);
  EXPECT_EQ(offer.number("price_per_gpu"), 3);
  EXPECT_TRUE(offer.find("spot_price")->is_unknown());
  EXPECT_EQ(offer.integer("gpu_memory_mib"), 81920);
  EXPECT_EQ(item(facts, "gpu_models", 0).text("gpu"), "H100");
}

TEST(Bill, DamagedRowsAreSaid) {
  const FileFacts file = read_text(
      "ServiceName,BilledCost,ChargeCategory,BillingCurrency\n"
      "Compute,1.5,Usage,USD\n"
      "Compute\n"
      "Compute,1.5,Usage,USD,surplus\n"
      "Compute,lots,Usage,USD\n");
  EXPECT_EQ(facts_of(file).number("cost"), 1.5);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 3);
}

TEST(Bill, AQuoteThatNeverClosesHoldsBackNoRow) {
  std::string text = "ServiceName,BilledCost,ChargeCategory\nx,\"1,Usage\n";
  for (int i = 0; i < 300; ++i) text += "y,2,Usage\n";
  EXPECT_GE(facts_of(read_text(text)).integer("row_count").value_or(0), 300);
}

TEST(PriceJson, UnitsAndNanos) {
  const FactRecord facts = facts_of(
      read_text("{\"skus\": [{\"skuId\": \"AA\", \"description\": \"H100 80GB GPU\", \"category\": {\"resourceGroup\": "
                "\"GPU\"},\n"
                "\"pricingInfo\": [{\"pricingExpression\": {\"usageUnit\": \"h\", \"tieredRates\": [{\"unitPrice\":\n"
                "{\"currencyCode\": \"USD\", \"units\": \"3\", \"nanos\": 250000000}}]}}]}]}"));
  EXPECT_EQ(facts.integer("sku_count"), 1);
  EXPECT_EQ(item(facts, "skus", 0).number("price"), 3.25);
}

TEST(PriceJson, OffersWhereverTheyStand) {
  const FileFacts file = read_text(
      "{\"updated\": \"2026-05-01\", \"providers\": {\"acme\": [\n"
      "{\"gpu_model\": \"H200\", \"gpu_count\": 8, \"price_usd_hour\": 24, \"region\": \"eu\"},\n"
      "{\"gpu_model\": \"B200\", \"price_usd_hour\": \"5.50\"}]}}");
  EXPECT_EQ(kind_of(file), "billing");
  EXPECT_EQ(facts_of(file).integer("offer_count"), 2);
  EXPECT_EQ(item(facts_of(file), "offers", 0).number("price_per_gpu"), 3);
  EXPECT_EQ(item(facts_of(file), "offers", 1).number("price"), 5.5);
  EXPECT_EQ(facts_of(file).text("currency"), "USD");
}

TEST(PriceJson, CostExplorer) {
  const FactRecord facts = facts_of(read_text(
      "{\"ResultsByTime\": [{\"TimePeriod\": {\"Start\": \"2026-01-01\", \"End\": \"2026-02-01\"}, \"Groups\": [\n"
      "{\"Keys\": [\"Amazon EC2\"], \"Metrics\": {\"UnblendedCost\": {\"Amount\": \"12.5\", \"Unit\": \"USD\"}}}]}]}"));
  EXPECT_EQ(facts.number("cost"), 12.5);
  EXPECT_EQ(item(facts, "services", 0).text("service"), "Amazon EC2");
}

TEST(Bill, RowsForOtherModules) {
  std::vector<BillRow> rows;
  BillRowReader reader([&rows](BillRow&& row, const std::vector<std::string>&) { rows.push_back(std::move(row)); },
                       [](std::int64_t, std::string_view, std::string_view) {});
  EXPECT_TRUE(reader.take("SKU description,SKU ID,Usage amount,Usage unit,Cost ($)", 1));
  EXPECT_TRUE(reader.take("A3 Gpu,1234-ABCD,744,hour,\"2,600.00\"", 2));
  reader.finish();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].cost, 2600);
  EXPECT_EQ(rows[0].currency, "USD");
  EXPECT_EQ(rows[0].usage_unit, "hour");
  EXPECT_FALSE(rows[0].effective_cost.has_value());
}

TEST(Bill, NotIts) {
  EXPECT_NE(kind_of(read_text("step,loss,time\n1,3.2,0.5\n2,3.1,0.5\n")), "billing");
  EXPECT_NE(kind_of(read_text("{\"loss\": 3.2, \"step\": 1}\n{\"loss\": 3.1, \"step\": 2}\n")), "billing");
}

}  // namespace
}  // namespace tare
