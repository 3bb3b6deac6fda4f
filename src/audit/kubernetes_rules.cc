// Nodes, pods, events, manifests and device plugins of Kubernetes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/kubernetes_rules.h"
#include "audit/loss.h"
#include "audit/rule.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr double kSlicesOfGpu = 7;      // MIG: compute slices of a GPU
constexpr double kRestarts = 5;         // as often as this is a loop
constexpr double kMemoryShare = 0.125;  // of the node's memory for a pod that takes all its GPUs
constexpr double kGib = 1024.0 * 1024 * 1024;

std::string node_name(const Seen& seen, const FactRecord& node) {
  const std::string_view name = node.text("name");
  return name.empty() ? seen.node : std::string(name);
}

Subject node_subject(const Seen& seen, const FactRecord& node) {
  const std::string name = node_name(seen, node);
  return {"node", name.empty() ? "node" : name, name};
}

// Calls check(seen, node) for every node that has, or should have, GPUs.
template <typename Check>
void for_gpu_nodes(const Observed& observed, const Check& check) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const bool has_gpus = node->number("gpu_capacity").value_or(0) > 0 ||
                            node->number("gpu_allocatable").value_or(0) > 0 || node->has("gpu_count") ||
                            node->has("gpu_product") || node->has("mig");
      if (has_gpus) check(seen, *node);
    }
  }
}

double gpus_of(const FactRecord& node) {
  for (const char* const name : {"gpu_capacity", "gpu_count", "gpu_allocatable"}) {
    if (const std::optional<double> count = node.number(name); count && *count > 0) return *count;
  }
  return 0;
}

std::int64_t line_of(const FactRecord& record, std::string_view name) {
  const Fact* const fact = record.find(name);
  return fact == nullptr || fact->line == 0 ? record.line : fact->line;
}

void gpus_unhealthy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const double unhealthy = node.number("gpu_unhealthy").value_or(0), all = gpus_of(node);
    if (unhealthy <= 0) return;
    const bool none_left = node.number("gpu_allocatable").value_or(0) <= 0;
    Finding finding =
        make_finding(rule, none_left ? FindingSeverity::kHigh : FindingSeverity::kMedium, node_subject(seen, node),
                     fmt::format("{:g} of {:g} GPUs cannot be allocated", unhealthy, all));
    finding.cause = "Capacity above allocatable: the device plugin holds these GPUs unhealthy, or it has lost them.";
    finding.confidence = 0.9;
    finding.evidence.push_back(
        evidence_of(seen, line_of(node, "gpu_allocatable"),
                    fmt::format("capacity {:g}, allocatable {:g}", all, node.number("gpu_allocatable").value_or(0))));
    finding.expected = fmt::format("{:g} GPUs allocatable", all);
    finding.measured = fmt::format("{:g}", all - unhealthy);
    finding.loss = whole_gpus_lost(unhealthy, "capacity less allocatable");
    finding.gpu = node.text("gpu_product");
    finding.fix = {"kubectl logs -n <namespace> <device plugin pod of the node>: which GPU, which Xid",
                   "nvidia-smi and dmesg on the node; after a reset restart the device plugin's pod"};
    finding.consequences = {"kubernetes.pods-wait"};
    findings.push_back(std::move(finding));
  });
}

// The plugin's log takes the GPU back after that line.
bool recovers(const FactRecord& facts, const std::string& uuid, std::int64_t line) {
  bool healthy = false;
  for (const FactRecord* const entry : records_of(facts, "log")) {
    if (entry->line <= line || entry->text("uuid") != uuid) continue;
    if (entry->text("event") == "healthy") healthy = true;
    if (entry->text("event") == "unhealthy" || entry->text("event") == "xid") healthy = false;
  }
  return healthy;
}

void device_unhealthy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    std::vector<std::string> told;
    for (const FactRecord* const entry : records_of(*seen.facts, "log")) {
      const std::string gpu(entry->text("uuid"));
      const bool bad = entry->text("event") == "unhealthy" || entry->text("event") == "xid";
      if (!bad || std::find(told.begin(), told.end(), gpu) != told.end()) continue;
      if (recovers(*seen.facts, gpu, entry->line)) continue;
      told.push_back(gpu);
      const std::optional<std::int64_t> xid = entry->integer("xid");
      Finding finding = make_finding(
          rule, FindingSeverity::kHigh, {"gpu", gpu.empty() ? "GPU" : gpu, seen.node},
          fmt::format("the device plugin marks the GPU unhealthy{}", xid ? fmt::format(" after Xid {}", *xid) : ""));
      finding.confidence = 0.95;
      finding.cause = "A critical Xid takes the GPU out of what pods can get until the plugin restarts.";
      finding.evidence.push_back(evidence_of(seen, entry->line, std::string(entry->text("message"))));
      finding.loss = whole_gpus_lost(1, "a GPU that no pod gets");
      finding.fix = {"dmesg | grep Xid on the node: what came first; then reset the GPU",
                     "restart the device plugin's pod: a GPU that recovered stays unhealthy until then",
                     "an Xid of an application (31, 13, 43) can be left out: DP_DISABLE_HEALTHCHECKS=31,13,43"};
      finding.consequences = {"kubernetes.gpus-unhealthy", "kubernetes.pods-wait"};
      findings.push_back(std::move(finding));
    }
  }
}

// Nothing is free although allocatable is not 0.
void no_gpu_free(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const std::optional<double> free = node.number("gpu_free");
    const double allocatable = node.number("gpu_allocatable").value_or(0);
    if (!free || *free > 0 || allocatable <= 0) return;
    Finding finding = make_finding(rule, FindingSeverity::kLow, node_subject(seen, node),
                                   fmt::format("no GPU is free: {:g} allocatable, {:g} requested", allocatable,
                                               node.number("gpu_requested").value_or(0)));
    finding.cause = "Allocatable does not fall with use: what is free is allocatable less the requests of pods.";
    finding.evidence.push_back(evidence_of(seen, line_of(node, "gpu_requested"), "requests reach what is allocatable"));
    finding.fix = {"kubectl describe node: who holds them; pods that are done and not deleted hold theirs too"};
    finding.consequences = {"kubernetes.pods-wait"};
    findings.push_back(std::move(finding));
  });
}

void allocatable_is_not_free(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const double capacity = node.number("gpu_capacity").value_or(0);
    if (capacity <= 0 || node.number("gpu_allocatable") != capacity || node.has("gpu_free")) return;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, node_subject(seen, node),
                                   fmt::format("{:g} GPUs are allocatable: that says nothing of use", capacity));
    finding.cause =
        "Allocatable is capacity less what is unhealthy or reserved; it stays the same while pods use the GPUs.";
    finding.evidence.push_back(
        evidence_of(seen, line_of(node, "gpu_allocatable"), fmt::format("allocatable {:g}", capacity)));
    finding.fix = {"kubectl describe node: 'Allocated resources' has the requests"};
    findings.push_back(std::move(finding));
  });
}

// GPUs that the slices on offer are cut from.
double gpus_in_slices(const FactRecord& mig) {
  double slices = 0;
  for (const auto& [profile, count] : mig.members()) {
    const double of_profile = profile.empty() ? 0 : profile.front() - '0';
    if (of_profile >= 1 && of_profile <= kSlicesOfGpu) slices += of_profile * count.number().value_or(0);
  }
  return std::ceil(slices / kSlicesOfGpu);
}

void mig_stale(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const FactRecord* const mig = node.find_record("mig");
    const double whole = node.number("gpu_allocatable").value_or(0);
    if (mig == nullptr || whole <= 0) return;
    const double cut = gpus_in_slices(*mig);
    const std::optional<double> count = node.number("gpu_count");
    if (cut <= 0 || (count && whole + cut <= *count)) return;
    Finding finding =
        make_finding(rule, FindingSeverity::kMedium, node_subject(seen, node),
                     fmt::format("{:g} whole GPUs and MIG slices of {:g} are offered at once", whole, cut));
    finding.confidence = count ? 0.9 : 0.6;
    finding.cause =
        count ? fmt::format("The node has {:g} GPUs: nvidia.com/gpu is from before MIG was enabled.", *count)
              : "nvidia.com/gpu stays what it was until the device plugin registers anew: a pod that gets such a "
                "GPU fails to start.";
    finding.evidence.push_back(
        evidence_of(seen, line_of(node, "mig"), fmt::format("nvidia.com/gpu {:g} beside MIG slices", whole)));
    finding.loss_unknown = "pods that fail to start are not counted";
    finding.fix = {
        "restart the device plugin's pod; then kubectl describe node must show one of both, or mig.strategy=mixed "
        "with the GPUs that are not cut"};
    findings.push_back(std::move(finding));
  });
}

void mig_pending(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const std::string_view state = node.text("mig_config_state");
    if (state.empty() || state == "success") return;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, node_subject(seen, node),
                                   fmt::format("MIG reconfiguration to '{}' is {}", node.text("mig_config"), state));
    finding.confidence = state == "failed" ? 0.95 : 0.8;
    finding.cause = state == "failed"
                        ? "The MIG manager could not make the layout: often a process still holds a GPU."
                        : "While it lasts the MIG manager ends the GPU pods of the node; no GPU can be had.";
    finding.evidence.push_back(
        evidence_of(seen, line_of(node, "mig_config_state"), fmt::format("nvidia.com/mig.config.state={}", state)));
    if (const double gpus = gpus_of(node); gpus > 0) {
      finding.loss = whole_gpus_lost(gpus, "GPUs of the node, while it lasts");
    } else {
      finding.loss_unknown = "how many GPUs the node has is not known";
    }
    finding.gpu = node.text("gpu_product");
    finding.fix = {"kubectl logs -n gpu-operator -l app=nvidia-mig-manager: what it waits for",
                   "drain the node first: MIG changes only on GPUs that nothing holds"};
    findings.push_back(std::move(finding));
  });
}

void not_ready(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    for (const FactRecord* const condition : records_of(node, "conditions")) {
      if (condition->text("type") != "Ready" || condition->text("status") == "True") continue;
      if (condition->text("status").empty()) continue;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, node_subject(seen, node),
                                     fmt::format("the node is not ready: {}", condition->text("reason")));
      finding.confidence = 0.95;
      finding.cause =
          fmt::format("Its kubelet says, or is silent: {}. No pod starts there; those that run are moved away.",
                      condition->text("message"));
      finding.evidence.push_back(evidence_of(seen, condition->line, "Ready " + std::string(condition->text("status"))));
      if (const double gpus = gpus_of(node); gpus > 0) finding.loss = whole_gpus_lost(gpus, "GPUs of the node");
      finding.gpu = node.text("gpu_product");
      finding.fix = {"journalctl -u kubelet and the container runtime's log on the node"};
      finding.consequences = {"kubernetes.pods-wait", "kubernetes.cordoned", "kubernetes.pressure"};
      findings.push_back(std::move(finding));
    }
  });
}

void cordoned(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    if (!is_true(node, "unschedulable") && node.text("unschedulable") != "true") return;
    Finding finding = make_finding(rule, FindingSeverity::kLow, node_subject(seen, node),
                                   fmt::format("a node of {:g} GPUs is cordoned", gpus_of(node)));
    finding.confidence = 0.9;
    finding.cause =
        "Somebody, or a health controller, keeps new pods off it: what runs goes on, what ends leaves it empty.";
    finding.evidence.push_back(evidence_of(seen, line_of(node, "unschedulable"), "unschedulable"));
    if (const std::optional<double> free = node.number("gpu_free")) {
      finding.loss = whole_gpus_lost(*free, "GPUs that no pod requests");
    } else {
      finding.loss_unknown = "how many of its GPUs still work is not known";
    }
    finding.gpu = node.text("gpu_product");
    finding.fix = {"kubectl get events for the reason; kubectl uncordon when it is mended"};
    findings.push_back(std::move(finding));
  });
}

void pressure(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    for (const FactRecord* const condition : records_of(node, "conditions")) {
      const std::string_view type = condition->text("type");
      if (type == "Ready" || condition->text("status") != "True") continue;
      const bool squeezed = type.ends_with("Pressure") || type == "NetworkUnavailable";
      if (!squeezed) continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, node_subject(seen, node),
                                     fmt::format("{} on a node of {:g} GPUs", type, gpus_of(node)));
      finding.confidence = 0.9;
      finding.cause =
          "The kubelet evicts pods and takes no new ones until it is over: images and scratch files fill the disk, or "
          "page cache and loaders the memory.";
      finding.evidence.push_back(evidence_of(seen, condition->line, std::string(condition->text("message"))));
      finding.loss_unknown = "how many pods were evicted is not known";
      finding.fix = {"crictl rmi --prune; move scratch to local NVMe; set ephemeral-storage limits"};
      findings.push_back(std::move(finding));
    }
  });
}

void pods_wait(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    const FactRecord* worst = nullptr;
    for (const FactRecord* const event : records_of(*seen.facts, "events")) {
      const double short_nodes = event->number("insufficient_gpu").value_or(0);
      if (short_nodes <= 0) continue;
      if (worst == nullptr || short_nodes > worst->number("insufficient_gpu").value_or(0)) worst = event;
    }
    if (worst == nullptr) continue;
    Finding finding = make_finding(
        rule, FindingSeverity::kLow, {"cluster", "scheduling", seen.node},
        fmt::format("a pod waits: {:g} of {:g} nodes have too few GPUs free",
                    worst->number("insufficient_gpu").value_or(0), worst->number("nodes_total").value_or(0)));
    finding.confidence = 0.8;
    finding.cause =
        "All are in use, too few are left on any one node, or a GPU is unhealthy: a pod of eight never fits a node of "
        "seven.";
    finding.evidence.push_back(evidence_of(seen, worst->line, std::string(worst->text("message"))));
    finding.loss_unknown = "how long it waits, and for what, is not known";
    finding.fix = {"kubectl describe nodes: allocatable against the pod's request, and allocated resources",
                   "fragmentation: pack small pods (MostAllocated), or drain a node for the large one"};
    findings.push_back(std::move(finding));
  }
}

void crash_loop(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const pod : records_of(*seen.facts, "pods")) {
      // Of JSON the phase is Running or Pending, and why it does not run stands at its containers.
      const std::string_view waiting = pod->text("waiting_reason");
      const std::string phase(waiting.empty() || waiting == "ContainerCreating" ? pod->text("phase") : waiting);
      const bool loops = phase.find("CrashLoop") < phase.size() || phase.find("ImagePull") < phase.size() ||
                         phase == "OOMKilled" || phase.find("Error") < phase.size() ||
                         phase.find("UnexpectedAdmission") < phase.size();
      const double restarts = pod->number("restarts").value_or(0);
      if (!loops && !(restarts >= kRestarts && phase != "Running" && phase != "Succeeded" && phase != "Completed"))
        continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"job", std::string(pod->text("name")), seen.node},
                                     fmt::format("pod {}: {}, {:g} restarts", pod->text("name"), phase, restarts));
      finding.confidence = 0.9;
      finding.cause = "It starts, fails and starts again; GPUs that it asks for are held the while.";
      finding.evidence.push_back(evidence_of(seen, pod->line, phase));
      if (const std::optional<double> gpus = pod->number("gpus"); gpus && *gpus > 0) {
        finding.loss = whole_gpus_lost(*gpus, "GPUs that the pod asks for");
      } else {
        finding.loss_unknown = "what it asks for is not known";
      }
      finding.fix = {"kubectl logs --previous and kubectl describe pod: exit code and last state"};
      findings.push_back(std::move(finding));
    }
  }
}

std::optional<double> bytes_of(const FactRecord& resources, std::string_view name) {
  const Fact* const fact = resources.find(name);
  if (fact == nullptr) return std::nullopt;
  if (const std::optional<double> plain = fact->number()) return plain;
  const std::string text(fact->text());
  const std::size_t unit = text.find_first_not_of("0123456789.");
  if (unit == 0 || unit >= text.size()) return std::nullopt;
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"Ki", 1024.0}, {"Mi", kGib / 1024}, {"Gi", kGib}, {"Ti", kGib * 1024},
      {"K", 1e3},     {"M", 1e6},          {"G", 1e9},   {"T", 1e12}};
  const std::string_view stated = std::string_view(text).substr(unit);
  for (const auto& [suffix, factor] : kUnits) {
    if (stated == suffix) return Fact::parsed(std::string_view(text).substr(0, unit)).number().value_or(0) * factor;
  }
  return std::nullopt;
}

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
          const std::optional<double> memory = limits == nullptr ? std::nullopt : bytes_of(*limits, "memory");
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

// HAMi: its lock is taken and never given back, so that no GPU is registered any more.
void hami_stuck(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const FactRecord* const notes = node->find_record("annotations");
      if (notes == nullptr || !notes->text("hami.io/node-handshake").starts_with("Requesting")) continue;
      if (notes->text("hami.io/mutex.lock").empty()) continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, node_subject(seen, *node),
                                     "HAMi waits for the node's registration and its lock is held");
      finding.confidence = 0.7;
      finding.cause =
          "The scheduler asked for a report (Requesting) that the device plugin has not given, and an old lock stands: "
          "pods that want a share of a GPU stay pending.";
      finding.evidence.push_back(evidence_of(seen, line_of(*notes, "hami.io/node-handshake"),
                                             std::string(notes->text("hami.io/node-handshake"))));
      finding.loss_unknown = "how many GPUs wait is not known";
      finding.fix = {"kubectl annotate node <node> hami.io/mutex.lock-",
                     "restart the HAMi device plugin's pod of the node"};
      findings.push_back(std::move(finding));
    }
  }
}

void shared_gpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const double replicas = node.number("gpu_replicas").value_or(1);
    if (replicas <= 1) return;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, node_subject(seen, node),
                                   fmt::format("each GPU is offered {:g} times", replicas));
    finding.cause =
        "Time slicing or MPS: nvidia.com/gpu counts shares, not GPUs, and shares have no memory of their own.";
    finding.evidence.push_back(
        evidence_of(seen, line_of(node, "gpu_replicas"), fmt::format("gpu.replicas={:g}", replicas)));
    finding.fix = {"divide by the replicas to count GPUs"};
    findings.push_back(std::move(finding));
  });
}

void mig_label(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const Seen& seen, const FactRecord& node) {
    const std::string config(node.text("mig_config"));
    const bool cut = (!config.empty() && config != "all-disabled") || node.has("mig");
    if (!cut || !node.has("gpu_count")) return;
    Finding finding = make_finding(rule, FindingSeverity::kInfo, node_subject(seen, node),
                                   fmt::format("the label gpu.count={:g} counts boards, not what pods can get",
                                               node.number("gpu_count").value_or(0)));
    finding.cause = "With MIG the slices are what is allocatable; the label stays the number of GPUs.";
    finding.evidence.push_back(evidence_of(seen, line_of(node, "gpu_count"), "nvidia.com/gpu.count"));
    finding.fix = {"kubectl get node -o jsonpath='{.status.allocatable}'"};
    findings.push_back(std::move(finding));
  });
}

constexpr Rule kRules[] = {
    {"kubernetes.gpus-unhealthy", "GPUs that cannot be allocated", "Capacity above allocatable.",
     "k8s-device-plugin#58, gpu-operator#637", gpus_unhealthy},
    {"kubernetes.device-unhealthy", "The device plugin marks a GPU unhealthy", "A critical Xid in the plugin's log.",
     "k8s-device-plugin#58", device_unhealthy},
    {"kubernetes.no-gpu-free", "No GPU is free although allocatable is not 0", "Requests reach what is allocatable.",
     "k8s-device-plugin#213", no_gpu_free},
    {"kubernetes.allocatable-is-not-free", "Allocatable says nothing of use",
     "Allocatable equals capacity, requests are not shown.", "k8s-device-plugin#213", allocatable_is_not_free},
    {"kubernetes.mig-stale", "Whole GPUs and their MIG slices are offered at once",
     "nvidia.com/gpu stays after MIG was enabled.", "gpu-operator#637", mig_stale},
    {"kubernetes.mig-pending", "MIG is being changed, or could not be", "mig.config.state other than success.", "",
     mig_pending},
    {"kubernetes.not-ready", "A node with GPUs is not ready", "Ready is False or Unknown.", "", not_ready},
    {"kubernetes.cordoned", "A node with GPUs is cordoned", "Unschedulable.", "", cordoned},
    {"kubernetes.pressure", "A node with GPUs is short of disk, memory or processes", "A pressure condition is True.",
     "", pressure},
    {"kubernetes.pods-wait", "Pods wait for GPUs", "FailedScheduling with Insufficient GPU.", "", pods_wait},
    {"kubernetes.crash-loop", "A pod starts and fails, again and again", "CrashLoopBackOff and its kin.", "",
     crash_loop},
    {"kubernetes.memory-request", "All GPUs and little memory",
     "A pod of all GPUs with under an eighth of the node's memory.", "", memory_request},
    {"kubernetes.no-rdma", "Several nodes and no RDMA device", "A job over nodes whose pods ask for none.",
     "aws-ofi-nccl, AReaL#639", no_rdma},
    {"kubernetes.hami-stuck", "HAMi's registration is stuck", "Requesting, and a lock that is held.", "HAMi",
     hami_stuck},
    {"kubernetes.shared-gpus", "nvidia.com/gpu counts shares", "gpu.replicas above 1.", "", shared_gpus},
    {"kubernetes.mig-label", "gpu.count is not what pods can get", "The label beside MIG.", "", mig_label},
};

}  // namespace

std::span<const Rule> kubernetes_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list(std::begin(kRules), std::end(kRules));
    for (const auto part : {kubernetes_device_rules, kubernetes_pod_rules, kubernetes_workload_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
