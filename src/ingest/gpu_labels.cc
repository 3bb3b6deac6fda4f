#include "ingest/gpu_labels.h"

#include <algorithm>
#include <array>

#include "ingest/dcgm_fields.h"
#include "ingest/gpu_fields.h"
#include "ingest/measured.h"

namespace tare {
namespace {

struct KnownLabel {
  std::string_view label, name;
};

// Labels that tell the GPU or who uses it; the others tell apart the series of one metric.
constexpr std::array<KnownLabel, 30> kKnown = {{{"gpu", "gpu"},
                                                {"UUID", "uuid"},
                                                {"device", "device"},
                                                {"modelName", "name"},
                                                {"Hostname", "hostname"},
                                                {"GPU_I_ID", "gpu_i_id"},
                                                {"GPU_I_PROFILE", "gpu_i_profile"},
                                                {"pci_bus_id", "bus_id"},
                                                {"DCGM_FI_DRIVER_VERSION", "driver"},
                                                {"DCGM_FI_CUDA_DRIVER_VERSION", "cuda"},
                                                {"DCGM_FI_PROCESS_NAME", "process_name"},
                                                {"DCGM_FI_DEV_NAME", "name"},
                                                {"DCGM_FI_DEV_SERIAL", "serial"},
                                                {"DCGM_FI_DEV_BRAND", "brand"},
                                                {"DCGM_FI_DEV_VBIOS_VERSION", "vbios"},
                                                {"container", "container"},
                                                {"namespace", "namespace"},
                                                {"pod", "pod"},
                                                {"exported_container", "exported_container"},
                                                {"exported_namespace", "exported_namespace"},
                                                {"exported_pod", "exported_pod"},
                                                {"hpc_job", "hpc_job"},
                                                {"instance", "instance"},
                                                {"job", "job"},
                                                {"endpoint", "endpoint"},
                                                {"service", "service"},
                                                {"node", "node"},
                                                {"cluster", "cluster"},
                                                {"kubernetes_node", "node"},
                                                {"nvswitch", "nvswitch"}}};

const KnownLabel* known_label(std::string_view name) {
  const auto found =
      std::find_if(kKnown.begin(), kKnown.end(), [name](const KnownLabel& one) { return one.label == name; });
  return found == kKnown.end() ? nullptr : &*found;
}

// Labels that say no more than the GPU's own do.
bool is_constant(std::string_view name) {
  return name == "__name__" || name == "err_msg" || name == "window_size_in_ms" || name.starts_with("DCGM_FI_") ||
         name == "prometheus" || name == "app" || name == "version" || name == "unit";
}

}  // namespace

std::string_view label(const Labels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

void GpuSeries::about(std::string_view metric, std::string_view what, std::string_view text) {
  if (metrics_.size() >= kMetrics && metrics_.count(std::string(metric)) == 0) return;
  Metric& one = metrics_[std::string(metric)];
  (what == "HELP" ? one.help : one.type) = std::string(text.substr(0, 300));
}

FactRecord& GpuSeries::gpu_of(const Labels& labels, std::int64_t line) {
  static thread_local FactRecord spare;
  // A UUID is one in the world; without it the index counts, of its host.
  const std::string_view uuid = label(labels, "UUID");
  std::string key(uuid);
  if (!uuid.starts_with("GPU-")) {
    for (const std::string_view name : {"Hostname", "instance", "gpu", "nvswitch"}) {
      key += '\x1f';
      key += label(labels, name);
    }
  }
  key += '\x1f';
  key += label(labels, "GPU_I_ID");
  const auto found = by_key_.find(key);
  std::size_t at = 0;
  if (found != by_key_.end()) {
    at = found->second;
  } else if (gpus_.size() >= kGpus) {
    ++dropped_;
    spare = FactRecord(line);
    return spare;
  } else {
    at = gpus_.size();
    by_key_.emplace(std::move(key), at);
    gpus_.emplace_back(line);
  }
  FactRecord& gpu = gpus_[at];
  for (const auto& [name, value] : labels) {
    const KnownLabel* const known = known_label(name);
    if (known == nullptr || value.empty()) continue;
    const bool number = known->name == "gpu";
    gpu.set_once(known->name, number ? Fact::parsed(value, line) : Fact::of(value, line));
  }
  return gpu;
}

void GpuSeries::add(std::string_view metric, const Labels& labels, const Fact& given) {
  ++series_;
  Fact value = given;
  if (const auto number = value.number(); number && is_dcgm_blank(*number)) {
    ++blanks_;
    value = Fact::unknown(given.line);
  }
  if (metrics_.size() < kMetrics || metrics_.count(std::string(metric)) > 0) {
    Metric& one = metrics_[std::string(metric)];
    if (one.line == 0) one.line = given.line;
    one.stat.add(value.number());
  }
  FactRecord& gpu = gpu_of(labels, given.line);
  std::string name = dcgm_fact_name(metric);
  for (const auto& [key, text] : labels) {  // "clock_event=gpu_idle", "nvlink=3"
    if (known_label(key) != nullptr || is_constant(key) || text.empty() || text.size() > 40) continue;
    if (name.size() < 120) name += "_" + snake_name(text);
  }
  if (gpu.members().size() < kMetricsPerGpu || gpu.has(name)) gpu.set(name, std::move(value));
}

void GpuSeries::put(FactRecord& facts) {
  std::set<std::string> gpus, hosts;
  std::vector<Fact> list, instances;
  for (FactRecord& gpu : gpus_) {
    const std::string_view host = gpu.has("hostname") ? gpu.text("hostname") : gpu.text("instance");
    if (!host.empty()) hosts.emplace(host);
    const std::string_view uuid = gpu.text("uuid");
    const Fact* const index = gpu.find("gpu");
    if (!uuid.empty() || index != nullptr) {
      const bool by_uuid = uuid.starts_with("GPU-");
      const std::string at = index != nullptr && index->number() ? std::to_string(*index->number()) : "";
      gpus.insert(by_uuid ? std::string(uuid) : std::string(host) + '/' + at);
    }
    if (gpu.has("gpu_i_id")) {
      FactRecord instance(gpu.line);
      for (const std::string_view name : {"gpu", "gpu_i_id", "gpu_i_profile"}) {
        if (const Fact* const fact = gpu.find(name)) instance.set(name, Fact(*fact));
      }
      instances.push_back(Fact::of(std::move(instance)));
    }
    list.push_back(Fact::of(std::move(gpu)));
  }
  facts.set("gpu_count", static_cast<std::int64_t>(gpus.size()));
  if (!hosts.empty()) facts.set("host_count", static_cast<std::int64_t>(hosts.size()));
  facts.set("series_count", series_);
  if (blanks_ > 0) facts.set("blank_values", blanks_);
  if (!instances.empty()) facts.set("mig_instances", Fact::of(std::move(instances)));
  if (!list.empty()) {
    facts.set("gpus", Fact::of(std::move(list)));
    summarise_gpus(facts);
  }
  std::vector<Fact> metrics;
  for (const auto& [name, metric] : metrics_) {
    FactRecord record(metric.line);
    record.set("name", name);
    record.set("fact", dcgm_fact_name(name));
    if (!metric.help.empty()) record.set("help", metric.help);
    if (!metric.type.empty()) record.set("type", metric.type);
    const FactRecord stat = metric.stat.record();
    for (const auto& [key, value] : stat.members()) record.set(key, value);
    metrics.push_back(Fact::of(std::move(record)));
  }
  if (!metrics.empty()) facts.set("metrics", Fact::of(std::move(metrics)));
}

}  // namespace tare
