#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>

#include "audit/gpu_seen.h"
#include "audit/kubernetes_rules.h"
#include "audit/loss.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct PodSeen {
  const FactRecord* facts = nullptr;
  std::string name;
  double gpus = 0;
};

PodSeen pod_of(const FactRecord& record) {
  return {&record, std::string(record.text("name")), record.number("gpus").value_or(0)};
}

// The words in which a pod's record says why it does not run.
std::vector<std::string> reasons_of(const FactRecord& pod) {
  std::vector<std::string> reasons;
  const auto add = [&reasons](std::string_view text) {
    if (!text.empty()) reasons.emplace_back(text);
  };
  for (const char* const member : {"status", "phase", "reason", "waiting_reason", "last_reason"}) add(pod.text(member));
  for (const FactRecord* const container : records_of(pod, "containers")) {
    add(container->text("reason"));
    add(container->text("last_reason"));
  }
  return reasons;
}

std::string reason_among(const FactRecord& pod, std::initializer_list<std::string_view> words) {
  for (const std::string& reason : reasons_of(pod)) {
    for (const std::string_view word : words) {
      if (contains(reason, word)) return std::string(word);
    }
  }
  return {};
}

std::string pods_in_words(const std::vector<PodSeen>& pods) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const PodSeen& pod : pods) names.push_back(pod.name);
  return pods.size() == 1 ? "pod " + names.front() : fmt::format("{} pods ({})", pods.size(), list_names(names));
}

Finding pods_finding(const Rule& rule, FindingSeverity severity, const Seen& seen, const std::vector<PodSeen>& pods,
                     std::string title) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const PodSeen& pod : pods) names.push_back(pod.name);
  Finding finding = make_finding(rule, severity, {"job", list_names(names), seen.node}, std::move(title));
  double gpus = 0;
  for (const PodSeen& pod : pods) {
    gpus += pod.gpus;
    if (finding.evidence.size() < 4)
      finding.evidence.push_back(
          evidence_of(seen, pod.facts->line, fmt::format("{}: {}", pod.name, join(reasons_of(*pod.facts), ", "))));
  }
  if (gpus > 0) finding.title += fmt::format(", with {:.0f} GPUs", gpus);
  return finding;
}

// Pods of a reading by the first of these words that they say.
void report_reasons(const Rule& rule, const Observed& observed, std::initializer_list<std::string_view> words,
                    const std::function<void(Finding& finding, const std::string& reason)>& fill,
                    FindingSeverity severity, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    std::map<std::string, std::vector<PodSeen>> by_reason;
    for (const FactRecord* const pod : records_of(*seen.facts, "pods")) {
      const std::string reason = reason_among(*pod, words);
      // kubernetes.crash-loop speaks of what stands as the pod's own state.
      if (!reason.empty() && !(reason == "OOMKilled" && pod->text("phase") == reason))
        by_reason[reason].push_back(pod_of(*pod));
    }
    for (const auto& [reason, pods] : by_reason) {
      Finding finding = pods_finding(rule, severity, seen, pods, fmt::format("{} in {}", pods_in_words(pods), reason));
      fill(finding, reason);
      findings.push_back(std::move(finding));
    }
  }
}

void oom_killed(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_reasons(
      rule, observed, {"OOMKilled"},
      [](Finding& finding, const std::string&) {
        finding.cause =
            "A container went over its memory limit. It is the host's memory: data loader workers, pinned "
            "buffers, a checkpoint being written, and what lies in /dev/shm.";
        finding.fix = {"limits.memory above what it needs; /dev/shm of medium Memory counts to it",
                       "fewer data loader workers"};
        finding.loss_unknown = "what was lost since the last checkpoint is not told";
      },
      FindingSeverity::kMedium, findings);
}

void evicted(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  report_reasons(
      rule, observed, {"Evicted", "Preempted", "Preempting"},
      [](Finding& finding, const std::string& reason) {
        const bool by_node = reason == "Evicted";
        finding.cause = by_node ? "The kubelet ended it for want of disk, memory or process ids on the node."
                                : "A pod of higher priority took its place.";
        finding.fix = {by_node ? "kubectl describe pod POD: what the node was low on; requests near what the pod uses"
                               : "a PriorityClass that fits the job, or preemptionPolicy: Never for the others",
                       "checkpoints often enough for it"};
        finding.loss_unknown = "what was lost since the last checkpoint is not told";
      },
      FindingSeverity::kMedium, findings);
}

// GPUs of the largest node that the reading tells, and of all the free ones.
struct Room {
  double largest = 0, most_free = 0, free = 0;
  bool free_told = true;
};
Room room_of(const Seen& seen) {
  Room room;
  for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
    room.largest = std::max(room.largest, node->number("gpu_allocatable").value_or(0));
    const auto free = node->number("gpu_free");
    if (node->has("gpu_allocatable") && !free) room.free_told = false;
    room.most_free = std::max(room.most_free, free.value_or(0));
    room.free += std::max(0.0, free.value_or(0));
  }
  return room;
}

bool is_pending(const FactRecord& pod) { return pod.text("phase") == "Pending" && pod.text("node").empty(); }

void request_impossible(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    const Room room = room_of(seen);
    if (room.largest <= 0) continue;
    std::vector<PodSeen> pods;
    for (const FactRecord* const pod : records_of(*seen.facts, "pods")) {
      if (is_pending(*pod) && pod->number("gpus").value_or(0) > room.largest) pods.push_back(pod_of(*pod));
    }
    if (pods.empty()) continue;
    Finding finding = pods_finding(
        rule, FindingSeverity::kMedium, seen, pods,
        fmt::format("{} asks for more than the {:.0f} GPUs of any node", pods_in_words(pods), room.largest));
    finding.confidence = 0.8;
    finding.cause = "No node offers as many: it waits for ever, or until an unhealthy GPU is back.";
    finding.fix = {fmt::format("{:.0f} GPUs a pod and more pods", room.largest),
                   "capacity against allocatable of the nodes: a GPU may be marked unhealthy"};
    finding.loss_unknown = "what waiting costs is not known";
    findings.push_back(std::move(finding));
  }
}

void fragmented(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    const Room room = room_of(seen);
    if (!room.free_told || room.free <= 0) continue;
    std::vector<PodSeen> pods;
    for (const FactRecord* const pod : records_of(*seen.facts, "pods")) {
      const double gpus = pod->number("gpus").value_or(0);
      if (is_pending(*pod) && gpus > room.most_free && gpus <= room.free && gpus <= room.largest)
        pods.push_back(pod_of(*pod));
    }
    if (pods.empty()) continue;
    Finding finding = pods_finding(rule, FindingSeverity::kMedium, seen, pods,
                                   fmt::format("{:.0f} GPUs are free, no node has more than {:.0f}: {} waits",
                                               room.free, room.most_free, pods_in_words(pods)));
    finding.cause = "Small pods are spread over the nodes, so that none has room for a large one.";
    finding.fix = {
        "NodeResourcesFit with MostAllocated for nvidia.com/gpu in the scheduler's profile: fill nodes one by one",
        "a queue that places large jobs first (Kueue, Volcano), or moves small pods together (descheduler)"};
    finding.loss_unknown = "how long they wait is not told";
    findings.push_back(std::move(finding));
  }
}

// Reasons that time does not cure when every node has one of them.
bool is_lasting(std::string_view reason) {
  for (const char* const part :
       {"didn't match", "untolerated taint", "had taint", "volume node affinity", "unbound immediate"}) {
    if (contains(reason, part)) return true;
  }
  return false;
}

void ruled_out(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    for (const FactRecord* const event : records_of(*seen.facts, "events")) {
      const std::vector<const FactRecord*> shortfalls = records_of(*event, "shortfalls");
      const bool lasting =
          !shortfalls.empty() && std::all_of(shortfalls.begin(), shortfalls.end(),
                                             [](const FactRecord* one) { return is_lasting(one->text("reason")); });
      if (event->text("reason") != "FailedScheduling" || !lasting) continue;
      const std::string subject = event->text("object").empty() ? "pod" : std::string(event->text("object"));
      Finding finding =
          make_finding(rule, FindingSeverity::kMedium, {"job", subject, seen.node},
                       fmt::format("no node of {:.0f} will take {}: {}", event->number("nodes_total").value_or(0),
                                   subject, shortfalls.front()->text("reason")));
      finding.confidence = 0.7;
      finding.cause = "Selectors, taints or volumes rule out every node; waiting will not cure that.";
      finding.evidence.push_back(evidence_of(seen, event->line, std::string(event->text("message"))));
      finding.fix = {"kubectl describe node NODE: labels and taints against the pod's nodeSelector and tolerations",
                     "unbound claims: kubectl get pvc, and the storage class's volumeBindingMode"};
      finding.loss_unknown = "what waiting costs is not known";
      add_once(findings, std::move(finding));
    }
  }
}

void restarts(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kMany = 5;  // as of Slurm's jobs
  for (const Seen& seen : observed.of_kind("kubernetes")) {
    std::vector<PodSeen> pods;
    double most = 0;
    for (const FactRecord* const pod : records_of(*seen.facts, "pods")) {
      double count = pod->number("restarts").value_or(0);
      for (const FactRecord* const container : records_of(*pod, "containers"))
        count = std::max(count, container->number("restarts").value_or(0));
      if (pod->number("gpus").value_or(0) <= 0 || count < kMany || pod->text("phase") != "Running") continue;
      most = std::max(most, count);
      pods.push_back(pod_of(*pod));
    }
    if (pods.empty()) continue;
    Finding finding = pods_finding(rule, FindingSeverity::kMedium, seen, pods,
                                   fmt::format("{} restarted up to {:.0f} times", pods_in_words(pods), most));
    finding.confidence = 0.8;
    finding.cause = "Its containers end again and again; the work since the last checkpoint is done anew each time.";
    finding.fix = {"kubectl logs POD --previous; kubectl describe pod POD: Last State and Exit Code",
                   "137 is out of memory or a kill, 139 a crash in native code, 1 the program's own"};
    finding.loss_unknown = "how long each run was is not told";
    findings.push_back(std::move(finding));
  }
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

// As often as this is a loop.
constexpr double kRestarts = 5;

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

}  // namespace

std::span<const Rule> kubernetes_pod_rules() {
  static const std::vector<Rule> rules = {
      {"kubernetes.oom-killed", "A container went over its memory limit", "its rank dies, and the job with it",
       "kubernetes.io/docs/tasks/configure-pod-container/assign-memory-resource", oom_killed},
      {"kubernetes.evicted", "Pods were evicted or preempted", "work since the last checkpoint is gone",
       "kubernetes.io/docs/concepts/scheduling-eviction", evicted},
      {"kubernetes.restarts", "GPU pods restart again and again", "work is done again and again",
       "kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle", restarts},
      {"kubernetes.request-impossible", "A pod asks for more GPUs than any node has", "it waits for ever",
       "kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus", request_impossible},
      {"kubernetes.fragmented", "GPUs are free, but spread over nodes", "large pods wait",
       "kubernetes.io/docs/concepts/scheduling-eviction/resource-bin-packing", fragmented},
      {"kubernetes.ruled-out", "No node will ever take a pod", "it waits until somebody looks",
       "kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node", ruled_out},
      {"kubernetes.pods-wait", "Pods wait for GPUs", "FailedScheduling with Insufficient GPU.", "", pods_wait},
      {"kubernetes.crash-loop", "A pod starts and fails, again and again", "CrashLoopBackOff and its kin.", "",
       crash_loop},
  };
  return rules;
}

}  // namespace tare
