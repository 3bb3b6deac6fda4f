#include "ingest/kube_objects.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/bounded_fact.h"
#include "ingest/scan.h"

namespace tare {
namespace {

const FactRecord* record_at(const FactRecord& from, std::string_view path) {
  const FactRecord* at = &from;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    at = at->find_record(path.substr(0, dot));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return at;
}

FactRecord quantities(const FactRecord& from) {
  FactRecord into(from.line);
  for (const auto& [name, value] : from.members()) {
    if (into.members().size() > 500) break;
    if (value.as_list() == nullptr && value.as_record() == nullptr) into.set(name, quantity_fact(value));
  }
  return into;
}

void copy_text(FactRecord& into, std::string_view name, const FactRecord* from, std::string_view member) {
  if (from == nullptr) return;
  if (const Fact* const fact = from->find(member);
      fact != nullptr && fact->as_list() == nullptr && fact->as_record() == nullptr) {
    into.set(name, Fact(*fact));
  }
}

std::vector<const FactRecord*> records_in(const FactRecord& record, std::string_view list) {
  std::vector<const FactRecord*> records;
  const std::vector<Fact>* const items = record.find_list(list);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    if (const FactRecord* const one = (*items)[i].as_record()) records.push_back(one);
  }
  return records;
}

void take_status(FactRecord& node, const FactRecord& status) {
  for (const std::string_view name : {"capacity", "allocatable"}) {
    if (const FactRecord* const resources = status.find_record(name)) node.set(name, Fact::of(quantities(*resources)));
  }
  if (const FactRecord* const info = status.find_record("nodeInfo")) {
    copy_text(node, "kernel", info, "kernelVersion");
    copy_text(node, "os_image", info, "osImage");
    copy_text(node, "container_runtime", info, "containerRuntimeVersion");
    copy_text(node, "kubelet", info, "kubeletVersion");
    copy_text(node, "arch", info, "architecture");
  }
  if (const std::vector<Fact>* const conditions = status.find_list("conditions")) {
    for (const Fact& one : *conditions) {
      const FactRecord* const condition = one.as_record();
      if (condition == nullptr) continue;
      FactRecord& into = node.append("conditions", condition->line);
      for (const std::string_view name : {"type", "status", "reason", "message"})
        copy_text(into, name, condition, name);
      if (condition->text("type") == "Ready") copy_text(node, "ready", condition, "status");
      if (into.find("status") != nullptr && std::holds_alternative<bool>(into.find("status")->value)) {
        into.set("status", std::get<bool>(into.find("status")->value) ? "True" : "False", condition->line);
      }
    }
  }
  if (const std::vector<Fact>* const addresses = status.find_list("addresses")) {
    for (const Fact& one : *addresses) {
      if (one.as_record() != nullptr && one.as_record()->text("type") == "InternalIP") {
        copy_text(node, "internal_ip", one.as_record(), "address");
      }
    }
  }
}

void take_labels(FactRecord& node, const FactRecord& from, std::string_view name) {
  const FactRecord* const map = from.find_record(name);
  if (map != nullptr && !map->empty()) node.set(name, Fact::of(bounded(*map)));
}

void take_node(const FactRecord& object, KubeFacts& facts) {
  facts.new_node(object.line);
  FactRecord& node = facts.current_node(object.line);
  const FactRecord* const metadata = object.find_record("metadata");
  copy_text(node, "name", metadata, "name");
  copy_text(node, "created", metadata, "creationTimestamp");
  if (const FactRecord* const spec = object.find_record("spec")) {
    copy_text(node, "unschedulable", spec, "unschedulable");
    copy_text(node, "provider_id", spec, "providerID");
    if (const std::vector<Fact>* const taints = spec->find_list("taints")) {
      for (const Fact& one : *taints) {
        const FactRecord* const taint = one.as_record();
        if (taint == nullptr) continue;
        FactRecord& into = node.append("taints", taint->line);
        for (const std::string_view name : {"key", "value", "effect"}) copy_text(into, name, taint, name);
      }
    }
  }
  if (const FactRecord* const status = object.find_record("status")) take_status(node, *status);
  if (metadata != nullptr) {
    take_labels(node, *metadata, "labels");
    take_labels(node, *metadata, "annotations");
  }
}

// What a container finds at /dev/shm: "host path", "memory", "disk", "other volume", or "default" (the runtime's 64
// MB).
std::string_view shm_of(const FactRecord& spec, const FactRecord& container) {
  std::string_view volume;
  for (const FactRecord* const mount : records_in(container, "volumeMounts")) {
    if (mount->text("mountPath") == "/dev/shm") volume = mount->text("name");
  }
  if (volume.empty()) return "default";
  for (const FactRecord* const one : records_in(spec, "volumes")) {
    if (one->text("name") != volume) continue;
    if (one->has("hostPath")) return "host path";
    const FactRecord* const empty = one->find_record("emptyDir");
    if (one->has("emptyDir")) return empty != nullptr && empty->text("medium") == "Memory" ? "memory" : "disk";
  }
  return "other volume";
}

// Containers of a pod's spec: what they ask for, summed over them.
void take_pod_spec(const FactRecord& spec, FactRecord& pod) {
  copy_text(pod, "node", &spec, "nodeName");
  copy_text(pod, "scheduler", &spec, "schedulerName");
  copy_text(pod, "host_network", &spec, "hostNetwork");
  copy_text(pod, "host_ipc", &spec, "hostIPC");
  if (const FactRecord* const selector = spec.find_record("nodeSelector"))
    pod.set("node_selector", Fact::of(bounded(*selector)));
  const std::vector<Fact>* const containers = spec.find_list("containers");
  if (containers == nullptr) return;
  std::optional<std::int64_t> gpus;
  for (const Fact& one : *containers) {
    const FactRecord* const container = one.as_record();
    if (container == nullptr) continue;
    FactRecord& into = pod.append("containers", container->line);
    copy_text(into, "name", container, "name");
    copy_text(into, "image", container, "image");
    std::optional<std::int64_t> own;
    for (const std::string_view name : {"limits", "requests"}) {
      const FactRecord* const resources = record_at(*container, std::string("resources.") + std::string(name));
      if (resources == nullptr) continue;
      FactRecord values = quantities(*resources);
      if (!own) own = gpus_in(values);
      into.set(name, Fact::of(std::move(values)));
    }
    if (const FactRecord* const security = container->find_record("securityContext"))
      copy_text(into, "privileged", security, "privileged");
    into.set("shm", shm_of(spec, *container));
    if (own) {
      into.set("gpus", *own);
      gpus = std::min<std::int64_t>(gpus.value_or(0) + *own, 1'000'000'000);
    }
    for (const std::string_view name : {"command", "args", "env"}) {
      const std::vector<Fact>* const list = container->find_list(name);
      if (list != nullptr && list->size() <= 200) into.set(name, bounded(*container->find(name)));
    }
  }
  pod.set("gpus", gpus.value_or(0));
}

void take_pod(const FactRecord& object, KubeFacts& facts) {
  FactRecord pod(object.line);
  const FactRecord* const metadata = object.find_record("metadata");
  copy_text(pod, "name", metadata, "name");
  copy_text(pod, "namespace", metadata, "namespace");
  if (const FactRecord* const spec = object.find_record("spec")) take_pod_spec(*spec, pod);
  if (const FactRecord* const status = object.find_record("status")) {
    for (const std::string_view name : {"phase", "reason", "message"}) copy_text(pod, name, status, name);
    copy_text(pod, "host_ip", status, "hostIP");
    copy_text(pod, "start_time", status, "startTime");
    copy_text(pod, "qos_class", status, "qosClass");
    std::int64_t restarts = 0;
    if (const std::vector<Fact>* const statuses = status->find_list("containerStatuses")) {
      for (const Fact& one : *statuses) {
        if (one.as_record() == nullptr) continue;
        if (const FactRecord* const waiting = record_at(*one.as_record(), "state.waiting"))
          copy_text(pod, "waiting_reason", waiting, "reason");
        if (const FactRecord* const ended = record_at(*one.as_record(), "lastState.terminated"))
          copy_text(pod, "last_reason", ended, "reason");
        restarts = std::min<std::int64_t>(
            restarts + std::clamp<std::int64_t>(one.as_record()->integer("restartCount").value_or(0), 0, 1'000'000),
            1'000'000'000);
      }
      pod.set("restarts", restarts);
    }
  }
  facts.add_pod(std::move(pod));
}

void take_event(const FactRecord& object, KubeFacts& facts) {
  FactRecord event(object.line);
  for (const std::string_view name : {"type", "reason", "message", "count"}) copy_text(event, name, &object, name);
  if (!event.has("message")) copy_text(event, "message", &object, "note");
  copy_text(event, "time", &object,
            object.has("lastTimestamp") && !object.text("lastTimestamp").empty() ? "lastTimestamp" : "eventTime");
  for (const std::string_view name : {"involvedObject", "regarding"}) {
    if (const FactRecord* const about = object.find_record(name)) {
      event.set("object", std::string(about->text("kind")) + "/" + std::string(about->text("name")), about->line);
    }
  }
  if (const FactRecord* const source = object.find_record("source")) copy_text(event, "from", source, "component");
  facts.add_event(std::move(event));
}

// One role of a workload: so many pods of one template.
void add_role(FactRecord& workload, std::string_view role, std::int64_t replicas, const FactRecord* pod_spec,
              std::int64_t line) {
  FactRecord& into = workload.append("roles", line);
  into.set("role", role);
  into.set("replicas", replicas);
  if (pod_spec != nullptr) take_pod_spec(*pod_spec, into);
}

std::int64_t count_of(const FactRecord* record, std::string_view name, std::int64_t otherwise) {
  if (record == nullptr) return otherwise;
  const Fact* const fact = record->find(name);
  if (fact == nullptr) return otherwise;
  const Fact value = quantity_fact(*fact);
  const std::int64_t* const count = std::get_if<std::int64_t>(&value.value);
  return count == nullptr ? otherwise : std::clamp<std::int64_t>(*count, 0, 1'000'000);
}

void add_roles_of_operator(FactRecord& workload, const FactRecord& spec) {
  for (const auto& [name, value] : spec.members()) {
    if (!name.ends_with("ReplicaSpecs") || value.as_record() == nullptr) continue;
    for (const auto& [role, replica] : value.as_record()->members()) {
      const FactRecord* const record = replica.as_record();
      if (record == nullptr) continue;
      add_role(workload, role, count_of(record, "replicas", 1), record_at(*record, "template.spec"), record->line);
    }
  }
}

void add_roles_of_lists(FactRecord& workload, const FactRecord& spec) {
  struct Shape {
    std::string_view list;
    std::string_view name;
    std::string_view pod_spec;
  };
  static constexpr auto kShapes = std::to_array<Shape>({
      {"tasks", "name", "template.spec"},                         // Volcano
      {"workerGroupSpecs", "groupName", "template.spec"},         // Ray
      {"replicatedJobs", "name", "template.spec.template.spec"},  // JobSet
  });
  for (const Shape& shape : kShapes) {
    const std::vector<Fact>* const list = spec.find_list(shape.list);
    if (list == nullptr) continue;
    for (const Fact& one : *list) {
      const FactRecord* const record = one.as_record();
      if (record == nullptr) continue;
      std::int64_t replicas = count_of(record, "replicas", 1);
      if (shape.list == "replicatedJobs") {
        const FactRecord* const job = record_at(*record, "template.spec");
        replicas *= std::max<std::int64_t>(1, count_of(job, "parallelism", count_of(job, "completions", 1)));
      }
      add_role(workload, record->text(shape.name), replicas, record_at(*record, shape.pod_spec), record->line);
    }
  }
}

void add_roles(FactRecord& workload, const FactRecord& spec) {
  add_roles_of_operator(workload, spec);
  add_roles_of_lists(workload, spec);
  if (const FactRecord* const head = record_at(spec, "headGroupSpec.template.spec"))
    add_role(workload, "head", 1, head, head->line);
  if (const FactRecord* const ray = spec.find_record("rayClusterSpec")) add_roles(workload, *ray);
  if (const FactRecord* const group = spec.find_record("leaderWorkerTemplate")) {
    const std::int64_t size = std::max<std::int64_t>(1, count_of(group, "size", 1));
    add_role(workload, "worker", count_of(&spec, "replicas", 1) * size, record_at(*group, "workerTemplate.spec"),
             group->line);
  }
  if (const FactRecord* const trainer = spec.find_record("trainer")) {
    FactRecord& into = workload.append("roles", trainer->line);
    into.set("role", "trainer");
    into.set("replicas", count_of(trainer, "numNodes", 1));
    copy_text(into, "processes_per_node", trainer, "numProcPerNode");
    if (const FactRecord* const resources = record_at(*trainer, "resourcesPerNode.limits") != nullptr
                                                ? record_at(*trainer, "resourcesPerNode.limits")
                                                : record_at(*trainer, "resourcesPerNode.requests")) {
      into.set("gpus", gpus_in(quantities(*resources)).value_or(0));
    }
  }
  if (workload.has("roles")) return;
  if (const FactRecord* const pod = record_at(spec, "template.spec")) {
    const std::int64_t replicas = count_of(&spec, "replicas", count_of(&spec, "parallelism", 1));
    add_role(workload, "pod", replicas, pod, pod->line);
  }
}

// "-np 16" of an mpirun command.
void take_mpirun(FactRecord& workload) {
  const std::vector<Fact>* const roles = workload.find_list("roles");
  if (roles == nullptr) return;
  std::optional<Fact> ranks;
  for (const Fact& role : *roles) {
    const std::vector<Fact>* const containers = role.as_record()->find_list("containers");
    for (std::size_t c = 0; containers != nullptr && c < containers->size(); ++c) {
      for (const std::string_view name : {"command", "args"}) {
        const std::vector<Fact>* const words = (*containers)[c].as_record()->find_list(name);
        for (std::size_t i = 0; words != nullptr && i + 1 < words->size(); ++i) {
          if ((*words)[i].text() == "-np" || (*words)[i].text() == "-n") {
            if (const Fact value = quantity_fact((*words)[i + 1]); value.number()) ranks = ranks ? *ranks : value;
          }
        }
      }
    }
  }
  if (ranks) workload.set("mpirun_ranks", *ranks);
}

void take_workload(const FactRecord& object, std::string_view kind, KubeFacts& facts) {
  FactRecord workload(object.line);
  workload.set("kind", kind);
  copy_text(workload, "api_version", &object, "apiVersion");
  copy_text(workload, "name", object.find_record("metadata"), "name");
  copy_text(workload, "namespace", object.find_record("metadata"), "namespace");
  const FactRecord* const spec = object.find_record("spec");
  if (spec != nullptr) {
    copy_text(workload, "slots_per_worker", spec, "slotsPerWorker");
    copy_text(workload, "suspend", spec, "suspend");
    add_roles(workload, *spec);
  }
  std::int64_t gpus = 0;
  if (const std::vector<Fact>* const roles = workload.find_list("roles")) {
    std::int64_t workers = 0;
    std::optional<std::int64_t> per_worker;
    for (const Fact& one : *roles) {
      const FactRecord& role = *one.as_record();
      const std::int64_t replicas = role.integer("replicas").value_or(0);
      const std::int64_t own = std::clamp<std::int64_t>(role.integer("gpus").value_or(0), 0, 1'000'000);
      gpus = std::min<std::int64_t>(gpus + replicas * own, 1'000'000'000);
      if (equals_ignoring_case(role.text("role"), "worker")) {
        workers = replicas;
        per_worker = own;
      }
    }
    workload.set("gpus", gpus);
    if (per_worker) {
      workload.set("workers", workers);
      workload.set("gpus_per_worker", *per_worker);
    }
    const std::optional<std::int64_t> slots = workload.integer("slots_per_worker");
    if (slots && *slots >= 0 && *slots < 1'000'000 && per_worker) workload.set("ranks", *slots * workers);
  }
  take_mpirun(workload);
  facts.add_workload(std::move(workload));
}

bool is_workload(std::string_view kind) {
  static constexpr auto kKinds = std::to_array<std::string_view>(
      {"MPIJob", "PyTorchJob", "TFJob", "JAXJob", "XGBoostJob", "PaddleJob", "TrainJob", "Job", "CronJob", "JobSet",
       "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "RayCluster", "RayJob", "RayService", "LeaderWorkerSet",
       "PodTemplate"});
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

// A piece without a kind.
bool take_piece(const FactRecord& object, KubeFacts& facts) {
  if (object.find_record("metadata") != nullptr && object.find_record("status") != nullptr) {
    if (object.find_record("status")->has("phase")) {
      take_pod(object, facts);
    } else {
      take_node(object, facts);
    }
    return true;
  }
  const FactRecord* status = object.find_record("status");
  if (status == nullptr && (object.has("allocatable") || object.has("capacity"))) status = &object;
  if (status != nullptr && (status->has("allocatable") || status->has("capacity") || status->has("nodeInfo"))) {
    take_status(facts.current_node(object.line), *status);
    return true;
  }
  if (const FactRecord* const labels = object.find_record("labels")) {
    facts.current_node(object.line).set("labels", Fact::of(bounded(*labels)));
    return true;
  }
  if (const FactRecord* const metadata = object.find_record("metadata");
      metadata != nullptr && metadata->has("labels")) {
    take_node(object, facts);
    return true;
  }
  if (object.has("containers") || object.find_record("resources") != nullptr ||
      object.find_record("limits") != nullptr) {
    FactRecord pod(object.line);
    if (object.has("containers")) {
      take_pod_spec(object, pod);
    } else {
      const FactRecord* const resources =
          object.find_record("resources") != nullptr ? object.find_record("resources") : &object;
      for (const std::string_view name : {"limits", "requests"}) {
        if (const FactRecord* const values = resources->find_record(name)) {
          FactRecord all = quantities(*values);
          if (const auto gpus = gpus_in(all)) pod.set("gpus", *gpus);
          pod.set(name, Fact::of(std::move(all)));
        }
      }
    }
    facts.add_pod(std::move(pod));
    return true;
  }
  // Bare labels, or bare resources.
  const auto of_vendor = [](const auto& member) {
    return contains(member.first, ".com/") || contains(member.first, ".io/") || contains(member.first, ".ai/");
  };
  if (std::none_of(object.members().begin(), object.members().end(), of_vendor)) return false;
  const bool resources = std::any_of(object.members().begin(), object.members().end(), [](const auto& member) {
    return member.first == "cpu" || member.first == "memory" || member.first == "pods" || is_gpu_resource(member.first);
  });
  FactRecord& node = facts.current_node(object.line);
  const std::string_view name = !resources ? "labels" : node.has("allocatable") ? "capacity" : "allocatable";
  FactRecord& into = node.record(name, object.line);
  for (const auto& [key, value] : object.members()) {
    if (into.members().size() < 1000) into.set(key, resources ? quantity_fact(value) : value);
  }
  return true;
}

}  // namespace

bool take_kube_object(const FactRecord& object, KubeFacts& facts) {
  const std::string kind(object.text("kind"));
  if (const std::vector<Fact>* const items = object.find_list("items")) {
    for (const Fact& item : *items) {
      if (item.as_record() != nullptr) take_kube_object(*item.as_record(), facts);
    }
    return true;
  }
  if (kind.empty()) return take_piece(object, facts);
  facts.count_object(kind);
  if (kind == "Node") {
    take_node(object, facts);
  } else if (kind == "Pod") {
    take_pod(object, facts);
  } else if (kind == "Event") {
    take_event(object, facts);
  } else if (is_workload(kind)) {
    take_workload(object, kind, facts);
  }
  return true;
}

}  // namespace tare
