#include "kubernetes_cases.h"

namespace tare {
namespace {

std::string describe(const char* labels, const char* capacity, const char* allocatable, const char* rest = "",
                     const char* conditions = "") {
  return std::string("Name:               gpu-12\nRoles:              worker\nLabels:             role=gpu\n") +
         labels + rest + conditions + "Capacity:\n  cpu:                192\n" + capacity +
         "Allocatable:\n  cpu:                191\n" + allocatable;
}
const char* const kEight = "  nvidia.com/gpu:     8\n";
const char* const kSix = "  nvidia.com/gpu:     6\n";
const char* const kHeader =
    "Conditions:\n"
    "  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason             "
    "Message\n"
    "  ----             ------  -----------------                 ------------------                ------             "
    "-------\n";
const char* const kReady =
    "  Ready            True    Mon, 02 Mar 2026 10:00:00 +0000   Mon, 02 Mar 2026 09:00:00 +0000   KubeletReady       "
    "kubelet is posting ready status\n";
const char* const kNotReady =
    "  Ready            False   Mon, 02 Mar 2026 10:00:00 +0000   Mon, 02 Mar 2026 09:00:00 +0000   KubeletNotReady    "
    "container runtime is down\n";
const char* const kDiskPressure =
    "  DiskPressure     True    Mon, 02 Mar 2026 10:00:00 +0000   Mon, 02 Mar 2026 09:00:00 +0000   "
    "KubeletHasDiskPressure   kubelet has disk pressure\n";

const char* const kPluginLog =
    "2026/03/02 11:12:13 XidCriticalError: Xid=48 on Device=GPU-01234567-89ab-cdef-0123-456789abcdef, the device will "
    "go "
    "unhealthy.\n"
    "2026/03/02 11:12:13 'nvidia.com/gpu' device marked unhealthy: GPU-01234567-89ab-cdef-0123-456789abcdef\n";
const char* const kPluginStart =
    "2026/03/02 11:10:00 Starting GRPC server for 'nvidia.com/gpu'\n"
    "2026/03/02 11:10:00 Registered device plugin for 'nvidia.com/gpu' with Kubelet\n";

std::string node_yaml(const char* capacity, const char* allocatable, const char* labels, const char* annotations = "") {
  return std::string("apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-3\n") + annotations +
         "  labels:\n    pool: train\n" + labels + "status:\n  allocatable:\n    cpu: \"63\"\n" + allocatable +
         "  capacity:\n    cpu: \"64\"\n" + capacity;
}

std::string mpi_job(const char* memory, const char* device) {
  return std::string(
             "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: pretrain\nspec:\n  slotsPerWorker: 8\n"
             "  mpiReplicaSpecs:\n    Worker:\n      replicas: 4\n      template:\n        spec:\n          "
             "nodeSelector:\n"
             "            node.kubernetes.io/instance-type: p5.48xlarge\n          containers:\n          - name: "
             "worker\n"
             "            image: trainer:1\n            resources:\n              limits:\n                "
             "nvidia.com/gpu: 8\n"
             "                memory: ") +
         memory + "\n" + device;
}
const char* const kEfa = "                vpc.amazonaws.com/efa: 32\n";

std::string pods(const char* status, const char* restarts) {
  return std::string("NAMESPACE   NAME       READY   STATUS             RESTARTS   AGE\n") +
         "ml          train-0    0/1     " + status + "   " + restarts + "         3h\n";
}

const char* const kInsufficient =
    "Events:\n"
    "  Type     Reason            Age   From               Message\n"
    "  ----     ------            ----  ----               -------\n"
    "  Warning  FailedScheduling  30s   default-scheduler  0/5 nodes are available: 5 Insufficient nvidia.com/gpu.\n";
const char* const kAffinity =
    "Events:\n"
    "  Type     Reason            Age   From               Message\n"
    "  ----     ------            ----  ----               -------\n"
    "  Warning  FailedScheduling  30s   default-scheduler  0/5 nodes are available: 5 node(s) didn't match Pod's node "
    "affinity/selector.\n";

}  // namespace

std::span<const RuleCase> kubernetes_cases() {
  static const std::string healthy = describe("", kEight, kEight, "", (std::string(kHeader) + kReady).c_str());
  static const std::string taken_back =
      "2024/05/06 07:08:09 'nvidia.com/gpu' device marked unhealthy: GPU-abcd0000-1111-2222-3333-444455556666\n"
      "2024/05/06 07:18:09 'nvidia.com/gpu' device marked healthy: GPU-abcd0000-1111-2222-3333-444455556666\n";
  static const std::string two_sick = describe("", kEight, kSix);
  static const std::string down = describe("", kEight, kEight, "", (std::string(kHeader) + kNotReady).c_str());
  static const std::string squeezed =
      describe("", kEight, kEight, "", (std::string(kHeader) + kDiskPressure + kReady).c_str());
  static const std::string cordoned = describe("", kEight, kEight, "Unschedulable:      true\n");
  static const std::string open = describe("", kEight, kEight, "Unschedulable:      false\n");
  static const std::string used =
      describe("", kEight, kEight) +
      "Allocated resources:\n  Resource           Requests   Limits\n  --------           --------   "
      "------\n  cpu                10         20\n  nvidia.com/gpu     8          8\n";
  static const std::string half_used =
      describe("", kEight, kEight) +
      "Allocated resources:\n  Resource           Requests   Limits\n  --------           "
      "--------   ------\n  cpu                10         20\n  nvidia.com/gpu     4          4\n";
  static const std::string stale =
      node_yaml("    nvidia.com/gpu: \"4\"\n    nvidia.com/mig-1g.10gb: \"28\"\n",
                "    nvidia.com/gpu: \"4\"\n    nvidia.com/mig-1g.10gb: \"28\"\n", "    nvidia.com/gpu.count: \"4\"\n");
  static const std::string mixed =
      node_yaml("    nvidia.com/gpu: \"4\"\n    nvidia.com/mig-1g.10gb: \"28\"\n",
                "    nvidia.com/gpu: \"4\"\n    nvidia.com/mig-1g.10gb: \"28\"\n", "    nvidia.com/gpu.count: \"8\"\n");
  static const std::string pending =
      node_yaml("    nvidia.com/gpu: \"4\"\n", "    nvidia.com/gpu: \"4\"\n",
                "    nvidia.com/mig.config: all-2g.20gb\n    nvidia.com/mig.config.state: pending\n");
  static const std::string done =
      node_yaml("    nvidia.com/gpu: \"4\"\n", "    nvidia.com/gpu: \"4\"\n",
                "    nvidia.com/mig.config: all-disabled\n    nvidia.com/mig.config.state: success\n"
                "    nvidia.com/gpu.count: \"4\"\n");
  static const std::string shared = node_yaml("    nvidia.com/gpu: \"40\"\n", "    nvidia.com/gpu: \"40\"\n",
                                              "    nvidia.com/gpu.replicas: \"10\"\n");
  static const std::string unshared =
      node_yaml("    nvidia.com/gpu: \"4\"\n", "    nvidia.com/gpu: \"4\"\n", "    nvidia.com/gpu.replicas: \"1\"\n");
  static const std::string stuck = node_yaml("", "", "",
                                             "  annotations:\n    hami.io/mutex.lock: \"2026-03-01T10:00:00Z\"\n"
                                             "    hami.io/node-handshake: Requesting_2026.03.02 09:00:00\n");
  static const std::string reported =
      node_yaml("", "", "", "  annotations:\n    hami.io/node-handshake: Requesting_2026.03.02 09:00:00\n");
  static const std::string small = mpi_job("64Gi", kEfa), large = mpi_job("1800Gi", kEfa), bare = mpi_job("1800Gi", "");
  static const std::string loop = pods("CrashLoopBackOff", "14"), running = pods("Running", "0");
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all = {
        {"kubernetes.gpus-unhealthy",
         "TwoOfEight",
         {{"node.txt", two_sick}},
         true,
         FindingSeverity::kMedium,
         "gpu-12",
         "2 of 8 GPUs"},
        {"kubernetes.gpus-unhealthy", "AllThere", {{"node.txt", healthy}}, false},
        {"kubernetes.device-unhealthy",
         "AfterXid48",
         {{"plugin.log", kPluginLog}},
         true,
         FindingSeverity::kHigh,
         "GPU-01234567-89ab-cdef-0123-456789abcdef",
         "Xid 48"},
        {"kubernetes.device-unhealthy", "Started", {{"plugin.log", kPluginStart}}, false},
        {"kubernetes.device-unhealthy", "TakenBack", {{"plugin.log", taken_back}}, false},
        {"kubernetes.no-gpu-free",
         "AllRequested",
         {{"node.txt", used}},
         true,
         FindingSeverity::kLow,
         "gpu-12",
         "8 allocatable, 8 requested"},
        {"kubernetes.no-gpu-free", "HalfRequested", {{"node.txt", half_used}}, false},
        {"kubernetes.allocatable-is-not-free",
         "NoRequestsShown",
         {{"node.txt", healthy}},
         true,
         FindingSeverity::kInfo,
         "gpu-12",
         "8 GPUs are allocatable"},
        {"kubernetes.allocatable-is-not-free", "RequestsShown", {{"node.txt", half_used}}, false},
        {"kubernetes.mig-stale",
         "FourGpusAllCut",
         {{"node.yaml", stale}},
         true,
         FindingSeverity::kMedium,
         "gpu-3",
         "4 whole GPUs and MIG slices of 4"},
        {"kubernetes.mig-stale", "HalfOfEightCut", {{"node.yaml", mixed}}, false},
        {"kubernetes.mig-pending",
         "Pending",
         {{"node.yaml", pending}},
         true,
         FindingSeverity::kMedium,
         "gpu-3",
         "pending"},
        {"kubernetes.mig-pending", "Success", {{"node.yaml", done}}, false},
        {"kubernetes.not-ready",
         "RuntimeDown",
         {{"node.txt", down}},
         true,
         FindingSeverity::kHigh,
         "gpu-12",
         "KubeletNotReady"},
        {"kubernetes.not-ready", "Ready", {{"node.txt", healthy}}, false},
        {"kubernetes.cordoned",
         "Unschedulable",
         {{"node.txt", cordoned}},
         true,
         FindingSeverity::kLow,
         "gpu-12",
         "cordoned"},
        {"kubernetes.cordoned", "Schedulable", {{"node.txt", open}}, false},
        {"kubernetes.pressure",
         "DiskPressure",
         {{"node.txt", squeezed}},
         true,
         FindingSeverity::kMedium,
         "gpu-12",
         "DiskPressure"},
        {"kubernetes.pressure", "None", {{"node.txt", healthy}}, false},
        {"kubernetes.pods-wait",
         "FiveNodesFull",
         {{"events.txt", kInsufficient}},
         true,
         FindingSeverity::kLow,
         "scheduling",
         "5 of 5 nodes"},
        {"kubernetes.pods-wait", "OtherReason", {{"events.txt", kAffinity}}, false},
        {"kubernetes.crash-loop",
         "FourteenRestarts",
         {{"pods.txt", loop}},
         true,
         FindingSeverity::kMedium,
         "train-0",
         "14 restarts"},
        {"kubernetes.crash-loop", "Running", {{"pods.txt", running}}, false},
        {"kubernetes.memory-request",
         "SixtyFourOfTwoThousand",
         {{"job.yaml", small}},
         true,
         FindingSeverity::kLow,
         "pretrain",
         "64 GiB"},
        {"kubernetes.memory-request", "MostOfIt", {{"job.yaml", large}}, false},
        {"kubernetes.no-rdma",
         "NoEfa",
         {{"job.yaml", bare}},
         true,
         FindingSeverity::kMedium,
         "pretrain",
         "no RDMA device"},
        {"kubernetes.no-rdma", "Efa", {{"job.yaml", large}}, false},
        {"kubernetes.hami-stuck", "LockHeld", {{"node.yaml", stuck}}, true, FindingSeverity::kMedium, "gpu-3", "lock"},
        {"kubernetes.hami-stuck", "NoLock", {{"node.yaml", reported}}, false},
        {"kubernetes.shared-gpus",
         "TenTimes",
         {{"node.yaml", shared}},
         true,
         FindingSeverity::kInfo,
         "gpu-3",
         "10 times"},
        {"kubernetes.shared-gpus", "Once", {{"node.yaml", unshared}}, false},
        {"kubernetes.mig-label",
         "CountBesideMig",
         {{"node.yaml", mixed}},
         true,
         FindingSeverity::kInfo,
         "gpu-3",
         "gpu.count=8"},
        {"kubernetes.mig-label", "MigDisabled", {{"node.yaml", done}}, false},
    };
    const std::vector<RuleCase> of_pods = kubernetes_pod_cases();
    all.insert(all.end(), of_pods.begin(), of_pods.end());
    return all;
  }();
  return cases;
}

}  // namespace tare
