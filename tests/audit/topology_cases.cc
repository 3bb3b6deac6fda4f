#include "topology_cases.h"

namespace tare {
namespace {

const char* const kFarNic =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tPIX\t0-15\t0\n"
    "GPU1\tNV4\t X \tSYS\t16-31\t1\n"
    "NIC0\tPIX\tSYS\t X \t\t\n";
const char* const kNearNics =
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tPIX\tSYS\t0-15\t0\n"
    "GPU1\tNV4\t X \tSYS\tPIX\t16-31\t1\n"
    "NIC0\tPIX\tSYS\t X \tSYS\t\t\n"
    "NIC1\tSYS\tPIX\tSYS\t X \t\t\n";
// GPU memory is a NUMA node of the CPU: NICs hang on the CPU by design.
const char* const kOnTheCpu =
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV18\tSYS\tSYS\t0-35\t0,2\t3\n"
    "GPU1\tNV18\t X \tSYS\tSYS\t36-71\t1,4\t5\n"
    "NIC0\tSYS\tSYS\t X \tSYS\t\t\t\n"
    "NIC1\tSYS\tSYS\tSYS\t X \t\t\t\n";
const char* const kSharedNic =
    "\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV6\tNV6\tPXB\tNODE\t0-23\t0\n"
    "GPU1\tNV6\t X \tNV6\tPXB\tNODE\t0-23\t0\n"
    "GPU2\tNV6\tNV6\t X \tNODE\tPIX\t0-23\t0\n"
    "NIC0\tPXB\tPXB\tNODE\t X \tNODE\t\t\n"
    "NIC1\tNODE\tNODE\tPIX\tNODE\t X \t\t\n";
const char* const kNpus =
    "npu-smi info -t topo\n"
    "\n"
    "\tNPU0\tNPU1\tCPU Affinity\n"
    "NPU0\tX\tHCCS\t0-11\n"
    "NPU1\tHCCS\tX\t12-23\n";
const char* const kCutMatrix =
    "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV8\tNV8\t0-15\t0\n"
    "GPU1\tNV8\t X \tNV8\t0-15\t0\n";
const char* const kP2pRefused =
    "$ nvidia-smi topo -p2p r\n"
    " \tGPU0\tGPU1\n"
    " GPU0\tX\tCNS\n"
    " GPU1\tCNS\tX\n";
const char* const kP2pWorks =
    "$ nvidia-smi topo -p2p r\n"
    " \tGPU0\tGPU1\n"
    " GPU0\tX\tOK\n"
    " GPU1\tOK\tX\n";
const char* const kListOfH100 =
    "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-555555555550)\n"
    "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-555555555551)\n";
const char* const kListOfL40s =
    "GPU 0: NVIDIA L40S (UUID: GPU-11111111-2222-3333-4444-555555555550)\n"
    "GPU 1: NVIDIA L40S (UUID: GPU-11111111-2222-3333-4444-555555555551)\n";
const char* const kTwoModels =
    "GPU 0: NVIDIA A30 (UUID: GPU-11111111-2222-3333-4444-555555555550)\n"
    "GPU 1: NVIDIA L40S (UUID: GPU-11111111-2222-3333-4444-555555555551)\n";

const char* const kPcieOnly =
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNODE\t0-19\t0\n"
    "GPU1\tNODE\t X \t0-19\t0\n";
const char* const kMp =
    "$ nvidia-smi topo -mp\n"
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNODE\t0-19\t0\n"
    "GPU1\tNODE\t X \t0-19\t0\n";
const char* const kOneBridge =
    "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tPHB\tNV4\t0-11\t0\n"
    "GPU1\tPHB\t X \tPHB\t0-11\t0\n"
    "GPU2\tNV4\tPHB\t X \t0-11\t0\n";
const char* const kTwoBridges =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tSYS\tSYS\t0-11\t0\n"
    "GPU1\tNV4\t X \tSYS\tSYS\t0-11\t0\n"
    "GPU2\tSYS\tSYS\t X \tNV4\t12-23\t1\n"
    "GPU3\tSYS\tSYS\tNV4\t X \t12-23\t1\n";
const char* const kRing =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV2\tPHB\tNV1\t0-11\t0\n"
    "GPU1\tNV2\t X \tNV1\tPHB\t0-11\t0\n"
    "GPU2\tPHB\tNV1\t X \tNV2\t0-11\t0\n"
    "GPU3\tNV1\tPHB\tNV2\t X \t0-11\t0\n";
const char* const kSwitched =
    "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV12\tNV12\t0-11\t0\n"
    "GPU1\tNV12\t X \tNV12\t0-11\t0\n"
    "GPU2\tNV12\tNV12\t X \t0-11\t0\n";
// Six links to each of three peers: none is missing without a switch.
const char* const kSharedOut =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV6\tNV6\tNV6\t0-11\t0\n"
    "GPU1\tNV6\t X \tNV6\tNV6\t0-11\t0\n"
    "GPU2\tNV6\tNV6\t X \tNV6\t0-11\t0\n"
    "GPU3\tNV6\tNV6\tNV6\t X \t0-11\t0\n";
const char* const kThinGpu =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV18\tNV18\tNV14\t0-11\t0\n"
    "GPU1\tNV18\t X \tNV18\tNV14\t0-11\t0\n"
    "GPU2\tNV18\tNV18\t X \tNV14\t0-11\t0\n"
    "GPU3\tNV14\tNV14\tNV14\t X \t0-11\t0\n";

// Eight GPUs with a rail each, all SYS: what a virtual machine shows of a board with NVLink.
std::string rails_without_nvlink(int gpus, const char* pair) {
  std::string text;
  for (int i = 0; i < gpus; ++i) text += "\tGPU" + std::to_string(i);
  for (int i = 0; i < gpus; ++i) text += "\tNIC" + std::to_string(i);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (int i = 0; i < gpus; ++i) {
    text += "GPU" + std::to_string(i);
    for (int j = 0; j < gpus; ++j) text += i == j ? "\t X " : std::string("\t") + pair;
    for (int j = 0; j < gpus; ++j) text += i == j ? "\tPIX" : "\tSYS";
    text += i < gpus / 2 ? "\t0-39\t0\n" : "\t40-79\t1\n";
  }
  return text;
}

const char* const kHiddenTree =
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tPHB\t0-47\t0-1\n"
    "GPU1\tPHB\t X \t0-47\t0-1\n";
const char* const kNumaNa =
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tPHB\t0-11\tN/A\t\tN/A\n"
    "GPU1\tPHB\t X \t0-11\tN/A\t\tN/A\n";
const char* const kSysInNode =
    "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tSYS\t0-19\t1\n"
    "GPU1\tSYS\t X \t0-19\t1\n";
const char* const kTwoCpus =
    "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tPIX\t6,38\t0\n"
    "NIC0\tPIX\t X \t\t\n";
const char* const kUneven =
    "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNODE\tSYS\t0-15\t0\n"
    "GPU1\tNODE\t X \tSYS\t0-15\t0\n"
    "GPU2\tSYS\tSYS\t X \t16-31\t1\n";

const char* const kMemoryNodes =
    "NUMA node(s):          3\n"
    "NUMA node0 CPU(s):     0-63\n"
    "NUMA node1 CPU(s):\n"
    "NUMA node2 CPU(s):\n";
const char* const kSockets =
    "CPU(s):                64\n"
    "Thread(s) per core:    2\n"
    "NUMA node(s):          2\n"
    "NUMA node0 CPU(s):     0-31\n"
    "NUMA node1 CPU(s):     32-63\n";
const char* const kOffline =
    "CPU(s):                64\n"
    "On-line CPU(s) list:   0-61\n"
    "Off-line CPU(s) list:  62,63\n"
    "Thread(s) per core:    2\n";
const char* const kDimmLess =
    "available: 2 nodes (0-1)\n"
    "node 0 cpus: 0 1 2 3\n"
    "node 0 size: 515700 MB\n"
    "node 0 free: 400000 MB\n"
    "node 1 cpus: 4 5 6 7\n"
    "node 1 size: 451200 MB\n"
    "node 1 free: 400000 MB\n";
const char* const kEvenMemory =
    "available: 2 nodes (0-1)\n"
    "node 0 cpus: 0 1 2 3\n"
    "node 0 size: 515700 MB\n"
    "node 0 free: 400000 MB\n"
    "node 1 cpus: 4 5 6 7\n"
    "node 1 size: 516060 MB\n"
    "node 1 free: 400000 MB\n";
const char* const kNoMemory =
    "available: 2 nodes (0-1)\n"
    "node 0 cpus: 0 1 2 3\n"
    "node 0 size: 257600 MB\n"
    "node 0 free: 100000 MB\n"
    "node 1 cpus: 4 5 6 7\n"
    "node 1 size: 0 MB\n"
    "node 1 free: 0 MB\n";
const char* const kThreeOnTheBus =
    "1b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n"
    "\tKernel driver in use: nvidia\n"
    "3d:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n"
    "\tKernel driver in use: nvidia\n"
    "5e:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n"
    "\tKernel driver in use: nvidia\n";
const char* const kTwoListed =
    "GPU 0: NVIDIA A100-PCIE-40GB (UUID: GPU-11111111-2222-3333-4444-555555555550)\n"
    "GPU 1: NVIDIA A100-PCIE-40GB (UUID: GPU-11111111-2222-3333-4444-555555555551)\n";
const char* const kThreeListed =
    "GPU 0: NVIDIA A100-PCIE-40GB (UUID: GPU-11111111-2222-3333-4444-555555555550)\n"
    "GPU 1: NVIDIA A100-PCIE-40GB (UUID: GPU-11111111-2222-3333-4444-555555555551)\n"
    "GPU 2: NVIDIA A100-PCIE-40GB (UUID: GPU-11111111-2222-3333-4444-555555555552)\n";

constexpr FindingSeverity kInfo = FindingSeverity::kInfo, kLow = FindingSeverity::kLow,
                          kMedium = FindingSeverity::kMedium, kHigh = FindingSeverity::kHigh;

std::vector<RuleCase> matrix_cases() {
  return {
      {"topology.nic-far", "OneGpuAcrossTheSocket", {{"topo.txt", kFarNic}}, true, kLow, "GPU1", "1 of 2 GPUs"},
      {"topology.nic-far", "EachOnItsSwitch", {{"topo.txt", kNearNics}}, false},
      {"topology.nic-far", "NicsOfTheCpuByDesign", {{"topo.txt", kOnTheCpu}}, false},
      {"topology.nic-shared", "TwoShareOneHasItsOwn", {{"topo.txt", kSharedNic}}, true, kLow, "", "GPU0, GPU1 share"},
      {"topology.nic-shared", "EachOnItsSwitch", {{"topo.txt", kNearNics}}, false},
      {"topology.not-nvidia", "Npus", {{"topo.txt", kNpus}}, true, kInfo, "", "2 accelerators of Huawei Ascend"},
      {"topology.not-nvidia", "NvlinkIsNvidias", {{"topo.txt", kSwitched}}, false},
      {"topology.matrix-damaged", "LastRowGone", {{"topo.txt", kCutMatrix}}, true, kInfo, "", "only 2 of 3"},
      {"topology.matrix-damaged", "Whole", {{"topo.txt", kSwitched}}, false},
      {"topology.p2p-off", "ChipsetRefuses", {{"p2p.txt", kP2pRefused}}, true, kLow, "", "1 GPU pairs"},
      {"topology.p2p-off",
       "OnGpusWithNvlink",
       {{"n1/p2p.txt", kP2pRefused}, {"n1/list.txt", kListOfH100}},
       true,
       kMedium,
       "n1",
       "CNS"},
      {"topology.p2p-off", "AllWork", {{"p2p.txt", kP2pWorks}}, false},
  };
}

std::vector<RuleCase> nvlink_cases() {
  return {
      {"topology.nvlink-missing",
       "KnownToHaveIt",
       {{"n1/topo.txt", kPcieOnly}, {"n1/list.txt", kListOfH100}},
       true,
       kMedium,
       "n1",
       "between 2 GPUs"},
      {"topology.nvlink-missing",
       "RailsOfABoard",
       {{"topo.txt", rails_without_nvlink(8, "SYS")}},
       true,
       kMedium,
       "",
       "between 8 GPUs"},
      {"topology.nvlink-missing",
       "CardsWithoutNvlink",
       {{"n1/topo.txt", kPcieOnly}, {"n1/list.txt", kListOfL40s}},
       false},
      {"topology.nvlink-missing", "CardsUnderSwitches", {{"topo.txt", rails_without_nvlink(8, "PXB")}}, false},
      {"topology.no-nvlink", "CardsOnPcie", {{"topo.txt", kPcieOnly}}, true, kInfo, "", "PCIe only"},
      {"topology.no-nvlink", "MatrixThatHidesIt", {{"topo.txt", kMp}}, false},
      {"topology.mp-hides-nvlink", "PciPathsOnly", {{"topo.txt", kMp}}, true, kInfo, "", "proves nothing"},
      {"topology.mp-hides-nvlink", "FullMatrix", {{"topo.txt", kPcieOnly}}, false},
      {"topology.nvlink-left-out",
       "OneBridgeThreeCards",
       {{"topo.txt", kOneBridge}},
       true,
       kMedium,
       "GPU1",
       "no NVLink"},
      {"topology.nvlink-left-out", "TwoBridgesFourCards", {{"topo.txt", kTwoBridges}}, false},
      {"topology.nvlink-islands", "AcrossTheSocket", {{"topo.txt", kTwoBridges}}, true, kMedium, "", "socket link"},
      {"topology.nvlink-islands", "OneIsland", {{"topo.txt", kRing}}, false},
      {"topology.nvlink-fewer", "FourLinksDown", {{"topo.txt", kThinGpu}}, true, kMedium, "GPU3", "14 NVLinks of 18"},
      {"topology.nvlink-fewer", "AllAlike", {{"topo.txt", kSwitched}}, false},
      {"topology.nvlink-fewer",
       "SwitchedBelowTheModel",
       {{"n1/topo.txt", kSwitched}, {"n1/list.txt", kListOfH100}},
       true,
       kMedium,
       "n1",
       "12 NVLinks of 18"},
      {"topology.nvlink-fewer",
       "SharedOutAmongFour",
       {{"n1/topo.txt", kSharedOut}, {"n1/list.txt", kListOfH100}},
       false},
      {"topology.nvlink-fewer", "EvenMesh", {{"topo.txt", kRing}}, false},
      {"topology.nvlink-mesh", "PairsWithoutByDesign", {{"topo.txt", kRing}}, true, kInfo, "", "3 links at each GPU"},
      {"topology.nvlink-mesh", "BehindASwitch", {{"topo.txt", kSwitched}}, false},
  };
}

std::vector<RuleCase> numa_cases() {
  return {
      {"topology.tree-hidden", "RangeOfNodes", {{"topo.txt", kHiddenTree}}, true, kLow, "", "NUMA affinity 0-1"},
      {"topology.tree-hidden", "OneNodeEach", {{"topo.txt", kFarNic}}, false},
      {"topology.numa-unknown", "Na", {{"topo.txt", kNumaNa}}, true, kInfo, "", "GPU0, GPU1"},
      {"topology.numa-unknown", "Known", {{"topo.txt", kPcieOnly}}, false},
      {"topology.sys-in-numa-node", "SameNode", {{"topo.txt", kSysInNode}}, true, kLow, "", "1 GPU pairs"},
      {"topology.sys-in-numa-node", "OtherNode", {{"topo.txt", kTwoBridges}}, false},
      {"topology.few-cpus", "Container", {{"topo.txt", kTwoCpus}}, true, kLow, "GPU0", "2 CPUs for 1 GPU"},
      {"topology.few-cpus", "WholeMachine", {{"topo.txt", kPcieOnly}}, false},
      {"topology.cpus-uneven", "TwoAndOne", {{"topo.txt", kUneven}}, true, kLow, "", "8 CPU threads"},
      {"topology.cpus-uneven", "TwoAndTwo", {{"topo.txt", kTwoBridges}}, false},
      {"topology.numa-binding", "TwoSockets", {{"topo.txt", kTwoBridges}}, true, kInfo, "", "2 NUMA nodes"},
      {"topology.numa-binding", "OneNode", {{"topo.txt", kPcieOnly}}, false},
      {"topology.numa-without-cpus", "MemoryNodes", {{"lscpu.txt", kMemoryNodes}}, true, kInfo, "", "1 has CPUs"},
      {"topology.numa-without-cpus", "TwoSockets", {{"lscpu.txt", kSockets}}, false},
      {"topology.numa-memory", "OneDimmLess", {{"numa.txt", kDimmLess}}, true, kLow, "", "441 GiB"},
      {"topology.numa-memory", "NoneAtAll", {{"numa.txt", kNoMemory}}, true, kMedium, "", "no memory"},
      {"topology.numa-memory", "KernelTakesAFew", {{"numa.txt", kEvenMemory}}, false},
      {"topology.cpus-offline", "LastTwo", {{"lscpu.txt", kOffline}}, true, kLow, "", "62,63"},
      {"topology.cpus-offline", "AllOnline", {{"lscpu.txt", kSockets}}, false},
  };
}

std::vector<RuleCase> gpu_inventory_cases() {
  return {
      {"topology.gpus-mixed", "TwoModels", {{"list.txt", kTwoModels}}, true, kLow, "", "2 GPU models"},
      {"topology.gpus-mixed", "OneModel", {{"list.txt", kListOfL40s}}, false},
      {"topology.gpu-not-listed",
       "OneFewer",
       {{"n1/lspci.txt", kThreeOnTheBus}, {"n1/list.txt", kTwoListed}},
       true,
       kHigh,
       "n1",
       "3 GPUs on the bus, 2"},
      {"topology.gpu-not-listed",
       "AllListed",
       {{"n1/lspci.txt", kThreeOnTheBus}, {"n1/list.txt", kThreeListed}},
       false},
      {"topology.gpu-not-listed",
       "OtherNodesList",
       {{"n1/lspci.txt", kThreeOnTheBus},
        {"n1/topo.txt", kPcieOnly},
        {"n2/list.txt", kTwoListed},
        {"n2/topo.txt", kPcieOnly}},
       false},
  };
}

}  // namespace

std::span<const RuleCase> topology_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all;
    for (const auto part : {matrix_cases, nvlink_cases, numa_cases, gpu_inventory_cases, pcie_cases}) {
      const std::vector<RuleCase> some = part();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return cases;
}

}  // namespace tare
