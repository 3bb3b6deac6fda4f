#include "perf/machine.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

const Catalog& catalog() {
  static const Catalog loaded = load_catalog().value();
  return loaded;
}

NodeType hgx() {
  NodeType type;
  type.id = "test/hgx";
  type.gpu = "H100-SXM5-80GB";
  type.gpus = 8;
  type.nvlink_domain = 8;
  type.pcie_generation = 5;
  type.pcie_lanes = 16;
  type.nic_kind = "IB NDR";
  type.inter_node_bytes_per_s_per_gpu = 50e9;
  return type;
}

// A part runs what it lacks in the next wider format, and says which.
TEST(Machine, FormatsItLacks) {
  Machine a100;
  a100.peak_bf16_flops = a100.peak_fp16_flops = 312e12;
  EXPECT_EQ(effective_precision(a100, Precision::kFp8), Precision::kBf16);
  EXPECT_EQ(effective_precision(a100, Precision::kNvfp4), Precision::kBf16);
  EXPECT_DOUBLE_EQ(peak_flops(a100, Precision::kFp8), 312e12);
  Machine h100 = a100;
  h100.peak_fp8_flops = 1979e12;
  EXPECT_EQ(effective_precision(h100, Precision::kNvfp4), Precision::kFp8);
  Machine v100;
  v100.peak_fp16_flops = 125e12;
  EXPECT_EQ(effective_precision(v100, Precision::kBf16), Precision::kFp16);
}

TEST(Machine, OfANode) {
  const Accelerator& h100 = *find_accelerator(catalog(), "H100-SXM5-80GB");
  const Machine machine = machine_of_node(h100, hgx(), 4);
  EXPECT_EQ(machine.gpu, "H100-SXM5-80GB");
  EXPECT_EQ(machine.gpus, 32);
  EXPECT_EQ(machine.gpus_per_node, 8);
  EXPECT_EQ(machine.domain_gpus, 8);
  EXPECT_EQ(machine.in_domain.kind, LinkKind::kNvlink);
  EXPECT_DOUBLE_EQ(machine.in_domain.bytes_per_s, *h100.link_bytes_per_s);
  EXPECT_DOUBLE_EQ(machine.between_nodes.bytes_per_s, 50e9);
  EXPECT_TRUE(machine.server_part);
  EXPECT_NEAR(machine.peak_bf16_flops, 989e12, 1e12);
  EXPECT_NEAR(machine.peak_tf32_flops, 494.7e12, 1e12);
  // PCIe 5.0 x16: 63 GB/s of line rate, 85 % of it in practice.
  EXPECT_NEAR(machine.host_bytes_per_s, 0.85 * 63e9, 1e9);
}

TEST(Machine, WithoutALinkPcieIsTheDomain) {
  NodeType type = hgx();
  type.nvlink_domain = 1;
  const Machine machine = machine_of_node(*find_accelerator(catalog(), "H100-SXM5-80GB"), type, 1);
  EXPECT_EQ(machine.in_domain.kind, LinkKind::kPcie);
  EXPECT_EQ(machine.domain_gpus, 8);
}

TEST(Machine, UnknownFabricIsNoBandwidth) {
  NodeType type = hgx();
  type.inter_node_bytes_per_s_per_gpu.reset();
  EXPECT_EQ(machine_of_node(*find_accelerator(catalog(), "H100-SXM5-80GB"), type, 2).between_nodes.bytes_per_s, 0);
}

// Two leaves of four nodes; 32 GPUs of 50 GB/s under uplinks of 800 GB/s: oversubscribed two to one.
TEST(Machine, OversubscriptionOfALeaf) {
  Cluster cluster;
  cluster.node_types.push_back({hgx(), {}});
  cluster.nodes.resize(8);
  cluster.leaves = {{"leaf1", {0, 1, 2, 3}, 800e9}, {"leaf2", {4, 5, 6, 7}, 800e9}};
  Machine machine = make_machine(catalog(), cluster);
  EXPECT_EQ(machine.gpus, 64);
  EXPECT_EQ(machine.gpus_per_leaf, 32);
  EXPECT_DOUBLE_EQ(machine.oversubscription, 2);
  for (Leaf& leaf : cluster.leaves) leaf.uplink_bytes_per_s = 3200e9;  // more than is needed does not speed anything up
  EXPECT_DOUBLE_EQ(make_machine(catalog(), cluster).oversubscription, 1);
}

TEST(Machine, DeliveryHasItsEffect) {
  Cluster cluster;
  cluster.node_types.push_back({hgx(), {}});
  cluster.nodes.resize(1);
  cluster.delivery.host = "bare_metal";
  EXPECT_EQ(slowdown_ratio(make_machine(catalog(), cluster).delivery), 0);
  cluster.delivery.host = "vm";
  const Machine vm = make_machine(catalog(), cluster);
  EXPECT_GT(vm.delivery.host_ratio, 0);
  cluster.delivery.packaging = "container";
  EXPECT_GE(slowdown_ratio(make_machine(catalog(), cluster).delivery), slowdown_ratio(vm.delivery));
  EXPECT_EQ(bare_machine(catalog(), cluster).delivery.host_ratio, 0);
}

TEST(PeakFlops, FallsBackToTheNextWiderFormat) {
  Machine machine;
  machine.peak_fp16_flops = machine.peak_bf16_flops = 100;
  machine.peak_fp32_flops = 10;
  EXPECT_EQ(peak_flops(machine, Precision::kFp8), 100);
  EXPECT_EQ(peak_flops(machine, Precision::kNvfp4), 100);
  machine.peak_fp8_flops = 200;
  EXPECT_EQ(peak_flops(machine, Precision::kMxfp8), 200);
  EXPECT_EQ(peak_flops(machine, Precision::kNvfp4), 200);
  EXPECT_EQ(peak_flops(machine, Precision::kFp32), 10);
  EXPECT_EQ(peak_flops(machine, Precision::kTf32), 10);
  machine.peak_tf32_flops = 50;
  EXPECT_EQ(peak_flops(machine, Precision::kTf32), 50);
}

// Every accelerator of the catalog makes a machine that can be computed with.
TEST(Machine, OfEveryAcceleratorOfTheCatalog) {
  for (const Accelerator& accelerator : catalog().accelerators) {
    NodeType type = hgx();
    type.gpu = accelerator.id;
    const Machine machine = machine_of_node(accelerator, type, 2);
    EXPECT_GT(machine.memory_bytes, 0) << accelerator.id;
    EXPECT_GT(machine.memory_bytes_per_s, 0) << accelerator.id;
    EXPECT_GT(machine.in_domain.bytes_per_s, 0) << accelerator.id;
  }
}

// 8 and 24 GPUs of 50 GB/s under uplinks of 200 and 300 GB/s: 400 ÷ 200 = 2 and 1,200 ÷ 300 = 4 times oversubscribed.
TEST(Machine, TheTightestLeafCounts) {
  Cluster cluster;
  cluster.node_types = {{hgx(), {}}};
  for (int i = 0; i < 4; ++i) cluster.nodes.push_back({"n" + std::to_string(i), 0, -1});
  cluster.leaves = {{"small", {0}, 200e9}, {"large", {1, 2, 3}, 300e9}};
  const Machine machine = make_machine(catalog(), cluster);
  EXPECT_EQ(machine.gpus_per_leaf, 8);
  EXPECT_DOUBLE_EQ(machine.oversubscription, 4);
}

}  // namespace
}  // namespace tare
