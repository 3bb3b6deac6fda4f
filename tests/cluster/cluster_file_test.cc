#include <gtest/gtest.h>

#include "base/file.h"
#include "cluster/cluster.h"

namespace tare {
namespace {

const Catalog& shipped() {
  static const Catalog catalog = load_catalog().value();
  return catalog;
}

Cluster parse(const std::string& text) {
  auto cluster = parse_cluster(text, "c.toml", shipped());
  if (!cluster) ADD_FAILURE() << render(cluster.error());
  return cluster ? std::move(*cluster) : Cluster();
}

std::string errors(const std::string& text) {
  const auto cluster = parse_cluster(text, "c.toml", shipped());
  return cluster ? "no error" : render(cluster.error());
}

const std::string kType =
    "[node_type.hgx]\n"
    "gpus = { model = \"H100-SXM5-80GB\", count = 8, pcie = \"5.0 x16\" }\n"
    "nics = { model = \"CX-7 NDR\", count = 8, rate = \"400Gb/s\" }\n";
const std::string kNodes = "[[node]]\nnames = \"n[1-4]\"\ntype = \"hgx\"\n";
const std::string kLab = "[cluster]\nname = \"lab\"\nprice = { usd_per_gpu_h = 2.5, date = \"2026-11-01\" }\n";

TEST(ClusterFile, TheExample) {
  const auto text = read_file(std::string(TARE_SOURCE_DIR) + "/examples/cluster-64xh100.toml");
  ASSERT_TRUE(text);
  const Cluster cluster = parse(*text);
  EXPECT_EQ(cluster.name, "lab");
  ASSERT_EQ(cluster.nodes.size(), 8u);
  EXPECT_EQ(cluster.nodes[7].name, "n8");
  ASSERT_EQ(cluster.node_types.size(), 1u);
  const NodeType& type = cluster.node_types[0].type;
  EXPECT_EQ(type.gpu, "H100-SXM5-80GB");
  EXPECT_EQ(type.nvlink_domain, 8);
  EXPECT_EQ(type.intra_node_bytes_per_s, 450e9);
  EXPECT_EQ(type.inter_node_bytes_per_s_per_gpu, 50e9);  // 8 ports of 50 GB/s for 8 GPUs
  EXPECT_EQ(type.nic_kind, "ib");
  EXPECT_EQ(type.rail_optimized, true);
  EXPECT_EQ(type.delivery.host, "bare_metal");
  EXPECT_EQ(type.local_nvme_read_bytes_per_s, 6.5e9);
  ASSERT_EQ(cluster.leaves.size(), 2u);
  EXPECT_EQ(cluster.leaves[1].nodes, (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(cluster.leaves[1].uplink_bytes_per_s, 200e9);
  ASSERT_TRUE(cluster.offer);
  EXPECT_EQ(cluster.offer->id, "cluster/lab/*/on_demand");
  EXPECT_DOUBLE_EQ(price_usd_per_gpu_h(*cluster.offer), 2.95);
  EXPECT_EQ(format_date(cluster.offer->date.value()), "2026-11-01");
  EXPECT_TRUE(cluster.warnings.empty()) << render(cluster.warnings);
}

TEST(ClusterFile, RackScaleDomains) {
  const auto text = read_file(std::string(TARE_SOURCE_DIR) + "/examples/cluster-gb200-nvl72.toml");
  ASSERT_TRUE(text);
  const Cluster cluster = parse(*text);
  ASSERT_EQ(cluster.nvlink_domains.size(), 2u);
  EXPECT_EQ(cluster.nvlink_domains[1].front(), 18);
  EXPECT_EQ(cluster.nodes[17].nvlink_domain, 0);
  EXPECT_EQ(cluster.nodes[18].nvlink_domain, 1);
  EXPECT_EQ(cluster.node_types[0].type.nvlink_domain, 72);
  EXPECT_EQ(cluster.offer->purchase, Purchase::kOwned);
  EXPECT_EQ(cluster.offer->price_usd_per_h, std::nullopt);
  EXPECT_EQ(cluster.node_types[0].type.capex_base_usd, 210000);
  EXPECT_EQ(cluster.node_types[0].type.node_power_w, 7400);
}

TEST(ClusterFile, WithoutAFabricAllNodesHangBelowOneLeaf) {
  const Cluster cluster = parse(kLab + kType + kNodes);
  ASSERT_EQ(cluster.leaves.size(), 1u);
  EXPECT_EQ(cluster.leaves[0].nodes.size(), 4u);
  EXPECT_EQ(cluster.leaves[0].uplink_bytes_per_s, std::nullopt);
}

TEST(ClusterFile, ANodeTypeOfTheCatalog) {
  const Cluster cluster = parse(
      "[cluster]\nname = \"rented\"\nprice = \"aws/p5.48xlarge/*/on_demand\"\n"
      "[[node]]\nnames = \"a[1-2]\"\ntype = \"aws/p5.48xlarge\"\n");
  EXPECT_EQ(cluster.node_types.at(0).type.id, "aws/p5.48xlarge");
  EXPECT_EQ(cluster.offer.value().id, "aws/p5.48xlarge/*/on_demand");
  EXPECT_EQ(cluster.delivery.host, "vm");
  EXPECT_TRUE(has_known_fabric(cluster.node_types[0].type));
}

TEST(ClusterFile, APriceThatMatchesSeveralOffers) {
  const auto cluster =
      parse_cluster("[cluster]\nname = \"r\"\nprice = \"aws/p5.48xlarge\"\n" + kType + kNodes, "c.toml", shipped());
  ASSERT_FALSE(cluster);
  const Diagnostic& error = cluster.error().at(0);
  EXPECT_EQ(error.rule, "ambiguous-offer");
  EXPECT_EQ(error.line, 3);
  EXPECT_TRUE(error.help.starts_with("name one: aws/p5.48xlarge/*/on_demand, ")) << error.help;
}

TEST(ClusterFile, AnUnknownPriceIsAWarning) {
  const Cluster cluster = parse("[cluster]\nname = \"lab\"\n" + kType + kNodes);
  EXPECT_EQ(cluster.offer, std::nullopt);
  ASSERT_EQ(cluster.warnings.size(), 1u);
  EXPECT_EQ(cluster.warnings[0].rule, "unknown-price");
}

TEST(ClusterFile, CardsAreNotJoinedUnlessTheFileSaysSo) {
  const std::string l40s = "[node_type.hgx]\ngpus = { model = \"L40S\", count = 8 }\n";
  EXPECT_EQ(parse(kLab + l40s + kNodes).node_types.at(0).type.nvlink_domain, 1);
  const std::string bridged = "[node_type.hgx]\ngpus = { model = \"H100-NVL-94GB\", count = 8, nvlink_domain = 2 }\n";
  const Cluster cluster = parse(kLab + bridged + kNodes);
  EXPECT_EQ(cluster.node_types.at(0).type.nvlink_domain, 2);
  EXPECT_EQ(cluster.node_types.at(0).type.intra_node_bytes_per_s, 300e9);
  EXPECT_EQ(cluster.warnings.at(0).rule, "no-network");
}

TEST(ClusterFile, EveryErrorInOneRun) {
  EXPECT_EQ(
      errors("[cluster]\n"
             "name = \"lab\"\n"
             "price = { usd_per_gpu_h = -2.5, date = \"2026-13-01\" }\n"
             "delivery = { host = \"metal\" }\n"
             "[node_type.hgx]\n"
             "gpus = { model = \"H100-SXM5-80GB\", count = 8, link = \"900GB/s\", pcie = \"4.0 x16\" }\n"
             "nics = { model = \"CX-7 NDR\", count = 8, rate = \"400Gb/s\", rials = true }\n"
             "disks = [{ name = \"nvme0\", read = \"30GB/s\", write = \"3.8GB/s\", bytes = \"4TB\" }]\n"
             "[[node]]\n"
             "names = \"n[1-4]\"\n"
             "type = \"hgxx\"\n"
             "[fabric]\n"
             "leaves = [{ name = \"a\", nodes = \"n[1-3]\" }, { name = \"b\", nodes = \"n[3-4]\" }]\n"),
      "c.toml:3:27: error: expected 'usd_per_gpu_h' above 0, found a negative value [negative-value]\n"
      "  price = { usd_per_gpu_h = -2.5, date = \"2026-13-01\" }\n"
      "                            ^~~~\n"
      "c.toml:3:40: error: expected a date, found '2026-13-01' [not-a-date]\n"
      "  price = { usd_per_gpu_h = -2.5, date = \"2026-13-01\" }\n"
      "                                         ^~~~~~~~~~~~\n"
      "  help: write it as \"2026-11-30\"\n"
      "c.toml:4:21: error: expected one of bare_metal, vm, unknown, found 'metal' [unknown-value]\n"
      "  delivery = { host = \"metal\" }\n"
      "                      ^~~~~~~\n"
      "c.toml:6:54: error: expected at most 450 GB/s, nvlink4 of H100-SXM5-80GB per direction, found 900 GB/s "
      "[impossible-physics]\n"
      "  gpus = { model = \"H100-SXM5-80GB\", count = 8, link = \"900GB/s\", pcie = \"4.0 x16\" }\n"
      "                                                       ^~~~~~~~~\n"
      "  help: datasheets print both directions together: half of that is one\n"
      "c.toml:7:48: error: expected at most 252 Gb/s, what PCIe 4.0 x16 carries, found 400 Gb/s "
      "[impossible-physics]\n"
      "  nics = { model = \"CX-7 NDR\", count = 8, rate = \"400Gb/s\", rials = true }\n"
      "                                                 ^~~~~~~~~\n"
      "  help: a NIC moves no more than its slot; if it has another slot than the GPUs, add pcie = \"5.0 x16\" to "
      "nics\n"
      "c.toml:7:59: error: unknown key 'rials' in [node_type.hgx.nics] [unknown-key]\n"
      "  nics = { model = \"CX-7 NDR\", count = 8, rate = \"400Gb/s\", rials = true }\n"
      "                                                            ^~~~~\n"
      "  help: did you mean \"rails\"?\n"
      "c.toml:8:35: error: expected at most 7.9 GB/s, what one disk on PCIe 4.0 x4 carries, found 30 GB/s "
      "[impossible-physics]\n"
      "  disks = [{ name = \"nvme0\", read = \"30GB/s\", write = \"3.8GB/s\", bytes = \"4TB\" }]\n"
      "                                    ^~~~~~~~\n"
      "  help: list the disks of an array one by one\n"
      "c.toml:11:8: error: unknown node type 'hgxx' [unknown-node-type]\n"
      "  type = \"hgxx\"\n"
      "         ^~~~~~\n"
      "  help: did you mean \"hgx\"?\n"
      "c.toml:13:67: error: node 'n3' is in another of the leaves already [node-in-two-leaves]\n"
      "  leaves = [{ name = \"a\", nodes = \"n[1-3]\" }, { name = \"b\", nodes = \"n[3-4]\" }]\n"
      "                                                                    ^~~~~~~~\n"
      "  help: a node has one place\n");
}

// A law each, on an otherwise sound file.
TEST(ClusterFile, LawsOfPhysics) {
  const auto with_gpus = [](const std::string& gpus) {
    return errors(kLab + "[node_type.hgx]\ngpus = { " + gpus + " }\n" + kNodes);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, with_gpus("model = \"L40S\", count = 8, nvlink_domain = 8"), "L40S has no GPU-to-GPU link");
  EXPECT_PRED2(has, with_gpus("model = \"L40S\", count = 8, link = \"64GB/s\""), "L40S has no GPU-to-GPU link");
  EXPECT_PRED2(has, with_gpus("model = \"H100-SXM5-80GB\", count = 8, nvlink_domain = 72"),
               "expected at most 8, what the links of H100-SXM5-80GB join, found 72");
  EXPECT_PRED2(has, with_gpus("model = \"A100-SXM4-80GB\", count = 8, pcie = \"5.0 x16\""),
               "expected at most PCIe 4.0, the generation of A100-SXM4-80GB, found 5.0");
  EXPECT_PRED2(has, with_gpus("model = \"H100-SXM5-80GB\", count = 0"), "expected 'count' from 1 to 64, found 0");
  EXPECT_PRED2(has, with_gpus("model = \"H100-SXM5-80GB\", count = 65"), "expected 'count' from 1 to 64, found 65");
  EXPECT_PRED2(has, with_gpus("model = \"A100-SXM4-40GB\", count = 16, nvlink_domain = 16"), "no error");
  const auto big = "[[domain]]\nnodes = \"n[1-4]\"\n";
  EXPECT_PRED2(has, errors(kLab + kType + kNodes + big),
               "expected at most 8 GPUs in a domain of H100-SXM5-80GB, found 32");
  EXPECT_PRED2(has,
               errors(kLab + "[node_type.hgx]\ngpus = { model = \"GB200\", count = 4, nvlink_domain = 72 }\n" + kNodes),
               "expected [[domain]] with node 'n1': its link domain of 72 GPUs spans nodes of 4");
}

TEST(ClusterFile, NodesAndLeaves) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const auto with_leaves = [](const std::string& leaves) {
    return errors(kLab + kType + kNodes + "[fabric]\nleaves = [" + leaves + "]\n");
  };
  EXPECT_PRED2(has, with_leaves("{ name = \"a\", nodes = \"n[1-5]\" }"), "unknown node 'n5'");
  EXPECT_PRED2(has, with_leaves("{ name = \"a\", nodes = \"n[1-3]\" }"),
               "expected every node below a leaf, found 'n4' below none");
  EXPECT_PRED2(has, with_leaves("{ name = \"a\", nodes = \"n[1-2]\" }, { name = \"a\", nodes = \"n[3-4]\" }"),
               "a second leaf named 'a'");
  EXPECT_PRED2(has, with_leaves("{ name = \"a\", nodes = [\"n1\", \"n1\"] }"), "node 'n1' stands here twice");
  EXPECT_PRED2(has, with_leaves("{ name = \"a\", nodes = \"n[4-1]\" }"), "expected names or ranges");
  EXPECT_PRED2(has, errors(kLab + kType + kNodes + kNodes), "a second node named 'n1'");
  EXPECT_PRED2(has, errors(kLab + kType), "expected nodes, found no [[node]]");
  EXPECT_PRED2(has, errors(kType + kNodes), "missing table [cluster]");
  EXPECT_PRED2(has, errors("format_version = \"2.0\"\n" + kLab + kType + kNodes),
               "expected format_version \"1.0\", found '2.0'");
  EXPECT_PRED2(has, errors(kLab + "owned = { capex_usd = 1000 }\n" + kType + kNodes),
               "expected price or owned, found both");
}

TEST(ClusterFile, WhatAnOwnerSays) {
  const std::string bought = "[cluster]\nname = \"lab\"\nowned = { capex_usd = 1000";
  const Cluster plain = parse(bought + " }\n" + kType + kNodes);
  EXPECT_FALSE(plain.offer->ownership.colocation);
  EXPECT_EQ(plain.offer->ownership.cooling, "auto");
  EXPECT_EQ(plain.offer->ownership.residual, "progress");
  const Cluster stated =
      parse(bought + ", colocation = true, cooling = \"liquid\", residual = \"resale\" }\n" + kType + kNodes);
  EXPECT_TRUE(stated.offer->ownership.colocation);
  EXPECT_EQ(stated.offer->ownership.cooling, "liquid");
  EXPECT_EQ(stated.offer->ownership.residual, "resale");
  const std::string wrong = errors(bought + ", residual = \"hope\" }\n" + kType + kNodes);
  EXPECT_NE(wrong.find("hope"), std::string::npos) << wrong;
}

// Many names in many tables: bounded work, not minutes.
TEST(ClusterFile, HugeRangesAreRefusedQuickly) {
  std::string text = kLab + kType + "[[node]]\nnames = \"n[1-100000]\"\ntype = \"hgx\"\n[fabric]\nleaves = [";
  for (int i = 0; i < 3000; ++i) text += "{ name = \"l" + std::to_string(i) + "\", nodes = \"n[1-100000]\" },";
  text += "]\n";
  EXPECT_NE(errors(text), "no error");
  EXPECT_NE(errors(kLab + kType + "[[node]]\nnames = \"n[1-999999999]\"\ntype = \"hgx\"\n"), "no error");
}

}  // namespace
}  // namespace tare
