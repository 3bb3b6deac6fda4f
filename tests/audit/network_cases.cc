#include "network_cases.h"

#include "rule_case.h"

namespace tare {

std::string hca_text(const HcaText& one) {
  return "CA '" + one.name + "'\n\tCA type: " + one.type +
         "\n\tNumber of ports: 1\n\tFirmware version: " + one.firmware + "\n\tSystem image GUID: " + one.card +
         "\n\tPort 1:\n\t\tState: " + one.state + "\n\t\tPhysical state: " + one.wire +
         "\n\t\tRate: " + std::to_string(one.rate) + "\n\t\tBase lid: " + std::to_string(one.lid) +
         "\n\t\tLink layer: " + one.layer + "\n";
}

std::string rails_text(int up, const std::vector<HcaText>& others) {
  std::string text;
  for (int i = 0; i < up; ++i) text += hca_text({.name = "mlx5_" + std::to_string(i), .lid = 40 + i});
  for (const HcaText& other : others) text += hca_text(other);
  return text;
}

HcaText down(const std::string& name, const std::string& wire) {
  return {.name = name, .state = "Down", .wire = wire, .rate = 10};
}

namespace {

using Severity = FindingSeverity;

// A port of ibv_devinfo -v.
std::string devinfo(const std::string& name, const std::string& width, int mtu, const char* layer) {
  return "hca_id:\t" + name +
         "\n\ttransport:\t\tInfiniBand (0)\n\tfw_ver:\t\t\t20.35.1012\n\tvendor_part_id:\t\t4123\n" +
         "\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t" +
         std::to_string(mtu) + " (3)\n\t\t\tlink_layer:\t\t" + layer + "\n\t\t\tactive_width:\t\t" + width +
         " (2)\n\t\t\tactive_speed:\t\t50.0 Gbps (64)\n";
}

std::string fabric_link(const char* speed, const char* remark) {
  return std::string("CA: w5 mlx5_0:\n      0xaa05     17    1[  ] ==( ") + speed +
         " Active/  LinkUp)==>       3   21[  ] \"leaf9\" ( " + remark + ")\n";
}

std::string port_errors(const char* counters) {
  return std::string("Errors for \"leaf9\"\n   GUID 0xbb09 port 21: ") + counters + "\n";
}

std::string statistics(const char* counters) {
  return std::string("$ ethtool -S eth7\nNIC statistics:\n     rx_packets: 88123\n") + counters;
}

std::string settings(int speed, const char* partner) {
  return "Settings for eth7:\n\tSupported link modes:   25000baseCR/Full\n\t                        "
         "100000baseCR4/Full\n" +
         std::string(partner) + "\tSpeed: " + std::to_string(speed) + "Mb/s\n\tDuplex: Full\n\tLink detected: yes\n";
}

std::string perftest(double average) {
  return "                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n"
         " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      1000           "
         "  399.00             " +
         std::to_string(average) + "              0.5\n";
}

std::string on(const char* host, const std::string& message) {
  return std::string(host) + ":70:71 [0] NCCL INFO " + message + "\n";
}

std::string warn(const std::string& message) { return "a1:70:71 [3] net.cc:77 NCCL WARN " + message + "\n"; }

std::string gpus(int count, const char* name) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "#  Rank  " + std::to_string(i) + " Group  0 Pid 70 on   a1 device  " + std::to_string(i) + " [0x1" +
            std::to_string(i) + "] " + name + "\n";
  }
  return text;
}

const std::string kIbOf2 = on("a1", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.9.9.1<0>") +
                           on("b2", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.9.9.2<0>");
const std::string kSockets = on("a1", "NET/IB : No device found.") +
                             on("a1", "NET/Socket : Using [0]eth0:10.9.9.1<0>") +
                             on("b2", "NET/IB : No device found.") + on("b2", "NET/Socket : Using [0]eth0:10.9.9.2<0>");
const std::string kStart = on("a1", "comm 0x55 rank 0 nranks 8 cudaDev 0 busId 1a000 commId 0xab - Init START") +
                           on("b2", "comm 0x66 rank 4 nranks 8 cudaDev 0 busId 1a000 commId 0xab - Init START");

std::string tree(const char* pcie) {
  return on("a1", "CPU/0 (1/1/2)") + on("a1", std::string("+ PCI[") + pcie + "] - PCI/1000") +
         on("a1", std::string("              + PCI[") + pcie + "] - GPU/3000 (0)") +
         on("a1", std::string("              + PCI[") + pcie + "] - NIC/4000") +
         on("a1", "                            + NET[50.0] - NET/0 (0/1/50.000000)");
}

std::string machine_xml(const char* speed, int width, const std::vector<int>& nvlinks, int numa = 0) {
  std::string text = "<system version=\"1\">\n <cpu numaid=\"" + std::to_string(numa) + "\" arch=\"x86_64\">\n";
  for (std::size_t i = 0; i < nvlinks.size(); ++i) {
    const std::string n = std::to_string(i);
    text += "  <pci busid=\"0000:0" + n +
            ":00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" link_speed=\"" + speed +
            "\" link_width=\"" + std::to_string(width) + "\">\n   <gpu dev=\"" + n + "\" sm=\"90\" rank=\"" + n +
            "\" gdr=\"1\">\n";
    if (nvlinks[i] > 0) {
      text +=
          "    <nvlink target=\"0000:05:00.0\" count=\"" + std::to_string(nvlinks[i]) + "\" tclass=\"0x068000\"/>\n";
    }
    text += "   </gpu>\n  </pci>\n";
  }
  return text + " </cpu>\n</system>\n";
}

std::vector<RuleCase> port_cases() {
  return {
      {"network.port-down",
       "OneRailPolling",
       {{"w1/ibstat.txt", rails_text(7, {down("mlx5_7", "Polling")})}},
       true,
       Severity::kHigh,
       "mlx5_7",
       "7 of 8 400 Gb/s ports"},
      {"network.port-down",
       "OneRailDisabled",
       {{"ibstat.txt", rails_text(3, {down("mlx5_9", "Disabled")})}},
       true,
       Severity::kMedium,
       "mlx5_9",
       "Disabled"},
      {"network.port-down",
       "AlonePollingWithALid",
       {{"ibstat.txt", hca_text({.name = "mlx5_2", .state = "Down", .wire = "Polling", .rate = 10, .lid = 71})}},
       true,
       Severity::kHigh,
       "mlx5_2",
       "no port of its kind"},
      {"network.port-down",
       "FourDownAreOneFinding",
       {{"ibstat.txt", rails_text(4, {down("mlx5_4", "Polling"), down("mlx5_5", "Polling"), down("mlx5_6", "Polling"),
                                      down("mlx5_7", "Polling")})}},
       true,
       Severity::kMedium,
       "mlx5_4, mlx5_5, mlx5_6, mlx5_7",
       "4 of 8"},
      {"network.port-down",
       "TheOtherFunctionOfACard",
       {{"r.txt",
         "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens7f0np0\n"
         "link mlx5_1/1 state DOWN physical_state DISABLED netdev ens7f1np1\n"
         "link mlx5_2/1 state ACTIVE physical_state LINK_UP netdev ens8f0np0\n"
         "link mlx5_4/1 state ACTIVE physical_state LINK_UP netdev ens9f0np0\n"}},
       false},
      {"network.port-down", "AllUp", {{"ibstat.txt", rails_text(8, {})}}, false},
      {"network.port-down",
       "TheSecondPortOfACard",
       {{"ibstat.txt",
         hca_text({.name = "mlx5_0", .card = "0x77", .lid = 4}) +
             hca_text({.name = "mlx5_1", .card = "0x77", .state = "Down", .wire = "Polling", .rate = 10})}},
       false},
      {"network.unused-port",
       "AStoragePortBesideRails",
       {{"ibstat.txt", rails_text(8, {{.name = "mlx5_8",
                                       .type = "MT4125",
                                       .state = "Down",
                                       .wire = "Disabled",
                                       .rate = 40,
                                       .layer = "Ethernet"}})}},
       true,
       Severity::kInfo,
       "mlx5_8",
       "unused"},
      {"network.unused-port", "ARailIsNotUnused", {{"ibstat.txt", rails_text(7, {down("mlx5_7", "Polling")})}}, false},
      {"network.no-subnet-manager",
       "Initializing",
       {{"ibstat.txt", rails_text(1, {{.name = "mlx5_1", .state = "Initializing"}})}},
       true,
       Severity::kHigh,
       "mlx5_1",
       "subnet manager"},
      {"network.no-subnet-manager", "Active", {{"ibstat.txt", rails_text(2, {})}}, false},
      {"network.port-slower",
       "OneRailAtHalf",
       {{"ibstat.txt", rails_text(7, {{.name = "mlx5_7", .rate = 200}})}},
       true,
       Severity::kMedium,
       "mlx5_7",
       "200 Gb/s"},
      {"network.port-slower",
       "TwoOfANetworkOfTheirOwn",
       {{"ibstat.txt", rails_text(8, {{.name = "mlx5_8", .rate = 100}, {.name = "mlx5_9", .rate = 100}})}},
       true,
       Severity::kLow,
       "mlx5_8",
       "100 Gb/s"},
      {"network.port-slower",
       "AnotherKindOfAdapter",
       {{"ibstat.txt", rails_text(7, {{.name = "mlx5_7", .type = "MT4125", .rate = 100}})}},
       false},
      {"network.link-layer",
       "OneRailInEthernetMode",
       {{"ibstat.txt", rails_text(7, {{.name = "mlx5_7", .layer = "Ethernet"}})}},
       true,
       Severity::kMedium,
       "mlx5_7",
       "Ethernet"},
      {"network.link-layer",
       "TwoForStorage",
       {{"ibstat.txt",
         rails_text(8, {{.name = "mlx5_8", .layer = "Ethernet"}, {.name = "mlx5_9", .layer = "Ethernet"}})}},
       false},
      {"network.firmware-mixed",
       "OneOld",
       {{"ibstat.txt", rails_text(3, {{.name = "mlx5_3", .firmware = "28.35.1012"}})}},
       true,
       Severity::kLow,
       "mlx5_3",
       "2 firmware versions"},
      {"network.firmware-mixed",
       "TwoKindsOfAdapter",
       {{"ibstat.txt", rails_text(3, {{.name = "mlx5_3", .type = "MT4125", .firmware = "22.35.1012"}})}},
       false},
      {"network.small-mtu",
       "RoceOverMtu1500",
       {{"d.txt", devinfo("mlx5_0", "4X", 1024, "Ethernet")}},
       true,
       Severity::kLow,
       "mlx5_0",
       "1024"},
      {"network.small-mtu", "Full", {{"d.txt", devinfo("mlx5_0", "4X", 4096, "Ethernet")}}, false},
      {"network.narrow-link",
       "OneLane",
       {{"d.txt", devinfo("mlx5_0", "1X", 4096, "InfiniBand")}},
       true,
       Severity::kMedium,
       "mlx5_0",
       "1 of 4 lanes"},
      {"network.narrow-link",
       "SplitterCables",
       {{"d.txt", devinfo("mlx5_0", "2X", 4096, "InfiniBand") + devinfo("mlx5_1", "2X", 4096, "InfiniBand") +
                      devinfo("mlx5_2", "2X", 4096, "InfiniBand") + devinfo("mlx5_3", "2X", 4096, "InfiniBand")}},
       false},
      {"network.netdev-down",
       "IpoibNotConfigured",
       {{"i.txt", "mlx5_0 port 1 ==> ibs1 (Down)\nmlx5_1 port 1 ==> eth2 (Up)\n"}},
       true,
       Severity::kInfo,
       "mlx5_0",
       "not the link"},
      {"network.netdev-down",
       "EthernetIsItself",
       {{"i.txt", "mlx5_0 port 1 ==> ens1f0 (Down)\nmlx5_1 port 1 ==> eth2 (Up)\n"}},
       false},
  };
}

std::vector<RuleCase> link_cases() {
  const std::string rail = hca_text({.name = "mlx5_0", .lid = 9});
  return {
      {"network.link-below",
       "TwoLanesOfFour",
       {{"l.txt", fabric_link("2X       53.125 Gbps", "Could be 4X")}},
       true,
       Severity::kMedium,
       "w5 mlx5_0 port 1 - leaf9",
       "could be 4x"},
      {"network.link-below", "AsWideAsCanBe", {{"l.txt", fabric_link("4X       53.125 Gbps", "")}}, false},
      {"network.bit-errors",
       "ManySymbolErrors",
       {{"q.txt", port_errors("[SymbolErrorCounter == 60123]")}},
       true,
       Severity::kMedium,
       "leaf9 port 21",
       "60123"},
      {"network.bit-errors",
       "AFewCrcErrors",
       {{"s.txt", statistics("     rx_crc_errors_phy: 3\n")}},
       true,
       Severity::kLow,
       "eth7",
       "bit errors"},
      {"network.bit-errors", "WaitingOnly", {{"q.txt", port_errors("[PortXmitWait == 60123]")}}, false},
      {"network.link-flaps",
       "Flapping",
       {{"q.txt", port_errors("[LinkDownedCounter == 31]")}},
       true,
       Severity::kMedium,
       "leaf9 port 21",
       "links lost"},
      {"network.link-flaps", "NoneLost", {{"q.txt", port_errors("[PortXmitWait == 31]")}}, false},
      {"network.drops",
       "ReceiverTooSlow",
       {{"s.txt", statistics("     rx_out_of_buffer: 771200\n")}},
       true,
       Severity::kLow,
       "eth7",
       "dropped"},
      {"network.drops", "Pauses", {{"s.txt", statistics("     rx_prio3_pause: 771200\n")}}, false},
      {"network.retransmits",
       "OutOfSequence",
       {{"s.txt", statistics("     packet_seq_err: 90\n")}},
       true,
       Severity::kLow,
       "eth7",
       "retransmissions"},
      {"network.retransmits", "CongestionMarksOnly", {{"s.txt", statistics("     np_cnp_sent: 90\n")}}, false},
      {"network.ethernet-speed",
       "ATenth",
       {{"e.txt", settings(10000, "")}},
       true,
       Severity::kMedium,
       "eth7",
       "10 Gb/s"},
      {"network.ethernet-speed", "FullSpeed", {{"e.txt", settings(100000, "")}}, false},
      {"network.perftest-below",
       "HalfOfThePort",
       {{"w9/ibstat.txt", rail}, {"w9/bw.txt", perftest(201.5)}},
       true,
       Severity::kMedium,
       "mlx5_0",
       "50 %"},
      {"network.perftest-below", "LineRate", {{"w9/ibstat.txt", rail}, {"w9/bw.txt", perftest(391.5)}}, false},
  };
}

std::vector<RuleCase> transport_cases() {
  const std::string link = "Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/0";
  return {
      {"nccl.socket-transport",
       "TwoNodesWithoutRdma",
       {{"n.log", kSockets}},
       true,
       Severity::kHigh,
       "NCCL job",
       "2 nodes"},
      {"nccl.socket-transport",
       "NothingButASocket",
       {{"n.log", "NCCL INFO NET/Socket : Using [0]bond4:10.9.9.9<0>\n"}},
       true,
       Severity::kMedium,
       "NCCL job",
       "no RDMA device"},
      {"nccl.socket-transport",
       "OneNode",
       {{"n.log", gpus(1, "NVIDIA GeForce RTX 3090") + on("a1", "NET/IB : No device found.") +
                      on("a1", "NET/Socket : Using [0]eth0:10.9.9.1<0>")}},
       true,
       Severity::kInfo,
       "NCCL job",
       "single node"},
      {"nccl.socket-transport",
       "SocketsListedBeforeInfiniBand",
       {{"n.log", on("a1", "NET/Socket : Using [0]eth0:10.9.9.1<0>") + kIbOf2}},
       false},
      {"nccl.no-gdrdma",
       "NoLinkHasIt",
       {{"n.log", on("a1", link) + on("a1", link)}},
       true,
       Severity::kMedium,
       "NCCL job",
       "none of 2 links"},
      {"nccl.no-gdrdma",
       "SomeReceiversLackIt",
       {{"n.log", on("a1", link) + on("a1", link + "/GDRDMA")}},
       true,
       Severity::kLow,
       "NCCL job",
       "1 of 2"},
      {"nccl.no-gdrdma", "AllHaveIt", {{"n.log", on("a1", link + "/GDRDMA")}}, false},
      {"nccl.gdrdma",
       "AllHaveIt",
       {{"n.log", on("a1", link + "/GDRDMA")}},
       true,
       Severity::kInfo,
       "NCCL job",
       "1 of 1"},
      {"nccl.gdrdma", "NoneHasIt", {{"n.log", on("a1", link)}}, false},
      {"nccl.shared-memory",
       "NvlinkNotUsed",
       {{"n.log", gpus(2, "NVIDIA A100-SXM4-80GB") + on("a1", "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct")}},
       true,
       Severity::kMedium,
       "NCCL job",
       "1 of 1 links"},
      {"nccl.shared-memory",
       "OldVersionsSayItInWords",
       {{"n.log", on("a1", "Channel 00 : 0[0] -> 1[1] via direct shared memory")}},
       true,
       Severity::kLow,
       "NCCL job",
       "1 of 1 links"},
      {"nccl.shared-memory",
       "SomePairsAcrossSockets",
       {{"n.log", gpus(2, "NVIDIA L40S") + on("a1", "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct") +
                      on("a1", "Channel 00 : 1[1] -> 2[2] via P2P/CUMEM")}},
       false},
      {"nccl.setting",
       "InfinibandOff",
       {{"n.log", on("a1", "NCCL_IB_DISABLE set by environment to 1.") + kSockets}},
       true,
       Severity::kMedium,
       "NCCL job",
       "NCCL_IB_DISABLE=1"},
      {"nccl.setting", "InfinibandNotOff", {{"n.log", on("a1", "NCCL_IB_DISABLE set by environment to 0.")}}, false},
      {"nccl.interface",
       "DockerBridge",
       {{"n.log", on("a1", "Bootstrap : Using docker0:172.17.0.1<0>") + kSockets}},
       true,
       Severity::kHigh,
       "NCCL job",
       "docker0"},
      {"nccl.interface", "RealNetwork", {{"n.log", on("a1", "Bootstrap : Using eth0:10.9.9.1<0>") + kSockets}}, false},
      {"nccl.uneven-nics",
       "OneNodeHasFewer",
       {{"n.log", kIbOf2 + on("c3", "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:10.9.9.3<0>")}},
       true,
       Severity::kMedium,
       "c3",
       "1 NICs"},
      {"nccl.uneven-nics", "Alike", {{"n.log", kIbOf2}}, false},
      {"nccl.few-nics",
       "EightGpusOneNic",
       {{"n.log", on("a1", "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:10.9.9.1<0>") +
                      on("a1", "comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0")}},
       true,
       Severity::kLow,
       "NCCL job",
       "8 GPUs of a node share 1 NIC"},
      {"nccl.few-nics",
       "OneNicAGpu",
       {{"n.log", kIbOf2 + on("a1", "comm 0x55 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0")}},
       false},
  };
}

std::vector<RuleCase> cross_cases() {
  const std::string log = on("w4", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.9.9.4<0>") +
                          on("w5", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.9.9.5<0>");
  std::string arrows, all_up;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "mlx5_" + std::to_string(i) + " port 1 ==> ens" + std::to_string(i) + "np0 ";
    arrows += name + (i == 5 ? "(Down)\n" : "(Up)\n");
    all_up += name + "(Up)\n";
  }
  return {
      {"nccl.rails-unused",
       "TwoOfFourInOneFolder",
       {{"w4/ibstat.txt", rails_text(4, {})}, {"w4/n.log", log}},
       true,
       Severity::kMedium,
       "w4",
       "2 of 4 active ports"},
      {"nccl.rails-unused", "All", {{"w4/ibstat.txt", rails_text(2, {})}, {"w4/n.log", log}}, false},
      {"network.roce-netdev-down", "OneOfEight", {{"i.txt", arrows}}, true, Severity::kMedium, "mlx5_5", "7 of 8"},
      {"network.roce-netdev-down", "AllUp", {{"i.txt", all_up}}, false},
      {"network.roce-netdev-down",
       "InfinibandIsNot",
       {{"i.txt",
         "mlx5_0 port 1 ==> ib0 (Down)\nmlx5_1 port 1 ==> ib1 (Up)\nmlx5_2 port 1 ==> ib2 (Up)\n"
         "mlx5_3 port 1 ==> ib3 (Up)\n"}},
       false},
  };
}

// Eight GPUs, one communicator, and each GPU says that it has no multicast.
std::string no_multicast(const char* gpu) {
  std::string text = gpus(8, gpu) + on("a1", "comm 0x55 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0");
  for (int i = 0; i < 8; ++i) {
    text += "a1:7" + std::to_string(i) + ":71 [" + std::to_string(i) +
            "] NCCL INFO NVLS multicast support is not available on dev " + std::to_string(i) + "\n";
  }
  return text;
}

std::vector<RuleCase> topology_of_nccl_cases() {
  return {
      {"nccl.pcie-below-nic",
       "Gen3BelowA400GbNic",
       {{"g.log", tree("12.0")}},
       true,
       Severity::kHigh,
       "NET/0",
       "12 GB/s"},
      {"nccl.pcie-below-nic", "Gen5", {{"g.log", tree("48.0")}}, false},
      {"nccl.hidden-topology",
       "FlatBusInAMachine",
       {{"t.xml", machine_xml("", 0, {0, 0}, -1)}},
       true,
       Severity::kMedium,
       "the machine",
       "NVLink"},
      {"nccl.hidden-topology", "ARealMachine", {{"t.xml", machine_xml("32.0 GT/s PCIe", 16, {18, 18})}}, false},
      {"nccl.uneven-gpus",
       "OneGpuLacksLinks",
       {{"t.xml", machine_xml("32.0 GT/s PCIe", 16, {18, 18, 16, 18})}},
       true,
       Severity::kMedium,
       "GPU2",
       "16 NVLinks"},
      {"nccl.uneven-gpus", "ABridgeOfTwo", {{"t.xml", machine_xml("16.0 GT/s PCIe", 16, {4, 0, 4, 4})}}, false},
      {"nccl.nvlink-unused",
       "RingsOverPcie",
       {{"g.log", gpus(4, "NVIDIA A100-SXM4-80GB") +
                      on("a1", "Pattern 4, crossNic 0, nChannels 2, bw 9.0/9.0, type PHB/PIX, sameChannels 1")}},
       true,
       Severity::kMedium,
       "NCCL job",
       "PHB"},
      {"nccl.nvlink-unused",
       "RingsOverNvlink",
       {{"g.log", gpus(4, "NVIDIA A100-SXM4-80GB") +
                      on("a1", "Pattern 4, crossNic 0, nChannels 2, bw 20.0/9.0, type NVL/PIX, sameChannels 1")}},
       false},
      {"nccl.nvls-missing",
       "HopperWithoutMulticast",
       {{"g.log", no_multicast("NVIDIA H200")}},
       true,
       Severity::kLow,
       "NCCL job",
       "NVLS"},
      {"nccl.nvls-missing", "AmpereHasNone", {{"g.log", no_multicast("NVIDIA A100-SXM4-80GB")}}, false},
  };
}

std::vector<RuleCase> message_cases() {
  const std::string steady = on("a1", "Connected all rings");
  return {
      {"nccl.completion-error",
       "RetriesExceeded",
       {{"n.log",
         warn("NET/IB : Got completion from peer 10.9.9.2<41> with status=12 opcode=0 len=0 vendor err 129 (Send) "
              "hca mlx5_6")}},
       true,
       Severity::kHigh,
       "mlx5_6",
       "status 12"},
      {"nccl.completion-error", "OtherWarning", {{"n.log", warn("Something else")}}, false},
      {"nccl.timeout",
       "Watchdog",
       {{"n.log", steady +
                      "[rank3]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, "
                      "NumelIn=9) ran for 600000 milliseconds\n"}},
       true,
       Severity::kHigh,
       "NCCL job",
       "ALLREDUCE"},
      {"nccl.timeout", "None", {{"n.log", steady}}, false},
      {"nccl.version-mismatch",
       "TwoVersions",
       {{"n.log", on("a1", "NCCL version 2.19.3+cuda12.3") + on("b2", "NCCL version 2.21.5+cuda12.4")}},
       true,
       Severity::kMedium,
       "NCCL job",
       "2.19.3"},
      {"nccl.version-mismatch",
       "OneVersion",
       {{"n.log", on("a1", "NCCL version 2.19.3+cuda12.3") + on("b2", "NCCL version 2.19.3+cuda12.3")}},
       false},
      {"nccl.init-incomplete",
       "ARankIsMissing",
       {{"n.log", kStart + warn("Something else")}},
       true,
       Severity::kMedium,
       "NCCL job",
       "2 of 2"},
      {"nccl.init-incomplete", "AnExcerpt", {{"n.log", kStart}}, false},
      {"nccl.init-slow",
       "TwoMinutes",
       {{"n.log",
         on("a1", "Init timings - ncclCommInitRank: rank 0 nranks 64 total 121.5 (kernels 0.2, bootstrap 119.0)")}},
       true,
       Severity::kLow,
       "NCCL job",
       "122 s"},
      {"nccl.init-slow",
       "TwoSeconds",
       {{"n.log",
         on("a1", "Init timings - ncclCommInitRank: rank 0 nranks 64 total 2.15 (kernels 0.2, bootstrap 1.0)")}},
       false},
      {"nccl.setting-differs",
       "AnotherAlgorithm",
       {{"n.log", on("a1", "NCCL_ALGO set by environment to Ring") + on("b2", "NCCL_ALGO set by environment to Tree")}},
       true,
       Severity::kMedium,
       "NCCL job",
       "NCCL_ALGO"},
      {"nccl.setting-differs",
       "AnotherInterface",
       {{"n.log", on("a1", "NCCL_SOCKET_IFNAME set by environment to eth0") +
                      on("b2", "NCCL_SOCKET_IFNAME set by environment to eth1")}},
       false},
      {"nccl.port-event",
       "PortError",
       {{"n.log", warn("NET/IB : mlx5_3:1 Got async event : port error")}},
       true,
       Severity::kHigh,
       "a1",
       "port error"},
      {"nccl.port-event", "None", {{"n.log", steady}}, false},
      {"nccl.memlock",
       "RegistrationFails",
       {{"n.log", warn("Call to ibv_reg_mr failed with error Cannot allocate memory")}},
       true,
       Severity::kHigh,
       "a1",
       "ibv_reg_mr"},
      {"nccl.memlock", "None", {{"n.log", steady}}, false},
      {"nccl.shm-space",
       "NoSpace",
       {{"n.log", warn("Error while creating shared memory segment /dev/shm/nccl-Zz9 (size 9637888)")}},
       true,
       Severity::kHigh,
       "a1",
       "/dev/shm"},
      {"nccl.shm-space", "None", {{"n.log", steady}}, false},
      {"nccl.duplicate-gpu",
       "TwoRanksOneGpu",
       {{"n.log", warn("Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1a000")}},
       true,
       Severity::kHigh,
       "a1",
       "same GPU"},
      {"nccl.duplicate-gpu", "None", {{"n.log", steady}}, false},
      {"nccl.mismatch",
       "Truncated",
       {{"n.log", warn("Message truncated : received 4096 bytes instead of 2048")}},
       true,
       Severity::kHigh,
       "a1",
       "size of a message"},
      {"nccl.mismatch", "None", {{"n.log", steady}}, false},
      {"nccl.nvls-failure",
       "NoMulticast",
       {{"n.log", warn("Failed to bind NVLink SHARP (NVLS) Multicast memory of size 9")}},
       true,
       Severity::kMedium,
       "a1",
       "NVLink SHARP"},
      {"nccl.nvls-failure", "None", {{"n.log", steady}}, false},
      {"nccl.connection",
       "Refused",
       {{"n.log", warn("socketStartConnect: Connect to 10.9.9.2<4471> failed : Connection refused")}},
       true,
       Severity::kHigh,
       "a1",
       "cannot be reached"},
      {"nccl.connection", "None", {{"n.log", steady}}, false},
      {"nccl.gpu-error",
       "OutOfMemory",
       {{"n.log", warn("Cuda failure 2 'out of memory'")}},
       true,
       Severity::kHigh,
       "a1",
       "out of memory"},
      {"nccl.gpu-error", "None", {{"n.log", steady}}, false},
      {"nccl.peer-gone",
       "ClosedByRemote",
       {{"n.log", warn("NET/Socket : Connection closed by remote peer b2<4471>")}},
       true,
       Severity::kLow,
       "a1",
       "another rank"},
      {"nccl.peer-gone", "None", {{"n.log", steady}}, false},
      {"nccl.system-setting",
       "Iommu",
       {{"n.log", warn("Missing \"iommu=pt\" from kernel command line which can lead to system instablity or hang!")}},
       true,
       Severity::kLow,
       "a1",
       "passthrough"},
      {"nccl.system-setting", "None", {{"n.log", steady}}, false},
      {"nccl.warning", "AnyOther", {{"n.log", warn("Something that is new")}}, true, Severity::kLow, "NCCL job", "new"},
      {"nccl.warning", "KnownOnesHaveTheirRule", {{"n.log", warn("Cuda failure 2 'out of memory'")}}, false},
  };
}

}  // namespace

std::span<const RuleCase> network_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all;
    for (const auto subject :
         {port_cases, link_cases, transport_cases, cross_cases, topology_of_nccl_cases, message_cases}) {
      for (RuleCase& one : subject()) all.push_back(std::move(one));
    }
    return all;
  }();
  return cases;
}

}  // namespace tare
