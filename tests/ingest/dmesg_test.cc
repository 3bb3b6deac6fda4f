#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/log_line.h"
#include "ingest/xid_table.h"
#include "read_text.h"

namespace tare {
namespace {

using testing::HasSubstr;

const FactRecord& item(const FactRecord& facts, const char* list, std::size_t at) {
  static const FactRecord none;
  const std::vector<Fact>* const found = facts.find_list(list);
  return found == nullptr || found->size() <= at ? none : *(*found)[at].as_record();
}

TEST(Dmesg, XidWithMeaningAndAction) {
  const FileFacts file = read_text(
      "[  812.000001] NVRM: GPU at PCI:0000:5a:00: GPU-11112222-3333-4444-5555-666677778888\n"
      "[  812.000002] NVRM: GPU Board Serial Number: 1234500000001\n"
      "[  812.000003] NVRM: Xid (PCI:0000:5a:00): 119, pid=4242, name=trainer, Timeout after 45s of waiting for RPC "
      "response from GPU2 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).\n"
      "[  900.500000] NVRM: Xid (PCI:0000:5a:00): 119, pid='<unknown>', name=<unknown>, Timeout after 45s of "
      "waiting\n");
  ASSERT_EQ(kind_of(file), "dmesg");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.find_record("counts")->integer("xids"), 2);
  const FactRecord& xid = item(facts, "xids", 0);
  EXPECT_EQ(xid.line, 3);
  EXPECT_EQ(xid.integer("xid"), 119);
  EXPECT_EQ(xid.text("pci"), "0000:5a:00");
  EXPECT_EQ(xid.integer("pid"), 4242);
  EXPECT_EQ(xid.text("process"), "trainer");
  EXPECT_EQ(xid.integer("timeout_s"), 45);
  EXPECT_EQ(xid.text("gpu_in_text"), "GPU2");
  EXPECT_EQ(xid.text("rpc_function_name"), "GSP_RM_CONTROL");
  EXPECT_EQ(xid.text("action"), "RESET_GPU");
  EXPECT_TRUE(item(facts, "xids", 1).find("pid")->is_unknown());
  const FactRecord& summary = item(facts, "xid_summary", 0);
  EXPECT_EQ(summary.integer("count"), 2);
  EXPECT_DOUBLE_EQ(*summary.number("last_boot_s"), 900.5);
  EXPECT_EQ(item(facts, "gpus", 0).text("board_serial"), "1234500000001");
}

TEST(Dmesg, NvlinkFiveXidsAreDecoded) {
  const FileFacts file = read_text(
      "kernel: NVRM: Xid (PCI:0000:a1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x004001c6 0x00000000 0x0 0x0 0x0 "
      "0x0)\n"
      "kernel: NVRM: Xid (PCI:0000:a2:00): 145, RLW_REMAP Nonfatal XC1 i0 Link 07 (0x00000004 0x00000004 0x0 0x0 0x0)\n"
      "kernel: NVRM: Xid (PCI:0000:a2:00): 45, pid=9, name=p, Ch 0000000a caused by previous Xid 145\n"
      "kernel: NVRM: Xid (PCI:0000:a2:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
      "Required)\n");
  const FactRecord& facts = facts_of(file);
  const FactRecord& link = item(facts, "xids", 0);
  EXPECT_EQ(link.integer("sub_code"), 4);
  EXPECT_EQ(link.integer("link"), 7);
  EXPECT_EQ(link.text("unit"), "NETIR_LINK_EVT");
  EXPECT_EQ(link.text("investigate"), "INVESTIGATE_LINK_SI");
  EXPECT_EQ(item(facts, "xids", 1).text("action"), "XID_154_EVAL");
  EXPECT_EQ(item(facts, "xids", 2).integer("caused_by_xid"), 145);
  EXPECT_EQ(item(facts, "xids", 2).text("channel"), "0000000a");
  EXPECT_EQ(item(facts, "xids", 3).text("recovery_action"), "GPU Reset Required");
  EXPECT_EQ(item(facts, "previous_xids", 0).integer("xid"), 145);
  ASSERT_FALSE(file.readings.front().reading.notes().empty());
  EXPECT_THAT(file.readings.front().reading.notes()[0], HasSubstr("145 on 0000:a2:00"));
}

TEST(Dmesg, AerErrorsAreGathered) {
  const FileFacts file = read_text(
      "[ 100.000001] pcieport 0000:20:01.1: AER: Corrected error received: 0000:21:00.0\n"
      "[ 100.000002] nvidia 0000:21:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n"
      "[ 100.000003] nvidia 0000:21:00.0:   device [10de:2330] error status/mask=00000041/0000a000\n"
      "[ 100.000004] nvidia 0000:21:00.0:    [ 0] RxErr                  (First)\n"
      "[ 100.000005] nvidia 0000:21:00.0:    [ 6] BadTLP\n"
      "[ 200.000001] nvidia 0000:21:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n"
      "[ 200.000002] nvidia 0000:21:00.0:    [ 0] RxErr\n");
  const FactRecord& facts = facts_of(file);
  const FactRecord& error = item(facts, "aer_errors", 0);
  EXPECT_EQ(error.text("pci"), "0000:21:00.0");
  EXPECT_EQ(error.text("agent"), "Receiver ID");
  EXPECT_EQ(error.text("status"), "00000041");
  EXPECT_EQ(error.text("mask"), "0000a000");
  EXPECT_EQ(error.text("first_error"), "RxErr");
  EXPECT_EQ(error.find_list("errors")->size(), 2u);
  EXPECT_EQ(item(facts, "aer_summary", 0).integer("count"), 2);
}

TEST(Dmesg, EventsOfTheSystem) {
  const FileFacts file = read_text(
      "[Tue Mar  3 10:00:00 2026] python3[77]: segfault at 0 ip 0000000000001234 sp 00007f error 4 in libx.so.3[400000+"
      "d000]\n"
      "[Tue Mar  3 10:00:01 2026] Memory cgroup out of memory: Killed process 88 (loader) total-vm:1000kB, "
      "anon-rss:900kB, file-rss:4kB, shmem-rss:0kB\n"
      "[Tue Mar  3 10:00:02 2026] INFO: task kworker/3:99 blocked for more than 120 seconds.\n"
      "[Tue Mar  3 10:00:03 2026] mlx5_core 0000:c1:00.0: mlx5_pcie_event:299:(pid 0): Detected insufficient power on "
      "the PCIe slot (27W).\n"
      "[Tue Mar  3 10:00:04 2026] mlx5_core 0000:c1:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 16.0 GT/s "
      "PCIe x8 link at 0000:c0:01.1 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n"
      "[Tue Mar  3 10:00:05 2026] EDAC MC1: 3 CE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 (channel:1 "
      "slot:0)\n"
      "[Tue Mar  3 10:00:06 2026] mlx5_core 0000:c1:00.0: Port module event[error]: module 1, Cable error, High "
      "Temperature\n"
      "[Tue Mar  3 10:01:06 2026] Kernel panic - not syncing: Fatal exception\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_DOUBLE_EQ(*facts.number("span_s"), 66);
  EXPECT_EQ(item(facts, "segfaults", 0).text("library"), "libx.so.3");
  EXPECT_EQ(item(facts, "segfaults", 0).integer("pid"), 77);
  EXPECT_EQ(item(facts, "oom_kills", 0).text("process"), "loader");
  EXPECT_EQ(item(facts, "oom_kills", 0).integer("anon_rss_kb"), 900);
  EXPECT_EQ(item(facts, "hung_tasks", 0).text("process"), "kworker/3");
  EXPECT_EQ(item(facts, "nic_events", 0).text("pci"), "0000:c1:00.0");
  EXPECT_DOUBLE_EQ(*item(facts, "nic_events", 0).number("power_w"), 27);
  const FactRecord& pcie = item(facts, "pcie_bandwidth", 0);
  EXPECT_DOUBLE_EQ(*pcie.number("available_gbit_per_s"), 126.024);
  EXPECT_EQ(pcie.integer("width"), 8);
  EXPECT_EQ(pcie.text("limited_by"), "0000:c0:01.1");
  EXPECT_EQ(pcie.integer("capable_width"), 16);
  EXPECT_EQ(item(facts, "memory_errors", 0).integer("count"), 3);
  EXPECT_EQ(item(facts, "thermal", 0).line, 7);
  EXPECT_EQ(item(facts, "panics", 0).text("text"), "Fatal exception");
}

TEST(Dmesg, SwitchErrors) {
  const FileFacts file = read_text(
      "[Mar 03 2026 10:00:00] [ERROR] [tid 12] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id "
      "00000000:0b:00.0 physical id 1 port 33\n"
      "[Mar 03 2026 10:00:00] [INFO] [tid 12] something else\n"
      "Mar  3 10:00:00 n7 kernel: nvidia-nvswitch1: SXid (PCI:0000:0b:00.0): 20034, Fatal, Link 33 LTSSM Fault Up\n");
  const FactRecord& facts = facts_of(file);
  const FactRecord& error = item(facts, "nvswitch_errors", 0);
  EXPECT_EQ(error.integer("error"), 20034);
  EXPECT_TRUE(std::get<bool>(error.find("fatal")->value));
  EXPECT_EQ(error.integer("port"), 33);
  const FactRecord& sxid = item(facts, "sxids", 0);
  EXPECT_EQ(sxid.integer("sxid"), 20034);
  EXPECT_EQ(sxid.integer("nvswitch"), 1);
  EXPECT_EQ(sxid.integer("link"), 33);
  EXPECT_EQ(sxid.text("host"), "n7");
}

TEST(Dmesg, CrashDumpsAreNamed) {
  const FileFacts file = read_text("Oops#1 Part1\n<4>[   12.000001] Oops: 0002 [#1] SMP\n<6>[   12.000002] x\n");
  EXPECT_THAT(std::string(facts_of(file).text("source")), HasSubstr("previous crash"));
}

TEST(Dmesg, GpusThatAreGone) {
  const FileFacts file = read_text(
      "[  1.000001] NVRM: The NVIDIA GPU 0000:5a:00.0 (PCI ID: 10de:9999)\n"
      "[  1.000002] NVRM: GPU at PCI:0000:5a:00: GPU-11112222-3333-4444-5555-666677778888 has fallen off the bus\n"
      "[  1.000003] NVRM: GPU 0000:5a:00.0: RmInitAdapter failed! (0x62:0x40:1)\n");
  EXPECT_EQ(item(facts_of(file), "gpus_off_the_bus", 0).text("pci"), "0000:5a:00");
  EXPECT_EQ(item(facts_of(file), "init_failures", 0).text("pci"), "0000:5a:00.0");
}

// An Xid needs its number: what is cut before it is none, and a number that no Xid has is none either.
TEST(Dmesg, DamagedXids) {
  const std::pair<const char*, int> lines[] = {{"NVRM: Xid (PCI:0000:01:00): \n", 0},
                                               {"NVRM: Xid (PCI\n", 0},
                                               {"NVRM: Xid (): 99999999999, x\n", 0},
                                               {"NVRM: Xid (PCI:0000:01:00): 79\n", 1},
                                               {"NVRM: Xid (PCI:0000:01:00): 149, A B C (\n", 1}};
  for (const auto& [text, xids] : lines) {
    const FileFacts file = read_text(text);
    std::int64_t found = 0;
    for (const FormatReading& one : file.readings) {
      const FactRecord* const counts = one.reading.facts.find_record("counts");
      found += counts == nullptr ? 0 : counts->integer("xids").value_or(0);
    }
    EXPECT_EQ(found, xids) << text;
  }
}

TEST(Dmesg, IsNotFoundInOtherLogs) {
  EXPECT_NE(kind_of(read_text("[2026-03-03T10:00:00.000] error: gres/gpu: count changed\n")), "dmesg");
  EXPECT_NE(kind_of(read_text("2026-03-03 10:00:00 INFO step 1 loss 2.0\n2026-03-03 10:00:01 INFO step 2\n")), "dmesg");
}

TEST(Dmesg, HardwareErrorsAreToldFromWhatTheCpuSaysAtBoot) {
  const FileFacts file = read_text(
      "[    0.100000] mce: CPU0: Thermal monitoring enabled (TM1)\n"
      "[    0.200000] mce: [Hardware Error]: Using 32 MCE banks\n"
      "[   50.000000] {1}[Hardware Error]: event severity: corrected\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.find_record("counts")->integer("machine_checks"), 1);
  EXPECT_EQ(item(facts, "machine_checks", 0).line, 3);
  EXPECT_FALSE(facts.has("hosts"));
}

TEST(Dmesg, GpusThatTheDriverCannotTake) {
  const FileFacts file = read_text(
      "[   41.100000] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n"
      "[   41.200000] nvidia: probe of 0000:ca:00.0 failed with error -1\n"
      "[  300.100000] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping\n");
  const FactRecord& counts = *facts_of(file).find_record("counts");
  EXPECT_EQ(counts.integer("init_failures"), 2);
  EXPECT_EQ(counts.integer("driver_messages"), 1);
  EXPECT_EQ(item(facts_of(file), "init_failures", 1).text("pci"), "0000:ca:00.0");
}

TEST(XidTable, IsSortedAndWhole) {
  EXPECT_EQ(xid_table().size(), 172u);
  for (std::size_t i = 0; i < xid_table().size(); ++i) {
    EXPECT_EQ(xid_table()[i].xid, static_cast<std::int64_t>(i) + 1);
    EXPECT_FALSE(xid_table()[i].meaning.empty());
    EXPECT_EQ(xid_meaning(xid_table()[i].xid), &xid_table()[i]);
  }
  EXPECT_EQ(xid_meaning(0), nullptr);
  EXPECT_EQ(xid_meaning(173), nullptr);
}

TEST(LogLine, Heads) {
  const LogLine decoded = read_log_line("kern  :err   : 2026-03-03T10:00:00,5+00:00 m");
  EXPECT_EQ(decoded.level, "err");
  EXPECT_EQ(decoded.time, "2026-03-03T10:00:00,5+00:00");
  EXPECT_EQ(decoded.message, "m");
  const LogLine syslog = read_log_line("Mar  3 10:00:00 n1 kernel: [  12.345678] m: n");
  EXPECT_EQ(syslog.host, "n1");
  EXPECT_DOUBLE_EQ(*syslog.boot_s, 12.345678);
  EXPECT_EQ(syslog.message, "m: n");
  const LogLine iso = read_log_line("2026-03-03T10:00:00.1+01:00 n2 nv-fabricmanager[7]: m");
  EXPECT_EQ(iso.source, "nv-fabricmanager");
  EXPECT_EQ(iso.message, "m");
  const LogLine raw = read_log_line("3,22726,652513349062,-;NVRM: x");
  EXPECT_EQ(raw.level, "err");
  EXPECT_NEAR(*raw.boot_s, 652513.349062, 1e-6);
  const LogLine driver = read_log_line("[   2.608284] mlx5_core 0000:41:00.1: x");
  EXPECT_TRUE(driver.host.empty());
  EXPECT_EQ(driver.message, "mlx5_core 0000:41:00.1: x");
  EXPECT_FALSE(read_log_line("plain text: 1").stamped);
  EXPECT_DOUBLE_EQ(*log_seconds("1970-01-02 00:00:01"), 86401);
  EXPECT_DOUBLE_EQ(*log_seconds("Fri Jan  2 00:00:01 1970"), 86401);
}

}  // namespace
}  // namespace tare
