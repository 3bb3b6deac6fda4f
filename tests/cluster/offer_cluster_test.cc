#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/pcie.h"

namespace tare {
namespace {

const Catalog& shipped() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

Offer offer_of(const std::string& gpu, int gpus, const std::string& node_type = {}) {
  Offer offer;
  offer.provider = "lab";
  offer.instance = "x";
  offer.gpu = gpu;
  offer.gpus = gpus;
  offer.node_type = node_type;
  offer.id = make_offer_id(offer);
  offer.delivery.host = "vm";
  return offer;
}

TEST(ClusterFromOffer, EveryNodeBelowOneLeaf) {
  const Offer* offer = find_offer(shipped(), "aws/p5.48xlarge/*/on_demand");
  ASSERT_NE(offer, nullptr);
  const auto cluster = cluster_from_offer(shipped(), *offer, 8);
  ASSERT_TRUE(cluster) << render(cluster.error());
  EXPECT_EQ(cluster->nodes.size(), 8u);
  EXPECT_EQ(cluster->leaves.at(0).nodes.size(), 8u);
  EXPECT_EQ(cluster->offer->id, offer->id);
  EXPECT_TRUE(cluster->nvlink_domains.empty());
  EXPECT_FALSE(cluster->fabric_assumed);
}

TEST(ClusterFromOffer, AnUnknownFabricIsRefusedAcrossNodes) {
  const Offer offer = offer_of("H100-SXM5-80GB", 8);
  EXPECT_TRUE(cluster_from_offer(shipped(), offer, 1));
  const auto refused = cluster_from_offer(shipped(), offer, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().at(0).rule, "no_known_fabric");
  const auto assumed = cluster_from_offer(shipped(), offer, 2, AssumedFabric{50e9});
  ASSERT_TRUE(assumed);
  EXPECT_TRUE(assumed->fabric_assumed);
  EXPECT_EQ(assumed->node_types.at(0).type.inter_node_bytes_per_s_per_gpu, 50e9);
}

TEST(ClusterFromOffer, ARackIsOneDomainOfManyNodes) {
  const Offer offer = offer_of("GB200", 4, "owned/gb200-nvl72-tray");
  const auto rack = cluster_from_offer(shipped(), offer, 18);
  ASSERT_TRUE(rack) << render(rack.error());
  EXPECT_EQ(rack->nvlink_domains.size(), 1u);
  const auto racks = cluster_from_offer(shipped(), offer, 20);
  ASSERT_TRUE(racks) << render(racks.error());
  ASSERT_EQ(racks->nvlink_domains.size(), 2u);
  EXPECT_EQ(racks->nvlink_domains[0].size(), 18u);
  EXPECT_EQ(racks->nvlink_domains[1].size(), 2u);
  EXPECT_EQ(racks->nodes[19].nvlink_domain, 1);
}

TEST(ClusterFromOffer, Errors) {
  EXPECT_EQ(cluster_from_offer(shipped(), offer_of("L40S", 8, "lab/none"), 1).error().at(0).rule, "unknown-node-type");
  EXPECT_EQ(cluster_from_offer(shipped(), offer_of("L40S", 8), 0).error().at(0).rule, "out-of-range");
}

TEST(NodeTypeOf, SingleGpusNeverFormALinkDomain) {
  const NodeType single = node_type_of(shipped(), offer_of("H100-SXM5-80GB", 1));
  EXPECT_EQ(single.nvlink_domain, 1);
  EXPECT_EQ(single.intra_node_bytes_per_s, std::nullopt);
  const NodeType board = node_type_of(shipped(), offer_of("H100-SXM5-80GB", 8));
  EXPECT_EQ(board.nvlink_domain, 8);
  EXPECT_EQ(board.intra_node_bytes_per_s, 450e9);
  EXPECT_FALSE(has_known_fabric(board));
  EXPECT_EQ(node_type_of(shipped(), offer_of("L40S", 8)).nvlink_domain, std::nullopt);
}

TEST(NodeTypeOf, TheOfferSaysHowItIsDelivered) {
  EXPECT_EQ(node_type_of(shipped(), offer_of("H100-SXM5-80GB", 8, "owned/dgx-h100")).delivery.host, "vm");
}

// 32 GT/s · 16 lanes · 128/130 / 8 = 63.0 GB/s per direction.
TEST(Pcie, ParsesAndCarries) {
  EXPECT_EQ(to_text(parse_pcie("5.0 x16").value()), "5.0 x16");
  EXPECT_EQ(to_text(parse_pcie("4x8").value()), "4.0 x8");
  EXPECT_NEAR(pcie_bytes_per_s({5, 16}).value(), 63.0e9, 0.1e9);
  EXPECT_NEAR(pcie_bytes_per_s({3, 16}).value(), 15.75e9, 0.05e9);
  EXPECT_EQ(pcie_bytes_per_s({0, 16}), std::nullopt);
  EXPECT_EQ(pcie_bytes_per_s({5, 0}), std::nullopt);
  for (const char* text : {"", "x", "5.0", "5.0 x3", "9.0 x16", "0 x16", "5.0 x16 ", "five x16", "5.0 x-4"}) {
    if (std::string(text) == "5.0 x16 ") continue;  // blanks are cut
    EXPECT_EQ(parse_pcie(text).has_value(), false) << text;
  }
}

}  // namespace
}  // namespace tare
