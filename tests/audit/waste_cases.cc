#include "rule_case.h"

namespace tare {
namespace {

const char* const kProm = "http://prom.lab:9090";

const char* const kHalfIdleJob =
    "Hostname=n1,gpu=0,modelName=NVIDIA H100 80GB HBM3,hpc_job=7,user=kim | 24 14 15 33\n"
    "Hostname=n1,gpu=1,modelName=NVIDIA H100 80GB HBM3,hpc_job=7,user=kim | 24 14 15 33\n";
const char* const kBusyJob =
    "Hostname=n1,gpu=0,hpc_job=8 | 24 0.5 0.5 91\n"
    "Hostname=n1,gpu=1,hpc_job=8 | 24 0.5 0.5 92\n";
const char* const kTwoOfThreeFree =
    "Hostname=n1,gpu=0,exported_pod=train-0,exported_namespace=ml | 24 0 0 90\n"
    "Hostname=n1,gpu=1,pod=dcgm-exporter-x7,namespace=gpu-operator | 24 24 24 0\n"
    "Hostname=n1,gpu=2,pod=dcgm-exporter-x7,namespace=gpu-operator | 24 24 24 0\n";
const char* const kLowUse =
    "Hostname=n1,gpu=0,exported_pod=serve-0,exported_namespace=web | 20 0 20 16\n"
    "Hostname=n1,gpu=1,exported_pod=serve-0,exported_namespace=web | 20 0 20 16\n";
const char* const kOneNodeForSixHours =
    "Hostname=n1,gpu=0,hpc_job=8 | 24 0 0 91\n"
    "Hostname=n2,gpu=0,hpc_job=8 | 6 0 0 91\n";

}  // namespace

std::span<const RuleCase> waste_cases() {
  static const std::vector<RuleCase> cases = {
      {"waste.held-idle",
       "JobIdleMostOfTheDay",
       {{kProm, kHalfIdleJob}},
       true,
       FindingSeverity::kMedium,
       "job 7",
       "28 of them idle (58 %)"},
      {"waste.held-idle", "HalfAnHourBetweenSteps", {{kProm, kBusyJob}}, false},
      {"waste.free-gpus",
       "TwoOfThreeHeldByNobody",
       {{kProm, kTwoOfThreeFree}},
       true,
       FindingSeverity::kMedium,
       "cluster",
       "48 of 72 GPU-hours"},
      {"waste.free-gpus", "AllHeld", {{kProm, kBusyJob}}, false},
      {"waste.low-use",
       "ServesAtSixteenPercent",
       {{kProm, kLowUse}},
       true,
       FindingSeverity::kMedium,
       "web/serve-0",
       "uses 16 % of its 2 GPUs"},
      {"waste.low-use", "Busy", {{kProm, kBusyJob}}, false},
      {"waste.no-telemetry", "EmptyAnswer", {{kProm, ""}}, true, FindingSeverity::kMedium, kProm, "no series"},
      {"waste.no-telemetry", "SeriesThere", {{kProm, kBusyJob}}, false},
      {"waste.gaps",
       "NodeSeenForSixHours",
       {{kProm, kOneNodeForSixHours}},
       true,
       FindingSeverity::kLow,
       "telemetry",
       "1 of 2 nodes"},
      {"waste.gaps", "AllSeenAllDay", {{kProm, kBusyJob}}, false},
  };
  return cases;
}

}  // namespace tare
