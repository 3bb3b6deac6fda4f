#include "ingest/slurm_record.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_columns.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

constexpr std::size_t kMostMembers = 300;

bool key_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
         c == ':' || c == '.';
}
bool letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// A key that begins at `at` and is followed by '='; 0 when there is none.
std::size_t key_length(std::string_view text, std::size_t at) {
  if (at >= text.size() || !letter(text[at])) return 0;
  std::size_t end = at;
  while (end < text.size() && end - at < 60 && key_char(text[end])) ++end;
  return end < text.size() && text[end] == '=' ? end - at : 0;
}

bool is_free_text(std::string_view key) {
  static constexpr auto kKeys =
      std::to_array<std::string_view>({"Reason", "Comment", "AdminComment", "SystemComment", "Command", "WorkDir",
                                       "StdErr", "StdIn", "StdOut", "OS", "SubmitLine", "Extra", "JobName"});
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

struct Known {
  std::string_view key;
  std::string_view name;
};
// Keys whose fact name says a unit or agrees with the tables.
constexpr auto kKnown = std::to_array<Known>({
    {"RealMemory", "real_memory_mb"},
    {"AllocMem", "alloc_memory_mb"},
    {"FreeMem", "free_memory_mb"},
    {"MemSpecLimit", "mem_spec_limit_mb"},
    {"TmpDisk", "tmp_disk_mb"},
    {"CPUTot", "cpus"},
    {"CPUs", "cpus"},
    {"Procs", "cpus"},
    {"CPUEfctv", "cpus_effective"},
    {"CPUAlloc", "cpus_allocated"},
    {"CPUErr", "cpus_error"},
    {"CPULoad", "cpu_load"},
    {"CurrentWatts", "current_w"},
    {"AveWatts", "average_w"},
    {"JobState", "state"},
    {"JobName", "name"},
    {"UserId", "user"},
    {"GroupId", "group"},
    {"RunTime", "elapsed"},
    {"TimeLimit", "time_limit"},
    {"NumNodes", "node_count"},
    {"NumCPUs", "cpus"},
    {"NumTasks", "tasks"},
    {"CPUs/Task", "cpus_per_task"},
    {"NodeList", "node_list"},
    {"SchedNodeList", "sched_nodes"},
    {"ReqNodeList", "req_node_list"},
    {"ExcNodeList", "excluded_nodes"},
    {"TRES", "tres"},
    {"ReqTRES", "req_tres"},
    {"AllocTRES", "alloc_tres"},
    {"CfgTRES", "cfg_tres"},
    {"MinMemoryNode", "min_memory_per_node"},
    {"MinMemoryCPU", "min_memory_per_cpu"},
    {"MaxTime", "time_limit"},
    {"TotalCPUs", "cpus"},
    {"TotalNodes", "node_count"},
    {"SocketsPerBoard", "sockets_per_board"},
    {"QOS", "qos"},
    {"QoS", "qos"},
    {"UpTime", "up_time"},
});

std::string name_of(std::string_view key) {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [key](const Known& k) { return k.key == key; });
  return found == kKnown.end() ? slurm_fact_name(key) : std::string(found->name);
}

bool is_text_value(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>({"name",
                                                                  "user",
                                                                  "group",
                                                                  "account",
                                                                  "partition",
                                                                  "node_list",
                                                                  "reason",
                                                                  "features",
                                                                  "available_features",
                                                                  "active_features",
                                                                  "node_addr",
                                                                  "node_host_name",
                                                                  "version",
                                                                  "os",
                                                                  "command",
                                                                  "work_dir",
                                                                  "comment",
                                                                  "std_out",
                                                                  "std_err",
                                                                  "std_in",
                                                                  "nodes",
                                                                  "switches",
                                                                  "partitions",
                                                                  "type",
                                                                  "file",
                                                                  "cores",
                                                                  "cpu_spec_list",
                                                                  "dependency",
                                                                  "batch_host",
                                                                  "exit_code",
                                                                  "qos",
                                                                  "link_speed",
                                                                  "links",
                                                                  "unique_id",
                                                                  "flags",
                                                                  "node_name",
                                                                  "gres",
                                                                  "owner",
                                                                  "mcs_label",
                                                                  "state"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

// What people put around a line in a report: "**Gres=(null)**   ---> look here".
std::string_view without_marks(std::string_view value) {
  if (const std::size_t stars = value.find("**"); stars != std::string_view::npos && stars > 0) {
    return trim(value.substr(0, stars));
  }
  for (const std::string_view arrow : {" --->", " -->", " <---", " <--", " ←"}) {
    if (const std::size_t at = value.find(arrow); at != std::string_view::npos) value = trim(value.substr(0, at));
  }
  return value;
}

// What somebody wrote behind a value, with an arrow: "Gres=(null) ---> no GPUs here".
std::string_view note_behind(std::string_view line) {
  for (const std::string_view arrow : {"-->", "<--", "←"}) {
    const std::size_t at = line.find(arrow);
    if (at == std::string_view::npos) continue;
    std::string_view note = line.substr(at + arrow.size());
    while (note.starts_with('-') || note.starts_with('>')) note.remove_prefix(1);
    return trim(note);
  }
  return {};
}

void set_value(FactRecord& record, std::string_view key, std::string_view value, std::int64_t line) {
  const std::string name = name_of(key);
  if (name.empty() || record.members().size() > kMostMembers) return;
  if (name == "state" || name == "elapsed" || name == "time_limit" || name == "req_tres" || name == "alloc_tres" ||
      name == "gres_used" || name == "tres_per_node" || name == "tres_per_job" || name == "tres_per_task") {
    return set_slurm_cell(record, name, value, line);
  }
  if (is_text_value(name)) {
    if (says_unknown(value)) {
      record.set_unknown(name, line);
    } else {
      record.set(name, value, line);
    }
    return;
  }
  record.set_parsed(name, value, line);
}

// "reason [slurm@2024-12-19T11:03:34]" -> who and when.
void split_reason(FactRecord& record) {
  const Fact* const fact = record.find("reason");
  if (fact == nullptr) return;
  const std::string reason(fact->text());
  const std::int64_t line = fact->line;
  const std::size_t open = reason.rfind('[');
  const std::size_t at = open == std::string::npos ? open : reason.find('@', open);
  if (at == std::string::npos || !reason.ends_with(']')) return;
  record.set("reason", trim(std::string_view(reason).substr(0, open)), line);
  record.set("reason_user", std::string_view(reason).substr(open + 1, at - open - 1), line);
  record.set("reason_time", std::string_view(reason).substr(at + 1, reason.size() - at - 2), line);
}

// "gpu count reported lower than configured (0 < 1)", "Low RealMemory (reported:63622 < 100.00% of configured:64000)".
void explain_reason(FactRecord& record) {
  const std::string reason(record.text("reason"));
  const std::int64_t line = record.find("reason") == nullptr ? 0 : record.find("reason")->line;
  const std::optional<std::string_view> inside = between(reason, "(", ")");
  if (!inside) return;
  const std::size_t less = inside->find('<');
  if (less == std::string_view::npos) return;
  // "reported:63622", "100.00% of configured:64000".
  const auto behind_colon = [](std::string_view text) { return text.substr(text.rfind(':') + 1); };
  const Fact found = Fact::parsed(behind_colon(inside->substr(0, less)), line);
  const Fact wanted = Fact::parsed(behind_colon(inside->substr(less + 1)), line);
  if (!found.number() || !wanted.number()) return;
  record.set("reason_reported", found);
  record.set("reason_configured", wanted);
}

void finish_node(FactRecord& node) {
  const auto add = [&node](std::string_view member, std::string_view prefix, bool tres) {
    const Fact* const fact = node.find(member);
    if (fact == nullptr) return;
    const std::string text(fact->text());  // the node's members move as it grows
    add_gpus(node, tres ? parse_tres(text) : parse_gres(text), prefix, fact->line);
  };
  add("gres", "", false);
  add("gres_used", "used_", false);
  add("cfg_tres", "cfg_", true);
  add("alloc_tres", "alloc_", true);
  std::vector<std::string_view> flags;
  const std::string name = node_state_name(node.text("state"), &flags);
  if (!name.empty()) node.set("state_name", name, node.find("state")->line);
  if (!flags.empty()) {
    std::vector<Fact>& list = node.list("state_flags", node.find("state")->line);
    for (const std::string_view flag : flags) list.push_back(Fact::of(flag, node.find("state")->line));
  }
  split_reason(node);
  explain_reason(node);
}

void finish_job(FactRecord& job) {
  for (const std::string_view name : {"alloc_tres", "tres", "req_tres"}) {
    const Fact* const fact = job.find(name);
    if (fact == nullptr || job.has("gpus")) continue;
    const std::string text(fact->text());
    add_gpus(job, parse_tres(text), "", fact->line);
  }
  const Fact* const per_node = job.find("per_node_gpu_type");
  if (per_node != nullptr && !job.has("gpu_type")) job.set("gpu_type", *per_node);
}

// A line of gres.conf: how many devices it stands for.
void finish_gres(FactRecord& record) {
  const std::string file(record.text("file"));
  const std::int64_t files = file.empty() ? 0 : count_hosts(file);
  if (files > 0) record.set("file_count", files, record.find("file")->line);
  if (record.text("name") != "gpu") return;
  record.set("gpus", record.integer("count").value_or(files > 0 ? files : 1));
}

void finish_topology(FactRecord& record, SlurmFacts& facts, bool block) {
  FactRecord& more = facts.more();
  more.set("topology", block ? "block" : "tree", record.line);
  const std::string_view nodes = record.text("nodes");
  if (!nodes.empty()) record.set("node_count", count_hosts(nodes), record.find("nodes")->line);
  if (!record.text("switches").empty()) {
    record.set("switch_count", count_hosts(record.text("switches")), record.find("switches")->line);
  }
  facts.append(block ? "blocks" : "switches", std::move(record));
}

}  // namespace

std::vector<SlurmPair> slurm_pairs(std::string_view line, bool to_the_end) {
  std::vector<SlurmPair> pairs;
  line = trim(line);
  while (line.starts_with('*') || line.starts_with('`')) line.remove_prefix(1);
  std::size_t at = 0;
  while (at < line.size() && pairs.size() < kMostMembers) {
    const std::size_t length = key_length(line, at);
    if (length == 0) {
      // "NtasksPerTRES:0": a pair of its own notation, alone on its line.
      const std::size_t colon = line.find(':');
      if (pairs.empty() && colon != std::string_view::npos && colon > 0 && line.find(' ') == std::string_view::npos &&
          letter(line.front())) {
        pairs.push_back({line.substr(0, colon), line.substr(colon + 1)});
      }
      return pairs;
    }
    const std::string_view key = line.substr(at, length);
    std::size_t begin = at + length + 1;
    std::size_t end = begin;
    if (to_the_end && at == 0 && is_free_text(key)) {
      end = line.size();
    } else if (begin < line.size() && line[begin] == '"') {
      end = std::min(line.find('"', begin + 1), line.size() - 1) + 1;
      while (end < line.size() && line[end] != ' ') ++end;
    } else {
      for (;; ++end) {
        end = std::min(line.find_first_of(" \t", end), line.size());
        if (end == line.size()) break;
        const std::size_t next = std::min(line.find_first_not_of(" \t", end), line.size());
        if (next == line.size() || key_length(line, next) > 0) break;
      }
    }
    pairs.push_back({key, without_marks(without_quotes(line.substr(begin, end - begin)))});
    at = std::min(line.find_first_not_of(" \t", end), line.size());
  }
  return pairs;
}

bool begins_slurm_record(std::string_view key) {
  static constexpr auto kKeys =
      std::to_array<std::string_view>({"NodeName", "JobId", "PartitionName", "ReservationName", "SwitchName",
                                       "BlockName", "StepId", "NodeSet", "DownNodes", "FrontendName", "LicenseName"});
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

void SlurmRecord::add(const std::vector<SlurmPair>& pairs, std::int64_t line) {
  const bool of_gres =
      std::any_of(pairs.begin(), pairs.end(), [](const SlurmPair& pair) { return pair.key == "Name"; });
  for (const SlurmPair& pair : pairs) {
    const bool first = first_key_.empty();
    if (first) first_key_ = std::string(pair.key);
    if (first && begins_slurm_record(pair.key) && pair.key != "JobId" && pair.key != "StepId") {
      record_.set(of_gres ? "nodes" : "name", pair.value, line);
    } else {
      set_value(record_, pair.key, pair.value, line);
    }
  }
}

void SlurmRecord::add_note(std::string_view body, std::int64_t line) {
  const std::string_view note = note_behind(body);
  if (!note.empty() && contains(body, "Gres=")) record_.set("gres_note", as_text(note.substr(0, 200)), line);
}

void SlurmRecord::give(SlurmFacts& facts) {
  if (!open()) return;
  FactRecord record = std::move(record_);
  record_ = FactRecord(0);
  const std::string key = std::exchange(first_key_, {});
  const std::string comment = std::exchange(comment_, {});
  if (!comment.empty()) record.set("comment", comment, record.line);
  if (key == "NodeName") {
    const bool live =
        record.has("state") && (record.has("arch") || record.has("cpus_allocated") || record.has("node_addr"));
    const bool hardware = record.has("sockets_per_board") && !record.has("gres") && !record.has("state");
    const bool gres_line = record.has("file") || (record.has("auto_detect") && !record.has("cpus"));
    record.set("source", live ? "scontrol show node" : gres_line ? "gres.conf" : hardware ? "slurmd -C" : "slurm.conf");
    if (live && !record.text("version").empty()) {
      facts.more().set_once("slurm_version", Fact::of(record.text("version"), record.find("version")->line));
    }
    record.set("node_count", count_hosts(record.text("name")));
    finish_node(record);
    if (gres_line) {
      finish_gres(record);
      facts.append("gres_conf", std::move(record));
      return;
    }
    facts.add_node(std::move(record));
  } else if (key == "JobId") {
    finish_job(record);
    facts.add_job(std::move(record));
  } else if (key == "PartitionName") {
    if (!record.text("nodes").empty() && !record.has("node_count")) {
      record.set("node_count", count_hosts(record.text("nodes")), record.find("nodes")->line);
    }
    if (const Fact* const tres = record.find("tres"))
      add_gpus(record, parse_tres(std::string(tres->text())), "", tres->line);
    facts.add_partition(record);
  } else if (key == "SwitchName") {
    finish_topology(record, facts, false);
  } else if (key == "BlockName") {
    finish_topology(record, facts, true);
  } else if (key == "ReservationName") {
    if (const Fact* const tres = record.find("tres"))
      add_gpus(record, parse_tres(std::string(tres->text())), "", tres->line);
    facts.append("reservations", std::move(record));
  } else if (key == "Name") {
    finish_gres(record);
    facts.append("gres_conf", std::move(record));
  } else {
    record.set("record", key);
    facts.append("records", std::move(record));
  }
}

void add_slurm_setting(FactRecord& config, std::string_view key, std::string_view value, std::int64_t line) {
  const std::string name = slurm_fact_name(key);
  if (name.empty() || config.members().size() > 1000) return;
  config.set_parsed(name, without_quotes(value), line);
}

bool is_slurm_setting(std::string_view key) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"ClusterName",
                                                                 "SlurmctldHost",
                                                                 "ControlMachine",
                                                                 "ControlAddr",
                                                                 "BackupController",
                                                                 "SlurmUser",
                                                                 "SlurmdUser",
                                                                 "SlurmctldPort",
                                                                 "SlurmdPort",
                                                                 "AuthType",
                                                                 "AuthAltTypes",
                                                                 "StateSaveLocation",
                                                                 "SlurmdSpoolDir",
                                                                 "SwitchType",
                                                                 "MpiDefault",
                                                                 "ProctrackType",
                                                                 "ReturnToService",
                                                                 "TaskPlugin",
                                                                 "TaskPluginParam",
                                                                 "SelectType",
                                                                 "SelectTypeParameters",
                                                                 "SchedulerType",
                                                                 "SchedulerParameters",
                                                                 "GresTypes",
                                                                 "TopologyPlugin",
                                                                 "TopologyParam",
                                                                 "SlurmctldParameters",
                                                                 "SlurmdParameters",
                                                                 "AccountingStorageType",
                                                                 "AccountingStorageHost",
                                                                 "AccountingStorageTRES",
                                                                 "AccountingStorageEnforce",
                                                                 "JobAcctGatherType",
                                                                 "JobAcctGatherFrequency",
                                                                 "JobCompType",
                                                                 "PriorityType",
                                                                 "PriorityWeightFairshare",
                                                                 "PriorityWeightTRES",
                                                                 "PrologFlags",
                                                                 "Prolog",
                                                                 "Epilog",
                                                                 "SlurmctldDebug",
                                                                 "SlurmdDebug",
                                                                 "SlurmctldLogFile",
                                                                 "SlurmdLogFile",
                                                                 "SlurmctldTimeout",
                                                                 "SlurmdTimeout",
                                                                 "InactiveLimit",
                                                                 "KillWait",
                                                                 "MinJobAge",
                                                                 "Waittime",
                                                                 "BlockSizes",
                                                                 "AutoDetect",
                                                                 "HealthCheckProgram",
                                                                 "HealthCheckInterval",
                                                                 "RebootProgram",
                                                                 "ResumeProgram",
                                                                 "SuspendProgram",
                                                                 "SuspendTime",
                                                                 "ResumeTimeout",
                                                                 "SuspendTimeout",
                                                                 "MaxNodeCount",
                                                                 "TreeWidth",
                                                                 "LaunchParameters",
                                                                 "PreemptType",
                                                                 "PreemptMode",
                                                                 "EnforcePartLimits",
                                                                 "DefMemPerCPU",
                                                                 "DefMemPerNode",
                                                                 "MaxArraySize",
                                                                 "MaxJobCount",
                                                                 "ConstrainDevices",
                                                                 "ConstrainCores",
                                                                 "ConstrainRAMSpace",
                                                                 "CgroupPlugin",
                                                                 "CgroupAutomount",
                                                                 "DbdHost",
                                                                 "StorageType",
                                                                 "StorageHost",
                                                                 "UnkillableStepTimeout",
                                                                 "JobSubmitPlugins",
                                                                 "CliFilterPlugins",
                                                                 "FederationParameters",
                                                                 "PlugStackConfig",
                                                                 "KillOnBadExit",
                                                                 "JobRequeue",
                                                                 "MessageTimeout",
                                                                 "BatchStartTimeout"});
  return std::any_of(kKeys.begin(), kKeys.end(), [key](std::string_view k) { return equals_ignoring_case(k, key); });
}

}  // namespace tare
