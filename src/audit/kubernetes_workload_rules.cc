#include <fmt/format.h>

#include <algorithm>

#include "audit/gpu_seen.h"
#include "audit/kubernetes_rules.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/kube_facts.h"

namespace tare {
namespace {

// What asks for GPUs: a container of a pod, or of a role of a workload.
struct Asker {
  const Seen* seen = nullptr;
  const FactRecord* container = nullptr;
  const FactRecord* pod = nullptr;       // the pod or the role
  const FactRecord* workload = nullptr;  // nullptr for a pod
  std::string name;                      // of workload or pod
  double gpus = 0;
};

void add_containers(std::vector<Asker>& askers, const Seen& seen, const FactRecord& pod, const FactRecord* workload) {
  for (const FactRecord* const container : records_of(pod, "containers")) {
    double gpus = container->number("gpus").value_or(0);
    for (const char* const map : {"limits", "requests"}) {
      const FactRecord* const resources = container->find_record(map);
      if (gpus <= 0 && resources != nullptr) gpus = static_cast<double>(gpus_in(*resources).value_or(0));
    }
    if (gpus <= 0) continue;
    const FactRecord& named = workload == nullptr ? pod : *workload;
    askers.push_back({&seen, container, &pod, workload, std::string(named.text("name")), gpus});
  }
}

std::vector<Asker> askers_of(const Observed& observed) {
  std::vector<Asker> askers;
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const pod : records_of(*seen.facts, "pods")) add_containers(askers, seen, *pod, nullptr);
    for (const FactRecord* const workload : records_of(*seen.facts, "workloads")) {
      for (const FactRecord* const role : records_of(*workload, "roles")) add_containers(askers, seen, *role, workload);
    }
  }
  return askers;
}

Finding asker_finding(const Rule& rule, FindingSeverity severity, const Asker& asker, std::string title,
                      std::string_view member, std::string text) {
  Finding finding = make_finding(rule, severity, {"job", asker.name, asker.seen->node}, std::move(title));
  finding.evidence.push_back(evidence_of(*asker.seen, line_of(*asker.container, member), std::move(text)));
  return finding;
}

void shm_small(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Asker& asker : askers_of(observed)) {
    const std::string_view shm = asker.container->text("shm");
    if ((shm != "default" && shm != "disk") || asker.gpus < 2 || says_true(*asker.pod, "host_ipc")) continue;
    Finding finding =
        asker_finding(rule, FindingSeverity::kLow, asker,
                      fmt::format("{:.0f} GPUs and {}", asker.gpus,
                                  shm == "disk" ? "a /dev/shm on disk" : "the runtime's /dev/shm of 64 MB"),
                      "name", fmt::format("/dev/shm: {}", shm));
    finding.confidence = 0.7;
    finding.cause =
        "NCCL and data loader workers pass data through /dev/shm: with 64 MB they fail (\"No space left on "
        "device\", bus error), on a disk they are slow.";
    finding.fix = {
        "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}], mounted at /dev/shm; it counts to the "
        "memory limit"};
    finding.loss_unknown = "whether the job needs it is not told";
    add_once(findings, std::move(finding));
  }
}

// GPUs of one of a container's maps; -1 where it names none.
std::int64_t gpus_asked(const Asker& asker, std::string_view map) {
  const FactRecord* const resources = asker.container->find_record(map);
  return resources == nullptr ? -1 : gpus_in(*resources).value_or(-1);
}

void limits_differ(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Asker& asker : askers_of(observed)) {
    const std::int64_t limit = gpus_asked(asker, "limits"), request = gpus_asked(asker, "requests");
    if (request < 0 || limit == request) continue;
    const std::string shown = limit < 0 ? "none" : std::to_string(limit);
    Finding finding = asker_finding(
        rule, FindingSeverity::kMedium, asker,
        fmt::format("asks for {} GPUs {}", request, limit < 0 ? "without a limit" : "with a limit of " + shown),
        "requests", fmt::format("requests {}, limits {}", request, shown));
    finding.cause =
        "GPUs are not shared out beyond what there is: the API refuses a pod whose limit is not its request.";
    finding.fix = {"the number of GPUs under limits; requests may be left away"};
    finding.loss_unknown = "the pod does not run";
    add_once(findings, std::move(finding));
  }
}

void best_effort(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Asker& asker : askers_of(observed)) {
    const auto asks = [&asker](std::string_view resource) {
      return resource_of(*asker.container, "requests", resource) || resource_of(*asker.container, "limits", resource);
    };
    // Of tables and traces the containers' requests are not known.
    const bool told = asker.container->has("limits") || asker.container->has("requests");
    if (!told || asks("cpu") || asks("memory") || asker.gpus < 1) continue;
    Finding finding = asker_finding(rule, FindingSeverity::kLow, asker, "GPUs, but neither CPU nor memory asked for",
                                    "limits", "limits and requests of GPUs alone");
    finding.confidence = 0.7;
    finding.cause =
        "Pods without requests get the CPU that others leave and are the first to be evicted; the GPU waits for "
        "its data when the node fills.";
    finding.fix = {"requests of cpu and memory: the node's allocatable times the pod's share of its GPUs"};
    finding.loss_unknown = "how full the node is is not told";
    add_once(findings, std::move(finding));
  }
}

void ranks_differ(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const workload : records_of(*seen.facts, "workloads")) {
      const auto started = workload->number("mpirun_ranks"), gpus = workload->number("gpus");
      if (!started || !gpus || *gpus <= 0 || *started == *gpus) continue;
      const bool fewer = *started < *gpus;
      const std::string name(workload->text("name"));
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"job", name, seen.node},
                                     fmt::format("mpirun starts {:.0f} ranks for {:.0f} GPUs", *started, *gpus));
      finding.confidence = 0.7;
      finding.cause =
          fewer ? "GPUs that no rank uses are held by the job all the same. One rank may drive several on purpose."
                : "Ranks share GPUs: NCCL refuses two of them on one GPU.";
      finding.evidence.push_back(
          evidence_of(seen, line_of(*workload, "mpirun_ranks"), fmt::format("-np {:.0f}", *started)));
      finding.fix = {"-np = workers * GPUs of each, slotsPerWorker = GPUs of each"};
      finding.loss_unknown = "whether one rank drives several GPUs is not told";
      findings.push_back(std::move(finding));
    }
  }
}

constexpr double kMemoryShare = 0.125;  // of the node's memory for a pod that takes all its GPUs

constexpr double kGib = 1024.0 * 1024 * 1024;

const NodeType* instance_of(const Catalog& catalog, const FactRecord& role) {
  const FactRecord* const selector = role.find_record("node_selector");
  if (selector == nullptr) return nullptr;
  for (const auto& [key, value] : selector->members()) {
    if (key.find("instance-type") >= key.size()) continue;
    for (const NodeType& type : catalog.node_types) {
      if (equals_ignoring_case(type.instance, value.text())) return &type;
    }
  }
  return nullptr;
}

// A pod that takes all GPUs of its node and little of its memory.
void memory_request(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const work : records_of(*seen.facts, "workloads")) {
      for (const FactRecord* const role : records_of(*work, "roles")) {
        const NodeType* const type = instance_of(observed.catalog(), *role);
        const double gpus = role->number("gpus").value_or(0);
        if (type == nullptr || !type->memory_bytes || gpus < type->gpus || gpus < 2) continue;
        for (const FactRecord* const container : records_of(*role, "containers")) {
          const FactRecord* const limits = container->find_record("limits");
          const std::optional<double> memory = resource_of(*container, "limits", "memory");
          if (!memory || *memory >= kMemoryShare * *type->memory_bytes) continue;
          Finding finding = make_finding(
              rule, FindingSeverity::kLow, {"job", std::string(work->text("name")), ""},
              fmt::format("{:.0f} GiB of memory for a pod that takes all {:g} GPUs of a node with {:.0f} GiB",
                          *memory / kGib, gpus, *type->memory_bytes / kGib));
          finding.confidence = 0.8;
          finding.cause =
              "Loaders, pinned buffers and checkpoints of eight ranks want host memory; nobody else can use what is "
              "left, and the kernel ends the pod when it is over its limit.";
          finding.evidence.push_back(evidence_of(seen, limits->line, "limits memory"));
          finding.loss_unknown = "whether it runs out is not known";
          finding.fix = {
              "raise requests and limits to what the node can give; mount /dev/shm as emptyDir of medium Memory"};
          findings.push_back(std::move(finding));
        }
      }
    }
  }
}

bool asks_for_rdma(const FactRecord& container) {
  for (const char* const name : {"limits", "requests"}) {
    const FactRecord* const resources = container.find_record(name);
    if (resources == nullptr) continue;
    for (const auto& [key, value] : resources->members()) {
      const std::string lower = to_lower(key);
      for (const char* const word : {"efa", "rdma", "hca", "roce", "/ib", "mlnx", "sriov", "networking.gke.io"}) {
        if (lower.find(word) < lower.size()) return true;
      }
    }
  }
  return false;
}

// Several whole nodes, and no RDMA device asked for.
void no_rdma(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const work : records_of(*seen.facts, "workloads")) {
      for (const FactRecord* const role : records_of(*work, "roles")) {
        const NodeType* const type = instance_of(observed.catalog(), *role);
        const double gpus = role->number("gpus").value_or(0);
        if (gpus < 8 || role->number("replicas").value_or(1) < 2 || is_true(*role, "host_network")) continue;
        const std::vector<const FactRecord*> containers = records_of(*role, "containers");
        if (containers.empty() || std::any_of(containers.begin(), containers.end(),
                                              [](const FactRecord* one) { return asks_for_rdma(*one); })) {
          continue;
        }
        const bool has_rdma = type != nullptr && has_known_fabric(*type);
        Finding finding = make_finding(
            rule, has_rdma ? FindingSeverity::kMedium : FindingSeverity::kLow,
            {"job", std::string(work->text("name")), ""},
            fmt::format("{:g} pods of {:g} GPUs ask for no RDMA device", role->number("replicas").value_or(0), gpus));
        finding.confidence = has_rdma ? 0.8 : 0.5;
        finding.cause =
            "Without the device in the container NCCL talks over TCP between nodes, unless the pod is privileged or "
            "on the host's network.";
        finding.evidence.push_back(evidence_of(seen, role->line, "resources without EFA, RDMA or SR-IOV devices"));
        finding.loss = slower_communication(observed.setting().inter_node_comm_share, 5,
                                            "TCP against RDMA: 370 against 50 ms a GB (AReaL#639), rounded down",
                                            gpus * role->number("replicas").value_or(1), "the manifest");
        finding.fix = {
            "AWS: limits vpc.amazonaws.com/efa; others: rdma/hca or the name that the RDMA device plugin gives",
            "NCCL_DEBUG=INFO must say NET/IB or NET/OFI"};
        findings.push_back(std::move(finding));
      }
    }
  }
}

}  // namespace

std::span<const Rule> kubernetes_workload_rules() {
  static const std::vector<Rule> rules = {
      {"kubernetes.shm-small", "/dev/shm of 64 MB for several GPUs", "NCCL and data loaders fail",
       "docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html", shm_small},
      {"kubernetes.limits-differ", "GPU limits are not the requests", "the API refuses the pod",
       "kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus", limits_differ},
      {"kubernetes.best-effort", "GPUs without CPU or memory requests", "first to be evicted, last to get CPU",
       "kubernetes.io/docs/concepts/workloads/pods/pod-qos", best_effort},
      {"kubernetes.ranks-differ", "Ranks are not as many as GPUs", "GPUs are held for nothing", "kubeflow/mpi-operator",
       ranks_differ},
      {"kubernetes.memory-request", "All GPUs and little memory",
       "A pod of all GPUs with under an eighth of the node's memory.", "", memory_request},
      {"kubernetes.no-rdma", "Several nodes and no RDMA device", "A job over nodes whose pods ask for none.",
       "aws-ofi-nccl, AReaL#639", no_rdma},
  };
  return rules;
}

}  // namespace tare
