#include "ingest/skypilot_catalog.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace tare {
namespace {

const Catalog& shipped() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

const std::string kHeader =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n";

std::string gpu_info(const std::string& name, int mib) {
  return "\"{'Gpus': [{'Name': '" + name +
         "', 'Manufacturer': 'NVIDIA', 'Count': 8, 'MemoryInfo': {'SizeInMiB': " + std::to_string(mib) +
         "}}], 'TotalGpuMemoryInMiB': 0}\"";
}

OfferTable read(const std::string& rows, const std::string& provider = "aws") {
  const auto table = read_skypilot_catalog(kHeader + rows, "vms.csv", {provider, parse_date("2026-11-01")}, shipped());
  if (!table) ADD_FAILURE() << render(table.error());
  return table.value_or(OfferTable());
}

std::vector<std::string> ids(const OfferTable& table) {
  std::vector<std::string> result;
  for (const Offer& offer : table.offers) result.push_back(offer.id);
  return result;
}

using Ids = std::vector<std::string>;

TEST(SkyPilotCatalog, MedianOverTheZonesOfARegion) {
  const OfferTable table = read("p5.48xlarge,H100,8.0,192,2048," + gpu_info("H100", 81920) +
                                ",55,20,us-east-1,a\n"
                                "p5.48xlarge,H100,8.0,192,2048,,55,30,us-east-1,b\n"
                                "p5.48xlarge,H100,8.0,192,2048,,57,40,us-east-1,c\n"
                                "p5.48xlarge,H100,8.0,192,2048,,60,,us-west-2,a\n");
  ASSERT_EQ(ids(table), (Ids{"aws/p5.48xlarge/us-east-1/on_demand", "aws/p5.48xlarge/us-east-1/spot",
                             "aws/p5.48xlarge/us-west-2/on_demand"}));
  const Offer& offer = table.offers[0];
  EXPECT_EQ(offer.price_usd_per_h, 55);
  EXPECT_EQ(offer.price_low_usd_per_h, 55);
  EXPECT_EQ(offer.price_high_usd_per_h, 57);
  EXPECT_EQ(offer.gpu, "H100-SXM5-80GB");
  EXPECT_EQ(offer.gpus, 8);
  EXPECT_EQ(offer.node_type, "aws/p5.48xlarge");
  EXPECT_EQ(offer.suspect, "");
  EXPECT_EQ(offer.source.note, "median of 3 zones");
  EXPECT_EQ(offer.source.place, "vms.csv:2");
  EXPECT_EQ(format_date(offer.date.value()), "2026-11-01");
  EXPECT_EQ(table.offers[1].price_usd_per_h, 30);
  EXPECT_EQ(table.offers[2].price_low_usd_per_h, std::nullopt);
}

TEST(SkyPilotCatalog, SpotAtTheOnDemandPriceIsNoSpot) {
  const OfferTable table =
      read("p5.48xlarge,H100,8,192,2048,,55,55,us-east-1,a\np5.48xlarge,H100,8,192,2048,,55,20,us-east-1,b\n");
  ASSERT_EQ(ids(table), (Ids{"aws/p5.48xlarge/us-east-1/on_demand", "aws/p5.48xlarge/us-east-1/spot"}));
  EXPECT_EQ(table.offers[1].price_usd_per_h, 20);
  EXPECT_EQ(
      render(table.left_out),
      "vms.csv:2:33: warning: 1 row left out: a spot price not below the on-demand price: no spot market [left-out]\n"
      "  p5.48xlarge,H100,8,192,2048,,55,55,us-east-1,a\n"
      "                                  ^~\n");
}

TEST(SkyPilotCatalog, RowsThatAreNoOfferAreCountedByReason) {
  const OfferTable table = read(
      "m5.large,,,2,8,,0.1,0.05,us-east-1,a\n"
      "m5.xlarge,,,4,16,,0.2,0.1,us-east-1,a\n"
      ",A100,1,,,,2.9,,us-central1,a\n"
      "inf2.xlarge,Inferentia2,1,4,16,,0.7,,us-east-1,a\n"
      "Standard_NV6ads_A10_v5,A10,0.167,6,55,,0.45,,eastus,\n"
      "p5.48xlarge,H100,8,192,2048,,0,,us-east-1,a\n");
  EXPECT_EQ(ids(table), Ids{});
  std::vector<std::string> reasons;
  for (const Diagnostic& diagnostic : table.left_out) reasons.push_back(diagnostic.text);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{
                "2 rows left out: no GPU", "1 row left out: no price", "1 row left out: not a whole number of GPUs",
                "1 row left out: the price of a GPU without its host", "1 row left out: unknown GPU 'Inferentia2'"}));
}

TEST(SkyPilotCatalog, OtherColumnOrderAndSharedSizes) {
  // RunPod: gibibytes under SizeInMiB, the form in GpuInfo's name.
  const auto table = read_skypilot_catalog(
      "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo\n"
      "1x_A100-80GB_SECURE,A100-80GB,1.0,8.0,117.0,IN,1.39,1.39,AP-IN-1," +
          gpu_info("A100 PCIe", 80) + "\n",
      "catalogs/v8/runpod/vms.csv", {}, shipped());
  ASSERT_TRUE(table) << render(table.error());
  ASSERT_EQ(ids(*table), Ids{"runpod/1x_a100-80gb_secure/in/on_demand"});
  EXPECT_EQ(table->offers[0].gpu, "A100-PCIe-80GB");
  EXPECT_EQ(table->offers[0].suspect, "");
  EXPECT_EQ(table->offers[0].date, std::nullopt);
}

TEST(SkyPilotCatalog, AnOpenFormFactorIsTakenAsTheModuleAndDoubted) {
  const OfferTable table = read("gpu_1x_h100,H100,1,26,200," + gpu_info("H100", 81920) + ",2.5,,us-east-1,\n", "lab");
  ASSERT_EQ(table.offers.size(), 1u);
  EXPECT_EQ(table.offers[0].gpu, "H100-SXM5-80GB");
  EXPECT_EQ(table.offers[0].suspect, "form factor not in the source: taken as H100-SXM5-80GB");
}

TEST(SkyPilotCatalog, MissingColumns) {
  const auto table = read_skypilot_catalog("InstanceType,AcceleratorName\nx,H100\n", "vms.csv", {"aws", {}}, shipped());
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().size(), 3u);
  EXPECT_EQ(table.error()[0].text, "expected a column 'AcceleratorCount', found none");
}

TEST(SkyPilotCatalog, ANegativePriceIsAnError) {
  const auto table = read_skypilot_catalog(kHeader + "p5.48xlarge,H100,8,192,2048,,-55,,us-east-1,a\n", "vms.csv",
                                           {"aws", {}}, shipped());
  ASSERT_FALSE(table);
  EXPECT_EQ(render(table.error()),
            "vms.csv:2:30: error: expected no negative number in column 'Price', found -55 [negative-value]\n"
            "  p5.48xlarge,H100,8,192,2048,,-55,,us-east-1,a\n"
            "                               ^~~\n");
}

TEST(SkyPilotCatalog, TurnsIntoAnOverlayThatReadsBack) {
  const OfferTable table =
      read("p5.48xlarge,H100,8,192,2048,,55,20,us-east-1,a\ngpu_1x_h100,H100,1,1,1,,2,,eu west,b\n");
  const auto again = read_offers_csv(write_offers_csv(table.offers), "offers.csv", shipped());
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(ids(*again), ids(table));
  EXPECT_EQ(again->offers[0].region, "eu west");
}

TEST(PriceList, KnowsTheTwoKinds) {
  EXPECT_TRUE(is_skypilot_catalog(kHeader));
  EXPECT_FALSE(is_skypilot_catalog("provider,instance,gpu,gpus,price_usd_per_h\n"));
  const auto plain =
      read_price_list("provider,instance,gpu,gpus,price_usd_per_h\nlab,x,L40S,8,9\n", "p.csv", {}, shipped());
  ASSERT_TRUE(plain) << render(plain.error());
  EXPECT_EQ(ids(*plain), Ids{"lab/x/*/on_demand"});
  const auto skypilot = read_price_list(kHeader + "p5.48xlarge,H100,8,1,1,,55,,x,a\n", "aws/vms.csv", {}, shipped());
  ASSERT_TRUE(skypilot) << render(skypilot.error());
  EXPECT_EQ(ids(*skypilot), Ids{"aws/p5.48xlarge/x/on_demand"});
}

TEST(ProviderOfPath, AKnownProviderElseFolderOrStem) {
  const auto of = [](std::string_view path) { return provider_of_path(path, shipped()); };
  EXPECT_EQ(of("catalogs/v8/AWS/vms.csv"), "aws");
  EXPECT_EQ(of("lambda.csv"), "lambda");
  EXPECT_EQ(of("/tmp/015-skypilot-v8-nebius.csv"), "nebius");
  EXPECT_EQ(of("/home/aws/prices/gcp_vms.csv"), "gcp");
  EXPECT_EQ(of("catalogs/v8/newcloud/vms.csv"), "newcloud");
  EXPECT_EQ(of("/tmp/awsome/x.csv"), "x");
  EXPECT_EQ(of("vms.csv"), "vms");
  EXPECT_EQ(of("-"), "-");
}

}  // namespace
}  // namespace tare
