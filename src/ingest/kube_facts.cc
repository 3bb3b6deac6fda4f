#include "ingest/kube_facts.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMapLimit = 100'000;
constexpr std::int64_t kMost = 1'000'000'000;

struct Label {
  std::string_view label;
  std::string_view name;
};
constexpr auto kLabels = std::to_array<Label>({
    {"nvidia.com/gpu.product", "gpu_product"},
    {"nvidia.com/gpu.count", "gpu_count"},
    {"nvidia.com/gpu.memory", "gpu_memory_mib"},
    {"nvidia.com/gpu.family", "gpu_family"},
    {"nvidia.com/gpu.machine", "machine"},
    {"nvidia.com/gpu.replicas", "gpu_replicas"},
    {"nvidia.com/gpu.sharing-strategy", "gpu_sharing"},
    {"nvidia.com/gpu.mode", "gpu_mode"},
    {"nvidia.com/gpu.compute.major", "gpu_compute_major"},
    {"nvidia.com/gpu.compute.minor", "gpu_compute_minor"},
    {"nvidia.com/gpu.clique", "nvlink_clique"},
    {"nvidia.com/mig.capable", "mig_capable"},
    {"nvidia.com/mig.config", "mig_config"},
    {"nvidia.com/mig.config.state", "mig_config_state"},
    {"nvidia.com/mig.strategy", "mig_strategy"},
    {"nvidia.com/cuda.driver-version.full", "driver"},
    {"nvidia.com/cuda.runtime-version.full", "cuda"},
    {"node.kubernetes.io/instance-type", "instance_type"},
    {"beta.kubernetes.io/instance-type", "instance_type"},
    {"topology.kubernetes.io/region", "region"},
    {"failure-domain.beta.kubernetes.io/region", "region"},
    {"topology.kubernetes.io/zone", "zone"},
    {"failure-domain.beta.kubernetes.io/zone", "zone"},
    {"cloud.google.com/gke-accelerator", "gke_accelerator"},
    {"cloud.google.com/gke-accelerator-count", "gke_accelerator_count"},
    {"cloud.google.com/gke-nodepool", "node_pool"},
    {"eks.amazonaws.com/nodegroup", "node_pool"},
    {"kubernetes.azure.com/agentpool", "node_pool"},
    {"amd.com/gpu.product-name", "gpu_product"},
    {"amd.com/gpu.family", "gpu_family"},
    {"network.topology.nvidia.com/block", "network_block"},
    {"network.topology.nvidia.com/spine", "network_spine"},
    {"network.topology.nvidia.com/datacenter", "network_datacenter"},
    {"network.topology.nvidia.com/accelerator", "network_accelerator"},
    {"topology.k8s.aws/network-node-layer-1", "network_layer_1"},
    {"topology.k8s.aws/network-node-layer-2", "network_layer_2"},
    {"topology.k8s.aws/network-node-layer-3", "network_layer_3"},
});

// Labels are texts: a number where they are one, and "none" is a word.
Fact label_value(const Fact& value) {
  if (const std::optional<std::int64_t> whole = to_integer(value.text())) return Fact::of(*whole, value.line);
  return value;
}

void take_labels(FactRecord& node, const FactRecord& labels) {
  std::string major, minor, rev;
  for (const auto& [name, value] : labels.members()) {
    const auto known =
        std::find_if(kLabels.begin(), kLabels.end(), [&n = name](const Label& l) { return l.label == n; });
    if (known != kLabels.end()) node.set_once(known->name, label_value(value));
    if (name == "nvidia.com/cuda.driver.major") major = value.text();
    if (name == "nvidia.com/cuda.driver.minor") minor = value.text();
    if (name == "nvidia.com/cuda.driver.rev") rev = value.text();
    // nvidia.com/mig-1g.5gb.count
    const std::string_view profile = mig_profile(name);
    if (profile.ends_with(".count") && node.record("mig", labels.line).members().size() < 64) {
      node.record("mig", labels.line).set(profile.substr(0, profile.size() - 6), label_value(value));
    }
  }
  if (!major.empty()) {
    std::string driver = major;
    if (!minor.empty()) driver += '.' + minor;
    if (!rev.empty()) driver += '.' + rev;
    node.set_once("driver", Fact::of(driver, labels.line));
  }
}

// "GPU-…,10,40960,100,NVIDIA-NVIDIA A100-PCIE-40GB,0,true:GPU-…": HAMi's list of the GPUs that it shares out.
void take_hami(FactRecord& node, std::string_view text, std::int64_t line) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"uuid", "slots", "memory_mib", "cores_pct", "type", "numa", "healthy"});
  for (const std::string_view device : split(text, ':')) {
    if (trim(device).empty()) continue;
    const std::vector<std::string_view> fields = split(device, ',');
    if (fields.size() < 2 || (node.find_list("hami_gpus") != nullptr && node.find_list("hami_gpus")->size() > 1000))
      continue;
    FactRecord& gpu = node.append("hami_gpus", line);
    for (std::size_t i = 0; i < fields.size() && i < kNames.size(); ++i) {
      if (fields[i].ends_with("...")) {
        gpu.set("cut", true);
        break;
      }
      if (kNames[i] == "healthy") {
        gpu.set("healthy", trim(fields[i]) == "true");
      } else {
        gpu.set_parsed(kNames[i], fields[i]);
      }
    }
  }
}

void take_resources(FactRecord& node, std::string_view from, std::string_view to) {
  const FactRecord* const resources = node.find_record(from);
  if (resources == nullptr) return;
  if (const std::optional<std::int64_t> gpus = gpus_in(*resources)) node.set(to, *gpus, resources->line);
}

// The value that all have which have one.
std::optional<Fact> common_value(const std::vector<Fact>& nodes, std::string_view name) {
  std::optional<Fact> common;
  for (const Fact& one : nodes) {
    const Fact* const value = one.as_record()->find(name);
    if (value == nullptr) continue;
    if (common && (common->text() != value->text() || common->number() != value->number())) return std::nullopt;
    if (!common) common = *value;
  }
  return common;
}

}  // namespace

bool is_gpu_resource(std::string_view resource) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuron",
       "aws.amazon.com/neurondevice", "gpu.intel.com/i915", "gpu.intel.com/xe", "alpha.kubernetes.io/nvidia-gpu",
       "huawei.com/Ascend910", "nvidia.com/pgpu", "metax-tech.com/gpu", "cambricon.com/mlu", "rocm.amd.com/gpu",
       "aliyun.com/gpu-count", "nvidia.com/gpu.shared"});
  if (std::find(kNames.begin(), kNames.end(), resource) != kNames.end()) return true;
  return resource.starts_with("huawei.com/Ascend") && !resource.ends_with("-memory");
}

std::string_view mig_profile(std::string_view resource) {
  constexpr std::string_view kPrefix = "nvidia.com/mig-";
  return resource.starts_with(kPrefix) ? resource.substr(kPrefix.size()) : std::string_view();
}

Fact quantity_fact(std::string_view text, std::int64_t line) {
  text = trim(text);
  if (const std::optional<std::int64_t> whole = to_integer(text)) return Fact::of(*whole, line);
  if (says_unknown(text) || text == "<none>" || text == "<unknown>") return Fact::unknown(line);
  return Fact::of(text, line);
}

Fact quantity_fact(const Fact& value) { return value.text().empty() ? value : quantity_fact(value.text(), value.line); }

std::optional<std::int64_t> gpus_in(const FactRecord& resources) {
  std::optional<std::int64_t> sum;
  for (const auto& [name, value] : resources.members()) {
    if (!is_gpu_resource(name)) continue;
    const std::int64_t* const count = std::get_if<std::int64_t>(&value.value);
    if (count != nullptr && *count >= 0 && *count < kMost) sum = std::min(sum.value_or(0) + *count, kMost);
  }
  return sum;
}

void explain_scheduling(FactRecord& event, std::string_view message, std::int64_t line) {
  const std::size_t nodes = message.find(" nodes are available");
  if (nodes == std::string_view::npos) return;
  const std::size_t begin = message.substr(0, nodes).find_last_of(" \"") + 1;  // npos + 1 = 0
  const std::string_view counts = message.substr(begin, nodes - begin);
  const std::size_t slash = counts.find('/');
  if (slash == std::string_view::npos) return;
  event.set_parsed("nodes_available", counts.substr(0, slash), line);
  event.set_parsed("nodes_total", counts.substr(slash + 1), line);
  std::string_view rest = message.substr(nodes);
  rest = rest.substr(std::min(rest.find(':'), rest.size() - 1) + 1);
  // "… preemption: 0/8 nodes are available: …" repeats the counts.
  rest = trim(rest.substr(0, rest.find("preemption:")));
  std::int64_t gpu_short = 0;
  int parts = 0;
  while (!rest.empty() && parts++ < 40) {
    // A part ends at ", " before a number.
    std::size_t end = 0;
    for (;;) {
      end = std::min(rest.find(", ", end), rest.size());
      if (end == rest.size() || (end + 2 < rest.size() && rest[end + 2] >= '0' && rest[end + 2] <= '9')) break;
      end += 2;
    }
    std::string_view part = trim(rest.substr(0, end));
    rest = end < rest.size() ? rest.substr(end + 2) : std::string_view();
    while (part.ends_with('.')) part.remove_suffix(1);
    if (part.empty()) continue;
    FactRecord& shortfall = event.append("shortfalls", line);
    const std::size_t blank = part.find(' ');
    const std::optional<std::int64_t> count = to_integer(part.substr(0, blank));
    const std::string_view reason = count && blank != std::string_view::npos ? trim(part.substr(blank)) : part;
    if (count) shortfall.set("node_count", *count);
    shortfall.set("reason", reason);
    if (count && reason.starts_with("Insufficient ")) {
      shortfall.set("insufficient", reason.substr(13));
      if (is_gpu_resource(reason.substr(13))) gpu_short = *count;
    }
  }
  if (gpu_short > 0) event.set("insufficient_gpu", gpu_short, line);
}

FactRecord& KubeFacts::current_node(std::int64_t line) {
  if (!node_open_) new_node(line);
  return node_;
}

void KubeFacts::new_node(std::int64_t line) {
  end_node();
  node_ = FactRecord(line);
  node_open_ = true;
}

void KubeFacts::end_node() {
  if (!node_open_) return;
  node_open_ = false;
  if (node_.empty()) return;
  finish_node(node_);
  if (nodes_.wants_next()) nodes_.add(std::move(node_));
  node_ = FactRecord(0);
}

void KubeFacts::finish_node(FactRecord& node) {
  if (const FactRecord* const labels = node.find_record("labels")) take_labels(node, FactRecord(*labels));
  if (const FactRecord* const there = node.find_record("annotations")) {
    const FactRecord annotations = *there;  // the node's members move as it grows
    for (const std::string_view name : {"hami.io/node-nvidia-register", "4pd.io/node-nvidia-register"}) {
      const Fact* const list = annotations.find(name);
      if (list != nullptr && !list->text().empty()) take_hami(node, std::string(list->text()), list->line);
    }
  }
  take_resources(node, "capacity", "gpu_capacity");
  take_resources(node, "allocatable", "gpu_allocatable");
  if (const FactRecord* const allocated = node.find_record("allocated")) {
    if (const FactRecord* const requests = allocated->find_record("requests")) {
      if (const std::optional<std::int64_t> gpus = gpus_in(FactRecord(*requests)))
        node.set("gpu_requested", *gpus, requests->line);
    }
  }
  for (const std::string_view from : {"capacity", "allocatable"}) {
    const FactRecord* const resources = node.find_record(from);
    if (resources == nullptr) continue;
    FactRecord slices(resources->line);
    for (const auto& [name, value] : resources->members()) {
      if (!mig_profile(name).empty() && slices.members().size() < 64) slices.set(mig_profile(name), value);
    }
    if (!slices.empty()) node.set("mig", Fact::of(std::move(slices)));
  }
  const std::optional<std::int64_t> allocatable = node.integer("gpu_allocatable");
  const std::optional<std::int64_t> capacity = node.integer("gpu_capacity");
  const std::optional<std::int64_t> requested = node.integer("gpu_requested");
  if (allocatable && requested) node.set("gpu_free", *allocatable - *requested);
  if (capacity && allocatable && *capacity > *allocatable) node.set("gpu_unhealthy", *capacity - *allocatable);
  for (const std::string_view name :
       {"gpu_capacity", "gpu_allocatable", "gpu_requested", "gpu_free", "gpu_unhealthy"}) {
    if (const std::optional<std::int64_t> value = node.integer(name)) {
      std::int64_t& sum = sums_[std::string(name)];
      sum = std::clamp(sum + *value, -kMost, kMost);
    }
  }
}

void KubeFacts::add_pod(FactRecord pod) {
  const std::string phase(pod.text("phase"));
  if (!phase.empty() && (phases_.size() < 200 || phases_.count(phase) > 0)) ++phases_[phase];
  if (const std::optional<std::int64_t> gpus = pod.integer("gpus")) {
    pod_gpus_ = std::min(pod_gpus_.value_or(0) + *gpus, kMost);
    const std::string node(pod.text("node"));
    if (!node.empty() && phase != "Succeeded" && phase != "Failed" && gpus_on_node_.size() < kMapLimit) {
      gpus_on_node_[node] = std::min(gpus_on_node_[node] + *gpus, kMost);
    }
  }
  if (pods_.wants_next()) pods_.add(std::move(pod));
}

void KubeFacts::add_event(FactRecord event) {
  explain_scheduling(event, std::string(event.text("message")), event.line);
  if (events_.wants_next()) events_.add(std::move(event));
}

void KubeFacts::count_object(std::string_view kind) {
  const std::string key(kind.substr(0, 80));
  if (objects_.size() < 200 || objects_.count(key) > 0) ++objects_[key];
}

bool KubeFacts::take_log(std::string_view line, std::int64_t number) {
  struct Pattern {
    std::string_view part;
    std::string_view event;
  };
  static constexpr auto kPatterns = std::to_array<Pattern>({
      {"XidCriticalError", "xid"},
      {"device marked unhealthy", "unhealthy"},
      {"device marked healthy", "healthy"},
      {"device will go unhealthy", "unhealthy"},
      {"marking device as unhealthy", "unhealthy"},
      {"could not load NVML library", "nvml_failed"},
      {"Failed to initialize NVML", "nvml_failed"},
      {"failed to initialize NVML", "nvml_failed"},
      {"Incompatible platform detected", "incompatible_platform"},
      {"Incompatible strategy detected", "incompatible_strategy"},
      {"No devices found", "no_devices"},
      {"Registered device plugin", "registered"},
      {"Registered device plugin with Kubelet", "registered"},
      {"Starting GRPC server for 'nvidia.com", "starting"},
      {"Starting GRPC server for 'amd.com", "starting"},
      {"Starting to serve 'nvidia.com", "serving"},
      {"Starting to serve on /var/lib/kubelet/device-plugins", "serving"},
      {"Skipping event", "event_skipped"},
      {"did you set the docker default runtime to `nvidia`", "runtime_not_nvidia"},
      {"Error: unable to create plugin", "failed"},
      {"error starting plugins", "failed"},
  });
  const auto found = std::find_if(kPatterns.begin(), kPatterns.end(),
                                  [line](const Pattern& pattern) { return contains(line, pattern.part); });
  if (found == kPatterns.end()) return false;
  ++log_lines_;
  FactRecord entry(number);
  entry.set("event", found->event);
  if (line.size() > 19 && line[4] == '/' && line[7] == '/') entry.set("time", line.substr(0, 19));
  if (line.size() > 21 && (line[0] == 'I' || line[0] == 'E' || line[0] == 'W') && line[1] >= '0' && line[1] <= '9') {
    entry.set("time", line.substr(1, 20));
  }
  if (const auto xid = after(line, "Xid="))
    entry.set_parsed("xid", xid->substr(0, xid->find_first_not_of("0123456789")));
  if (const std::size_t at = line.find("GPU-"); at != std::string_view::npos) {
    const std::string_view uuid = line.substr(at, line.substr(at).find_first_not_of("GPU-0123456789abcdefABCDEF"));
    entry.set("uuid", uuid);
    if ((found->event == "xid" || found->event == "unhealthy") && unhealthy_.size() < kMapLimit) {
      unhealthy_.insert(std::string(uuid));
    }
  }
  if (const auto resource = between(line, "'", "'"); resource && contains(*resource, "/"))
    entry.set("resource", *resource);
  entry.set("message", as_text(line.substr(0, 300)));
  if (logs_.wants_next()) logs_.add(std::move(entry));
  return true;
}

void KubeFacts::give_nodes(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (nodes_.seen() == 0) return;
  // Requests of the pods that the same file lists, where the node itself does not say.
  std::int64_t requested = 0;
  bool by_pods = !gpus_on_node_.empty() && sums_.find("gpu_requested") == sums_.end();
  facts.set("node_count", nodes_.seen());
  nodes_.give(facts, "nodes", reading);
  if (by_pods) {
    for (Fact& one : facts.list("nodes")) {
      FactRecord& node = std::get<FactRecord>(one.value);
      const std::optional<std::int64_t> allocatable = node.integer("gpu_allocatable");
      if (!allocatable) continue;
      const auto there = gpus_on_node_.find(std::string(node.text("name")));
      const std::int64_t used = there == gpus_on_node_.end() ? 0 : there->second;
      node.set("gpu_requested", used);
      node.set("gpu_free", *allocatable - used);
      requested += used;
    }
    sums_["gpu_requested"] = requested;
    sums_["gpu_free"] = sums_["gpu_allocatable"] - requested;
  }
  for (const auto& [name, sum] : sums_) facts.set(name, sum);
  // What all nodes have in common is said once.
  for (const std::string_view name :
       {"gpu_product", "gpu_memory_mib", "gpu_family", "machine", "driver", "instance_type"}) {
    if (const std::optional<Fact> common = common_value(facts.list("nodes"), name)) facts.set(name, *common);
  }
}

void KubeFacts::give(Reading& reading) {
  end_node();
  give_nodes(reading);
  FactRecord& facts = reading.facts;
  if (pods_.seen() > 0) {
    facts.set("pod_count", pods_.seen());
    if (pod_gpus_) facts.set("pod_gpus", *pod_gpus_);  // a table of pods says nothing of their resources
    FactRecord& phases = facts.record("pods_by_phase");
    for (const auto& [phase, count] : phases_) phases.add(phase, Fact::of(count));
  }
  if (!workloads_.empty()) facts.list("workloads") = std::move(workloads_);
  if (!objects_.empty()) {
    FactRecord& objects = facts.record("objects_by_kind");
    for (const auto& [kind, count] : objects_) objects.add(kind, Fact::of(count));
  }
  for (const auto& [name, value] : more_.members()) facts.set(name, value);
  pods_.give(facts, "pods", reading);
  events_.give(facts, "events", reading);
  if (log_lines_ > 0) {
    facts.set("log_lines", log_lines_);
    facts.set("gpus_unhealthy", static_cast<std::int64_t>(unhealthy_.size()));
  }
  logs_.give(facts, "log", reading);
}

}  // namespace tare
