#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace tare {
namespace {

Catalog offers_named(const std::vector<std::string>& ids) {
  Catalog catalog;
  for (const std::string& id : ids) {
    catalog.offers.emplace_back();
    catalog.offers.back().id = id;
  }
  return catalog;
}

std::vector<std::string> matching(const std::vector<std::string>& globs) {
  const Catalog catalog =
      offers_named({"aws/p5.4xlarge/*/on_demand", "aws/p5.48xlarge/*/on_demand", "aws/p5.48xlarge/*/spot",
                    "owned/dgx-h100/*/owned", "runpod/8x_h100-sxm/*/on_demand"});
  std::vector<std::string> ids;
  for (const Offer* offer : match_offers(catalog, globs)) ids.push_back(offer->id);
  return ids;
}

using Ids = std::vector<std::string>;

TEST(MatchOffers, GlobsOverTheWholeIdOrUpToASlash) {
  EXPECT_EQ(matching({"owned/dgx-h100"}), Ids{"owned/dgx-h100/*/owned"});
  EXPECT_EQ(matching({"AWS/P5.48*"}), (Ids{"aws/p5.48xlarge/*/on_demand", "aws/p5.48xlarge/*/spot"}));
  EXPECT_EQ(matching({"*h100*"}), (Ids{"owned/dgx-h100/*/owned", "runpod/8x_h100-sxm/*/on_demand"}));
  EXPECT_EQ(matching({"*/spot", "runpod"}), (Ids{"aws/p5.48xlarge/*/spot", "runpod/8x_h100-sxm/*/on_demand"}));
  EXPECT_EQ(matching({"aws/p5"}), Ids{});
  EXPECT_EQ(matching({}), Ids{});
}

TEST(FindOffer, IgnoresCase) {
  const Catalog catalog = offers_named({"a/x/*/spot", "b/y/*/spot"});
  EXPECT_EQ(find_offer(catalog, "B/y/*/SPOT"), &catalog.offers[1]);
  EXPECT_EQ(find_offer(catalog, "b/y"), nullptr);
}

TEST(Find, ByIdOrAlias) {
  const auto catalog = load_catalog();
  ASSERT_TRUE(catalog);
  ASSERT_NE(find_accelerator(*catalog, "h100-sxm"), nullptr);
  EXPECT_EQ(find_accelerator(*catalog, "h100-sxm")->id, "H100-SXM5-80GB");
  EXPECT_EQ(find_accelerator(*catalog, "H100"), nullptr);  // which one?
  EXPECT_NE(find_model(*catalog, "Llama-2-13B"), nullptr);
  EXPECT_NE(find_nic(*catalog, "ConnectX-7 NDR"), nullptr);
  EXPECT_EQ(find_parameter(*catalog, "no_such"), nullptr);
}

TEST(Unknown, NamesTheNearest) {
  const auto catalog = load_catalog();
  ASSERT_TRUE(catalog);
  EXPECT_EQ(render(unknown_model(*catalog, "llama-2-13c")),
            "error: unknown model 'llama-2-13c' [unknown-model]\n  help: did you mean \"llama-2-13b\"?\n");
  EXPECT_EQ(render(unknown_model(*catalog, "xyz-unheard-of")),
            "error: unknown model 'xyz-unheard-of' [unknown-model]\n  help: `tare catalog models` lists them\n");
}

TEST(Precisions, NamesRoundTripAndPeaksFollow) {
  for (const std::string& name : precision_names()) EXPECT_EQ(name_of(parse_precision(name).value()), name);
  for (const std::string& name : generation_names()) EXPECT_EQ(name_of(parse_generation(name).value()), name);
  EXPECT_EQ(parse_precision("BF16"), Precision::kBf16);
  EXPECT_EQ(parse_precision("int8"), std::nullopt);
  Accelerator gpu;
  gpu.peak_fp8_flops = 8;
  gpu.peak_fp4_flops = 16;
  EXPECT_EQ(peak_flops(gpu, Precision::kMxfp8), 8);
  EXPECT_EQ(peak_flops(gpu, Precision::kNvfp4), 16);
  EXPECT_EQ(peak_flops(gpu, Precision::kBf16), std::nullopt);
}

}  // namespace
}  // namespace tare
