#include "ingest/nccl_log.h"

#include <gtest/gtest.h>

#include "ingest/nccl_line.h"
#include "ingest/nccl_links.h"
#include "ingest/nccl_xml.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

TEST(NcclLine, PartsOfALine) {
  const auto line = parse_nccl_line("12: worker-3:811:934 [4] NCCL INFO Using network IB");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->rank, 12);
  EXPECT_EQ(line->host, "worker-3");
  EXPECT_EQ(line->pid, 811);
  EXPECT_EQ(line->device, 4);
  EXPECT_EQ(line->message, "Using network IB");

  const auto warn = parse_nccl_line("[2026-01-02 10:11:12] w1:5:6 [0] transport/net_ib.cc:1234 NCCL WARN Timeout");
  ASSERT_TRUE(warn);
  EXPECT_EQ(warn->level, NcclLevel::kWarn);
  EXPECT_EQ(warn->place, "transport/net_ib.cc:1234");
  EXPECT_EQ(warn->host, "w1");
  EXPECT_EQ(warn->device, 0);

  EXPECT_EQ(parse_nccl_line("[1,7]<stdout>:n2:1:1 [0] NCCL INFO x")->rank, 7);
  EXPECT_EQ(parse_nccl_line("[1,7]<stdout>:n2:1:1 [0] NCCL INFO x")->host, "n2");
  EXPECT_EQ(parse_nccl_line("NCCL INFO x")->host, "");
  EXPECT_FALSE(parse_nccl_line("loss 2.0, NCCL timeout"));
}

TEST(NcclLinks, NamesOfTransports) {
  EXPECT_EQ(nccl_transport("P2P/IPC/read").name, "P2P/IPC/read");
  EXPECT_EQ(nccl_transport("NET/IB/3/GDRDMA").name, "NET/IB/GDRDMA");
  EXPECT_EQ(nccl_transport("NET/IB/3/GDRDMA").nic, 3);
  EXPECT_EQ(nccl_transport("NET/IBext_v8/1(12)/GDRDMA/Shared").proxy_rank, 12);
  EXPECT_EQ(nccl_transport("NET/Socket/0").name, "NET/Socket");
}

constexpr const char* kLog =
    "NCCL version 2.21.5+cuda12.4\n"
    "a1:10:10 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5\n"
    "b2:20:20 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_1\n"
    "a1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.9.9.1<0>\n"
    "a1:10:11 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.9.9.1<0>\n"
    "b2:20:21 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/RoCE [RO]; OOB eth0:10.9.9.2<0>\n"
    "a1:10:11 [0] NCCL INFO Using network IB\n"
    "a1:10:11 [0] NCCL INFO ncclCommInitRank comm 0x5500 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1a000 commId 0xab "
    "- Init START\n"
    "b2:20:21 [0] NCCL INFO comm 0x6600 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 1a000 commId 0xab - Init START\n"
    "a1:10:11 [0] NCCL INFO NVLS multicast support is not available on dev 0\n"
    "a1:10:11 [0] NCCL INFO comm 0x5500 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n"
    "a1:10:11 [0] NCCL INFO Channel 00/02 :    0   1\n"
    "a1:10:11 [0] NCCL INFO Channel 01/02 :    0   1\n"
    "a1:10:11 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1\n"
    "a1:10:11 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n"
    "a1:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/1\n"
    "a1:10:11 [0] NCCL INFO 2 coll channels, 0 nvls channels, 2 p2p channels, 1 p2p channels per peer\n"
    "a1:10:11 [0] NCCL INFO comm 0x5500 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1a000 commId 0xab - Init COMPLETE\n"
    "a1:10:11 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 0 root 0\n"
    "b2:20:22 [0] net_ib.cc:99 NCCL WARN NET/IB : Got completion from peer 10.9.9.1<41> with status=12\n"
    "b2:20:22 [0] net_ib.cc:99 NCCL WARN NET/IB : Got completion from peer 10.9.9.1<42> with status=12\n"
    "b2:20:22 [0] NCCL INFO transport/net.cc:1034 -> 6\n"
    "export NCCL_P2P_DISABLE=1\n"
    "torch.distributed.DistBackendError: NCCL error, ncclRemoteError: A call failed\n"
    "step 3 of the job\n";

TEST(NcclLog, WhatACompetentReaderSees) {
  const FileFacts file = read_text(kLog);
  EXPECT_EQ(kind_of(file), "nccl-debug");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("nccl_version"), "2.21.5+cuda12.4");
  EXPECT_EQ(facts.text("network"), "IB");
  EXPECT_EQ(facts.find("network")->line, 7);
  EXPECT_EQ(facts.integer("rank_count"), 2);
  EXPECT_EQ(facts.integer("node_count"), 2);
  EXPECT_EQ(facts.integer("nic_count"), 2);
  EXPECT_EQ(item(facts, "nics", 1).text("layer"), "RoCE");
  EXPECT_EQ(facts.integer("hosts_with_other_nics"), 1);
  EXPECT_EQ(facts.text("bootstrap_interface"), "eth0");
  EXPECT_EQ(facts.find_record("env")->text("NCCL_IB_HCA"), "mlx5");
  EXPECT_EQ(item(facts, "env_differs", 0).text("name"), "NCCL_IB_HCA");
  EXPECT_EQ(facts.integer("inits_started"), 2);
  EXPECT_EQ(facts.integer("inits_complete"), 1);
  EXPECT_EQ(facts.integer("net_links"), 2);
  EXPECT_EQ(facts.integer("net_links_gdrdma"), 1);
  EXPECT_EQ(facts.find_record("transports")->integer("NET/IB/GDRDMA"), 1);
  EXPECT_EQ(facts.integer("ring_count"), 2);
  EXPECT_FALSE(std::get<bool>(facts.find("nvls_available")->value));
  EXPECT_EQ(item(facts, "channel_counts", 0).integer("coll_channels"), 2);
  EXPECT_EQ(facts.integer("warning_count"), 2);
  EXPECT_EQ(item(facts, "warnings", 0).integer("count"), 2);
  EXPECT_EQ(item(facts, "warnings", 0).line, 20);
  EXPECT_EQ(item(facts, "errors", 0).text("result"), "ncclRemoteError");
  EXPECT_EQ(facts.integer("completion_error_count"), 2);
  EXPECT_EQ(item(facts, "completion_errors", 0).integer("status"), 12);
  EXPECT_EQ(facts.find_record("shell_env")->text("NCCL_P2P_DISABLE"), "1");
  EXPECT_EQ(facts.find_list("job_errors")->size(), 1u);
  EXPECT_EQ(facts.find_record("collectives")->integer("AllReduce"), 1);
  EXPECT_EQ(file.unused_lines, 1);
}

TEST(NcclLog, OnlySocketsIsSaidToBeInferred) {
  const FileFacts file = read_text("NCCL INFO NET/Socket : Using [0]bond1:10.9.9.9<0>\n");
  EXPECT_EQ(facts_of(file).text("network"), "Socket");
  EXPECT_TRUE(facts_of(file).has("network_inferred"));
  EXPECT_EQ(facts_of(file).find_list("socket_interfaces")->at(0).text(), "bond1");
}

TEST(NcclLog, TopologyTree) {
  const FileFacts file = read_text(
      "h:1:2 [0] NCCL INFO === System : maxBw 24.0 totalBw 48.0 ===\n"
      "h:1:2 [0] NCCL INFO CPU/0 (1/1/2)\n"
      "h:1:2 [0] NCCL INFO + PCI[24.0] - PCI/1000\n"
      "h:1:2 [0] NCCL INFO               + PCI[24.0] - GPU/3000 (0)\n"
      "h:1:2 [0] NCCL INFO                             + NVL[40.0] - GPU/4000\n"
      "h:1:2 [0] NCCL INFO + PCI[12.0] - NIC/9000\n"
      "h:1:2 [0] NCCL INFO ==========================================\n"
      "h:1:2 [0] NCCL INFO GPU/3000 :GPU/3000 (0/5000.0/LOC) GPU/4000 (1/40.0/NVL) CPU/0 (2/24.0/PHB) \n"
      "h:1:2 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 20.0/10.0, type NVL/PIX, sameChannels 1\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.number("system_max_bw_gb_per_s"), 24.0);
  EXPECT_EQ(facts.find_record("topology_nodes")->integer("GPU"), 2);
  EXPECT_EQ(item(facts, "topology", 2).text("parent"), "PCI/1000");
  EXPECT_EQ(item(facts, "topology", 4).text("parent"), "CPU/0");
  EXPECT_EQ(item(facts, "paths", 1).text("type"), "NVL");
  EXPECT_EQ(item(facts, "graphs", 0).text("pattern_name"), "ring");
  EXPECT_EQ(item(facts, "graphs", 0).number("bw_inter_gb_per_s"), 10.0);
}

TEST(NcclXml, MachineAndGraphs) {
  const FileFacts file = read_text(
      "<system version=\"1\">\n <cpu numaid=\"1\" affinity=\"00ff\" arch=\"x86_64\">\n"
      "  <pci busid=\"0000:31:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" link_speed=\"32.0 GT/s "
      "PCIe\" "
      "link_width=\"16\">\n   <gpu dev=\"2\" sm=\"90\" rank=\"2\" gdr=\"1\">\n"
      "    <nvlink target=\"0000:05:00.0\" count=\"18\" tclass=\"0x068000\"/>\n   </gpu>\n  </pci>\n"
      "  <nic>\n   <net name=\"mlx5_4\" dev=\"0\" speed=\"400000\" port=\"1\" guid=\"0x1\" gdr=\"1\"/>\n  </nic>\n"
      " </cpu>\n</system>\n",
      "topo.xml");
  EXPECT_EQ(kind_of(file), "nccl-debug");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 1);
  EXPECT_EQ(facts.integer("nvlinks"), 18);
  EXPECT_EQ(item(facts, "gpus", 0).line, 4);
  EXPECT_EQ(item(facts, "gpus", 0).text("link_speed"), "32.0 GT/s PCIe");
  EXPECT_EQ(item(facts, "gpus", 0).integer("numaid"), 1);
  EXPECT_EQ(item(facts, "nics", 0).number("speed_gbit_per_s"), 400.0);

  const FileFacts cut =
      read_text("<cpu numaid=\"0\"><pci busid=\"0:1.0\" link_width=\"0\"><gpu dev=\"0\"/></pci><pci bu");
  EXPECT_EQ(facts_of(cut).integer("gpu_count"), 1);
  EXPECT_EQ(cut.readings.front().reading.unread_count(), 1);

  const FileFacts graphs = read_text(
      "<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" nchannels=\"1\">\n<channel><net dev=\"0\"/><gpu "
      "dev=\"1\"/>"
      "<gpu dev=\"0\"/></channel>\n</graph>\n</graphs>\n");
  EXPECT_EQ(item(item(facts_of(graphs), "graphs", 0), "channels", 0).find_list("gpus")->size(), 2u);
}

TEST(NcclLog, OthersAreNotMine) {
  EXPECT_EQ(recognise_nccl_log({"epoch 1\nNCCL timeout\n", "", true}), 0);
  EXPECT_EQ(recognise_nccl_xml({"<nvidia_smi_log><gpu id=\"0\"/></nvidia_smi_log>", "", true}), 0);
  // A benchmark with a few lines of NCCL is the benchmark's.
  EXPECT_LT(recognise_nccl_log({"# Avg bus bandwidth    : 10.0\na:1:1 [0] NCCL INFO x\n", "", true}), 60);
}

}  // namespace
}  // namespace tare
