#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/collective_rows.h"
#include "read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, const char* list, std::size_t at) {
  static const FactRecord none;
  const std::vector<Fact>* const found = facts.find_list(list);
  return found == nullptr || found->size() <= at ? none : *(*found)[at].as_record();
}

TEST(NcclTestsJson, ReadsRowsDevicesAndEnvironment) {
  const FileFacts file = read_text(
      "{\"version\":2,\"start_time\":\"2026-03-03 10:00:00\",\"args\":[\"./all_gather_perf\",\"-b\",\"8\"],"
      "\"env\":[\"HOME=/x\",\"NCCL_ALGO=Ring\"],\"nccl_version\":22809,\n\"config\":{\"nthreads\":1,\"devices\":["
      "{\"rank\":0,\"hostname\":\"a\",\"device_hex\":\"0000:1b:00\",\"device_info\":\"Z900\"},"
      "{\"rank\":1,\"hostname\":\"b\",\"device_hex\":\"0000:1b:00\",\"device_info\":\"Z900\"}]},\n\"results\":["
      "{\"size\":1024,\"count\":128,\"type\":\"float\",\"redop\":\"none\",\"root\":\"    -1\","
      "\"out_of_place\":{\"time\":10.5,\"alg_bw\":0.1,\"bus_bw\":0.05,\"nwrong\":0.0},"
      "\"in_place\":{\"time\":9.5,\"alg_bw\":0.2,\"bus_bw\":0.1,\"nwrong\":null}}],"
      "\"out_of_bounds\":{\"count\":0,\"okay\":\"true\"},\"average_bus_bandwidth\":{\"bandwidth\":0.075,\"okay\":"
      "\"unchecked\"}}");
  ASSERT_EQ(kind_of(file), "nccl-tests");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("collective"), "all_gather");
  EXPECT_EQ(facts.text("nccl_library"), "2.28.9");
  EXPECT_EQ(facts.integer("ranks"), 2);
  EXPECT_EQ(facts.integer("nodes"), 2);
  EXPECT_EQ(facts.text("status"), "OK");
  EXPECT_EQ(facts.find_record("environment")->text("NCCL_ALGO"), "Ring");
  EXPECT_FALSE(facts.find_record("environment")->has("HOME"));
  EXPECT_EQ(item(facts, "rows", 0).integer("root"), -1);
  EXPECT_DOUBLE_EQ(*facts.number("peak_busbw_gb_per_s"), 0.1);
  const std::vector<CollectiveRow> rows = collective_rows(facts);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].collective, "all_gather");
  EXPECT_TRUE(rows[1].in_place);
  EXPECT_FALSE(rows[1].errors);
}

TEST(NcclTestsJson, RowsOfRccl) {
  const FileFacts file = read_text(
      "[{\"numCycle\":0,\"name\":\"AllReduce\",\"nodes\":2,\"ranks\":16,\"size\":8,\"type\":\"float\",\"redop\":"
      "\"sum\","
      "\"inPlace\":0,\"time\":20.5,\"algBw\":0.5,\"busBw\":0.9,\"wrong\":\"0\"},\n{\"numCycle\":0,\"name\":"
      "\"AllReduce\","
      "\"size\":8,\"inPlace\":1,\"time\":20.0,\"algBw\":0.6,\"busBw\":1.1,\"wrong\":\"0\"}]");
  const std::vector<CollectiveRow> rows = collective_rows(facts_of(file));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].collective, "all_reduce");
  EXPECT_EQ(rows[0].ranks, 16);
  EXPECT_EQ(rows[1].line, 2);
  EXPECT_DOUBLE_EQ(rows[1].busbw, 1.1);
}

const std::string kNvbandwidth =
    "nvbandwidth Version: v0.9\nBuilt from Git version: v0.9\n\nCUDA Runtime Version: 13000\n"
    "Driver Version: 580.10\n\nDevice 0: Z900 96GB (00000000:1b:00)\nDevice 1: Z900 96GB (00000000:3d:00)\n\n"
    "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "           0         1\n 0     50.00     52.00\n\nSUM host_to_device_memcpy_ce 102.00\n\n"
    "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "           0         1\n 0       N/A    300.00\n 1    301.00       N/A\n\n"
    "Running host_device_latency_sm.\nWaived: \n";

TEST(Nvbandwidth, MatricesWithTheirUnits) {
  const FileFacts file = read_text(kNvbandwidth);
  ASSERT_EQ(kind_of(file), "nccl-tests");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("driver"), "580.10");
  EXPECT_EQ(item(facts, "devices", 1).text("bus_id"), "00000000:3d:00");
  EXPECT_EQ(item(facts, "devices", 1).text("gpu"), "Z900 96GB");
  EXPECT_EQ(facts.integer("test_count"), 3);
  EXPECT_DOUBLE_EQ(*item(facts, "tests", 0).number("sum"), 102);
  EXPECT_DOUBLE_EQ(*item(facts, "tests", 0).number("mean_gb_per_s"), 51);
  const FactRecord& peer = item(facts, "tests", 1);
  EXPECT_EQ(peer.text("name"), "device_to_device_memcpy_read_ce");
  EXPECT_TRUE((*item(peer, "matrix", 0).find_list("values"))[0].is_unknown());
  EXPECT_DOUBLE_EQ(*peer.number("min_gb_per_s"), 300);
  EXPECT_EQ(item(facts, "tests", 2).text("status"), "Waived");
}

TEST(Nvbandwidth, Json) {
  const FileFacts file = read_text(
      "{\"nvbandwidth\": {\"version\": \"v0.9\", \"CUDA Runtime Version\": 13000, \"testcases\": [{\"name\": \"t\", "
      "\"status\": \"Passed\", \"bandwidth_description\": \"memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\", "
      "\"bandwidth_matrix\": [[\"N/A\", \"10.5\"], [\"11.5\", \"N/A\"]], \"sum\": 22.0}]}}");
  const FactRecord& test = item(facts_of(file), "tests", 0);
  EXPECT_DOUBLE_EQ(*test.number("max_gb_per_s"), 11.5);
  EXPECT_EQ(test.integer("value_count"), 2);
  EXPECT_EQ(test.text("status"), "Passed");
}

TEST(Osu, TablesByTheirHeadings) {
  const FileFacts file = read_text(
      "# OSU MPI-CUDA Bandwidth Test v7.4\n# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n"
      "# Size      Bandwidth (MB/s)\n# Datatype: MPI_CHAR.\n1                       1.50\n4194304             "
      "24000.25\n"
      "# OSU MPI Allreduce Latency Test v7.4\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "4                       5.50              5.00              6.00        1000\n");
  ASSERT_EQ(kind_of(file), "nccl-tests");
  const FactRecord& facts = facts_of(file);
  const FactRecord& bandwidth = item(facts, "tests", 0);
  EXPECT_EQ(bandwidth.text("test"), "OSU MPI-CUDA Bandwidth Test");
  EXPECT_EQ(bandwidth.text("version"), "7.4");
  EXPECT_EQ(bandwidth.text("datatype"), "MPI_CHAR");
  EXPECT_DOUBLE_EQ(*item(bandwidth, "rows", 1).number("bandwidth_mb_per_s"), 24000.25);
  const FactRecord& row = item(item(facts, "tests", 1), "rows", 0);
  EXPECT_EQ(row.integer("bytes"), 4);
  EXPECT_DOUBLE_EQ(*row.number("max_latency_us"), 6);
  EXPECT_EQ(row.integer("iterations"), 1000);
}

TEST(LstopoText, CountsAndPlaces) {
  const FileFacts file = read_text(
      "Machine (512GB total)\n  Package L#0\n    NUMANode L#0 (P#0 256GB)\n    L3 L#0 (32MB)\n"
      "      L2 L#0 (1024KB) + L1d L#0 (32KB) + L1i L#0 (32KB) + Core L#0 + PU L#0 (P#0)\n    HostBridge\n"
      "      PCIBridge\n        PCI 1b:00.0 (3D)\n          GPU(NVML) \"nvml0\"\n      PCIBridge\n"
      "        PCI 1c:00.0 (InfiniBand)\n          Net \"ib0\"\n  Package L#1\n    NUMANode L#1 (P#1 256GB)\n");
  ASSERT_EQ(kind_of(file), "hw-inventory");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("package_count"), 2);
  EXPECT_EQ(facts.integer("numa_nodes"), 2);
  EXPECT_EQ(facts.integer("gpu_count"), 1);
  EXPECT_EQ(item(facts, "pci_devices", 0).text("address"), "1b:00.0");
  EXPECT_EQ(item(facts, "pci_devices", 1).integer("numa_node"), 0);
}

TEST(Dmidecode, MemoryModules) {
  const FileFacts file = read_text(
      "# dmidecode 3.5\nHandle 0x0001, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: ACME\n\tProduct Name: "
      "Box 9\n\nHandle 0x0010, DMI type 17, 92 bytes\nMemory Device\n\tSize: 64 GB\n\tType: DDR5\n\tSpeed: 5600 MT/s\n"
      "\nHandle 0x0011, DMI type 17, 92 bytes\nMemory Device\n\tSize: No Module Installed\n\tType: Unknown\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(item(facts, "system", 0).text("product_name"), "Box 9");
  EXPECT_EQ(facts.integer("memory_slots"), 2);
  EXPECT_EQ(facts.integer("memory_modules"), 1);
  EXPECT_EQ(item(facts, "memory_module_kinds", 0).text("module"), "64 GB DDR5 5600 MT/s");
}

TEST(FreeAndDf, Tables) {
  const FileFacts memory = read_text(
      "               total        used        free      shared  buff/cache   available\n"
      "Mem:            2.0Ti       100Gi       1.0Ti       1.0Gi       900Gi       1.9Ti\n"
      "Swap:             0B          0B          0B\n");
  ASSERT_EQ(kind_of(memory), "hw-inventory");
  EXPECT_EQ(facts_of(memory).find_record("memory")->text("total"), "2.0Ti");
  const FileFacts space = read_text(
      "Filesystem      Size  Used Avail Use% Mounted on\n/dev/very/long/name\n                 10G  5.0G  5.0G  50% "
      "/data a\n");
  const FactRecord& row = item(facts_of(space), "filesystems", 0);
  EXPECT_EQ(row.text("filesystem"), "/dev/very/long/name");
  EXPECT_DOUBLE_EQ(*row.number("used_pct"), 50);
  EXPECT_EQ(row.text("mounted_on"), "/data a");
}

}  // namespace
}  // namespace tare
