// The state of nodes with GPUs: what can be allocated, MIG, readiness.
#include <fmt/format.h>

#include <cmath>

#include "audit/gpu_seen.h"
#include "audit/kubernetes_rules.h"
#include "audit/loss.h"

namespace tare {
namespace {

constexpr double kSlicesOfGpu = 7;  // MIG: compute slices of a GPU

// Calls check(node) for every node that has, or should have, GPUs.
template <typename Check>
void for_gpu_nodes(const Observed& observed, const Check& check) {
  for (const KubeNode& node : kube_nodes(observed)) {
    const FactRecord& facts = *node.facts;
    const bool has_gpus = facts.number("gpu_capacity").value_or(0) > 0 ||
                          facts.number("gpu_allocatable").value_or(0) > 0 || facts.has("gpu_count") ||
                          facts.has("gpu_product") || facts.has("mig");
    if (has_gpus) check(node);
  }
}

double gpus_of(const FactRecord& node) {
  for (const char* const name : {"gpu_capacity", "gpu_count", "gpu_allocatable"}) {
    if (const std::optional<double> count = node.number(name); count && *count > 0) return *count;
  }
  return 0;
}

void gpus_unhealthy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const double unhealthy = node.number("gpu_unhealthy").value_or(0), all = gpus_of(node);
    if (unhealthy <= 0) return;
    const bool none_left = node.number("gpu_allocatable").value_or(0) <= 0;
    Finding finding =
        node_finding(rule, none_left ? FindingSeverity::kHigh : FindingSeverity::kMedium, at,
                     fmt::format("{:g} of {:g} GPUs cannot be allocated", unhealthy, all), "gpu_allocatable",
                     fmt::format("capacity {:g}, allocatable {:g}", all, node.number("gpu_allocatable").value_or(0)));
    finding.cause = "Capacity above allocatable: the device plugin holds these GPUs unhealthy, or it has lost them.";
    finding.confidence = 0.9;
    finding.expected = fmt::format("{:g} GPUs allocatable", all);
    finding.measured = fmt::format("{:g}", all - unhealthy);
    finding.loss = whole_gpus_lost(unhealthy, "capacity less allocatable");
    finding.fix = {"kubectl logs -n <namespace> <device plugin pod of the node>: which GPU, which Xid",
                   "nvidia-smi and dmesg on the node; after a reset restart the device plugin's pod"};
    finding.consequences = {"kubernetes.pods-wait"};
    findings.push_back(std::move(finding));
  });
}

// Nothing is free although allocatable is not 0.
void no_gpu_free(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const std::optional<double> free = node.number("gpu_free");
    const double allocatable = node.number("gpu_allocatable").value_or(0);
    if (!free || *free > 0 || allocatable <= 0) return;
    Finding finding = node_finding(rule, FindingSeverity::kLow, at,
                                   fmt::format("no GPU is free: {:g} allocatable, {:g} requested", allocatable,
                                               node.number("gpu_requested").value_or(0)),
                                   "gpu_requested", "requests reach what is allocatable");
    finding.cause = "Allocatable does not fall with use: what is free is allocatable less the requests of pods.";
    finding.fix = {"kubectl describe node: who holds them; pods that are done and not deleted hold theirs too"};
    finding.consequences = {"kubernetes.pods-wait"};
    findings.push_back(std::move(finding));
  });
}

void allocatable_is_not_free(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const double capacity = node.number("gpu_capacity").value_or(0);
    if (capacity <= 0 || node.number("gpu_allocatable") != capacity || node.has("gpu_free")) return;
    Finding finding = node_finding(rule, FindingSeverity::kInfo, at,
                                   fmt::format("{:g} GPUs are allocatable: that says nothing of use", capacity),
                                   "gpu_allocatable", fmt::format("allocatable {:g}", capacity));
    finding.cause =
        "Allocatable is capacity less what is unhealthy or reserved; it stays the same while pods use the GPUs.";
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
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const FactRecord* const mig = node.find_record("mig");
    const double whole = node.number("gpu_allocatable").value_or(0);
    if (mig == nullptr || whole <= 0) return;
    const double cut = gpus_in_slices(*mig);
    const std::optional<double> count = node.number("gpu_count");
    if (cut <= 0 || (count && whole + cut <= *count)) return;
    Finding finding =
        node_finding(rule, FindingSeverity::kMedium, at,
                     fmt::format("{:g} whole GPUs and MIG slices of {:g} are offered at once", whole, cut), "mig",
                     fmt::format("nvidia.com/gpu {:g} beside MIG slices", whole));
    finding.confidence = count ? 0.9 : 0.6;
    finding.cause =
        count ? fmt::format("The node has {:g} GPUs: nvidia.com/gpu is from before MIG was enabled.", *count)
              : "nvidia.com/gpu stays what it was until the device plugin registers anew: a pod that gets such a "
                "GPU fails to start.";
    finding.loss_unknown = "pods that fail to start are not counted";
    finding.fix = {
        "restart the device plugin's pod; then kubectl describe node must show one of both, or mig.strategy=mixed "
        "with the GPUs that are not cut"};
    findings.push_back(std::move(finding));
  });
}

void mig_pending(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const std::string_view state = node.text("mig_config_state");
    if (state.empty() || state == "success") return;
    Finding finding = node_finding(rule, FindingSeverity::kMedium, at,
                                   fmt::format("MIG reconfiguration to '{}' is {}", node.text("mig_config"), state),
                                   "mig_config_state", fmt::format("nvidia.com/mig.config.state={}", state));
    finding.confidence = state == "failed" ? 0.95 : 0.8;
    finding.cause = state == "failed"
                        ? "The MIG manager could not make the layout: often a process still holds a GPU."
                        : "While it lasts the MIG manager ends the GPU pods of the node; no GPU can be had.";
    if (const double gpus = gpus_of(node); gpus > 0) {
      finding.loss = whole_gpus_lost(gpus, "GPUs of the node, while it lasts");
    } else {
      finding.loss_unknown = "how many GPUs the node has is not known";
    }
    finding.fix = {"kubectl logs -n gpu-operator -l app=nvidia-mig-manager: what it waits for",
                   "drain the node first: MIG changes only on GPUs that nothing holds"};
    findings.push_back(std::move(finding));
  });
}

void not_ready(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    for (const FactRecord* const condition : records_of(node, "conditions")) {
      if (condition->text("type") != "Ready" || condition->text("status") == "True") continue;
      if (condition->text("status").empty()) continue;
      Finding finding = node_finding(rule, FindingSeverity::kHigh, at,
                                     fmt::format("the node is not ready: {}", condition->text("reason")), "conditions",
                                     "Ready " + std::string(condition->text("status")));
      finding.confidence = 0.95;
      finding.cause =
          fmt::format("Its kubelet says, or is silent: {}. No pod starts there; those that run are moved away.",
                      condition->text("message"));
      finding.evidence.front().line = condition->line;
      if (const double gpus = gpus_of(node); gpus > 0) finding.loss = whole_gpus_lost(gpus, "GPUs of the node");
      finding.fix = {"journalctl -u kubelet and the container runtime's log on the node"};
      finding.consequences = {"kubernetes.pods-wait", "kubernetes.cordoned", "kubernetes.pressure"};
      findings.push_back(std::move(finding));
    }
  });
}

void cordoned(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    if (!is_true(node, "unschedulable") && node.text("unschedulable") != "true") return;
    Finding finding =
        node_finding(rule, FindingSeverity::kLow, at, fmt::format("a node of {:g} GPUs is cordoned", gpus_of(node)),
                     "unschedulable", "unschedulable");
    finding.confidence = 0.9;
    finding.cause =
        "Somebody, or a health controller, keeps new pods off it: what runs goes on, what ends leaves it empty.";
    if (const std::optional<double> free = node.number("gpu_free")) {
      finding.loss = whole_gpus_lost(*free, "GPUs that no pod requests");
    } else {
      finding.loss_unknown = "how many of its GPUs still work is not known";
    }
    finding.fix = {"kubectl get events for the reason; kubectl uncordon when it is mended"};
    findings.push_back(std::move(finding));
  });
}

void pressure(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    for (const FactRecord* const condition : records_of(node, "conditions")) {
      const std::string_view type = condition->text("type");
      if (type == "Ready" || condition->text("status") != "True") continue;
      const bool squeezed = type.ends_with("Pressure") || type == "NetworkUnavailable";
      if (!squeezed) continue;
      Finding finding = node_finding(rule, FindingSeverity::kMedium, at,
                                     fmt::format("{} on a node of {:g} GPUs", type, gpus_of(node)), "conditions",
                                     std::string(condition->text("message")));
      finding.confidence = 0.9;
      finding.cause =
          "The kubelet evicts pods and takes no new ones until it is over: images and scratch files fill the disk, or "
          "page cache and loaders the memory.";
      finding.evidence.front().line = condition->line;
      finding.loss_unknown = "how many pods were evicted is not known";
      finding.fix = {"crictl rmi --prune; move scratch to local NVMe; set ephemeral-storage limits"};
      findings.push_back(std::move(finding));
    }
  });
}

void shared_gpus(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const double replicas = node.number("gpu_replicas").value_or(1);
    if (replicas <= 1) return;
    Finding finding =
        node_finding(rule, FindingSeverity::kInfo, at, fmt::format("each GPU is offered {:g} times", replicas),
                     "gpu_replicas", fmt::format("gpu.replicas={:g}", replicas));
    finding.cause =
        "Time slicing or MPS: nvidia.com/gpu counts shares, not GPUs, and shares have no memory of their own.";
    finding.fix = {"divide by the replicas to count GPUs"};
    findings.push_back(std::move(finding));
  });
}

void mig_label(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for_gpu_nodes(observed, [&](const KubeNode& at) {
    const FactRecord& node = *at.facts;
    const std::string config(node.text("mig_config"));
    const bool cut = (!config.empty() && config != "all-disabled") || node.has("mig");
    if (!cut || !node.has("gpu_count")) return;
    Finding finding = node_finding(rule, FindingSeverity::kInfo, at,
                                   fmt::format("the label gpu.count={:g} counts boards, not what pods can get",
                                               node.number("gpu_count").value_or(0)),
                                   "gpu_count", "nvidia.com/gpu.count");
    finding.cause = "With MIG the slices are what is allocatable; the label stays the number of GPUs.";
    finding.fix = {"kubectl get node -o jsonpath='{.status.allocatable}'"};
    findings.push_back(std::move(finding));
  });
}

// HAMi: its lock is taken and never given back, so that no GPU is registered any more.
void hami_stuck(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const KubeNode& at : kube_nodes(observed)) {
    const FactRecord* const notes = at.facts->find_record("annotations");
    if (notes == nullptr || !notes->text("hami.io/node-handshake").starts_with("Requesting")) continue;
    if (notes->text("hami.io/mutex.lock").empty()) continue;
    Finding finding =
        node_finding(rule, FindingSeverity::kMedium, at, "HAMi waits for the node's registration and its lock is held",
                     "annotations", std::string(notes->text("hami.io/node-handshake")));
    finding.evidence.front().line = line_of(*notes, "hami.io/node-handshake");
    finding.confidence = 0.7;
    finding.cause =
        "The scheduler asked for a report (Requesting) that the device plugin has not given, and an old lock stands: "
        "pods that want a share of a GPU stay pending.";
    finding.loss_unknown = "how many GPUs wait is not known";
    finding.fix = {"kubectl annotate node <node> hami.io/mutex.lock-",
                   "restart the HAMi device plugin's pod of the node"};
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::span<const Rule> kubernetes_node_rules() {
  static const std::vector<Rule> rules = {
      {"kubernetes.gpus-unhealthy", "GPUs that cannot be allocated", "Capacity above allocatable.",
       "k8s-device-plugin#58, gpu-operator#637", gpus_unhealthy},
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
      {"kubernetes.shared-gpus", "nvidia.com/gpu counts shares", "gpu.replicas above 1.", "", shared_gpus},
      {"kubernetes.mig-label", "gpu.count is not what pods can get", "The label beside MIG.", "", mig_label},
      {"kubernetes.hami-stuck", "HAMi's registration is stuck", "Requesting, and a lock that is held.", "HAMi",
       hami_stuck},
  };
  return rules;
}

}  // namespace tare
