#include "rule_case.h"

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

}  // namespace

std::span<const RuleCase> topology_cases() {
  static const std::vector<RuleCase> cases = {
      {"topology.nic-far",
       "OneGpuAcrossTheSocket",
       {{"topo.txt", kFarNic}},
       true,
       FindingSeverity::kLow,
       "",
       "1 of 2 GPUs"},
      {"topology.nic-far", "EachOnItsSwitch", {{"topo.txt", kNearNics}}, false},
  };
  return cases;
}

}  // namespace tare
