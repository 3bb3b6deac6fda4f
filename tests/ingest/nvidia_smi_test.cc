#include <gtest/gtest.h>

#include "ingest/nvidia_smi_query.h"
#include "ingest/nvidia_smi_table.h"
#include "ingest/nvidia_smi_xml.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

std::string format_of(const FileFacts& file) {
  return file.readings.empty() ? "" : std::string(file.readings.front().format->name);
}

constexpr const char* kTable =
    "Mon Mar  3 09:15:11 2025       \n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |\n"
    "|-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                        |               MIG M. |\n"
    "|=========================================+========================+======================|\n"
    "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                   On |\n"
    "| N/A   32C    P0             71W /  700W |      45MiB /  81559MiB |     N/A      Default |\n"
    "|                                         |                        |              Enabled |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:43:00.0 Off |                    2 |\n"
    "|ERR!   33C    P0             93W /  700W |    4124MiB /  81559MiB |    100%   E. Process |\n"
    "|                                         |                        |             Disabled |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| MIG devices:                                                                            |\n"
    "+------------------+----------------------------------+-----------+-----------------------+\n"
    "| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|        Shared         |\n"
    "|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n"
    "|                  |                                  |        ECC|                       |\n"
    "|==================+==================================+===========+=======================|\n"
    "|  0    1   0   0  |              12MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |\n"
    "|                  |                 1MiB / 65535MiB  |           |                       |\n"
    "+------------------+----------------------------------+-----------+-----------------------+\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| Processes:                                                                              |\n"
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
    "|        ID   ID                                                               Usage      |\n"
    "|=========================================================================================|\n"
    "|    0    1    0      12345      C   python train.py --x 1                        1200MiB |\n"
    "|    1   N/A  N/A      4411      G   /usr/lib/xorg/Xorg                             4MiB |\n"
    "+-----------------------------------------------------------------------------------------+\n";

TEST(SmiTable, GpusMigDevicesAndProcesses) {
  const FileFacts file = read_text(kTable);
  EXPECT_EQ(kind_of(file), "nvidia-smi");
  EXPECT_EQ(format_of(file), "nvidia-smi");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("driver"), "550.90.07");
  EXPECT_EQ(facts.text("cuda"), "12.4");
  EXPECT_EQ(facts.text("timestamp"), "Mon Mar  3 09:15:11 2025");
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.integer("mem_total_mib"), 81559);  // the same on both
  const FactRecord& first = item(facts, "gpus", 0);
  EXPECT_EQ(first.text("name"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(first.text("ecc"), "On");
  EXPECT_TRUE(first.find("util_pct")->is_unknown());
  EXPECT_TRUE(first.find("fan_pct")->is_unknown());
  EXPECT_EQ(first.text("mig"), "Enabled");
  const FactRecord& second = item(facts, "gpus", 1);
  EXPECT_EQ(second.text("fan_pct"), "ERR!");
  EXPECT_EQ(second.integer("power_w"), 93);
  EXPECT_EQ(second.find("power_w")->line, 14);
  EXPECT_EQ(second.integer("ecc_uncorrectable"), 2);
  EXPECT_EQ(second.text("compute_mode"), "E. Process");
  const FactRecord& device = item(facts, "mig_devices", 0);
  EXPECT_EQ(device.integer("gi"), 1);
  EXPECT_EQ(device.integer("mem_total_mib"), 40448);
  EXPECT_EQ(device.integer("sm_count"), 60);
  EXPECT_EQ(device.integer("bar1_total_mib"), 65535);
  const FactRecord& process = item(facts, "processes", 0);
  EXPECT_EQ(process.text("name"), "python train.py --x 1");
  EXPECT_EQ(process.integer("mem_used_mib"), 1200);
  EXPECT_EQ(process.integer("gi"), 1);
  EXPECT_TRUE(item(facts, "processes", 1).find("gi")->is_unknown());
  EXPECT_EQ(file.unused_lines, 0);
}

TEST(SmiTable, OldDriversWithoutMigAndWithoutCuda) {
  const FileFacts file = read_text(
      "+-----------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 384.90                 Driver Version: 384.90                    |\n"
      "|-------------------------------+----------------------+----------------------+\n"
      "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
      "|===============================+======================+======================|\n"
      "|   3  GeForce GTX 970     Off  | 00000000:03:00.0  On |                  N/A |\n"
      "| 40%   35C    P8    N/A /  N/A |    120MiB /  4035MiB |      1%      Default |\n"
      "+-------------------------------+----------------------+----------------------+\n"
      "| Processes:                                                       GPU Memory |\n"
      "|  GPU       PID   Type   Process name                             Usage      |\n"
      "|=============================================================================|\n"
      "|    3      1301      G   compiz                                        21MiB |\n");
  const FactRecord& gpu = item(facts_of(file), "gpus", 0);
  EXPECT_EQ(gpu.integer("index"), 3);
  EXPECT_EQ(gpu.text("display_active"), "On");
  EXPECT_TRUE(gpu.find("power_w")->is_unknown());
  EXPECT_EQ(item(facts_of(file), "processes", 0).integer("pid"), 1301);
  EXPECT_EQ(item(facts_of(file), "processes", 0).text("name"), "compiz");
}

TEST(SmiTable, PrefixedWindowsAndTheHeaderOf2026) {
  const FileFacts file = read_text(
      "n07: | NVIDIA-SMI 595.10                 KMD Version: 595.10        CUDA UMD Version: 13.2     |\n"
      "n07: | GPU  Name                  Driver-Model | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
      "n07: |   0  NVIDIA GeForce RTX 5090      WDDM  |   00000000:01:00.0  On |                  N/A |\n"
      "n07: |  0%   41C    P5             39W /  575W |    1536MiB /  32607MiB |      7%      Default |\n"
      "n07: |  No running processes found                                                             |\n");
  EXPECT_EQ(facts_of(file).text("driver"), "595.10");
  EXPECT_EQ(facts_of(file).text("cuda"), "13.2");
  EXPECT_EQ(facts_of(file).text("driver_model"), "WDDM");
  EXPECT_EQ(facts_of(file).integer("power_limit_w"), 575);
  EXPECT_TRUE(facts_of(file).find_list("processes")->empty());
}

TEST(SmiTable, SeveralTablesAndErrors) {
  const std::string table = kTable;
  const FileFacts file = read_text(table + "Failed to initialize NVML: Driver/library version mismatch\n" + table);
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("snapshot_count"), 2);
  EXPECT_EQ(item(item(facts, "snapshots", 1), "gpus", 1).find("power_w")->line, 50);
  EXPECT_EQ(item(facts, "errors", 0).text("error"), "version-mismatch");
  EXPECT_EQ(item(facts, "series", 1).find_record("power_w")->integer("count"), 2);
}

TEST(SmiTable, CutRowsAreKeptAsFarAsTheyGo) {
  const FileFacts file = read_text(
      "| N/A   33C    P0             93W /  700W |    4124MiB /  81559MiB |    100%      Default |\n"
      "|   5  NVIDIA H100 80GB HBM3          On  |   00000000:43:00.0 Off |                    0 |\n"
      "| N/A   34C    P0             94W /  700W |    4125MiB /  81559MiB |\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_TRUE(item(facts, "gpus", 0).find("index")->is_unknown());
  EXPECT_EQ(item(facts, "gpus", 0).integer("util_pct"), 100);
  EXPECT_EQ(item(facts, "gpus", 1).integer("index"), 5);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(SmiTable, NotMine) {
  EXPECT_EQ(recognise_smi_table({"| model | step | loss |\n|---|---|---|\n| a | 1 | 2.0 |\n", "x.md", true}), 0);
  EXPECT_EQ(recognise_smi_table({"step 1 | loss 2.0 | lr 1e-4\n", "x.log", true}), 0);
}

constexpr const char* kQuery =
    "\n==============NVSMI LOG==============\n\n"
    "Timestamp                                 : Tue Feb  4 11:00:00 2025\n"
    "Driver Version                            : 535.104.12\n"
    "CUDA Version                              : 12.2\n\n"
    "Attached GPUs                             : 2\n"
    "GPU 00000000:0A:00.0\n"
    "    Product Name                          : NVIDIA A100-SXM4-40GB\n"
    "    MIG Mode\n"
    "        Current                           : Enabled\n"
    "        Pending                           : Disabled\n"
    "    MIG Device\n"
    "        Index                             : 0\n"
    "        FB Memory Usage\n"
    "            Total                         : 19968 MiB\n"
    "    PCI\n"
    "        GPU Link Info\n"
    "            PCIe Generation\n"
    "                Max                       : 4\n"
    "                Current                   : 1\n"
    "            Link Width\n"
    "                Max                       : 16x\n"
    "                Current                   : 8x\n"
    "    Fan Speed                             : N/A\n"
    "    Clocks Event Reasons\n"
    "        SW Power Cap                      : Active\n"
    "        HW Slowdown                       : Not Active\n"
    "            HW Thermal Slowdown           : Not Active\n"
    "    ECC Errors\n"
    "        Volatile\n"
    "            SRAM Uncorrectable            : 1\n"
    "            DRAM Uncorrectable            : 2\n"
    "        Aggregate\n"
    "            SRAM Uncorrectable            : 7\n"
    "    Remapped Rows\n"
    "        Pending                           : Yes\n"
    "    GPU Power Readings\n"
    "        Power Draw                        : 61.50 W\n"
    "        Current Power Limit               : 400.00 W\n"
    "    Module Power Readings\n"
    "        Power Draw                        : N/A\n"
    "    Supported Clocks\n"
    "        Memory                            : 1215 MHz\n"
    "            Graphics                      : 1410 MHz\n"
    "            Graphics                      : 1395 MHz\n"
    "    Processes\n"
    "        GPU instance ID                   : 3\n"
    "        Compute instance ID               : 0\n"
    "        Process ID                        : 4711\n"
    "            Type                          : C\n"
    "            Name                          : python\n"
    "            Used GPU Memory               : 900 MiB\n\n"
    "GPU 00000000:0B:00.0\n"
    "    Product Name                          : NVIDIA A100-SXM4-40GB\n"
    "    PCI\n"
    "        GPU Link Info\n"
    "            PCIe Generation\n"
    "                Current                   : 4\n"
    "    Processes                             : None\n";

TEST(SmiQuery, GeneralNamesDetailsAndDifferences) {
  const FileFacts file = read_text(kQuery);
  EXPECT_EQ(format_of(file), "nvidia-smi -q");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.text("name"), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(facts.find("driver")->line, 5);
  const FactRecord& gpu = item(facts, "gpus", 0);
  EXPECT_EQ(gpu.text("bus_id"), "00000000:0A:00.0");
  EXPECT_EQ(gpu.text("pcie_width"), "8x");
  EXPECT_EQ(gpu.integer("pcie_lanes_max"), 16);
  EXPECT_EQ(gpu.number("power_w"), 61.5);
  EXPECT_EQ(gpu.find("power_w")->line, 40);
  EXPECT_EQ(gpu.text("mig_pending"), "Disabled");
  EXPECT_EQ(gpu.text("remapping_pending"), "Yes");
  EXPECT_EQ(gpu.integer("ecc_uncorrectable"), 3);
  EXPECT_EQ(gpu.integer("ecc_aggregate_sram_uncorrectable"), 7);
  EXPECT_EQ(gpu.text("hw_thermal_slowdown"), "Not Active");
  EXPECT_EQ(gpu.find_list("slowdowns_active")->at(0).text(), "sw_power_cap");
  EXPECT_EQ(item(gpu, "mig_devices", 0).find_record("fb_memory_usage")->integer("total_mib"), 19968);
  EXPECT_EQ(item(gpu, "processes", 0).integer("gi"), 3);
  EXPECT_EQ(item(gpu, "processes", 0).integer("mem_used_mib"), 900);
  EXPECT_EQ(gpu.find_record("details")->find_record("supported_clocks")->find_list("graphics_mhz")->size(), 2u);
  EXPECT_TRUE(item(facts, "gpus", 1).find_list("processes")->empty());
  EXPECT_EQ(item(*facts.find_record("differs"), "pcie_gen_current", 0).integer("value"), 1);
  EXPECT_EQ(file.unused_lines, 0);
}

TEST(SmiQuery, SectionsThatGrepLeft) {
  const FileFacts file = read_text(
      "    ECC Errors\n        Volatile\n            SRAM Uncorrectable            : 1\n"
      "    ECC Errors\n        Volatile\n            SRAM Uncorrectable            : 0\n");
  const FactRecord& facts = facts_of(file);
  ASSERT_EQ(facts.find_list("gpus")->size(), 2u);
  EXPECT_TRUE(facts.find("gpu_count")->is_unknown());
  EXPECT_EQ(item(facts, "gpus", 0).integer("ecc_volatile_sram_uncorrectable"), 1);
}

TEST(SmiQuery, SeveralOutputsPrefixed) {
  std::string text;
  for (const std::string host : {"a01: ", "a02: "}) {
    text += host + "==============NVSMI LOG==============\n" + host +
            "Attached GPUs                             : 1\n" + host + "GPU 00000000:0A:00.0\n" + host +
            "    Product Name                          : NVIDIA L4\n";
  }
  const FactRecord& facts = facts_of(read_text(text));
  EXPECT_EQ(facts.integer("snapshot_count"), 2);
  EXPECT_EQ(item(facts, "snapshots", 1).text("name"), "NVIDIA L4");
}

TEST(SmiQuery, NotMine) { EXPECT_EQ(recognise_smi_query({"Name : value\nOther key   : 3\n", "x", true}), 0); }

TEST(SmiXml, TheSameNamesAsTheText) {
  const FileFacts file = read_text(
      "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n"
      "\t<driver_version>570.1</driver_version>\n\t<attached_gpus>1</attached_gpus>\n\t<gpu id=\"00000000:0C:00.0\">\n"
      "\t\t<product_name>NVIDIA &amp; Sons</product_name>\n\t\t<pci>\n\t\t\t<pci_gpu_link_info>\n\t\t\t\t<pcie_gen>\n"
      "\t\t\t\t\t<max_link_gen>5</max_link_gen>\n\t\t\t\t</pcie_gen>\n\t\t\t</pci_gpu_link_info>\n\t\t</pci>\n"
      "\t\t<clocks_event_reasons>\n\t\t\t<clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>\n"
      "\t\t</clocks_event_reasons>\n\t\t<gpu_power_readings>\n\t\t\t<average_power_draw>8.81 W</average_power_draw>\n"
      "\t\t</gpu_power_readings>\n\t\t<processes>\n\t\t\t<process_info>\n\t\t\t\t<pid>77</pid>\n"
      "\t\t\t\t<used_memory>12 "
      "MiB</used_memory>\n\t\t\t</process_info>\n\t\t</processes>\n\t</gpu>\n</nvidia_smi_log>\n");
  EXPECT_EQ(format_of(file), "nvidia-smi -q -x");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("driver"), "570.1");
  const FactRecord& gpu = item(facts, "gpus", 0);
  EXPECT_EQ(gpu.text("name"), "NVIDIA & Sons");
  EXPECT_EQ(gpu.integer("pcie_gen_max"), 5);
  EXPECT_EQ(gpu.find("pcie_gen_max")->line, 11);
  EXPECT_EQ(gpu.number("power_w"), 8.81);
  EXPECT_EQ(gpu.text("sw_power_cap"), "Active");
  EXPECT_EQ(item(gpu, "processes", 0).integer("pid"), 77);
}

TEST(SmiXml, CutAndElided) {
  const FileFacts file = read_text(
      "<nvidia_smi_log>\n<gpu id=\"1\">\n<product_name>GeForce</product_name>\n<fb_memory_usage>\n...\n"
      "<total>4096 MiB</total>\n</fb_memory_usage>\n<performance_state>P8</perf");
  const FactRecord& gpu = item(facts_of(file), "gpus", 0);
  EXPECT_EQ(gpu.integer("mem_total_mib"), 4096);
  EXPECT_FALSE(gpu.has("pstate"));
  EXPECT_FALSE(file.readings.front().reading.notes().empty());
}

TEST(SmiXml, NotMine) { EXPECT_EQ(recognise_smi_xml({"<topology><object/></topology>", "x", true}), 0); }

TEST(SmiNvlink, SpeedsErrorsAndCapabilities) {
  const FileFacts file = read_text(
      "GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
      "GPU 1: NVIDIA H100 (UUID: GPU-2)\n\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n"
      "GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: Replay Errors: 4\n\t Link 0, P2P is supported: true\n");
  EXPECT_EQ(format_of(file), "nvidia-smi nvlink");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.integer("links_per_gpu"), 2);
  EXPECT_EQ(facts.integer("active_links"), 3);
  EXPECT_EQ(facts.integer("inactive_links"), 1);
  EXPECT_EQ(facts.integer("replay_errors"), 4);
}

TEST(SmiList, GpusAndMigDevices) {
  const FileFacts file = read_text(
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 3g.20gb     Device  0: (UUID: MIG-2)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-3)\n");
  EXPECT_EQ(format_of(file), "nvidia-smi -L");
  EXPECT_EQ(facts_of(file).integer("gpu_count"), 2);
  const FactRecord& device = item(item(facts_of(file), "gpus", 0), "mig_devices", 0);
  EXPECT_EQ(device.text("profile"), "3g.20gb");
  EXPECT_EQ(device.text("uuid"), "MIG-2");
}

TEST(RocmSmi, ConciseTablesLinesAndJson) {
  const FileFacts table = read_text(
      "======= ROCm System Management Interface =======\n"
      "Device  Node  Temp        Power     Partitions          SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%  \n"
      "              (Junction)  (Socket)  (Mem, Compute, ID)\n"
      "0       2     43.0\u00b0C      141.0W    NPS1, SPX, 0        132Mhz  900Mhz  0%   auto  750.0W  0%     7%    "
      "\n");
  EXPECT_EQ(kind_of(table), "nvidia-smi");
  const FactRecord& gpu = item(facts_of(table), "gpus", 0);
  EXPECT_EQ(gpu.number("power_limit_w"), 750);
  EXPECT_EQ(gpu.integer("util_pct"), 7);
  const FileFacts lines = read_text("GPU[0]\t\t: Temperature (Sensor edge) (C): 35.0\nGPU[0]\t\t: GPU use (%): 9\n");
  EXPECT_EQ(item(facts_of(lines), "gpus", 0).number("temp_c"), 35);
  const FileFacts json =
      read_text("{\"card0\": {\"GPU use (%)\": \"7\"}, \"system\": {\"Driver version\": \"6.3.6\"}}\n");
  EXPECT_EQ(format_of(json), "rocm-smi --json");
  EXPECT_EQ(item(facts_of(json), "gpus", 0).integer("util_pct"), 7);
  EXPECT_EQ(facts_of(json).text("driver"), "6.3.6");
}

}  // namespace
}  // namespace tare
