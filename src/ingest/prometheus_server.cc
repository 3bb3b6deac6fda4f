#include "ingest/prometheus_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr int kIdleBelow_pct = 5;
constexpr int kLowBelow_pct = 30;
constexpr int kDay_s = 86400;

const Format kServerFormat{"dcgm", "Prometheus server", [](const Head&) { return confidence::kNone; }, nullptr,
                           nullptr};

struct UseMetric {
  const char* name;
  double to_pct;  // times its value
};
// The first that the server has: the utilisation of a GPU, as exporters call it.
constexpr UseMetric kUtilisation[] = {{"DCGM_FI_DEV_GPU_UTIL", 1},
                                      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", 100},
                                      {"nvidia_smi_utilization_gpu_ratio", 100},
                                      {"nvidia_gpu_duty_cycle", 1},
                                      {"amd_gpu_gfx_activity", 1},
                                      {"gpu_gfx_activity", 1}};
constexpr const char* kPower = "DCGM_FI_DEV_POWER_USAGE";
constexpr const char* kMemory = "DCGM_FI_DEV_FB_USED";
constexpr const char* kTensor = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE";

struct Owner {
  const char* fact;
  std::array<const char*, 7> labels;  // the first that is there
};
constexpr Owner kLabels[] = {
    {"node", {"Hostname", "hostname", "node", "kubernetes_node", "exported_instance", "instance", nullptr}},
    {"gpu", {"gpu", "device", "minor_number", "gpu_id", nullptr, nullptr, nullptr}},
    {"mig", {"GPU_I_ID", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}},
    {"model", {"modelName", "model_name", "model", "name", "card_model", nullptr, nullptr}},
    {"namespace", {"exported_namespace", "namespace", nullptr, nullptr, nullptr, nullptr, nullptr}},
    {"pod", {"exported_pod", "pod", "pod_name", nullptr, nullptr, nullptr, nullptr}},
    {"job", {"hpc_job", "slurm_job_id", "job_id", "jobid", "slurmjobid", nullptr, nullptr}},
    {"user", {"user", "slurm_user", "job_user", "exported_user", "account", nullptr, nullptr}},
};
constexpr std::size_t kLabelCount = std::size(kLabels);
using Key = std::array<std::string, kLabelCount>;

struct Use {
  double hours = 0, idle_hours = 0, low_hours = 0;
  double util_sum = 0, power_sum = 0, power_hours = 0, tensor_sum = 0, tensor_hours = 0;
  std::optional<double> memory_mib;
};

std::string text_of(const Json& labels, const char* name) {
  const auto found = labels.find(name);
  return found != labels.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Key key_of(const Json& labels) {
  Key key;
  for (std::size_t i = 0; i < kLabelCount; ++i) {
    for (const char* const label : kLabels[i].labels) {
      if (label == nullptr || !key[i].empty()) break;
      key[i] = text_of(labels, label);
    }
  }
  // The exporter's own pod is no owner: Prometheus puts it on every series unless the exporter's labels are kept.
  if (key[5].find("exporter") < key[5].size() && text_of(labels, "exported_pod").empty()) key[4] = key[5] = "";
  if (text_of(labels, "exported_pod").empty() && key[5].empty()) key[4] = "";  // of the exporter as well
  if (const std::size_t port = key[0].rfind(':'); port < key[0].size() && text_of(labels, "Hostname").empty()) {
    key[0].erase(port);
  }
  return key;
}

class Server {
 public:
  Server(std::string url, const PrometheusWindow& window, const HttpGet& get)
      : url_(std::move(url)), window_(window), get_(get) {}

  // The vector that a query gives at a time: calls take(labels, value) for each number in it.
  template <typename Take>
  bool each(const std::string& query, std::int64_t at, const Take& take) {
    const std::string url = fmt::format("{}/api/v1/query?query={}&time={}", url_, url_encoded(query), at);
    const Result<std::string> body = get_(url);
    if (!body) return note(body.error());
    const Json answer = Json::parse(*body, nullptr, false);
    if (answer.is_discarded() || !answer.is_object() || text_of(answer, "status").empty()) {
      return note({make_error("bad-answer", "this is no answer of Prometheus's API", "check the address")});
    }
    if (text_of(answer, "status") != "success") {
      return note({make_error("query-refused", fmt::format("the server refuses a query: {}", text_of(answer, "error")),
                              "ask for fewer days with --since, or raise the server's query limits")});
    }
    const Json* const result = find_result(answer);
    if (result == nullptr) return true;
    for (const Json& one : *result) {
      const std::optional<double> value = value_of(one);
      if (value && one.contains("metric") && one["metric"].is_object()) take(one["metric"], *value);
    }
    return true;
  }

  const Diagnostics& errors() const { return errors_; }
  std::string over_day(const char* function, const std::string& of) const {
    // A second less than a day: servers before version 3 count both ends of the grid.
    return fmt::format("{}({}[{}s:{}s])", function, of, kDay_s - 1, window_.step_s);
  }

 private:
  static const Json* find_result(const Json& answer) {
    const auto data = answer.find("data");
    if (data == answer.end() || !data->is_object()) return nullptr;
    const auto result = data->find("result");
    return result != data->end() && result->is_array() ? &*result : nullptr;
  }

  static std::optional<double> value_of(const Json& one) {
    const auto pair = one.is_object() ? one.find("value") : one.end();
    if (!one.is_object() || pair == one.end() || !pair->is_array() || pair->size() != 2) return std::nullopt;
    if (!(*pair)[1].is_string()) return std::nullopt;
    return Fact::parsed((*pair)[1].get<std::string>()).number();  // "NaN" is no number
  }

  bool note(Diagnostics errors) {
    for (Diagnostic& error : errors) {
      if (error.file.empty()) error.file = url_;
    }
    errors_.insert(errors_.end(), errors.begin(), errors.end());
    return false;
  }

  std::string url_;
  PrometheusWindow window_;
  const HttpGet& get_;
  Diagnostics errors_;
};

// The whole of a window, day by day.
class UseOfGpus {
 public:
  UseOfGpus(Server& server, const PrometheusWindow& window) : server_(server), window_(window) {}

  bool choose_metric() {
    for (const UseMetric& metric : kUtilisation) {
      bool there = false;
      const std::string query = fmt::format("count(count_over_time({}[{}d]))", metric.name, window_.days);
      if (!server_.each(query, window_.to_unix_s, [&](const Json&, double count) { there = count > 0; })) return false;
      if (there) {
        metric_ = metric;
        return true;
      }
    }
    return true;
  }

  bool add_day(std::int64_t end) {
    const std::string util = metric_->to_pct == 1 ? metric_->name : fmt::format("({} * 100)", metric_->name);
    const double step_h = window_.step_s / 3600.0;
    std::map<Key, double> hours;
    const auto below = [&](int pct) {
      return server_.over_day("sum_over_time", fmt::format("({} < bool {})", util, pct));
    };
    const auto use = [&](const Json& labels) -> Use& { return uses_[key_of(labels)]; };
    bool good = server_.each(server_.over_day("count_over_time", util), end, [&](const Json& labels, double count) {
      hours[key_of(labels)] += count * step_h;
      use(labels).hours += count * step_h;
    });
    const auto weight = [&](const Json& labels) {
      const auto found = hours.find(key_of(labels));
      return found == hours.end() ? 0.0 : found->second;
    };
    good = good && server_.each(below(kIdleBelow_pct), end,
                                [&](const Json& labels, double count) { use(labels).idle_hours += count * step_h; });
    good = good && server_.each(below(kLowBelow_pct), end,
                                [&](const Json& labels, double count) { use(labels).low_hours += count * step_h; });
    good = good && server_.each(server_.over_day("avg_over_time", util), end, [&](const Json& labels, double mean) {
      use(labels).util_sum += mean * weight(labels);
    });
    good = good && server_.each(server_.over_day("avg_over_time", kPower), end, [&](const Json& labels, double mean) {
      use(labels).power_sum += mean * weight(labels);
      use(labels).power_hours += weight(labels);
    });
    good = good && server_.each(server_.over_day("avg_over_time", kTensor), end, [&](const Json& labels, double mean) {
      use(labels).tensor_sum += 100 * mean * weight(labels);
      use(labels).tensor_hours += weight(labels);
    });
    return good && server_.each(server_.over_day("max_over_time", kMemory), end, [&](const Json& labels, double most) {
      std::optional<double>& memory = use(labels).memory_mib;
      memory = std::max(memory.value_or(0), most);
    });
  }

  const std::optional<UseMetric>& metric() const { return metric_; }

  void put(FactRecord& facts) const {
    bool has_owners = false, has_power = false, has_memory = false, has_tensor = false;
    for (const auto& [key, use] : uses_) {
      if (use.hours <= 0) continue;  // of another metric only
      FactRecord& row = facts.append("use", 0);
      for (std::size_t i = 0; i < kLabelCount; ++i) {
        if (!key[i].empty()) row.set(kLabels[i].fact, key[i]);
      }
      has_owners = has_owners || !key[5].empty() || !key[6].empty();
      has_power = has_power || use.power_hours > 0;
      has_tensor = has_tensor || use.tensor_hours > 0;
      has_memory = has_memory || use.memory_mib;
      row.set("hours", use.hours);
      row.set("idle_hours", use.idle_hours);
      row.set("low_hours", use.low_hours);
      row.set("mean_util_pct", use.util_sum / use.hours);
      if (use.power_hours > 0) row.set("mean_power_w", use.power_sum / use.power_hours);
      if (use.memory_mib) row.set("max_mem_used_mib", *use.memory_mib);
      if (use.tensor_hours > 0) row.set("mean_tensor_pct", use.tensor_sum / use.tensor_hours);
    }
    facts.set("has_owners", has_owners);
    std::vector<Fact>& missing = facts.list("missing_metrics");
    if (!metric_) missing.push_back(Fact::of(std::string_view(kUtilisation[0].name)));
    if (!has_power) missing.push_back(Fact::of(std::string_view(kPower)));
    if (!has_memory) missing.push_back(Fact::of(std::string_view(kMemory)));
    if (!has_tensor) missing.push_back(Fact::of(std::string_view(kTensor)));
  }

 private:
  Server& server_;
  PrometheusWindow window_;
  std::optional<UseMetric> metric_;
  std::map<Key, Use> uses_;
};

}  // namespace

FileFacts read_prometheus_server(const std::string& url, const PrometheusWindow& asked, const HttpGet& get,
                                 const std::function<void(double)>& progress) {
  PrometheusWindow window = asked;
  window.to_unix_s -= window.to_unix_s % window.step_s;  // onto the grid of subqueries
  FileFacts file;
  file.path = url;
  const Result<UrlParts> parts = split_url(url);
  if (!parts) {
    file.errors = parts.error();
    return file;
  }
  Server server(parts->server + parts->path, window, get);
  UseOfGpus use(server, window);
  bool good = use.choose_metric();
  for (int day = 0; good && use.metric() && day < window.days; ++day) {
    if (progress) progress(static_cast<double>(day) / window.days);
    good = use.add_day(window.to_unix_s - static_cast<std::int64_t>(window.days - 1 - day) * kDay_s);
  }
  if (!good) {
    file.errors = server.errors();
    return file;
  }
  FormatReading& reading = file.readings.emplace_back();
  reading.format = &kServerFormat;
  reading.confidence = confidence::kSure;
  FactRecord& facts = reading.reading.facts;
  facts.set("server", url);
  facts.set("to_unix_s", window.to_unix_s);
  facts.set("days", window.days);
  facts.set("step_s", window.step_s);
  if (use.metric()) {
    facts.set("utilisation_metric", use.metric()->name);
  } else {
    facts.set_unknown("utilisation_metric");
  }
  use.put(facts);
  return file;
}

}  // namespace tare
