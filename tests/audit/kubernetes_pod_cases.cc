// Device plugins, pods that wait or end, and what manifests ask for.
#include "kubernetes_cases.h"

namespace tare {
namespace {

constexpr auto kLow = FindingSeverity::kLow;
constexpr auto kMedium = FindingSeverity::kMedium;
constexpr auto kHigh = FindingSeverity::kHigh;

std::string described(const std::string& name, int capacity, int allocatable, const std::string& more = "") {
  return "Name:               " + name +
         "\nRoles:              <none>\nLabels:             nvidia.com/gpu.product=NVIDIA-L40S\n" +
         "Capacity:\n  cpu:             64\n  memory:          512000000Ki\n  nvidia.com/gpu:  " +
         std::to_string(capacity) +
         "\nAllocatable:\n  cpu:             64\n  memory:          500000000Ki\n  nvidia.com/gpu:  " +
         std::to_string(allocatable) + "\n" + more;
}

std::string allocated(const std::string& cpu, int gpus) {
  return "Allocated resources:\n  Resource           Requests     Limits\n  --------           --------     ------\n"
         "  cpu                " +
         cpu + "   64 (100%)\n  memory             100000000Ki (20%)   100000000Ki (20%)\n  nvidia.com/gpu     " +
         std::to_string(gpus) + "            " + std::to_string(gpus) + "\n";
}

const char* const kServing =
    "2023/03/04 05:06:07 Starting GRPC server for 'nvidia.com/gpu'\n"
    "2023/03/04 05:06:07 Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock\n"
    "2023/03/04 05:06:07 Registered device plugin for 'nvidia.com/gpu' with Kubelet\n";

const char* const kNoNvml =
    "2023/03/04 05:06:07 Loading NVML\n"
    "2023/03/04 05:06:07 Failed to initialize NVML: could not load NVML library.\n"
    "2023/03/04 05:06:07 If this is a GPU node, did you set the docker default runtime to `nvidia`?\n";

std::string hami(const std::string& lock, const std::string& handshake, const std::string& healthy) {
  return "Name:               h4\nRoles:              <none>\nLabels:             gpu=on\n"
         "Annotations:        hami.io/mutex.lock: " +
         lock + "\n                    hami.io/node-handshake: " + handshake +
         "\n                    hami.io/node-nvidia-register:\n"
         "                      GPU-aaaa0000-1111-2222-3333-444444444444,10,24564,100,NVIDIA-NVIDIA L4,0," +
         healthy + ":\n";
}

std::string pods(const std::string& status) {
  return "NAMESPACE   NAME      READY   STATUS    RESTARTS   AGE\ntrain       run-0     0/1     " + status +
         "   3          2h\n";
}

std::string pod(const std::string& phase, const std::string& node, int gpus, int restarts = 0) {
  std::string text = "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: big-0\n    namespace: train\n  spec:\n";
  if (!node.empty()) text += "    nodeName: " + node + "\n";
  text +=
      "    containers:\n    - name: main\n      resources:\n        limits:\n          cpu: 8\n          "
      "nvidia.com/gpu: " +
      std::to_string(gpus) + "\n  status:\n    phase: " + phase + "\n";
  if (restarts > 0)
    text += "    containerStatuses:\n    - name: main\n      restartCount: " + std::to_string(restarts) + "\n";
  return text;
}

std::string node(const std::string& name, int gpus) {
  const std::string count = std::to_string(gpus);
  return "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: " + name +
         "\n  status:\n    allocatable:\n      nvidia.com/gpu: \"" + count +
         "\"\n    capacity:\n      nvidia.com/gpu: \"" + count + "\"\n";
}

std::string held(const std::string& on, int gpus) {
  std::string text = pod("Running", on, gpus);
  text.replace(text.find("big-0"), 5, "small-" + on);
  return text;
}

// Its container was killed once and runs again.
std::string killed() {
  return pod("Running", "a", 2) +
         "    containerStatuses:\n    - name: main\n      restartCount: 1\n      lastState:\n        terminated:\n"
         "          reason: OOMKilled\n";
}

std::string list(const std::string& items) { return "apiVersion: v1\nkind: List\nitems:\n" + items; }

const char* const kUntolerated =
    "Events:\n  Type     Reason            Age   From               Message\n"
    "  ----     ------            ----  ----               -------\n"
    "  Warning  FailedScheduling  12s   default-scheduler  0/5 nodes are available: 5 node(s) had untolerated taint "
    "{nvidia.com/gpu: present}.\n";

const char* const kNoCpu =
    "Events:\n  Type     Reason            Age   From               Message\n"
    "  ----     ------            ----  ----               -------\n"
    "  Warning  FailedScheduling  12s   default-scheduler  0/5 nodes are available: 5 Insufficient cpu.\n";

std::string mpi_job(const std::string& resources, const std::string& more = "", int np = 32) {
  return "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: big-run\nspec:\n  slotsPerWorker: 8\n"
         "  mpiReplicaSpecs:\n    Launcher:\n      replicas: 1\n      template:\n        spec:\n          containers:\n"
         "          - name: launcher\n            command: [mpirun, -np, \"" +
         std::to_string(np) +
         "\", python, train.py]\n    Worker:\n      replicas: 4\n      template:\n        spec:\n" + more +
         "          nodeSelector:\n            node.kubernetes.io/instance-type: p4d.24xlarge\n          containers:\n"
         "          - name: worker\n            resources:\n              limits:\n                nvidia.com/gpu: "
         "8\n" +
         resources;
}

const char* const kAllOfIt =
    "                vpc.amazonaws.com/efa: 4\n                memory: 1000Gi\n                cpu: 90\n"
    "            volumeMounts:\n            - {name: shm, mountPath: /dev/shm}\n          volumes:\n"
    "          - name: shm\n            emptyDir: {medium: Memory}\n";

const char* const kOneNic =
    "                vpc.amazonaws.com/efa: 1\n                memory: 1000Gi\n                cpu: 90\n";

const char* const kGpusAlone = "                vpc.amazonaws.com/efa: 4\n";

const char* const kRequestsMore =
    "                vpc.amazonaws.com/efa: 4\n              requests:\n                nvidia.com/gpu: 4\n            "
    "    cpu: 4\n";

}  // namespace

std::vector<RuleCase> kubernetes_pod_cases() {
  return {
      {"kubernetes.plugin-broken", "NoLibrary", {{"plugin.log", kNoNvml}}, true, kMedium, "", "no GPU"},
      {"kubernetes.plugin-broken", "Serving", {{"plugin.log", kServing}}, false},
      {"kubernetes.hami-unhealthy",
       "One",
       {{"node.txt", hami("2024-06-09T10:00:00Z", "Requesting_2024.06.09 10:00:30", "false")}},
       true,
       kHigh,
       "GPU-aaaa0000-1111-2222-3333-444444444444",
       "unhealthy"},
      {"kubernetes.hami-unhealthy",
       "None",
       {{"node.txt", hami("2024-06-09T10:00:00Z", "Requesting_2024.06.09 10:00:30", "true")}},
       false},
      {"kubernetes.stranded",
       "NoCpuLeft",
       {{"node.txt", described("k1", 4, 4, allocated("64 (100%)", 1))}},
       true,
       kMedium,
       "k1",
       "3 of 4 GPUs"},
      {"kubernetes.stranded", "CpuLeft", {{"node.txt", described("k1", 4, 4, allocated("16 (25%)", 1))}}, false},
      {"kubernetes.oom-killed", "LastState", {{"all.yaml", list(killed())}}, true, kMedium, "big-0", "OOMKilled"},
      {"kubernetes.oom-killed", "Running", {{"pods.txt", pods("Running")}}, false},
      {"kubernetes.evicted", "One", {{"pods.txt", pods("Evicted")}}, true, kMedium, "run-0", "Evicted"},
      {"kubernetes.evicted", "Running", {{"pods.txt", pods("Running")}}, false},
      {"kubernetes.restarts",
       "NineTimes",
       {{"all.yaml", list(pod("Running", "a", 2, 9))}},
       true,
       kMedium,
       "big-0",
       "9 times"},
      {"kubernetes.restarts", "Once", {{"all.yaml", list(pod("Running", "a", 2, 1))}}, false},
      {"kubernetes.request-impossible",
       "EightOfFour",
       {{"all.yaml", list(node("a", 4) + node("b", 4) + pod("Pending", "", 8))}},
       true,
       kMedium,
       "big-0",
       "the 4 GPUs of any node"},
      {"kubernetes.request-impossible",
       "FourOfFour",
       {{"all.yaml", list(node("a", 4) + pod("Pending", "", 4))}},
       false},
      {"kubernetes.fragmented",
       "TwoAndTwoFree",
       {{"all.yaml", list(node("a", 4) + node("b", 4) + held("a", 2) + held("b", 2) + pod("Pending", "", 4))}},
       true,
       kMedium,
       "big-0",
       "4 GPUs are free, no node has more than 2"},
      {"kubernetes.fragmented",
       "OneNodeFree",
       {{"all.yaml", list(node("a", 4) + node("b", 4) + held("a", 4) + pod("Pending", "", 4))}},
       false},
      {"kubernetes.ruled-out", "Taint", {{"events.txt", kUntolerated}}, true, kMedium, "pod", "untolerated taint"},
      {"kubernetes.ruled-out", "NoCpu", {{"events.txt", kNoCpu}}, false},
      {"kubernetes.shm-small", "Default", {{"job.yaml", mpi_job(kOneNic)}}, true, kLow, "big-run", "64 MB"},
      {"kubernetes.shm-small", "Memory", {{"job.yaml", mpi_job(kAllOfIt)}}, false},
      {"kubernetes.limits-differ",
       "FourOfEight",
       {{"job.yaml", mpi_job(kRequestsMore)}},
       true,
       kMedium,
       "big-run",
       "4 GPUs"},
      {"kubernetes.limits-differ", "LimitsAlone", {{"job.yaml", mpi_job(kAllOfIt)}}, false},
      {"kubernetes.best-effort",
       "GpusAlone",
       {{"job.yaml", mpi_job(kGpusAlone)}},
       true,
       kLow,
       "big-run",
       "neither CPU"},
      {"kubernetes.best-effort", "All", {{"job.yaml", mpi_job(kAllOfIt)}}, false},
      {"kubernetes.ranks-differ",
       "Sixteen",
       {{"job.yaml", mpi_job(kAllOfIt, "", 16)}},
       true,
       kMedium,
       "big-run",
       "16 ranks for 32"},
      {"kubernetes.ranks-differ", "All", {{"job.yaml", mpi_job(kAllOfIt)}}, false},
  };
}

}  // namespace tare
