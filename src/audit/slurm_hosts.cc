#include "audit/slurm_hosts.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>

#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

constexpr std::size_t kHostsTold = 20'000;  // names that are told apart in one file

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) { return contains(text, word); });
}

bool has_word(std::string_view state, std::string_view word) {
  const std::vector<std::string_view> words = split(state, '+');
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool runs_jobs(std::string_view state) {
  return has_any(state, {"allocated", "mixed", "completing", "draining", "failing"});
}

// A host in the making, by name.
class HostList {
 public:
  SlurmHost* host(const std::string& name) {
    const auto found = index_.find(name);
    if (found != index_.end()) return &hosts_[found->second];
    if (hosts_.size() >= kHostsTold) return nullptr;
    index_.emplace(name, hosts_.size());
    hosts_.emplace_back();
    hosts_.back().name = name;
    return &hosts_.back();
  }
  std::vector<SlurmHost> take() { return std::move(hosts_); }

 private:
  std::vector<SlurmHost> hosts_;
  std::unordered_map<std::string, std::size_t> index_;
};

void add_to_host(SlurmHost& host, const FactRecord& record, HostUse use) {
  if (host.line == 0) host.line = record.line;
  if (use != HostUse::kUnknown && (host.use == HostUse::kUnknown || use > host.use)) {
    host.use = use;
    host.state = record.text("state");
    host.line = record.line;
  }
  const bool configured = record.has("source") && !is_live_node(record);
  if (!configured && host.reason.empty() && !record.text("reason").empty() && record.text("reason") != "none") {
    host.reason = record.text("reason");
    host.reason_user = record.text("reason_user");
    host.reason_line = record.find("reason")->line > 0 ? record.find("reason")->line : record.line;
  }
  host.gres_told = host.gres_told || record.has("gres") || record.has("cfg_tres");
  if (const auto gpus = record.number("gpus")) host.gpus = gpus;
  if (const auto gpus = record.number("cfg_gpus"); gpus && !host.gpus) host.gpus = gpus;
  for (const std::string_view name : {"alloc_gpus", "used_gpus"}) {
    if (const auto gpus = record.number(name); gpus && !host.gpus_allocated) host.gpus_allocated = gpus;
  }
  if (host.gpu_type.empty()) host.gpu_type = record.text("gpu_type");
  if (host.gpu_type.empty()) host.gpu_type = record.text("cfg_gpu_type");
}

}  // namespace

bool is_live_node(const FactRecord& node) {
  if (node.text("source") == "scontrol show node" || node.text("source") == "json") return true;
  // What is left of "scontrol show node" after grep.
  for (const char* const member : {"cfg_tres", "alloc_tres", "cpus_allocated", "reason_user"}) {
    if (node.has(member)) return true;
  }
  return contains(node.text("state"), "+");
}

HostUse host_use(std::string_view state, const std::vector<std::string>& flags) {
  const auto flagged = [&flags](std::string_view flag) {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  };
  if (state.empty() || state == "n/a") return HostUse::kUnknown;
  // Nodes of a cloud that are switched off wait for work.
  if (flagged("powered down") || flagged("powering up") || flagged("powering down")) {
    if (!has_any(state, {"down+", "drain", "fail"})) return HostUse::kUsable;
  }
  if (has_any(state, {"maint"}) || flagged("in maintenance")) return HostUse::kMaintenance;
  const bool broken = has_any(state, {"fail", "drain", "inval", "error"}) || has_word(state, "down") ||
                      has_word(state, "unknown") || has_any(state, {"not_responding", "no_respond"}) ||
                      flagged("not responding");
  if (!broken) return HostUse::kUsable;
  return runs_jobs(state) && !flagged("not responding") ? HostUse::kDraining : HostUse::kOut;
}

HostUse host_use(const FactRecord& record) {
  std::string state(record.text("state_name"));
  if (state.empty()) state = node_state_name(record.text("state"));
  return host_use(state, texts_of(record, "state_flags"));
}

std::vector<SlurmHost> slurm_hosts(const Seen& seen) {
  HostList hosts;
  const auto take = [&hosts](const FactRecord& record, std::string_view names, HostUse use) {
    if (says_no_host(names)) return;
    for (const std::string& name : expand_range(names, kHostsTold)) {
      if (SlurmHost* const host = hosts.host(name)) add_to_host(*host, record, use);
    }
  };
  for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
    take(*node, node->text("name"), is_live_node(*node) ? host_use(*node) : HostUse::kUnknown);
  }
  for (const FactRecord* const group : records_of(*seen.facts, "groups")) {
    take(*group, group->text("node_list"), host_use(*group));
  }
  return hosts.take();
}

std::vector<SlurmOutage> slurm_outages(const Seen& seen) {
  std::vector<SlurmOutage> outages;
  std::unordered_map<std::string, std::size_t> by_reason;
  for (SlurmHost& host : slurm_hosts(seen)) {
    const bool told = !host.reason.empty() && (host.use != HostUse::kUsable);
    const bool out = host.use == HostUse::kOut;
    if (!told && !out) continue;
    const std::string key = host.reason.empty() ? "state " + host.state : host.reason;
    const auto [place, fresh] = by_reason.emplace(key, outages.size());
    if (fresh) {
      SlurmOutage outage;
      outage.reason = host.reason;
      outage.reason_user = host.reason_user;
      outage.line = host.reason_line > 0 ? host.reason_line : host.line;
      outage.use = HostUse::kOut;
      outages.push_back(std::move(outage));
    }
    SlurmOutage& outage = outages[place->second];
    if (host.use == HostUse::kDraining || host.use == HostUse::kMaintenance)
      outage.use = std::min(outage.use, host.use);
    outage.members.push_back(std::move(host));
  }
  for (SlurmOutage& outage : outages) {
    std::vector<std::string> names;
    names.reserve(outage.members.size());
    for (const SlurmHost& host : outage.members) names.push_back(host.name);
    outage.hosts = list_names(names);
    // One row that lists them all is how people name them.
    for (const FactRecord* const group : records_of(*seen.facts, "groups")) {
      if (group->line != outage.line) continue;
      if (expand_range(group->text("node_list"), kHostsTold).size() == names.size())
        outage.hosts = group->text("node_list");
    }
  }
  return outages;
}

OutageKind outage_kind(const SlurmOutage& outage) {
  const std::string reason = to_lower(outage.reason);
  if (reason.empty()) {
    const bool silent = std::all_of(outage.members.begin(), outage.members.end(), [](const SlurmHost& host) {
      return contains(host.state, "*") || contains(to_lower(host.state), "not_responding");
    });
    return silent ? OutageKind::kNotResponding : OutageKind::kOther;
  }
  if (has_any(reason, {"gres/gpu count", "gpu count reported", "gpu count too low"})) return OutageKind::kGresCount;
  if (has_any(reason, {"low realmemory", "low real_memory"})) return OutageKind::kRealMemory;
  if (has_any(reason, {"low socket", "low cpus", "low cores", "low cpu count", "low tmpdisk", "low tmp_disk",
                       "differs from hardware"})) {
    return OutageKind::kHardware;
  }
  if (has_any(reason, {"kill task failed"})) return OutageKind::kKillTask;
  if (has_any(reason, {"unexpectedly rebooted", "rebooted unexpectedly"})) return OutageKind::kRebooted;
  if (has_any(reason, {"maint", "upgrad", "planned", "firmware"})) return OutageKind::kPlanned;
  if (has_any(reason, {"xid", "nvlink", "nvswitch", "ecc", "fell off", "fallen off", "gpu", "nvidia", "dcgm",
                       "row remap", "hbm", "retired page"})) {
    return OutageKind::kGpu;
  }
  if (has_any(reason, {"prolog", "epilog", "nhc", "health", "check_"})) return OutageKind::kProlog;
  if (has_any(reason, {"not responding", "not_responding"})) return OutageKind::kNotResponding;
  if (has_any(reason, {"updat", "reboot", "patch", "reserved", "test", "install", "debug"}))
    return OutageKind::kPlanned;
  return OutageKind::kOther;
}

std::optional<double> gpus_lost(const SlurmOutage& outage) {
  double gpus = 0;
  for (const SlurmHost& host : outage.members) {
    if (host.use == HostUse::kDraining) continue;
    if (!host.gpus && !host.gres_told) return std::nullopt;
    gpus += host.gpus.value_or(0);
  }
  return gpus;
}

std::string nodes_in_words(const SlurmOutage& outage) {
  const std::size_t count = outage.members.size();
  std::string text = count == 1 ? outage.members.front().name : std::to_string(count) + " nodes";
  double gpus = 0;
  for (const SlurmHost& host : outage.members) gpus += host.gpus.value_or(0);
  if (gpus > 0) text += " with " + std::to_string(static_cast<long>(gpus)) + (gpus == 1 ? " GPU" : " GPUs");
  return text;
}

std::string accelerator_id(const Observed& observed, std::string_view name) {
  const Accelerator* const gpu = accelerator_named(observed.catalog(), name);
  return gpu == nullptr ? std::string() : gpu->id;
}

std::string accelerator_of(const Observed& observed, const std::vector<SlurmHost>& hosts) {
  std::string id;
  for (const SlurmHost& host : hosts) {
    if (host.gpu_type.empty()) continue;
    const Accelerator* const gpu = accelerator_named(observed.catalog(), host.gpu_type);
    if (gpu == nullptr || (!id.empty() && id != gpu->id)) return {};
    id = gpu->id;
  }
  return id;
}

}  // namespace tare
