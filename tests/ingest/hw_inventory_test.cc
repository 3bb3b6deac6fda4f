#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/column_table.h"
#include "read_text.h"

namespace tare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const FactRecord& item(const FactRecord& facts, const char* list, std::size_t at) {
  static const FactRecord none;
  const std::vector<Fact>* const found = facts.find_list(list);
  return found == nullptr || found->size() <= at ? none : *(*found)[at].as_record();
}
bool truth(const FactRecord& record, const char* name) { return std::get<bool>(record.find(name)->value); }
std::vector<std::string> texts(const FactRecord& record, const char* list) {
  std::vector<std::string> all;
  const std::vector<Fact>* const found = record.find_list(list);
  for (std::size_t i = 0; found != nullptr && i < found->size(); ++i) all.emplace_back((*found)[i].text());
  return all;
}

TEST(ColumnTable, CellsStandUnderTheirHeadings) {
  const ColumnTable table("NAME    ROTA MODEL        SIZE TYPE MOUNTPOINT");
  EXPECT_THAT(table.cells("sda        0 ACME Disk 9 447.1G disk "),
              ElementsAre("sda", "0", "ACME Disk 9", "447.1G", "disk", ""));
  EXPECT_THAT(table.cells("└─sda1     0                10G part /boot"),
              ElementsAre("└─sda1", "0", "", "10G", "part", "/boot"));
  const ColumnTable squeezed("NAME SIZE TYPE");
  EXPECT_THAT(squeezed.cells("nvme0n1 7T disk"), ElementsAre("nvme0n1", "7T", "disk"));
}

TEST(Lsblk, TableWithATree) {
  const FileFacts file = read_text(
      "NAME          MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINTS\n"
      "loop0           7:0    0    64M  1 loop  /snap/x/1\n"
      "sda             8:0    0 447.1G  0 disk  \n"
      "├─sda1          8:1    0     1G  0 part  /boot\n"
      "└─sda2          8:2    0   446G  0 part  \n"
      "  └─md0         9:0    0   446G  0 raid1 /\n"
      "nvme0n1       259:0    0     7T  0 disk  \n"
      "sdb             8:16   1     0B  0 disk  \n");
  ASSERT_EQ(kind_of(file), "hw-inventory");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("disk_count"), 3);
  EXPECT_EQ(facts.integer("nvme_disk_count"), 1);
  EXPECT_EQ(facts.integer("empty_disk_count"), 1);
  EXPECT_EQ(facts.integer("loop_device_count"), 1);
  const FactRecord& raid = item(facts, "devices", 4);
  EXPECT_EQ(raid.line, 6);
  EXPECT_EQ(raid.text("name"), "md0");
  EXPECT_EQ(raid.text("parent"), "sda2");
  EXPECT_EQ(raid.text("mountpoints"), "/");
  EXPECT_EQ(item(facts, "devices", 1).text("maj_min"), "8:0");
  EXPECT_FALSE(truth(item(facts, "devices", 1), "ro"));
  EXPECT_TRUE(truth(item(facts, "devices", 6), "rm"));
}

TEST(Lsblk, PairsAndVirtualDisks) {
  const FileFacts file = read_text(
      "NAME=\"/dev/vda\" TYPE=\"disk\" SIZE=\"1099511627776\" ROTA=\"1\" MODEL=\"\" PKNAME=\"\"\n"
      "NAME=\"/dev/vda1\" TYPE=\"part\" SIZE=\"1024\" ROTA=\"1\" MODEL=\"ACME   \" PKNAME=\"/dev/vda\"\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(item(facts, "devices", 0).integer("size_bytes"), 1099511627776);
  EXPECT_TRUE(item(facts, "devices", 0).find("model")->is_unknown());
  EXPECT_EQ(item(facts, "devices", 1).text("model"), "ACME");
  EXPECT_EQ(item(facts, "devices", 1).text("parent"), "/dev/vda");
  ASSERT_FALSE(file.readings.front().reading.notes().empty());
  EXPECT_THAT(file.readings.front().reading.notes()[0], HasSubstr("vda"));
}

TEST(Lsblk, Json) {
  const FileFacts file = read_text(
      "{\n\"blockdevices\": [\n{\"name\": \"nvme3n1\", \"type\": \"disk\", \"size\": \"3.5T\", \"rota\": false, "
      "\"mountpoints\": [null],\n \"children\": [{\"name\": \"nvme3n1p1\", \"type\": \"part\", \"mountpoints\": "
      "[\"/a\", "
      "\"/b\"]}]},\n{\"name\": \"zram0\", \"type\": \"di");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(item(facts, "devices", 0).text("size"), "3.5T");
  EXPECT_EQ(item(facts, "devices", 1).text("parent"), "nvme3n1");
  EXPECT_THAT(texts(item(facts, "devices", 1), "mountpoints"), ElementsAre("/a", "/b"));
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(Lscpu, TextAndNodesWithoutCpus) {
  const FileFacts file = read_text(
      "Architecture:            aarch64\nCPU(s):                  144\nModel name:              Neo\n"
      "Socket(s):               2\nNUMA node(s):            3\nNUMA node0 CPU(s):       0-71\n"
      "NUMA node1 CPU(s):       72-143\nNUMA node2 CPU(s):       \n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("cpus"), 144);
  EXPECT_EQ(facts.text("model"), "Neo");
  EXPECT_EQ(facts.integer("numa_nodes"), 3);
  EXPECT_EQ(facts.integer("numa_nodes_with_cpus"), 2);
  EXPECT_TRUE(item(facts, "numa", 2).find("cpus")->is_unknown());
}

TEST(Lscpu, JsonWithChildren) {
  const FileFacts file = read_text(
      "{\"lscpu\": [{\"field\": \"CPU(s):\", \"data\": \"64\", \"children\": [{\"field\": \"On-line CPU(s) list:\", "
      "\"data\": \"0-63\"}]}, {\"field\": \"NUMA:\", \"data\": null, \"children\": [{\"field\": \"NUMA node0 "
      "CPU(s):\", "
      "\"data\": \"0-63\"}]}]}");
  EXPECT_EQ(facts_of(file).integer("cpus"), 64);
  EXPECT_EQ(facts_of(file).text("online_cpus"), "0-63");
  EXPECT_EQ(facts_of(file).integer("numa_nodes_with_cpus"), 1);
}

TEST(Numactl, NodesAndDistances) {
  const FileFacts file = read_text(
      "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2\nnode 0 size: 1000 MB\nnode 0 free: 10 MB\nnode 1 cpus:\n"
      "node 1 size: 2000 MB\nnode distances:\nnode   0   1 \n  0:  10  21 \n  1:  21  10 \n");
  ASSERT_EQ(kind_of(file), "hw-inventory");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("nodes"), 2);
  EXPECT_EQ(item(facts, "numa", 0).integer("cpu_count"), 3);
  EXPECT_DOUBLE_EQ(*item(facts, "numa", 1).number("size_mb"), 2000);
  EXPECT_EQ(facts.integer("numa_nodes_with_cpus"), 1);
  EXPECT_EQ((*item(facts, "distances", 1).find_list("to"))[0].number(), 21);
}

TEST(NvmeList, TableOfEitherVersion) {
  const FileFacts file = read_text(
      "Node                  Generic               SN                   Model                                    "
      "Namespace Usage                      Format           FW Rev  \n"
      "--------------------- --------------------- -------------------- ---------------------------------------- "
      "--------- -------------------------- ---------------- --------\n"
      "/dev/nvme4n1          /dev/ng4n1            SER000000001         ACME Fast Flash 7.68TB                   "
      "0x1         7,68  TB /   7,68  TB    512   B +  0 B   FW1.2\n");
  const FactRecord& device = item(facts_of(file), "devices", 0);
  EXPECT_EQ(device.text("generic"), "/dev/ng4n1");
  EXPECT_EQ(device.text("model"), "ACME Fast Flash 7.68TB");
  EXPECT_EQ(device.text("size"), "7,68 TB");
  EXPECT_DOUBLE_EQ(*device.number("size_tb"), 7.68);
  EXPECT_EQ(device.text("format"), "512 B + 0 B");
  EXPECT_EQ(device.text("firmware"), "FW1.2");
}

TEST(NvmeList, JsonOfEitherVersion) {
  const FileFacts flat =
      read_text("{\"Devices\": [{\"DevicePath\": \"/dev/nvme0n1\", \"ModelNumber\": \"ACME\", \"PhysicalSize\": 5}]}");
  EXPECT_EQ(item(facts_of(flat), "devices", 0).integer("size_bytes"), 5);
  const FileFacts nested = read_text(
      "{\"Devices\": [{\"HostNQN\": \"h\", \"Subsystems\": [{\"Controllers\": [{\"Controller\": \"nvme0\", "
      "\"ModelNumber\": \"ACME\", \"Namespaces\": [{\"NameSpace\": \"nvme0n1\", \"PhysicalSize\": 7}]}]}]}]}");
  EXPECT_EQ(item(facts_of(nested), "devices", 0).text("model"), "ACME");
  EXPECT_EQ(item(facts_of(nested), "devices", 0).integer("size_bytes"), 7);
}

const std::string kLspci =
    "0000:40:01.1 PCI bridge [0604]: ACME Switch Port [abcd:1234] (rev a1) (prog-if 00 [Normal decode])\n"
    "\tNUMA node: 1\n"
    "\tBus: primary=40, secondary=41, subordinate=41, sec-latency=0\n"
    "\tCapabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00\n"
    "\t\tLnkCap:\tPort #4, Speed 32GT/s, Width x16, ASPM not supported\n"
    "\t\tLnkSta:\tSpeed 32GT/s, Width x16\n"
    "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n"
    "\n"
    "0000:41:00.0 3D controller [0302]: NVIDIA Corporation GH999 [Z900] [10de:9999] (rev a1)\n"
    "\tSubsystem: NVIDIA Corporation Device 16c1\n"
    "\tRegion 2: Memory at 1000 (64-bit, prefetchable) [size=128G]\n"
    "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq+\n"
    "\t\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes\n"
    "\t\tDevSta:\tCorrErr+ NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-\n"
    "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
    "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)\n"
    "\tKernel driver in use: nvidia\n";

TEST(Lspci, LinksAcsAndErrors) {
  const FileFacts file = read_text(kLspci);
  ASSERT_EQ(kind_of(file), "hw-inventory");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("device_count"), 2);
  EXPECT_EQ(facts.integer("gpu_count"), 1);
  EXPECT_THAT(texts(facts, "gpus"), ElementsAre("0000:41:00.0"));
  EXPECT_THAT(texts(facts, "acs_redirecting"), ElementsAre("0000:40:01.1"));
  EXPECT_THAT(texts(facts, "downgraded_links"), ElementsAre("0000:41:00.0"));
  const FactRecord& bridge = item(facts, "devices", 0);
  EXPECT_EQ(bridge.text("port_type"), "Downstream Port");
  EXPECT_EQ(bridge.integer("numa_node"), 1);
  EXPECT_EQ(bridge.text("secondary_bus"), "41");
  EXPECT_EQ(bridge.text("vendor_id"), "abcd");
  EXPECT_THAT(texts(bridge, "acs_control"), ElementsAre("SrcValid", "ReqRedir"));
  const FactRecord& gpu = item(facts, "devices", 1);
  EXPECT_EQ(gpu.line, 9);
  EXPECT_EQ(gpu.text("name"), "NVIDIA Corporation GH999 [Z900]");
  EXPECT_EQ(gpu.text("class_code"), "0302");
  EXPECT_DOUBLE_EQ(*gpu.number("link_speed_gt_per_s"), 2.5);
  EXPECT_TRUE(truth(gpu, "link_speed_downgraded"));
  EXPECT_EQ(gpu.integer("link_width"), 8);
  EXPECT_EQ(gpu.integer("link_capable_width"), 16);
  EXPECT_DOUBLE_EQ(*gpu.number("max_read_request_bytes"), 4096);
  EXPECT_THAT(texts(gpu, "device_errors"), ElementsAre("CorrErr"));
  EXPECT_EQ(item(gpu, "regions", 0).text("size"), "128G");
  EXPECT_EQ(gpu.text("driver"), "nvidia");
}

TEST(Lspci, FragmentsOfGrep) {
  const FileFacts file = read_text(
      "81:00.0 VGA compatible controller: NVIDIA Corporation GA999 [Card]\n"
      "                LnkSta: Speed 16GT/s (ok), Width x4 (downgraded)\n"
      "82:00.0 Ethernet controller: ACME Net (rev 01)\n");
  EXPECT_EQ(facts_of(file).integer("gpu_count"), 1);
  EXPECT_EQ(facts_of(file).integer("nic_count"), 1);
  EXPECT_EQ(facts_of(file).integer("link_status_count"), 1);
  const FileFacts bare =
      read_text("\t\tLnkSta:\tSpeed 8GT/s (ok), Width x16 (ok)\n\t\tLnkSta:\tSpeed 8GT/s, Width x8\n");
  EXPECT_EQ(facts_of(bare).integer("device_count"), 2);
  EXPECT_TRUE(item(facts_of(bare), "devices", 0).find("address")->is_unknown());
}

TEST(LspciTree, DevicesHangOnTheirBridges) {
  const FileFacts file = read_text(
      "-+-[0000:40]-+-00.0  ACME Root\n"
      " |           +-01.1-[41-44]----00.0-[42-44]--+-00.0-[43]----00.0  NVIDIA Corporation GH999\n"
      " |           |                               \\-01.0-[44]----00.0  ACME NIC\n"
      " |           \\-02.0  ACME Other\n"
      " \\-[0000:00]-+-00.0  ACME Root Two\n");
  ASSERT_EQ(kind_of(file), "hw-inventory");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("device_count"), 9);
  EXPECT_EQ(facts.integer("nvidia_device_count"), 1);
  std::vector<std::string> addresses;
  for (const Fact& device : *facts.find_list("devices")) addresses.emplace_back(device.as_record()->text("address"));
  EXPECT_THAT(addresses, ElementsAre("0000:40:00.0", "0000:40:01.1", "0000:41:00.0", "0000:42:00.0", "0000:43:00.0",
                                     "0000:42:01.0", "0000:44:00.0", "0000:40:02.0", "0000:00:00.0"));
  EXPECT_EQ(item(facts, "devices", 4).text("parent"), "0000:42:00.0");
  EXPECT_EQ(item(facts, "devices", 6).text("parent"), "0000:42:01.0");
  EXPECT_FALSE(item(facts, "devices", 7).has("parent"));
}

TEST(LstopoXml, MachineAndLocality) {
  const FileFacts file = read_text(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
      "<object type=\"Machine\">\n<info name=\"DMIProductName\" value=\"Box 9\"/>\n<object type=\"Package\" "
      "os_index=\"0\">\n"
      "<object type=\"NUMANode\" os_index=\"0\" local_memory=\"1024\"/>\n<object type=\"Core\"><object "
      "type=\"PU\"/></object>\n"
      "<object type=\"Bridge\">\n<object type=\"PCIDev\" pci_busid=\"0000:41:00.0\" pci_type=\"0302 [10de:9999] "
      "[10de:1] "
      "a1\" pci_link_speed=\"63.0\"><info name=\"PCIVendor\" value=\"NVIDIA Corporation\"/>\n<object type=\"OSDev\" "
      "name=\"nvml0\" osdev_type=\"1\"/></object>\n</object>\n</object>\n</object>\n</topology>\n");
  ASSERT_EQ(kind_of(file), "hw-inventory");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("product"), "Box 9");
  EXPECT_EQ(facts.integer("gpu_count"), 1);
  EXPECT_EQ(facts.integer("pu_count"), 1);
  const FactRecord& gpu = item(facts, "pci_devices", 0);
  EXPECT_EQ(gpu.line, 10);
  EXPECT_EQ(gpu.integer("numa_node"), 0);
  EXPECT_DOUBLE_EQ(*gpu.number("link_gb_per_s"), 63);
  EXPECT_THAT(texts(gpu, "os_devices"), ElementsAre("nvml0"));
}

TEST(LstopoXml, CutShort) {
  const FileFacts file =
      read_text("<topology version=\"2.0\">\n<object type=\"Machine\">\n<object type=\"Package\" os_index=\"3\">");
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
  EXPECT_EQ(facts_of(file).integer("package_count"), 1);
}

TEST(PcieInventory, IsAKindOfItsOwn) {
  const FileFacts file = read_text("index, name, pcie.link.gen.current, pcie.link.width.max\n0, Z900, 5, 16\n");
  EXPECT_EQ(kind_of(file), "hw-inventory");
  const FileFacts other = read_text("index, utilization.gpu [%], pcie.link.gen.current\n0, 5 %, 5\n");
  EXPECT_NE(kind_of(other), "hw-inventory");
}

TEST(HwInventory, IsNotFoundElsewhere) {
  EXPECT_NE(kind_of(read_text("NAME    READY   STATUS    RESTARTS   AGE\npod-1   1/1     Running   0          5d\n")),
            "hw-inventory");
  EXPECT_NE(kind_of(read_text("NAME   STATUS   ROLES    AGE   VERSION\nn1     Ready    <none>   1d    v1.30\n")),
            "hw-inventory");
  EXPECT_NE(kind_of(read_text("[  1.000000] pci 0000:00:01.0: PCI bridge to [bus 01]\n")), "hw-inventory");
}

}  // namespace
}  // namespace tare
