#include "rule_case.h"

namespace tare {
namespace {

using enum FindingSeverity;

// The kernel's log of one node.
std::string log(const std::string& lines) { return lines; }

std::string xid(const std::string& pci, const std::string& rest) {
  return "[ 5120.100000] NVRM: Xid (PCI:0000:" + pci + "): " + rest + "\n";
}

// nvidia-smi -q of one GPU: sections as they are printed, four blanks deep.
std::string query(const std::string& sections, const std::string& name = "NVIDIA A100-SXM4-80GB") {
  return "==============NVSMI LOG==============\n\nDriver Version                            : 550.90.07\n"
         "Attached GPUs                             : 1\nGPU 00000000:4B:00.0\n"
         "    Product Name                          : " +
         name + "\n" + sections;
}

std::string reasons(const std::string& active) {
  std::string text = "    Clocks Event Reasons\n";
  for (const char* const one : {"Idle", "SW Power Cap", "HW Slowdown", "HW Thermal Slowdown", "HW Power Brake Slowdown",
                                "SW Thermal Slowdown"}) {
    const bool on = active.find(one) != std::string::npos;
    text += "        " + std::string(one) + " : " + (on ? "Active" : "Not Active") + "\n";
  }
  return text;
}

std::string ecc(int sram, int dram, int sram_ever) {
  return "    ECC Errors\n        Volatile\n            SRAM Uncorrectable : " + std::to_string(sram) +
         "\n            DRAM Uncorrectable : " + std::to_string(dram) +
         "\n        Aggregate\n            SRAM Uncorrectable : " + std::to_string(sram_ever) +
         "\n            DRAM Uncorrectable : " + std::to_string(dram) + "\n";
}

std::string remapped(const std::string& rows, const std::string& pending, const std::string& failed) {
  return "    Remapped Rows\n        Correctable Error : 0\n        Uncorrectable Error : " + rows +
         "\n        Pending : " + pending + "\n        Remapping Failure Occurred : " + failed + "\n";
}

// The table of a driver of 2023, a GPU a row.
struct Row {
  const char* name = "NVIDIA A100-SXM...";
  const char* persistence = "On";
  const char* fan = "N/A";
  int temp = 40, watts = 80, limit = 400, used_mib = 0, util = 0;
  const char* ecc = "0";
  const char* mig = "Disabled";
};
std::string table(const std::vector<Row>& rows) {
  std::string text =
      "+---------------------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n"
      "|-----------------------------------------+----------------------+----------------------+\n"
      "| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |\n"
      "|                                         |                      |               MIG M. |\n"
      "|=========================================+======================+======================|\n";
  int index = 0;
  for (const Row& row : rows) {
    char line[512];
    std::snprintf(line, sizeof line,
                  "| %3d  %-20s %11s | 00000000:%02X:00.0 Off | %20s |\n"
                  "|%4s %4dC    P0 %12dW / %4dW | %6dMiB / %6dMiB | %6d%%      Default |\n"
                  "|                                         |                      | %20s |\n"
                  "+-----------------------------------------+----------------------+----------------------+\n",
                  index, row.name, row.persistence, 16 + index, row.ecc, row.fan, row.temp, row.watts, row.limit,
                  row.used_mib, 81920, row.util, row.mig);
    text += line;
    ++index;
  }
  return text;
}

std::string nvlink(int gpus, int up, int down, int absent) {
  std::string text = "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n";
  for (int gpu = 0; gpu < gpus; ++gpu) {
    text += "    gpuId " + std::to_string(gpu) + ":\n       ";
    for (int i = 0; i < up; ++i) text += " U";
    for (int i = 0; i < down; ++i) text += gpu == gpus - 1 ? " D" : " U";
    for (int i = 0; i < absent; ++i) text += " _";
    text += "\n";
  }
  return text + "NvSwitches:\n    No NvSwitches found.\n\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n";
}

std::string diag(const std::string& rows) {
  return "dcgmi diag -r 2\nSuccessfully ran diagnostic for group.\n"
         "+---------------------------+------------------------------------------------+\n"
         "| Diagnostic                | Result                                         |\n"
         "+===========================+================================================+\n" +
         rows + "+---------------------------+------------------------------------------------+\n";
}

std::string aer(const std::string& severity, const std::string& error, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    const std::string at = "[ " + std::to_string(3000 + i) + ".500000] pcieport 0000:17:01.0: ";
    text += at + "PCIe Bus Error: severity=" + severity + ", type=Physical Layer, (Receiver ID)\n" + at +
            "  device [8086:347a] error status/mask=00000001/00002000\n" + at + "   [ 0] " + error + "\n";
  }
  return text;
}

const char* const kPass = "| PCIe                      | Pass - All                                     |\n";
const char* const kQuiet =
    "[   12.000000] nvidia 0000:4b:00.0: enabling device (0000 -> 0002)\n"
    "[   13.000000] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\n";

RuleCase speaks(const char* rule, const char* what, std::string text, FindingSeverity severity, const char* subject,
                const char* title) {
  return {rule, what, {{"out.txt", std::move(text)}}, true, severity, subject, title};
}
RuleCase silent(const char* rule, const char* what, std::string text) {
  return {rule, what, {{"out.txt", std::move(text)}}, false};
}

void add_xid_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("health.gpu-off-bus", "Xid79", xid("3b:00", "79, GPU has fallen off the bus."), kHigh, "0000:3b:00",
             "Xid 79"));
  add(speaks("health.gpu-off-bus", "WithoutAnXid",
             std::string(kQuiet) + "[  900.100000] NVRM: GPU 0000:ca:00.0: GPU has fallen off the bus.\n", kHigh,
             "0000:ca:00.0", "without an Xid"));
  add(silent("health.gpu-off-bus", "AnotherXid", xid("3b:00", "13, pid=7, name=python, Graphics Exception")));
  add(speaks("health.xid-memory", "DoubleBit", xid("3b:00", "48, pid=900, DBE on GPU"), kHigh, "0000:3b:00", "Xid 48"));
  add(speaks("health.xid-memory", "Contained", xid("3b:00", "94, pid=900, Contained: SM (0x1)"), kMedium, "0000:3b:00",
             "contained"));
  add(speaks("health.xid-memory", "RowRemapped", xid("3b:00", "63, pid=900, Row Remapper: New row"), kLow, "0000:3b:00",
             "remapped"));
  add(silent("health.xid-memory", "AnNvlinkError", xid("3b:00", "74, pid=1, NVLink: fatal error detected on link 5")));
  add(speaks("health.xid-nvlink", "Xid74", xid("3b:00", "74, pid=1, NVLink: fatal error detected on link 5"), kHigh,
             "0000:3b:00", "Xid 74"));
  add(speaks("health.xid-nvlink", "ANonfatalOneIsLow",
             xid("3b:00", "144, SAW_MVB Nonfatal XC0 i0 Link 3 (0x00000001 0x00000008 0x0 0x0 0x0 0x0)"), kLow,
             "0000:3b:00", "Xid 144"));
  add(speaks("health.xid-nvlink", "TheRootIsNamed",
             xid("18:00", "45, pid=5, name=python3, Ch 00000002 caused by previous Xid 145") +
                 xid("5d:00", "45, pid=6, name=python3, Ch 00000003 caused by previous Xid 149"),
             kHigh, "0000:5d:00", "neighbours follow with Xid 145 (0000:18:00)"));
  add(silent("health.xid-nvlink", "AProgramsFault", xid("3b:00", "31, pid=7, name=python, Ch 00000008, MMU Fault")));
  add(speaks("health.xid-firmware", "GspTimeout",
             xid("3b:00",
                 "119, pid=11, name=python, Timeout after 45s of waiting for RPC response from GPU2 GSP! Expected "
                 "function 76 (GSP_RM_CONTROL)"),
             kHigh, "0000:3b:00", "Xid 119"));
  add(silent("health.xid-firmware", "AnotherXid", xid("3b:00", "79, GPU has fallen off the bus.")));
  add(speaks("health.xid-program", "PageFault", xid("3b:00", "31, pid=7, name=python, Ch 00000008, MMU Fault"), kMedium,
             "0000:3b:00", "Xid 31"));
  add(silent("health.xid-program", "CleanupOnly", xid("3b:00", "45, pid=7, name=python, Ch 00000008")));
  add(speaks("health.xid-recovery", "NodeReboot",
             xid("3b:00", "154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"), kHigh,
             "0000:3b:00", "Node Reboot Required"));
  add(silent("health.xid-recovery", "BackToNone",
             xid("3b:00", "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)") +
                 xid("3b:00", "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)")));
  add(speaks("health.xid-other", "MicroControllerHalt", xid("3b:00", "62, pid=1, 2233 00"), kHigh, "0000:3b:00",
             "Xid 62"));
  add(speaks("health.xid-other", "NobodyHasPublishedIt", xid("3b:00", "9731, pid=1, something new"), kLow, "0000:3b:00",
             "no meaning"));
  add(silent("health.xid-other", "OneWithARuleOfItsOwn", xid("3b:00", "48, pid=900, DBE on GPU")));
  add(speaks(
      "health.xid-cleanup", "AfterAnother",
      xid("3b:00", "74, pid=1, NVLink: fatal error detected on link 5") + xid("3b:00", "45, pid=7, name=python, Ch 1"),
      kInfo, "0000:3b:00", "after the other Xids"));
  add(speaks("health.xid-cleanup", "Alone", xid("3b:00", "45, pid=7, name=python, Ch 1"), kLow, "0000:3b:00",
             "without its reason"));
  add(silent("health.xid-cleanup", "NoXid45", xid("3b:00", "48, pid=900, DBE on GPU")));
  add(speaks("health.gpu-init-failed", "RmInitAdapter",
             log("[   40.100000] NVRM: GPU 0000:ca:00.0: RmInitAdapter failed! (0x62:0xffff:2351)\n"), kHigh,
             "0000:ca:00.0", "initialise"));
  add(speaks("health.gpu-init-failed", "NoRoomForItsMemory",
             log("[   41.100000] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n"
                 "[   41.200000] nvidia: probe of 0000:ca:00.0 failed with error -1\n"),
             kHigh, "0000:ca:00.0", "initialise"));
  add(speaks(
      "health.peermem-error", "InvalidContext",
      log("[  300.100000] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping\n"),
      kLow, "", "nvidia-peermem"));
  add(silent("health.peermem-error", "TheDriverLoads", kQuiet));
  add(silent("health.gpu-init-failed", "TheDriverLoads", kQuiet));
  add(speaks("health.driver-mismatch", "ApiMismatch",
             log("[   88.100000] NVRM: API mismatch: the client has the version 550.90.12, but this kernel module has "
                 "the version "
                 "550.90.07.\n"),
             kHigh, "", "different versions"));
  add(silent("health.driver-mismatch", "TheDriverLoads", kQuiet));
}

void add_kernel_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks(
      "health.oom-killed", "ATrainingProcess",
      log("[  700.200000] Out of memory: Killed process 4242 (python3) total-vm:900000000kB, anon-rss:524288000kB, "
          "file-rss:0kB, shmem-rss:0kB\n"),
      kMedium, "python3", "killed python3"));
  add(speaks("health.oom-killed", "WithinItsLimit",
             log("[  700.200000] Memory cgroup out of memory: Killed process 4242 (torchrun) total-vm:900kB, "
                 "anon-rss:800kB\n"),
             kMedium, "torchrun", "within its limit"));
  add(silent("health.oom-killed", "ACrash",
             log("[  701.500000] pt_elastic[77]: segfault at 8 ip 00007f11 sp 00007f22 error 4 in "
                 "libc.so.6[7f11000+1000]\n")));
  add(speaks("health.segfault", "InNccl",
             log("[  701.500000] pt_elastic[77]: segfault at 8 ip 00007f11 sp 00007f22 error 4 in "
                 "libnccl.so.2[7f11000+1000]\n"),
             kMedium, "pt_elastic", "libnccl"));
  add(speaks("health.segfault", "OfAnotherProgramIsLow",
             log("[  701.500000] snapd[77]: segfault at 8 ip 00007f11 sp 00007f22 error 4 in snapd[7f11000+1000]\n"),
             kLow, "snapd", "snapd crashed"));
  add(silent("health.segfault", "OnlyTheDriver", kQuiet));
  add(speaks("health.kernel-panic", "Panic",
             log("[   99.100000] Kernel panic - not syncing: Fatal exception in interrupt\n"), kHigh, "",
             "Fatal exception"));
  add(silent("health.kernel-panic", "AHungTask",
             log("[   99.100000] INFO: task fio:31 blocked for more than 120 seconds.\n")));
  add(speaks("health.kernel-stall", "HungTask",
             log("[   99.100000] INFO: task python3:31 blocked for more than 120 seconds.\n"), kMedium, "",
             "python3 hung"));
  add(speaks("health.kernel-stall", "SoftLockup",
             log("[   99.100000] watchdog: BUG: soft lockup - CPU#17 stuck for 26s! [kworker/17:1:900]\n"), kMedium, "",
             "a CPU"));
  add(silent("health.kernel-stall", "OnlyTheDriver", kQuiet));
  add(speaks(
      "health.dimm-errors", "Uncorrected",
      log("[   50.000000] EDAC MC2: 1 UE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)\n"),
      kHigh, "CPU_SrcID#1_MC#0_Chan#1_DIMM#0", "1 uncorrected"));
  add(speaks(
      "health.dimm-errors", "AFewCorrected",
      log("[   50.000000] EDAC MC2: 3 CE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)\n"),
      kLow, "CPU_SrcID#1_MC#0_Chan#1_DIMM#0", "3 corrected"));
  add(silent("health.dimm-errors", "OnlyTheDriver", kQuiet));
  add(speaks("health.machine-check", "Uncorrected",
             log("[   50.000000] mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 7: be00000000800400\n"),
             kHigh, "", "uncorrected"));
  add(speaks("health.machine-check", "Corrected",
             log("[   50.000000] {1}[Hardware Error]: event severity: corrected\n"), kLow, "", "corrected"));
  add(silent("health.machine-check", "TheBanksAtBoot",
             log("[    0.100000] mce: CPU0: Thermal monitoring enabled (TM1)\n"
                 "[    0.200000] mce: [Hardware Error]: Using 32 MCE banks\n")));
  std::string hot;
  for (int i = 0; i < 30; ++i) {
    hot += "[   60.000" + std::to_string(100 + i) + "] CPU" + std::to_string(i) +
           ": Core temperature above threshold, cpu clock throttled (total events = 12)\n";
  }
  add(speaks("health.cpu-throttled", "ManyTimes", hot, kMedium, "", "30 times"));
  add(silent("health.cpu-throttled", "BackToNormal",
             log("[   60.900000] CPU3: Core temperature/speed normal\n") + kQuiet));
  add(speaks("health.disk-errors", "ReadErrors",
             log("[   70.100000] blk_update_request: I/O error, dev sdc, sector 4096 op 0x0\n"), kMedium, "sdc",
             "sdc: 1 error"));
  add(speaks(
      "health.disk-errors", "ShutDown",
      log("[   70.100000] XFS (nvme3n1p1): Filesystem has been shut down due to log error; Shutting down filesystem\n"),
      kHigh, "", "gone"));
  add(silent("health.disk-errors", "MountedAsUsual",
             log("[   70.100000] XFS (nvme3n1p1): Mounting V5 Filesystem\n") + kQuiet));
}

void add_pcie_log_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("health.pcie-uncorrected", "Fatal", aer("Uncorrected (Fatal)", "DLP", 1), kHigh, "0000:17:01.0",
             "uncorrected error"));
  add(speaks("health.pcie-uncorrected", "NonFatal", aer("Uncorrected (Non-Fatal)", "CmpltTO", 2), kMedium,
             "0000:17:01.0", "2 uncorrected"));
  add(silent("health.pcie-uncorrected", "CorrectedOnly", aer("Corrected", "RxErr", 3)));
  add(speaks("health.pcie-corrected", "Many", aer("Corrected", "RxErr", 250), kLow, "0000:17:01.0", "250 corrected"));
  add(silent("health.pcie-corrected", "AStrayOne", aer("Corrected", "RxErr", 3)));
  add(speaks("health.pcie-link-down", "Slot",
             log("[   44.500000] pcieport 0000:80:03.1: pciehp: Slot(21): Link Down\n"), kMedium, "0000:80:03.1",
             "went down"));
  add(silent("health.pcie-link-down", "ComesUp",
             log("[   44.500000] pcieport 0000:80:03.1: pciehp: Slot(21): Link Up\n") + kQuiet));
  add(speaks("health.pcie-limited", "Gen4SlotForAGen5Card",
             log("[    3.100000] mlx5_core 0000:9a:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s "
                 "PCIe x16 link at "
                 "0000:97:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)\n"),
             kMedium, "0000:9a:00.0", "252 of 504"));
  add(silent(
      "health.pcie-limited", "AllItCanDo",
      log("[    3.100000] mlx5_core 0000:9a:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)\n")));
  const std::string flap =
      "[   90.100000] mlx5_core 0000:9a:00.0 eth4: Link down\n[   93.100000] mlx5_core 0000:9a:00.0 eth4: Link up\n";
  add(speaks("health.nic-events", "Flaps", flap + flap + flap + flap, kMedium, "0000:9a:00.0", "4 times"));
  add(speaks("health.nic-events", "LittlePower",
             log("[    2.200000] mlx5_core 0000:9a:00.0: mlx5_pcie_event:301:(pid 12): Detected insufficient power on "
                 "the PCIe slot "
                 "(30W).\n"),
             kLow, "0000:9a:00.0", "too little power"));
  add(silent("health.nic-events", "NoCableInOnePort",
             log("[    2.200000] mlx5_core 0000:9a:00.1: Port module event: module 1, Cable unplugged\n") + kQuiet));
  add(speaks(
      "health.iommu-fault", "DmaRead",
      log("[   10.100000] DMAR: [DMA Read NO_PASID] Request device [3b:00.0] fault addr 0x0 [fault reason 0x06] PTE "
          "Read access "
          "is not set\n"),
      kMedium, "3b:00.0", "blocked"));
  add(silent("health.iommu-fault", "SwitchedOn", log("[    0.100000] DMAR: IOMMU enabled\n") + kQuiet));
}

void add_state_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("health.ecc-uncorrectable", "SinceTheReset", query(ecc(0, 2, 0)), kHigh, "GPU0", "since the last reset"));
  add(speaks("health.ecc-uncorrectable", "SramOverItsLimit", query(ecc(0, 0, 7)), kHigh, "GPU0", "to be replaced"));
  add(speaks("health.ecc-uncorrectable", "InTheTable", table({{}, {.ecc = "3"}}), kHigh, "GPU1", "uncorrectable"));
  add(silent("health.ecc-uncorrectable", "None", query(ecc(0, 0, 0))));
  add(speaks("health.row-remap", "Pending", query(remapped("1", "Yes", "No")), kHigh, "GPU0", "reset needed"));
  add(speaks("health.row-remap", "Failed", query(remapped("8", "No", "Yes")), kHigh, "GPU0", "to be replaced"));
  add(speaks("health.row-remap", "DoneIsNoFault", query(remapped("2", "No", "No")), kInfo, "GPU0", "repaired"));
  add(silent("health.row-remap", "None", query(remapped("0", "No", "No"))));
  const std::string pages = "    Retired Pages\n        Single Bit ECC : 0\n        Double Bit ECC : ";
  add(speaks("health.retired-pages", "NearlyAll",
             query(pages + "62\n        Pending Page Blacklist : No\n", "Tesla V100-SXM2-32GB"), kHigh, "GPU0",
             "to be replaced"));
  add(speaks("health.retired-pages", "Pending",
             query(pages + "1\n        Pending Page Blacklist : Yes\n", "Tesla V100-SXM2-32GB"), kMedium, "GPU0",
             "waits for a reset"));
  add(silent("health.retired-pages", "AFew",
             query(pages + "3\n        Pending Page Blacklist : No\n", "Tesla V100-SXM2-32GB")));
  add(speaks("health.reset-required", "Recovery", query("    GPU Recovery Action : Reset\n"), kHigh, "GPU0",
             "needs Reset"));
  add(silent("health.reset-required", "NothingToDo",
             query("    GPU Reset Status\n        Reset Required : No\n        Drain and Reset Recommended : No\n")));
  add(speaks("health.reading-failed", "NoTemperature", query("    Temperature\n        GPU Current Temp : ERR!\n"),
             kHigh, "GPU0", "does not answer"));
  add(silent("health.reading-failed", "OnlyTheFan", query("    Fan Speed : ERR!\n")));
  add(speaks(
      "health.tool-failed", "NoDriver",
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
      "driver is installed and running.\n",
      kHigh, "", "driver does not answer"));
  add(silent("health.tool-failed", "ATable", table({{}, {}})));
  const std::string two =
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-15\t0\nGPU1\tNV4\t X \t16-31\t1\n";
  cases.push_back({"health.gpu-missing",
                   "TheMatrixHasTwo",
                   {{"node5/smi.txt", table({{}})}, {"node5/topo.txt", two}},
                   true,
                   kHigh,
                   "node5",
                   "lists 1 GPUs"});
  cases.push_back(
      {"health.gpu-missing", "BothHaveTwo", {{"node5/smi.txt", table({{}, {}})}, {"node5/topo.txt", two}}, false});
  add(speaks("health.gpu-missing", "SevenOfABoard",
             "GPU 0: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
             "GPU 1: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
             "GPU 2: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000002)\n"
             "GPU 3: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000003)\n"
             "GPU 4: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000004)\n"
             "GPU 5: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000005)\n"
             "GPU 6: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000006)\n",
             kMedium, "", "lists 7 GPUs"));
  add(speaks("health.persistence-off", "OnAServersGpu", query("    Persistence Mode : Disabled\n"), kLow, "GPU0",
             "persistence"));
  add(silent("health.persistence-off", "OnADesktopsGpu",
             query("    Persistence Mode : Disabled\n", "NVIDIA GeForce RTX 4090")));
  const std::string mode = "    ECC Mode\n        Current : Disabled\n        Pending : Disabled\n";
  add(speaks("health.ecc-off", "OnAServersGpu", query(mode), kLow, "GPU0", "ECC off"));
  add(silent("health.ecc-off", "OnADesktopsGpu", query(mode, "NVIDIA GeForce RTX 4090")));
  add(speaks("health.mig-pending", "AStar", table({{}, {.mig = "Enabled*"}}), kLow, "GPU1", "waits for a reset"));
  add(silent("health.mig-pending", "Enabled", table({{}, {.mig = "Enabled"}})));
  std::string odd = query("    VBIOS Version : 92.00.45.00.03\n");
  odd += "GPU 00000000:5C:00.0\n    Product Name : NVIDIA A100-SXM4-80GB\n    VBIOS Version : 92.00.19.00.01\n";
  std::string alike = odd;
  alike.replace(alike.find("92.00.19.00.01"), 14, "92.00.45.00.03");
  add(speaks("health.settings-differ", "TwoVbios", odd, kLow, "", "differ in vbios"));
  add(silent("health.settings-differ", "Alike", alike));
  const auto smi = [](const char* driver) {
    std::string text = table({{}});
    for (std::size_t at = text.find("535.104.05"); at != std::string::npos; at = text.find("535.104.05", at + 1)) {
      text.replace(at, 10, driver);
    }
    return text;
  };
  const std::string bare = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-15\t0\n";
  cases.push_back({"health.drivers-differ",
                   "OneOfThree",
                   {{"n1/smi.txt", smi("550.054.14")},
                    {"n1/t.txt", bare},
                    {"n2/smi.txt", smi("550.054.14")},
                    {"n2/t.txt", bare},
                    {"n3/smi.txt", smi("535.161.08")},
                    {"n3/t.txt", bare}},
                   true,
                   kLow,
                   "n3",
                   "535.161.08 on 1 of 3"});
  cases.push_back({"health.drivers-differ",
                   "OneEverywhere",
                   {{"n1/smi.txt", smi("550.054.14")},
                    {"n1/t.txt", bare},
                    {"n2/smi.txt", smi("550.054.14")},
                    {"n2/t.txt", bare},
                    {"n3/smi.txt", smi("550.054.14")},
                    {"n3/t.txt", bare}},
                   false});
  cases.push_back(
      {"health.drivers-differ",
       "OfTwoNobodyIsTheOdd",
       {{"n1/smi.txt", smi("550.054.14")}, {"n1/t.txt", bare}, {"n2/smi.txt", smi("535.161.08")}, {"n2/t.txt", bare}},
       false});
}

void add_speed_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("health.hw-power-brake", "Active", query(reasons("HW Slowdown HW Power Brake Slowdown")), kHigh, "GPU0",
             "power brake"));
  add(silent("health.hw-power-brake", "Idle", query(reasons("Idle"))));
  add(speaks("health.thermal-slowdown", "Hardware", query(reasons("HW Slowdown HW Thermal Slowdown")), kHigh, "GPU0",
             "too hot"));
  add(speaks("health.thermal-slowdown", "Software", query(reasons("SW Thermal Slowdown")), kMedium, "GPU0",
             "driver lowers"));
  add(silent("health.thermal-slowdown", "PowerBrake", query(reasons("HW Slowdown HW Power Brake Slowdown"))));
  std::string bare = query("    Clocks Throttle Reasons\n        Idle : Not Active\n        HW Slowdown : Active\n");
  add(speaks("health.hw-slowdown", "WithoutAReason", bare, kMedium, "GPU0", "does not say why"));
  add(silent("health.hw-slowdown", "TheBrakeIsTheReason", query(reasons("HW Slowdown HW Power Brake Slowdown"))));
  const auto power = [](const char* draw, const char* limit, const char* usual) {
    return std::string("    GPU Power Readings\n        Power Draw : ") + draw +
           " W\n        Current Power Limit : " + limit + " W\n        Default Power Limit : " + usual + " W\n";
  };
  add(speaks("health.power-cap", "FarBelow", query(reasons("SW Power Cap") + power("120.0", "400.0", "400.0")), kMedium,
             "GPU0", "far below"));
  add(speaks("health.power-cap", "AtTheLimitIsNormal",
             query(reasons("SW Power Cap") + power("398.0", "400.0", "400.0")), kInfo, "GPU0", "normal under load"));
  add(silent("health.temperature", "AMarginOfNothingWhileCold",
             query("    Temperature\n        GPU Current Temp : 33 C\n        GPU T.Limit Temp : 0 C\n")));
  add(silent("health.fan", "APassiveCardPrintsZero",
             query("    Fan Speed : 0 %\n    Temperature\n        GPU Current Temp : 84 C\n", "NVIDIA A10")));
  add(silent("health.power-cap", "NotCapped", query(reasons("") + power("120.0", "400.0", "400.0"))));
  const std::string counters = "    Clocks Event Reasons Counters\n        SW Power Capping : ";
  add(speaks("health.slowdown-history", "PowerCap",
             query(reasons("Idle") + counters + "912000000 us\n        HW Thermal Slowdown : 0 us\n"), kInfo,
             "GPU0 sw_power_cap", "912 s"));
  add(silent("health.slowdown-history", "SomeSeconds",
             query(reasons("Idle") + counters + "2000000 us\n        HW Thermal Slowdown : 0 us\n")));
  add(speaks("health.power-limit", "Halved", query(power("90.0", "200.0", "400.0")), kMedium, "GPU0",
             "200 W, 400 W is usual"));
  add(silent("health.power-limit", "AsSold", query(power("90.0", "400.0", "400.0"))));
  const auto heat = [](const char* now, const char* slow) {
    return std::string("    Temperature\n        GPU Current Temp : ") + now +
           " C\n        GPU Slowdown Temp : " + slow + " C\n";
  };
  add(speaks("health.temperature", "AtItsLimit", query(heat("91", "92")), kMedium, "GPU0", "temperature"));
  add(silent("health.temperature", "Warm", query(heat("74", "92"))));
  add(speaks("health.fan", "DoesNotAnswer", query("    Fan Speed : ERR!\n"), kMedium, "GPU0", "speed of its fan"));
  add(speaks("health.fan", "FullWhileCool",
             query("    Fan Speed : 100 %\n    Utilization\n        Gpu : 0 %\n" + heat("35", "92"),
                   "NVIDIA GeForce RTX 3090"),
             kLow, "GPU0", "full speed"));
  add(silent("health.fan", "FullUnderLoad",
             query("    Fan Speed : 100 %\n    Utilization\n        Gpu : 99 %\n" + heat("78", "92"),
                   "NVIDIA GeForce RTX 3090")));
  const auto repeats = [](const char* count) {
    return std::string("    PCI\n        Replays Since Reset : ") + count + "\n        Replay Number Rollovers : 0\n";
  };
  add(speaks("health.pcie-replays", "Many", query(repeats("48210")), kLow, "GPU0", "repeats"));
  add(silent("health.pcie-replays", "Some", query(repeats("40"))));
  const auto clock = [](const char* now) {
    return std::string("    Utilization\n        Gpu : 99 %\n    Clocks\n        SM : ") + now +
           " MHz\n    Max Clocks\n        SM : 1410 MHz\n";
  };
  add(speaks("health.clocks-low", "HalfTheClock", query(clock("705") + power("150.0", "400.0", "400.0")), kMedium,
             "GPU0", "low clock"));
  add(silent("health.clocks-low", "AtThePowerLimit", query(clock("705") + power("396.0", "400.0", "400.0"))));
}

void add_nvlink_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("health.nvlink-down", "OneLink", nvlink(4, 11, 1, 0), kHigh, "GPU3", "1 of 12"));
  add(silent("health.nvlink-down", "AllUp", nvlink(4, 12, 0, 0)));
  add(speaks("health.nvlink-reduced", "ExportPart", nvlink(4, 8, 0, 4), kInfo, "", "8 of 12"));
  add(silent("health.nvlink-reduced", "AllUp", nvlink(4, 12, 0, 0)));
  const auto counts = [](const char* replay, const char* recovery) {
    return std::string("GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-11111111-0000-0000-0000-000000000000)\n") +
           "\t Link 0: Replay Errors: " + replay + "\n\t Link 0: Recovery Errors: " + recovery +
           "\n\t Link 0: CRC Errors: 0\n";
  };
  add(speaks("health.nvlink-errors", "Recovery", counts("3", "2"), kMedium, "GPU0", "recover"));
  add(speaks("health.nvlink-errors", "AFewRepeats", counts("3", "0"), kLow, "GPU0", "a few"));
  add(silent("health.nvlink-errors", "None", counts("0", "0")));
  add(speaks("health.fabric-state", "InProgress",
             query("    Fabric\n        State : In Progress\n        Status : N/A\n", "NVIDIA H200"), kHigh, "GPU0",
             "not ready"));
  add(silent("health.fabric-state", "Completed",
             query("    Fabric\n        State : Completed\n        Status : Success\n", "NVIDIA H200")));
  add(speaks("health.nvswitch-error", "FatalSxid",
             log("[  800.100000] nvidia-nvswitch2: SXid (PCI:0000:c7:00.0): 20034, Fatal, Link 31 LTSSM Fault Up\n"),
             kHigh, "NVSwitch 0000:c7:00.0", "fatal error 20034"));
  add(silent("health.nvswitch-error", "OnlyTheDriver", kQuiet));
  const auto manager = [](const char* level, const char* text) {
    return std::string("[Mar 04 2025 08:00:01] [INFO] [tid 77] Fabric Manager version 550.90.07 is running\n") +
           "[Mar 04 2025 08:00:02] [" + level + "] [tid 77] " + text + "\n";
  };
  add(speaks("health.fabric-manager", "FailedToInitialise",
             manager("ERROR", "failed to initialize NVSwitch port training"), kHigh, "", "fabric manager"));
  add(silent("health.fabric-manager", "Informs", manager("INFO", "all links are trained")));
}

void add_diag_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  const std::string memory =
      "| GPU Memory                | Pass - GPUs: 0, 1, 3                           |\n"
      "|                           | Fail - GPU: 2                                  |\n"
      "| Warning                   | GPU 2 Thermal violations totaling 8.5 seconds  |\n"
      "|                           | started at 4.0 seconds into the test for GPU   |\n"
      "|                           | 2                                              |\n";
  const std::string links =
      "| PCIe                      | Fail - All                                     |\n"
      "| Warning                   | GPU 0 GPU 0's NvLink link 2 is currently down  |\n";
  add(speaks("health.diag-failed", "TooHot", diag(memory), kHigh, "GPU2", "8.5 s too hot"));
  add(silent("health.diag-failed", "Passes", diag(kPass)));
  add(speaks("health.diag-links", "MayHaveNone", diag(links), kLow, "", "may not have"));
  add(silent("health.diag-links", "AnotherTest", diag(memory)));
  add(speaks("health.diag-passed", "Level2", diag(kPass), kInfo, "", "level 2"));
  add(silent("health.diag-passed", "Fails", diag(memory)));
  const auto health = [](const char* overall, const char* rest) {
    return std::string(
               "+---------------------------+----------------------------------------------------------+\n"
               "| Health Monitor Report                                                                |\n"
               "+===========================+==========================================================+\n"
               "| Overall Health            | ") +
           overall + "                                                  |\n" + rest +
           "+---------------------------+----------------------------------------------------------+\n";
  };
  add(speaks("health.dcgm-incident", "Warning",
             health("Warning",
                    "| GPU                       |                                                          |\n"
                    "| -> 1                      | Warning                                                  |\n"
                    "| -> Errors                 |                                                          |\n"
                    "|    -> NVLINK system       | Warning                                                  |\n"),
             kMedium, "", "warning"));
  add(silent("health.dcgm-incident", "Healthy", health("Healthy", "")));
}

}  // namespace

std::span<const RuleCase> health_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> list;
    for (const auto part : {add_xid_cases, add_kernel_cases, add_pcie_log_cases, add_state_cases, add_speed_cases,
                            add_nvlink_cases, add_diag_cases}) {
      part(list);
    }
    return list;
  }();
  return cases;
}

}  // namespace tare
