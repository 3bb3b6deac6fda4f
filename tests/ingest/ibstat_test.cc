#include "ingest/ibstat.h"

#include <gtest/gtest.h>

#include "ingest/ibdev2netdev.h"
#include "ingest/ibv_devinfo.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

constexpr const char* kTwoCas =
    "CA 'mlx5_3'\n\tCA type: MT4123\n\tNumber of ports: 1\n\tFirmware version: 20.33.1048\n\tNode GUID: 0xaa01\n"
    "\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 200\n\t\tBase lid: 7\n"
    "\t\tLink layer: InfiniBand\n"
    "CA 'mlx5_4'\n\tCA type: MT4123\n\tNode GUID: ...\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n"
    "\t\tRate: 10\n\t\tLink layer: InfiniBand\n";

TEST(Ibstat, DevicesPortsAndCounts) {
  const FileFacts file = read_text(kTwoCas);
  EXPECT_EQ(kind_of(file), "infiniband");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("ca_count"), 2);
  EXPECT_EQ(facts.integer("active"), 1);
  EXPECT_EQ(facts.integer("polling"), 1);
  EXPECT_EQ(facts.find_record("active_rates")->integer("200"), 1);
  EXPECT_EQ(facts.find_record("link_layers")->integer("InfiniBand"), 2);
  const FactRecord& port = item(item(facts, "devices", 1), "ports", 0);
  EXPECT_EQ(port.text("physical_state"), "Polling");
  EXPECT_EQ(port.find("rate_gbit_per_s")->line, 18);
  EXPECT_TRUE(item(facts, "devices", 1).find("node_guid")->is_unknown());
  EXPECT_EQ(file.unused_lines, 0);
}

TEST(Ibstat, CutAtTheFrontAndPrefixed) {
  const FileFacts cut = read_text(
      "\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 100\n\t\tBase lid: 3\n\t\tLink layer: Ethernet\n");
  EXPECT_EQ(facts_of(cut).integer("active"), 1);
  EXPECT_TRUE(item(facts_of(cut), "devices", 0).find("name")->is_unknown());

  const FileFacts two = read_text(
      "a1: CA 'mlx5_0'\nb2: CA 'mlx5_0'\na1: \tCA type: MT4129\na1: \tPort 1:\na1: \t\tState: Active\n"
      "a1: \t\tRate: 400\na1: \t\tPhysical state: LinkUp\n");
  EXPECT_EQ(item(facts_of(two), "devices", 0).text("source"), "a1");
  EXPECT_EQ(facts_of(two).integer("ca_count"), 2);
}

TEST(Ibstat, Ibstatus) {
  const FileFacts file = read_text(
      "Infiniband device 'mlx5_0' port 1 status:\n\tdefault gid:\t fe80::1\n\tbase lid:\t 0x1\n\tstate:\t\t 4: ACTIVE\n"
      "\tphys state:\t 5: LinkUp\n\trate:\t\t 100 Gb/sec (4X EDR)\n\tlink_layer:\t InfiniBand\n");
  const FactRecord& port = item(item(facts_of(file), "devices", 0), "ports", 0);
  EXPECT_EQ(port.text("state"), "ACTIVE");
  EXPECT_EQ(port.integer("rate_gbit_per_s"), 100);
  EXPECT_EQ(port.text("rate_kind"), "4X EDR");
  EXPECT_EQ(facts_of(file).integer("active"), 1);
}

TEST(IbvDevinfo, PortsAndRate) {
  const FileFacts file = read_text(
      "hca_id:\tmlx5_1\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t20.31.2006\n\tphys_port_cnt:\t\t\t1\n"
      "\tBAD_PKEY_CNTR\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tmax_mtu:\t\t4096 (5)\n"
      "\t\t\tlink_layer:\t\tEthernet\n\t\t\tactive_width:\t\t4X (2)\n\t\t\tactive_speed:\t\t25.0 Gbps (32)\n"
      "\t\t\tGID[  0]:\t\tfe80::2, RoCE v2\n");
  EXPECT_EQ(kind_of(file), "infiniband");
  const FactRecord& device = item(facts_of(file), "devices", 0);
  EXPECT_EQ(device.text("fw_ver"), "20.31.2006");
  const FactRecord& port = item(device, "ports", 0);
  EXPECT_EQ(port.text("state"), "PORT_ACTIVE");
  EXPECT_EQ(port.integer("max_mtu"), 4096);
  EXPECT_EQ(port.integer("rate_gbit_per_s"), 100);
  EXPECT_EQ(facts_of(file).integer("active"), 1);
}

TEST(Ibdev2netdev, DownIsOfTheInterface) {
  const FileFacts file = read_text(
      "mlx5_0 port 1 ==> ib0 (Down)\nmlx5_1 port 1 ==> ens3f0np0 (Up)\n"
      "0000:5e:00.0 mlx5_2 (MT4129 - MCX750500) ConnectX-7 card fw 28.40.1000 port 1 (ACTIVE) ==> ib1 (Down)\n"
      "mlx5_3 port ==> \n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("port_count"), 3);
  EXPECT_EQ(facts.integer("netdev_down"), 2);
  EXPECT_EQ(facts.integer("ib_netdevs"), 2);
  const FactRecord& port = item(facts, "ports", 2);
  EXPECT_EQ(port.text("device"), "mlx5_2");
  EXPECT_EQ(port.text("fw"), "28.40.1000");
  EXPECT_EQ(port.text("port_state"), "ACTIVE");
  EXPECT_EQ(port.line, 3);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(Ibdev2netdev, RdmaLink) {
  const FileFacts file = read_text(
      "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0\nlink mlx5_1/1 state DOWN physical_state "
      "POLLING\n");
  EXPECT_EQ(facts_of(file).integer("active"), 1);
  EXPECT_EQ(item(facts_of(file), "ports", 0).text("netdev"), "ens1f0");
  EXPECT_EQ(item(facts_of(file), "ports", 1).text("physical_state"), "POLLING");
}

TEST(Ibstat, OthersAreNotMine) {
  for (const char* const text : {"State: Running\nRate: 5\n", "epoch 1 ==> loss 2.0\n", "CA 'none'\n"}) {
    const Head head{text, "", true};
    EXPECT_EQ(recognise_ibstat(head) + recognise_ibv_devinfo(head) + recognise_ibdev2netdev(head), 0) << text;
  }
}

}  // namespace
}  // namespace tare
