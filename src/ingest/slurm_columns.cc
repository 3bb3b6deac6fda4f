#include "ingest/slurm_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

struct Heading {
  std::string_view printed;  // lower case
  std::string_view name;
  bool telling = false;
};

// Sorted by what they mean, not by tool: the tools agree on most of them.
constexpr auto kHeadings = std::to_array<Heading>({
    // Jobs.
    {"jobid", "job_id", true},
    {"job_id", "job_id", true},
    {"jobidraw", "job_id_raw", true},
    {"jobarrayid", "job_id", true},
    {"array_job_id", "array_job_id", true},
    {"array_task_id", "array_task_id", true},
    {"stepid", "job_id", true},
    {"jobname", "name", true},
    {"name", "name"},
    {"user", "user"},
    {"username", "user"},
    {"user_id", "user_id"},
    {"uid", "user_id"},
    {"group", "group"},
    {"gid", "group_id"},
    {"account", "account"},
    {"acct", "account"},
    {"assoc", "association"},
    {"wckey", "wckey"},
    {"cluster", "cluster"},
    {"partition", "partition", true},
    {"partitionname", "partition", true},
    {"qos", "qos"},
    {"qosraw", "qos_id"},
    {"st", "state"},
    {"state", "state"},
    {"statecompact", "state"},
    {"statelong", "state"},
    {"statecomplete", "state_complete"},
    {"exec_host", "exec_host"},
    {"batchhost", "batch_host"},
    {"exitcode", "exit_code", true},
    {"exit_code", "exit_code", true},
    {"derivedexitcode", "derived_exit_code", true},
    {"reason", "reason"},
    {"comment", "comment"},
    {"admin_comment", "admin_comment"},
    {"admincomment", "admin_comment"},
    {"system_comment", "system_comment"},
    {"systemcomment", "system_comment"},
    {"dependency", "dependency"},
    {"priority", "priority"},
    {"nice", "nice"},
    {"requeue", "requeue"},
    {"restarts", "restarts"},
    {"restart_cnt", "restarts"},
    {"features", "features"},
    {"constraints", "features"},
    {"workdir", "work_dir"},
    {"work_dir", "work_dir"},
    {"command", "command"},
    {"submitline", "submit_line"},
    {"flags", "flags"},
    {"reservation", "reservation"},
    {"licenses", "licenses"},
    {"container", "container"},
    {"layout", "layout"},
    // Their times.
    {"time", "elapsed"},
    {"elapsed", "elapsed"},
    {"time_used", "elapsed"},
    {"timeused", "elapsed"},
    {"elapsedraw", "elapsed_raw_s"},
    {"cputime", "cpu_time"},
    {"cputimeraw", "cpu_time_raw_s"},
    {"totalcpu", "total_cpu"},
    {"usercpu", "user_cpu"},
    {"systemcpu", "system_cpu"},
    {"time_left", "time_left"},
    {"timeleft", "time_left"},
    {"time_limit", "time_limit"},
    {"timelimit", "time_limit"},
    {"time_limi", "time_limit"},
    {"time_lim", "time_limit"},
    {"timelimitraw", "time_limit_raw_min"},
    {"submit", "submit_time"},
    {"submit_time", "submit_time"},
    {"submittime", "submit_time"},
    {"eligible", "eligible_time"},
    {"eligibletime", "eligible_time"},
    {"eligible_time", "eligible_time"},
    {"start", "start_time"},
    {"start_time", "start_time"},
    {"starttime", "start_time"},
    {"end", "end_time"},
    {"end_time", "end_time"},
    {"endtime", "end_time"},
    {"suspended", "suspended"},
    {"reserved", "reserved"},
    {"planned", "planned"},
    {"pending_time", "pending_time"},
    {"pendingtime", "pending_time"},
    // Their resources.
    {"nodes", "node_count"},
    {"nnodes", "node_count"},
    {"numnodes", "node_count"},
    {"num_nodes", "node_count"},
    {"allocnodes", "node_count"},
    {"node_count", "node_count"},
    {"cpus", "cpus"},
    {"ncpus", "cpus"},
    {"alloccpus", "cpus"},
    {"numcpus", "cpus"},
    {"min_cpus", "cpus"},
    {"mincpus", "cpus"},
    {"reqcpus", "req_cpus"},
    {"reqnodes", "req_nodes"},
    {"ntasks", "tasks"},
    {"tasks", "tasks"},
    {"numtasks", "tasks"},
    {"reqmem", "req_memory"},
    {"min_memory", "min_memory"},
    {"minmemory", "min_memory"},
    {"min_memor", "min_memory"},
    {"maxrss", "max_rss", true},
    {"maxrssnode", "max_rss_node", true},
    {"maxvmsize", "max_vm_size", true},
    {"maxvmsizenode", "max_vm_size_node", true},
    {"averss", "ave_rss", true},
    {"avecpu", "ave_cpu"},
    {"avevmsize", "ave_vm_size", true},
    {"maxdiskread", "max_disk_read", true},
    {"maxdiskwrite", "max_disk_write", true},
    {"consumedenergy", "consumed_energy"},
    {"consumedenergyraw", "consumed_energy_j"},
    {"alloctres", "alloc_tres", true},
    {"reqtres", "req_tres", true},
    {"tres_alloc", "alloc_tres", true},
    {"tres-alloc", "alloc_tres", true},
    {"tres", "alloc_tres"},
    {"tresusageinave", "tres_usage_in_ave", true},
    {"tresusageinmax", "tres_usage_in_max", true},
    {"tresusageintot", "tres_usage_in_tot", true},
    {"tres_per_node", "tres_per_node", true},
    {"tres-per-node", "tres_per_node", true},
    {"tres_per_n", "tres_per_node", true},
    {"tres_per_job", "tres_per_job", true},
    {"tres-per-job", "tres_per_job", true},
    {"tres_per_task", "tres_per_task", true},
    {"allocgres", "alloc_gres", true},
    {"reqgres", "req_gres", true},
    {"gres", "gres"},
    {"gres_used", "gres_used", true},
    {"gresused", "gres_used", true},
    {"nodelist(reason)", "node_list_or_reason", true},
    {"reasonlist", "node_list_or_reason", true},
    {"nodelist", "node_list", true},
    {"nodelist(", "node_list", true},
    {"schednodes", "sched_nodes", true},
    {"req_nodes", "req_node_list"},
    {"exc_nodes", "excluded_nodes"},
    // Nodes and partitions.
    {"avail", "avail"},
    {"available", "avail"},
    {"job_size", "job_size"},
    {"root", "root"},
    {"oversubs", "oversubscribe"},
    {"oversubscribe", "oversubscribe"},
    {"share", "oversubscribe"},
    {"over_subscribe", "oversubscribe"},
    {"groups", "groups"},
    {"nodes(a/i)", "nodes_ai", true},
    {"nodes(a/i/o/t)", "nodes_aiot", true},
    {"nodeai", "nodes_ai", true},
    {"nodeaiot", "nodes_aiot", true},
    {"cpus(a/i/o/t)", "cpus_aiot", true},
    {"cpusstate", "cpus_aiot", true},
    {"hostnames", "host", true},
    {"hostname", "host"},
    {"nodehost", "host", true},
    {"host", "host"},
    {"nodename", "host"},
    {"node", "host"},
    {"nodeaddr", "node_addr", true},
    {"node_addr", "node_addr", true},
    {"s:c:t", "sockets_cores_threads", true},
    {"socketcorethread", "sockets_cores_threads", true},
    {"sockets", "sockets"},
    {"cores", "cores_per_socket"},
    {"threads", "threads_per_core"},
    {"memory", "memory_mb"},
    {"free_mem", "free_memory_mb", true},
    {"freemem", "free_memory_mb", true},
    {"allocmem", "alloc_memory_mb"},
    {"cpu_load", "cpu_load"},
    {"cpusload", "cpu_load"},
    {"tmp_disk", "tmp_disk_mb", true},
    {"disk", "tmp_disk_mb"},
    {"weight", "weight"},
    {"avail_fe", "features", true},
    {"avail_features", "features", true},
    {"active_features", "active_features", true},
    {"features_act", "active_features"},
    {"timestamp", "timestamp"},
    {"version", "version"},
    {"prio_tier", "priority_tier"},
    {"prio_job_factor", "priority_job_factor"},
});

struct Letter {
  char letter;
  std::string_view name;
};
constexpr auto kSinfoLetters = std::to_array<Letter>({
    {'A', "nodes_ai"},        {'a', "avail"},         {'B', "max_cpus"},
    {'b', "active_features"}, {'c', "cpus"},          {'C', "cpus_aiot"},
    {'D', "node_count"},      {'d', "tmp_disk_mb"},   {'E', "reason"},
    {'e', "free_memory_mb"},  {'f', "features"},      {'F', "nodes_aiot"},
    {'g', "groups"},          {'G', "gres"},          {'h', "oversubscribe"},
    {'H', "timestamp"},       {'i', "reservation"},   {'I', "priority_job_factor"},
    {'l', "time_limit"},      {'L', "default_time"},  {'m', "memory_mb"},
    {'M', "preempt_mode"},    {'n', "host"},          {'N', "node_list"},
    {'o', "node_addr"},       {'O', "cpu_load"},      {'p', "priority_tier"},
    {'P', "partition"},       {'r', "root"},          {'R', "partition"},
    {'s', "job_size"},        {'S', "allowed_nodes"}, {'t', "state"},
    {'T', "state"},           {'u', "reason_user"},   {'v', "version"},
    {'w', "weight"},
});
constexpr auto kMoreSinfoLetters = std::to_array<Letter>({
    {'X', "sockets"},
    {'Y', "cores_per_socket"},
    {'Z', "threads_per_core"},
    {'z', "sockets_cores_threads"},
    {'V', "cluster"},
});
constexpr auto kSqueueLetters = std::to_array<Letter>({
    {'a', "account"},
    {'A', "job_id"},
    {'B', "exec_host"},
    {'b', "tres_per_node"},
    {'c', "min_cpus_per_node"},
    {'C', "cpus"},
    {'d', "min_tmp_disk"},
    {'D', "node_count"},
    {'e', "end_time"},
    {'E', "dependency"},
    {'f', "features"},
    {'F', "array_job_id"},
    {'g', "group"},
    {'G', "group_id"},
    {'h', "oversubscribe"},
    {'H', "sockets"},
    {'i', "job_id"},
    {'I', "cores_per_socket"},
    {'j', "name"},
    {'J', "threads_per_core"},
    {'k', "comment"},
    {'K', "array_task_id"},
    {'l', "time_limit"},
    {'L', "time_left"},
    {'m', "min_memory"},
    {'M', "elapsed"},
    {'n', "req_node_list"},
    {'N', "node_list"},
    {'o', "command"},
    {'O', "contiguous"},
    {'p', "priority"},
    {'P', "partition"},
    {'q', "qos"},
    {'Q', "priority"},
    {'r', "reason"},
    {'R', "node_list_or_reason"},
    {'S', "start_time"},
    {'t', "state"},
    {'T', "state"},
    {'u', "user"},
    {'U', "user_id"},
    {'v', "reservation"},
    {'V', "submit_time"},
    {'w', "wckey"},
    {'W', "licenses"},
    {'Z', "work_dir"},
});

std::string_view letter_name(SlurmTool tool, char letter) {
  const auto in = [letter](const auto& letters) -> std::string_view {
    const auto found =
        std::find_if(letters.begin(), letters.end(), [&](const Letter& l) { return l.letter == letter; });
    return found == letters.end() ? std::string_view() : found->name;
  };
  if (tool == SlurmTool::kSqueue) return in(kSqueueLetters);
  if (const std::string_view name = in(kSinfoLetters); !name.empty()) return name;
  return in(kMoreSinfoLetters);
}

const Heading* find_heading(std::string_view heading) {
  while (heading.ends_with('*') || heading.ends_with('|')) heading.remove_suffix(1);
  const std::string lower = to_lower(trim(heading));
  const auto found =
      std::find_if(kHeadings.begin(), kHeadings.end(), [&](const Heading& h) { return h.printed == lower; });
  return found == kHeadings.end() ? nullptr : &*found;
}

// A shell line cut into words, quotes taken off.
std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open || !word.empty()) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
    }
    if (words.size() > 200) break;
  }
  if (open || !word.empty()) words.push_back(std::move(word));
  return words;
}

SlurmTool tool_of(std::string_view word) {
  if (const std::size_t slash = word.rfind('/'); slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (word == "sinfo") return SlurmTool::kSinfo;
  if (word == "squeue") return SlurmTool::kSqueue;
  if (word == "sacct") return SlurmTool::kSacct;
  if (word == "scontrol") return SlurmTool::kScontrol;
  if (word == "sdiag") return SlurmTool::kSdiag;
  for (const std::string_view other : {"sacctmgr", "sprio", "sshare", "sreport", "seff", "sstat", "slurmd", "slurmctld",
                                       "srun", "sbatch", "salloc", "scancel", "sbcast", "strigger", "nvidia-smi"}) {
    if (word == other) return SlurmTool::kOther;
  }
  return SlurmTool::kUnknown;
}

// -o "%.10i %9P|%T": letters and what stands between them.
void take_letters(SlurmCommand& command, std::string_view format) {
  std::vector<std::string> between_columns;
  std::string literal;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      literal += format[i];
      continue;
    }
    ++i;
    while (i < format.size() && (format[i] == '.' || format[i] == '-' || (format[i] >= '0' && format[i] <= '9'))) ++i;
    if (i >= format.size()) break;
    const std::string_view name = letter_name(command.tool, format[i]);
    if (command.columns.empty()) {
      command.before = std::string(trim(literal));
    } else {
      between_columns.push_back(literal);
    }
    literal.clear();
    command.columns.emplace_back(name.empty() ? std::string("field_") + format[i] : std::string(name));
    if (command.columns.size() > 100) break;
  }
  if (between_columns.empty()) return;
  const std::string first = between_columns.front();
  const bool same = std::all_of(between_columns.begin(), between_columns.end(),
                                [&](const std::string& text) { return text == first; });
  if (same && !trim(first).empty()) command.separator = std::string(trim(first));
}

// -O jobid:|,tres-alloc:| or --format=JobID%20,State.
void take_names(SlurmCommand& command, std::string_view list) {
  for (std::string_view item : split(list, ',')) {
    item = trim(item);
    if (item.empty() || command.columns.size() > 100) continue;
    const std::size_t cut = item.find_first_of(":%");
    const std::string_view name = item.substr(0, cut);
    if (cut != std::string_view::npos && item[cut] == ':') {
      std::string_view tail = item.substr(cut + 1);
      while (!tail.empty() && (tail.front() == '.' || (tail.front() >= '0' && tail.front() <= '9')))
        tail.remove_prefix(1);
      if (!tail.empty()) command.separator = std::string(tail);
    }
    const std::string known = slurm_column(name);
    command.columns.push_back(known.empty() ? slurm_fact_name(name) : known);
  }
}

bool is_short_option(std::string_view word, char letter) {
  return word.size() >= 2 && word[0] == '-' && word[1] != '-' && word.back() == letter &&
         std::all_of(word.begin() + 1, word.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

void take_format(SlurmCommand& command, std::string_view format) {
  if (contains(format, "%") && command.tool != SlurmTool::kSacct) {
    take_letters(command, format);
  } else {
    take_names(command, format);
  }
}

void take_options(SlurmCommand& command, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "|" || word == ";" || word == "&&") break;
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view();
    const std::size_t equal = word.find('=');
    const std::string_view name = word.substr(0, equal);
    const std::string_view value = equal == std::string_view::npos ? next : word.substr(equal + 1);
    if (name == "--format" || name == "--Format" || name == "--fields") {
      take_format(command, value);
    } else if (is_short_option(word, 'o') || is_short_option(word, 'O')) {
      take_format(command, next);
    } else if (word.starts_with("-o") && word.size() > 2 && command.columns.empty()) {
      take_format(command, word.substr(2));
    } else if (name == "--delimiter") {
      command.separator = std::string(value);
    } else if (word == "--noheader") {
      command.no_header = true;
    }
    if (word == "-P" || word == "-p" || word == "--parsable" || word == "--parsable2") {
      if (command.tool == SlurmTool::kSacct || command.tool == SlurmTool::kOther) command.separator = "|";
    }
    const char quiet = command.tool == SlurmTool::kSacct ? 'n' : 'h';
    if (word.size() >= 2 && word[0] == '-' && word[1] != '-' && word.find(quiet) != std::string_view::npos &&
        (is_short_option(word, word.back()))) {
      command.no_header = true;
    }
  }
}

enum class Cell { kText, kNumber, kTime, kState, kGres, kTres, kOthers };

Cell cell_of(std::string_view column) {
  static constexpr auto kTimes =
      std::to_array<std::string_view>({"elapsed", "time_limit", "time_left", "cpu_time", "total_cpu", "user_cpu",
                                       "system_cpu", "suspended", "reserved", "planned", "default_time", "ave_cpu"});
  static constexpr auto kNumbers = std::to_array<std::string_view>({"node_count",
                                                                    "cpus",
                                                                    "tasks",
                                                                    "priority",
                                                                    "nice",
                                                                    "restarts",
                                                                    "memory_mb",
                                                                    "weight",
                                                                    "cpu_load",
                                                                    "tmp_disk_mb",
                                                                    "sockets",
                                                                    "cores_per_socket",
                                                                    "threads_per_core",
                                                                    "free_memory_mb",
                                                                    "elapsed_raw_s",
                                                                    "cpu_time_raw_s",
                                                                    "time_limit_raw_min",
                                                                    "req_cpus",
                                                                    "req_nodes",
                                                                    "job_id",
                                                                    "array_job_id",
                                                                    "array_task_id",
                                                                    "consumed_energy_j",
                                                                    "alloc_memory_mb",
                                                                    "job_id_raw",
                                                                    "qos_id"});
  if (std::find(kTimes.begin(), kTimes.end(), column) != kTimes.end()) return Cell::kTime;
  if (std::find(kNumbers.begin(), kNumbers.end(), column) != kNumbers.end()) return Cell::kNumber;
  if (column == "state") return Cell::kState;
  if (column == "gres" || column == "gres_used" || column == "tres_per_node" || column == "alloc_gres" ||
      column == "req_gres" || column == "tres_per_job" || column == "tres_per_task") {
    return Cell::kGres;
  }
  if (column == "alloc_tres" || column == "req_tres") return Cell::kTres;
  if (column == "nodes_aiot" || column == "cpus_aiot" || column == "nodes_ai" || column == "node_list_or_reason") {
    return Cell::kOthers;
  }
  return Cell::kText;
}

std::string_view gpu_prefix(std::string_view column) {
  if (column == "gres_used") return "used_";
  if (column == "req_tres" || column == "req_gres") return "req_";
  if (column == "tres_per_node") return "per_node_";
  if (column == "tres_per_task") return "per_task_";
  return "";
}

void set_text(FactRecord& row, std::string_view column, std::string_view cell, std::int64_t line) {
  if (says_unknown(cell)) {
    row.set_unknown(column, line);
  } else {
    row.set(column, cell, line);
  }
}

void set_others(FactRecord& row, std::string_view column, std::string_view cell, std::int64_t line) {
  if (column == "node_list_or_reason") {
    if (cell.starts_with('(')) {
      cell.remove_prefix(1);
      if (cell.ends_with(')')) cell.remove_suffix(1);
      return set_text(row, "reason", cell, line);
    }
    return set_text(row, "node_list", cell, line);
  }
  static constexpr auto kParts = std::to_array<std::string_view>({"allocated", "idle", "other", "total"});
  const std::vector<std::string_view> parts = split(cell, '/');
  if (parts.size() != (column == "nodes_ai" ? 2u : 4u)) return set_text(row, column, cell, line);
  const std::string prefix = column.starts_with("cpus") ? "cpus_" : "nodes_";
  row.set(column, cell, line);
  for (std::size_t i = 0; i < parts.size(); ++i) row.set_parsed(prefix + std::string(kParts[i]), parts[i], line);
}

}  // namespace

std::string slurm_column(std::string_view heading) {
  const Heading* const found = find_heading(heading);
  return found == nullptr ? std::string() : std::string(found->name);
}

bool is_telling_column(std::string_view heading) {
  const Heading* const found = find_heading(heading);
  return found != nullptr && found->telling;
}

std::string_view tool_name(SlurmTool tool) {
  switch (tool) {
    case SlurmTool::kSinfo:
      return "sinfo";
    case SlurmTool::kSqueue:
      return "squeue";
    case SlurmTool::kSacct:
      return "sacct";
    case SlurmTool::kScontrol:
      return "scontrol";
    case SlurmTool::kSdiag:
      return "sdiag";
    default:
      return "";
  }
}

bool parse_slurm_command(std::string_view line, SlurmCommand& command) {
  line = trim(line);
  if (line.size() > 4000) return false;
  // The first words may be a prompt: "[root@host ~]#", "(base) me@host:~/x$", "$", "+", "%".
  const std::vector<std::string_view> head = words_in(line.substr(0, 400));
  for (std::size_t i = 0; i < head.size() && i < 7; ++i) {
    const SlurmTool tool = tool_of(head[i]);
    if (tool == SlurmTool::kUnknown) continue;
    if (i > 0) {
      const std::string_view before = head[i - 1];
      const bool prompt = contains("$#%>+;|", before.substr(before.size() - 1)) || before == "sudo" ||
                          before == "watch" || before == "time" || before == "&&";
      if (!prompt) return false;
    }
    const std::size_t at = static_cast<std::size_t>(head[i].data() - line.data());
    command = SlurmCommand();
    command.tool = tool;
    command.text = std::string(line.substr(at));
    const std::vector<std::string> words = shell_words(line.substr(at));
    // "sinfo shows one node": prose, not a command.
    if (words.size() > 1 && i == 0 && tool != SlurmTool::kScontrol && tool != SlurmTool::kOther &&
        words[1].find_first_of("-|>;") != 0 && words[1] != "&&") {
      return false;
    }
    if (tool == SlurmTool::kOther && i == 0 && (words.size() < 2 || !words[1].starts_with('-'))) return false;
    take_options(command, words);
    return true;
  }
  return false;
}

void set_slurm_cell(FactRecord& row, std::string_view column, std::string_view cell, std::int64_t line) {
  cell = trim(cell);
  switch (cell_of(column)) {
    case Cell::kText:
      if (column == "partition" && cell.ends_with('*')) {
        row.set("default", true, line);
        cell.remove_suffix(1);
      }
      return set_text(row, column, cell, line);
    case Cell::kNumber:
      if (contains(column, "job_id") && !to_integer(cell)) return set_text(row, column, cell, line);  // "591.0" is none
      row.set_parsed(column, cell, line);
      return;
    case Cell::kTime:
      set_text(row, column, cell, line);
      if (const std::optional<double> seconds = slurm_seconds(cell)) {
        const std::string name = std::string(column) + "_s";
        if (*seconds == std::floor(*seconds) && *seconds < 1e15) {
          row.set(name, static_cast<std::int64_t>(*seconds), line);
        } else {
          row.set(name, *seconds, line);
        }
      }
      return;
    case Cell::kState:
      row.set("state", cell, line);
      return;
    case Cell::kGres: {
      set_text(row, column, cell, line);
      add_gpus(row, cell.find('=') == std::string_view::npos ? parse_gres(cell) : parse_tres(cell), gpu_prefix(column),
               line);
      return;
    }
    case Cell::kTres:
      set_text(row, column, cell, line);
      add_gpus(row, parse_tres(cell), gpu_prefix(column), line);
      return;
    case Cell::kOthers:
      return set_others(row, column, cell, line);
  }
}

}  // namespace tare
