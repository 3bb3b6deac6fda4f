// Device plugins that find nothing, GPUs that they hold unhealthy, GPUs without a CPU for them.
#include <fmt/format.h>

#include <algorithm>

#include "audit/gpu_seen.h"
#include "audit/kubernetes_rules.h"
#include "audit/loss.h"

namespace tare {
namespace {

// Of CPU or memory: with 2 % left no pod with a GPU fits.
constexpr double kFull = 0.98;

void plugin_broken(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const entry : records_of(*seen.facts, "log")) {
      const std::string_view event = entry->text("event");
      const bool empty = event == "no_devices" || event == "incompatible_platform" || event == "incompatible_strategy";
      if (!empty && event != "nvml_failed" && event != "runtime_not_nvidia" && event != "failed") continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", seen.node, seen.node},
                                     "the device plugin finds no GPU to offer");
      // It runs on nodes without GPUs too, where it says the same.
      finding.confidence = 0.6;
      finding.cause =
          "It cannot load the driver's library: the container runtime is not NVIDIA's, or there is no driver. On "
          "a node without GPUs that is as it should be.";
      finding.evidence.push_back(evidence_of(seen, entry->line, std::string(entry->text("message"))));
      finding.fix = {"nvidia-ctk runtime configure --runtime=containerd --set-as-default, restart containerd",
                     "or runtimeClassName: nvidia in the DaemonSet; nvidia-smi on the node itself",
                     "nodes without GPUs: a nodeSelector, so that the plugin does not run there"};
      finding.loss_unknown = "whether the node has GPUs is not told";
      add_once(findings, std::move(finding));
      break;
    }
  }
}

void hami_unhealthy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const KubeNode& node : kube_nodes(observed)) {
    for (const FactRecord* const gpu : records_of(*node.facts, "hami_gpus")) {
      if (!is_false(*gpu, "healthy")) continue;
      const std::string uuid(gpu->text("uuid"));
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"gpu", uuid, node.name},
                                     fmt::format("HAMi holds {} unhealthy", uuid));
      finding.cause = "Its device plugin reports the GPU as unhealthy and shares it out no more.";
      finding.evidence.push_back(evidence_of(*node.seen, gpu->line, "healthy: false"));
      finding.fix = {"dmesg -T | grep -i xid on the node; reset the GPU, restart the hami-device-plugin pod"};
      finding.loss = whole_gpus_lost(1, "the GPU that is marked");
      finding.gpu = gpu->text("type");
      add_once(findings, std::move(finding));
    }
  }
}

// What else of the node is used up while GPUs are free; empty where nothing is.
std::string used_up(const FactRecord& node) {
  const FactRecord* const allocated = node.find_record("allocated");
  if (allocated == nullptr) return {};
  for (const char* const resource : {"cpu", "memory"}) {
    const auto requested = resource_of(*allocated, "requests", resource);
    const auto allocatable = resource_of(node, "allocatable", resource);
    if (requested && allocatable && *allocatable > 0 && *requested >= kFull * *allocatable) return resource;
  }
  return {};
}

void stranded(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const KubeNode& node : kube_nodes(observed)) {
    const auto free = node.facts->number("gpu_free"), all = node.facts->number("gpu_allocatable");
    const std::string what = used_up(*node.facts);
    if (!free || !all || *free <= 0 || what.empty()) continue;
    Finding finding =
        node_finding(rule, FindingSeverity::kMedium, node,
                     fmt::format("{:.0f} of {:.0f} GPUs are free, but no {} is left to ask for", *free, *all, what),
                     "allocated", what + " is requested to the last");
    finding.cause = "Pods ask for all of the node's CPU or memory and leave GPUs that no further pod can use.";
    finding.fix = {"requests of pods without GPUs kept off these nodes: a taint nvidia.com/gpu:NoSchedule",
                   "requests of pods with GPUs no larger than their share of the node"};
    finding.loss = whole_gpus_lost(*free, "allocatable less requests");
    add_once(findings, std::move(finding));
  }
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

}  // namespace

std::span<const Rule> kubernetes_device_rules() {
  static const std::vector<Rule> rules = {
      {"kubernetes.plugin-broken", "The device plugin finds no GPU", "none is offered", "k8s-device-plugin",
       plugin_broken},
      {"kubernetes.hami-unhealthy", "HAMi holds a GPU unhealthy", "it is shared out no more", "HAMi", hami_unhealthy},
      {"kubernetes.stranded", "Free GPUs without CPU or memory for them", "no further pod can use them",
       "kubernetes.io/docs/concepts/configuration/manage-resources-containers", stranded},
      {"kubernetes.device-unhealthy", "The device plugin marks a GPU unhealthy", "A critical Xid in the plugin's log.",
       "k8s-device-plugin#58", device_unhealthy},
  };
  return rules;
}

}  // namespace tare
