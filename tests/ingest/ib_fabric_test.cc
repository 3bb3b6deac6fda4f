#include <gtest/gtest.h>

#include "ingest/ethtool.h"
#include "ingest/iblinkinfo.h"
#include "ingest/perftest.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

TEST(Iblinkinfo, LinksOfAFabric) {
  const FileFacts file = read_text(
      "CA: w1 mlx5_0:\n"
      "      0xaa01      7    1[  ] ==( 4X       53.125 Gbps Active/  LinkUp)==>       3   12[  ] \"leaf1\" ( )\n"
      "Switch: 0xbb02 leaf1:\n"
      "           3   12[  ] ==( 4X       53.125 Gbps Active/  LinkUp)==>       7    1[  ] \"w1 mlx5_0\" ( )\n"
      "           3   13[  ] ==( 2X       53.125 Gbps Active/  LinkUp)==>       9    1[  ] \"w2 mlx5_0\" ( Could be "
      "4X)\n"
      "           3   14[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n"
      "           3   15[  ] ==( 4X  53.1\n");
  EXPECT_EQ(kind_of(file), "infiniband");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("link_count"), 4);
  EXPECT_EQ(facts.integer("links_could_be_more"), 1);
  EXPECT_EQ(facts.find_record("states")->integer("Active"), 3);
  EXPECT_EQ(facts.find_record("physical_states")->integer("Polling"), 1);
  const FactRecord& link = item(facts, "links", 2);
  EXPECT_EQ(link.text("node"), "0xbb02 leaf1");
  EXPECT_EQ(link.integer("port"), 13);
  EXPECT_EQ(link.text("width"), "2X");
  EXPECT_EQ(link.number("lane_gbit_per_s"), 53.125);
  EXPECT_EQ(link.text("peer"), "w2 mlx5_0");
  EXPECT_EQ(link.text("remark"), "Could be 4X");
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(Iblinkinfo, Ibqueryerrors) {
  const FileFacts file = read_text(
      "Errors for \"leaf1\"\n   GUID 0xbb02 port 13: [SymbolErrorCounter == 3] [PortXmitWait == 900]\n"
      "## Summary: 2 nodes checked, 1 bad nodes found\n");
  const FactRecord& row = item(facts_of(file), "port_errors", 0);
  EXPECT_EQ(row.text("node"), "leaf1");
  EXPECT_EQ(row.integer("port"), 13);
  EXPECT_EQ(row.integer("SymbolErrorCounter"), 3);
  EXPECT_EQ(facts_of(file).find_record("error_sums")->number("PortXmitWait"), 900.0);
}

TEST(Ethtool, SettingsDriverAndCounters) {
  const FileFacts file = read_text(
      "Settings for eth7:\n\tSupported link modes:   100000baseCR4/Full\n\t                        40000baseCR4/Full\n"
      "\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
      "$ ethtool -i eth7\ndriver: mlx5_core\nfirmware-version: 16.35.2000\nbus-info: 0000:3b:00.0\n"
      "NIC statistics:\n     rx_packets: 88\n     rx_out_of_buffer: 12\n     tx_pause: 0\n     rx_crc_errors_phy: x\n");
  EXPECT_EQ(kind_of(file), "infiniband");
  const FactRecord& port = item(facts_of(file), "interfaces", 0);
  EXPECT_EQ(port.text("name"), "eth7");
  EXPECT_EQ(port.integer("speed_mbit_per_s"), 100000);
  EXPECT_EQ(port.find("speed_mbit_per_s")->line, 4);
  EXPECT_EQ(port.find_list("supported_link_modes")->size(), 2u);
  EXPECT_EQ(port.text("driver"), "mlx5_core");
  EXPECT_EQ(port.find_record("counters")->integer("rx_out_of_buffer"), 12);
  EXPECT_EQ(port.find_record("counters")->members().size(), 1u);
  EXPECT_EQ(facts_of(file).integer("links_up"), 1);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(Ethtool, StatisticsAloneOfTwoInterfaces) {
  const FileFacts file = read_text(
      "$ ethtool -S eth4\nNIC statistics:\n     rx_packets: 88\n     rx_crc_errors_phy: 6\n"
      "$ ethtool -S eth5\nNIC statistics:\n     rx_packets: 99\n     rx_crc_errors_phy: 8\n");
  ASSERT_EQ(facts_of(file).find_list("interfaces")->size(), 2u);
  EXPECT_EQ(item(facts_of(file), "interfaces", 0).text("name"), "eth4");
  EXPECT_EQ(item(facts_of(file), "interfaces", 0).find_record("counters")->integer("rx_crc_errors_phy"), 6);
  EXPECT_EQ(item(facts_of(file), "interfaces", 1).text("name"), "eth5");
  EXPECT_EQ(item(facts_of(file), "interfaces", 1).find_record("counters")->integer("rx_crc_errors_phy"), 8);
}

TEST(Perftest, RowsNamedByTheHeader) {
  const FileFacts file = read_text(
      "---------------------------------------------------------------------------------------\n"
      "                    RDMA_Write BW Test\n"
      " Dual-port       : OFF\t\tDevice         : mlx5_9\n Mtu             : 4096[B]\n"
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " 4096       5000             180.10             179.50              5.478\n"
      " 65536      5000             197.30             196.80              0.375\n"
      " 131072     50\n");
  EXPECT_EQ(kind_of(file), "infiniband");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("test"), "RDMA_Write BW Test");
  EXPECT_EQ(facts.find_record("settings")->text("device"), "mlx5_9");
  EXPECT_EQ(facts.number("max_bw_average_gbit_per_s"), 196.80);
  EXPECT_EQ(facts.find("max_bw_average_gbit_per_s")->line, 7);
  EXPECT_EQ(item(facts, "rows", 0).number("msgrate_mpps"), 5.478);
  EXPECT_EQ(item(facts, "rows", 1).integer("bytes"), 65536);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(IbFabric, OthersAreNotMine) {
  for (const char* const text : {"Settings for the run:\n lr: 0.1\n", "#bytes read: 10\n", "Errors for \"x\"\n"}) {
    const Head head{text, "", true};
    EXPECT_EQ(recognise_iblinkinfo(head) + recognise_ethtool(head) + recognise_perftest(head), 0) << text;
  }
}

}  // namespace
}  // namespace tare
