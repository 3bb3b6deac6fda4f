#include "topology_cases.h"

namespace tare {
namespace {

std::string gpu_device(const char* address, const char* capable, const char* state) {
  return std::string(address) +
         " 3D controller: NVIDIA Corporation GH100 [H100 PCIe] (rev a1)\n"
         "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
         "\t\tLnkCap:\tPort #0, " +
         capable + ", ASPM not supported\n\t\tLnkSta:\t" + state + "\n";
}

std::string port(const char* address, const char* type, const char* below, const char* capable, const char* state) {
  return std::string(address) +
         " PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)\n"
         "\tBus: primary=10, secondary=" +
         below + ", subordinate=" + below + ", sec-latency=0\n\tCapabilities: [68] Express (v2) " + type +
         " (Slot+), MSI 00\n\t\tLnkCap:\tPort #1, " + capable + ", ASPM not supported\n\t\tLnkSta:\t" + state + "\n";
}

const char* const kWide = "Speed 32GT/s, Width x16";
const char* const kFull = "Speed 32GT/s (ok), Width x16 (ok)";
const char* const kQuarter = "Speed 32GT/s (ok), Width x4 (downgraded)";
const char* const kGen3 = "Speed 8GT/s (downgraded), Width x16 (ok)";
const char* const kGen1 = "Speed 2.5GT/s (downgraded), Width x16 (ok)";

std::string bridge_with_acs(const char* type, const char* control) {
  return port("11:00.0", type, "12", kWide, kFull) + "\t\tACSCtl:\t" + control + "\n" +
         gpu_device("12:00.0", kWide, kFull) +
         "12:00.1 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n";
}
const char* const kRedirects = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-";
const char* const kDirect = "SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-";

std::string nic_device(const char* reads) {
  return std::string(
             "41:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
             "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n"
             "\t\tDevCtl:\tCorrErr- NonFatalErr-\n"
             "\t\t\tMaxPayload 256 bytes, MaxReadReq ") +
         reads + " bytes\n\t\tLnkCap:\tPort #0, " + kWide + ", ASPM not supported\n\t\tLnkSta:\t" + kFull + "\n";
}

std::string with_errors(const char* uncorrectable, const char* correctable) {
  return gpu_device("12:00.0", kWide, kFull) + "\tCapabilities: [100 v2] Advanced Error Reporting\n\t\tUESta:\t" +
         uncorrectable + "\n\t\tCESta:\t" + correctable + "\n";
}
const char* const kNoUncorrectable =
    "DLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- MalfTLP- ECRC- UnsupReq-";
const char* const kNoCorrectable = "RxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr-";

const char* const kBusyAtGen3 =
    "index, name, pstate, utilization.gpu [%], pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current\n"
    "0, NVIDIA L40S, P0, 97 %, 3, 4, 16\n"
    "1, NVIDIA L40S, P0, 96 %, 4, 4, 16\n";
const char* const kIdleAtGen1 =
    "index, name, pstate, utilization.gpu [%], pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current\n"
    "0, NVIDIA L40S, P8, 0 %, 1, 4, 16\n"
    "1, NVIDIA L40S, P8, 0 %, 1, 4, 16\n";

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium, kHigh = FindingSeverity::kHigh;

std::vector<RuleCase> link_cases() {
  return {
      {"pcie.width-reduced",
       "FourLanes",
       {{"lspci.txt", gpu_device("18:00.0", kWide, kQuarter)}},
       true,
       kMedium,
       "18:00.0",
       "x4 of x16"},
      {"pcie.width-reduced",
       "SlotWiredForFour",
       {{"lspci.txt", port("17:00.0", "Downstream Port", "18", "Speed 32GT/s, Width x4", "Speed 32GT/s, Width x4") +
                          gpu_device("18:00.0", kWide, kQuarter)}},
       false},
      {"pcie.width-reduced", "AllLanes", {{"lspci.txt", gpu_device("18:00.0", kWide, kFull)}}, false},
      {"pcie.speed-reduced",
       "Gen3OfGen5",
       {{"lspci.txt", gpu_device("18:00.0", kWide, kGen3)}},
       true,
       kMedium,
       "18:00.0",
       "Gen3 of Gen5"},
      {"pcie.speed-reduced", "UnderLoad", {{"smi.csv", kBusyAtGen3}}, true, kMedium, "GPU0", "under load"},
      {"pcie.speed-reduced", "IdleGpu", {{"smi.csv", kIdleAtGen1}}, false},
      {"pcie.speed-reduced",
       "SlotOfGen3",
       {{"lspci.txt", port("17:00.0", "Downstream Port", "18", "Speed 8GT/s, Width x16", "Speed 8GT/s, Width x16") +
                          gpu_device("18:00.0", kWide, kGen3)}},
       false},
      {"pcie.idle-power-saving", "AtP8", {{"smi.csv", kIdleAtGen1}}, true, kInfo, "", "idle power saving"},
      {"pcie.idle-power-saving",
       "NoLoadKnown",
       {{"lspci.txt", gpu_device("18:00.0", kWide, kGen1)}},
       true,
       kInfo,
       "18:00.0",
       "Gen1"},
      {"pcie.idle-power-saving", "UnderLoad", {{"smi.csv", kBusyAtGen3}}, false},
      {"pcie.slot-slower",
       "Gen3Slot",
       {{"lspci.txt", port("17:00.0", "Downstream Port", "18", "Speed 8GT/s, Width x16", "Speed 8GT/s, Width x16") +
                          gpu_device("18:00.0", kWide, kGen3)}},
       true,
       kLow,
       "18:00.0",
       "gives Gen3 x16"},
      {"pcie.slot-slower",
       "SlotAsGood",
       {{"lspci.txt", port("17:00.0", "Downstream Port", "18", kWide, kGen3) + gpu_device("18:00.0", kWide, kGen3)}},
       false},
      {"pcie.port-above-device",
       "Gen4DeviceUnderGen5Port",
       {{"lspci.txt", port("17:00.0", "Downstream Port", "18", kWide, "Speed 16GT/s (downgraded), Width x16 (ok)") +
                          gpu_device("18:00.0", "Speed 16GT/s, Width x16", "Speed 16GT/s (ok), Width x16 (ok)")}},
       true,
       kInfo,
       "17:00.0",
       "expected"},
      {"pcie.port-above-device",
       "DeviceCouldDoMore",
       {{"lspci.txt", port("17:00.0", "Downstream Port", "18", kWide, kGen3) + gpu_device("18:00.0", kWide, kGen3)}},
       false},
  };
}

std::vector<RuleCase> device_cases() {
  return {
      {"pcie.acs-redirect",
       "SwitchWithGpuAndNic",
       {{"lspci.txt", bridge_with_acs("Downstream Port", kRedirects)}},
       true,
       kMedium,
       "11:00.0",
       "2 GPUs and NICs"},
      {"pcie.acs-redirect",
       "RootPort",
       {{"lspci.txt", bridge_with_acs("Root Port", kRedirects)}},
       true,
       kInfo,
       "11:00.0"},
      {"pcie.acs-redirect", "Off", {{"lspci.txt", bridge_with_acs("Downstream Port", kDirect)}}, false},
      {"pcie.errors-recorded",
       "BadPackets",
       {{"lspci.txt", with_errors(kNoUncorrectable, "RxErr- BadTLP+ BadDLLP+ Rollover- Timeout- AdvNonFatalErr+")}},
       true,
       kLow,
       "12:00.0",
       "BadTLP"},
      {"pcie.errors-recorded",
       "SurpriseDown",
       {{"lspci.txt", with_errors("DLP- SDES+ TLP- FCP- CmpltTO- UnsupReq+", kNoCorrectable)}},
       true,
       kMedium,
       "12:00.0",
       "SDES"},
      {"pcie.errors-recorded",
       "NoiseOfProbing",
       {{"lspci.txt", with_errors("DLP- SDES- TLP- UnsupReq+", "RxErr- BadTLP- BadDLLP- AdvNonFatalErr+")}},
       false},
      {"pcie.device-gone",
       "AllOnes",
       {{"lspci.txt",
         "3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 40GB] (rev ff)\n"
         "5e:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 40GB] (rev a1)\n"}},
       true,
       kHigh,
       "3b:00.0",
       "no longer answers"},
      {"pcie.device-gone", "Answers", {{"lspci.txt", gpu_device("18:00.0", kWide, kFull)}}, false},
      {"pcie.gpu-driver",
       "Nouveau",
       {{"lspci.txt", gpu_device("18:00.0", kWide, kFull) + "\tKernel driver in use: nouveau\n"}},
       true,
       kMedium,
       "18:00.0",
       "nouveau"},
      {"pcie.gpu-driver",
       "Nvidia",
       {{"lspci.txt", gpu_device("18:00.0", kWide, kFull) + "\tKernel driver in use: nvidia\n"}},
       false},
      {"pcie.small-read-requests", "Default", {{"lspci.txt", nic_device("512")}}, true, kInfo, "41:00.0", "512 bytes"},
      {"pcie.small-read-requests", "AsAdvised", {{"lspci.txt", nic_device("4096")}}, false},
  };
}

}  // namespace

std::vector<RuleCase> pcie_cases() {
  std::vector<RuleCase> cases = link_cases();
  const std::vector<RuleCase> devices = device_cases();
  cases.insert(cases.end(), devices.begin(), devices.end());
  return cases;
}

}  // namespace tare
