#include "ingest/slurm_log.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/slurm_record.h"
#include "ingest/slurm_values.h"

namespace tare {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// "2020-08-13T10:20:03.698": Slurm's own time stamps have a T and no zone, or one.
std::size_t stamp_length(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':') return 0;
  for (const std::size_t i : {0u, 1u, 2u, 3u, 5u, 6u, 8u, 9u, 11u, 12u}) {
    if (!digit(text[i])) return 0;
  }
  std::size_t end = 16;
  while (end < text.size() && (digit(text[end]) || contains(":.+-Z", text.substr(end, 1)))) ++end;
  return end;
}

constexpr auto kDaemons =
    std::to_array<std::string_view>({"slurmctld", "slurmdbd", "slurmstepd", "slurmrestd", "slurmd"});

// "slurmctld: ", "slurmd[123]: ", "slurmd-node1: " at the beginning; cuts it off.
std::string_view take_daemon(std::string_view& text) {
  for (const std::string_view daemon : kDaemons) {
    if (!text.starts_with(daemon)) continue;
    const std::size_t colon = text.find(": ", daemon.size());
    if (colon == std::string_view::npos || colon > daemon.size() + 64) return {};
    const std::string_view between_both = text.substr(daemon.size(), colon - daemon.size());
    const bool fits = between_both.empty() || between_both.front() == '[' || between_both.front() == '-' ||
                      between_both.front() == '(';
    if (!fits || between_both.find(' ') != std::string_view::npos) return {};
    text = trim(text.substr(colon + 1));
    return daemon;
  }
  return {};
}

std::string_view take_level(std::string_view& text) {
  for (const std::string_view level :
       {"error", "fatal", "warning", "debug", "debug2", "debug3", "debug4", "debug5", "verbose", "info", "sched"}) {
    if (text.size() > level.size() && text.starts_with(level) && text[level.size()] == ':') {
      text = trim(text.substr(level.size() + 1));
      return level;
    }
  }
  return {};
}

bool has_slurm_word(std::string_view text) {
  for (const std::string_view word :
       {"JobId=", "StepId=", "slurm",      "Slurm", "gres",  "GRES",      "Gres",    "node ",  "Node ",
        "Nodes ", "nodes ",  "sched",      "agent", "_rpc",  "JOB ",      "STEP ",   "Prolog", "prolog",
        "Epilog", "epilog",  "AutoDetect", "GPU",   "CPUs=", "partition", "NodeName"}) {
    if (contains(text, word)) return true;
  }
  return false;
}

struct Pattern {
  std::string_view part;
  std::string_view event;
};
// The first that a message holds names the event.
constexpr auto kPatterns = std::to_array<Pattern>({
    {"low real_memory size", "low_real_memory"},
    {"low RealMemory", "low_real_memory"},
    {"Low RealMemory", "low_real_memory"},
    {"low tmp_disk size", "low_tmp_disk"},
    {"low cpu count", "low_cpu_count"},
    {"low socket", "low_socket_core_count"},
    {"Low socket", "low_socket_core_count"},
    {"Count changed on node", "gres_count_changed"},
    {"invalid GRES core specification", "invalid_gres_cores"},
    {"count reported lower than configured", "gres_count_low"},
    {"count too low", "gres_count_low"},
    {"Node configuration differs from hardware", "differs_from_hardware"},
    {"autodetected GPUs are being ignored", "autodetected_gpus_ignored"},
    {"appears to have a different slurm.conf", "different_slurm_conf"},
    {"more configured than expected", "gres_more_than_expected"},
    {"can't stat gres.conf file", "gres_file_missing"},
    {"weren't able to find that lib", "autodetect_library_missing"},
    {"Failed to initialize NVML", "nvml_failed"},
    {"unexpectedly rebooted", "node_rebooted"},
    {"rebooted unexpectedly", "node_rebooted"},
    {"not responding", "node_not_responding"},
    {"now responding", "node_responding"},
    {"returned to service", "node_returned"},
    {"Kill task failed", "kill_task_failed"},
    {"Duplicate jobid", "duplicate_jobid"},
    {"reason set to", "node_reason"},
    {"state set to", "node_state"},
    {"Setting node", "node_state"},
    {"setting node", "node_state"},
    {"_slurm_rpc_node_registration node=", "registration_failed"},
    {"DUE TO TIME LIMIT", "time_limit"},
    {"DUE TO NODE FAILURE", "node_failure"},
    {"DUE TO PREEMPTION", "preempted"},
    {"oom-kill", "out_of_memory"},
    {"Out Of Memory", "out_of_memory"},
    {"OOM failure", "out_of_memory"},
    {"rolog", "prolog"},
    {"pilog", "epilog"},
    {"Requeu", "requeued"},
    {"requeu", "requeued"},
    {"on failed node", "killed_on_failed_node"},
    {"CANCELLED AT", "cancelled"},
    {"Munge decode failed", "authentication"},
    {"Unable to contact slurm controller", "controller_unreachable"},
    {"Communication connection failure", "connection_failure"},
    {"Allocate JobId=", "job_started"},
    {"Started JobId=", "job_started"},
    {"WEXITSTATUS", "job_completed"},
    {"WTERMSIG", "job_completed"},
    {"_job_complete: JobId=", "job_completed"},
    {"Submitted batch job", "job_submitted"},
    {"_slurm_rpc_submit_batch_job", "job_submitted"},
});

std::string_view event_of(const SlurmLogLine& line) {
  for (const Pattern& pattern : kPatterns) {
    if (!contains(line.message, pattern.part)) continue;
    // "Prolog" stands in many harmless lines.
    if ((pattern.event == "prolog" || pattern.event == "epilog") && line.level != "error" && line.level != "fatal")
      continue;
    return pattern.event;
  }
  if (line.level == "error" || line.level == "fatal" || line.level == "warning") return line.level;
  return {};
}

std::string_view first_word(std::string_view text) {
  text = trim(text);
  text = text.substr(0, text.find_first_of(" \t"));
  while (!text.empty() && (text.back() == ':' || text.back() == ',' || text.back() == ';')) text.remove_suffix(1);
  return text;
}

// The node or nodes that a message is about.
std::string_view node_in(std::string_view message) {
  for (const std::string_view marker : {"node=", "on node ", "etting node ", "nodes=", "NodeName=", "NodeNames=",
                                        "NodeList=", "failed node ", "Nodes ", "Node ", "nodes ", "node "}) {
    const std::size_t at = message.find(marker);
    if (at == std::string_view::npos || (at > 0 && marker.front() != 'e' && message[at - 1] == '_')) continue;
    const std::string_view word = first_word(message.substr(at + marker.size()));
    if (word.empty() || word == "configuration" || word == "registration" || word == "state" || word == "list")
      continue;
    return word;
  }
  return {};
}

// "(63622 < 64000)", "(4 != 3)" and "(reported:1 < 100.00% of configured:2)".
void take_comparison(FactRecord& event, std::string_view message, std::int64_t line) {
  std::size_t open = message.find('(');
  for (; open != std::string_view::npos; open = message.find('(', open + 1)) {
    const std::string_view inside =
        message.substr(open + 1, std::min(message.find(')', open), message.size()) - open - 1);
    const std::size_t less = inside.find(" < ");
    const std::size_t differs = inside.find(" != ");
    if (less == std::string_view::npos && differs == std::string_view::npos) continue;
    const auto last = [](std::string_view text) { return Fact::parsed(text.substr(text.rfind(':') + 1)); };
    const std::size_t at = std::min(less, differs);
    Fact first = last(inside.substr(0, at));
    Fact second = last(inside.substr(at + (less == at ? 3 : 4)));
    if (!first.number() || !second.number()) return;
    first.line = second.line = line;
    const bool reported_first = less == at;
    event.set("reported", reported_first ? first : second);
    event.set("configured", reported_first ? second : first);
    return;
  }
}

// "CPUs=192:192(hw) Boards=1:1(hw) SocketsPerBoard=192:2(hw)".
void take_hardware(FactRecord& event, std::string_view message, std::int64_t line) {
  for (const SlurmPair& pair : slurm_pairs(message.substr(message.find("hardware") + 9), false)) {
    const std::size_t colon = pair.value.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = slurm_fact_name(pair.key);
    event.set_parsed(name + "_configured", pair.value.substr(0, colon), line);
    event.set_parsed(name + "_found", pair.value.substr(colon + 1, pair.value.find('(') - colon - 1), line);
  }
}

}  // namespace

bool parse_slurm_log_line(std::string_view line, SlurmLogLine& parsed) {
  parsed = {};
  std::string_view text = trim(line.substr(0, 4000));
  bool stamped = false;
  // What syslog, journald and kubectl put in front ends where a daemon or a bracketed time begins.
  for (int round = 0; round < 4; ++round) {
    if (text.starts_with('[')) {
      if (const std::size_t length = stamp_length(text.substr(1));
          length > 0 && text.substr(1 + length).starts_with(']')) {
        parsed.time = text.substr(1, length);
        text = trim(text.substr(length + 2));
        stamped = true;
        continue;
      }
    }
    if (const std::string_view daemon = take_daemon(text); !daemon.empty()) {
      parsed.daemon = daemon;
      continue;
    }
    if (stamped || !parsed.daemon.empty()) break;
    std::size_t skip = std::string_view::npos;
    const std::string_view head = text.substr(0, 160);
    for (const std::string_view daemon : kDaemons)
      skip = std::min(skip, head.find(std::string(" ") + std::string(daemon)));
    for (std::size_t at = head.find('['); at != std::string_view::npos; at = head.find('[', at + 1)) {
      if (at > 0 && stamp_length(head.substr(at + 1)) > 0) skip = std::min(skip, at - 1);
    }
    if (skip == std::string_view::npos) return false;
    if (parsed.time.empty()) {
      if (const std::size_t length = stamp_length(text); length > 0) {
        parsed.time = text.substr(0, length);
      } else if (skip >= 15 && text[3] == ' ' && text[9] == ':') {
        parsed.time = text.substr(0, 15);  // "May 23 12:49:52"
      }
    }
    text = trim(text.substr(skip + 1));
  }
  if (!stamped && parsed.daemon.empty()) return false;
  parsed.level = take_level(text);
  if (parsed.level == "error" && text.starts_with("error: ")) take_level(text);
  parsed.message = text;
  return !parsed.daemon.empty() || has_slurm_word(text) || !parsed.level.empty();
}

// "GRES[gpu] Type:nvidia_h100_80gb_hbm3 Count:1 Cores(224):0-55 Links:(null) Flags:HAS_FILE File:/dev/nvidia0
// UniqueId:…"
bool SlurmLog::take_gres(std::string_view message, std::int64_t number, SlurmFacts& facts) {
  const std::size_t at = message.find("GRES[");
  if (at == std::string_view::npos) {
    // "Gres Name=gpu Type=h100 Count=8"
    const std::size_t loaded = message.find("Gres Name=");
    if (loaded == std::string_view::npos) return false;
    FactRecord record(number);
    for (const SlurmPair& pair : slurm_pairs(message.substr(loaded + 5), false)) {
      record.set_parsed(slurm_fact_name(pair.key), pair.value, number);
    }
    facts.append("gres_loaded", std::move(record));
    return true;
  }
  message = message.substr(at + 5);
  const std::size_t close = message.find(']');
  if (close == std::string_view::npos) return false;
  FactRecord record(number);
  record.set("name", message.substr(0, close));
  for (const std::string_view word : words_in(message.substr(close + 1))) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos || record.members().size() > 40) continue;
    std::string_view key = word.substr(0, colon);
    const std::string_view value = word.substr(colon + 1);
    if (const std::size_t open = key.find('('); open != std::string_view::npos) {  // Cores(224)
      record.set_parsed(slurm_fact_name(key.substr(0, open)) + "_total", key.substr(open + 1, key.find(')') - open - 1),
                        number);
      key = key.substr(0, open);
    }
    const std::string name = slurm_fact_name(key);
    if (name.empty()) continue;
    if (name == "cores" || name == "type" || name == "file") {
      record.set(name, value, number);
    } else {
      record.set_parsed(name, value, number);
    }
  }
  record.set("ignored", ignored_follow_, number);
  facts.append("gres_detected", std::move(record));
  return true;
}

void SlurmLog::take_event(const SlurmLogLine& line, std::int64_t number, SlurmFacts& facts) {
  const std::string_view message = line.message;
  const std::string_view name = event_of(line);
  if (name.empty()) return;
  FactRecord event(number);
  event.set("event", name);
  if (!line.time.empty()) event.set("time", line.time);
  if (!line.daemon.empty()) event.set("daemon", line.daemon);
  if (!line.level.empty()) event.set("level", line.level);
  if (const std::string_view node = node_in(message); !node.empty()) event.set("node", node);
  if (const std::optional<std::string_view> job = after(message, "JobId="))
    event.set_parsed("job_id", first_word(*job));
  if (const std::optional<std::string_view> state = after(message, "state set to "))
    event.set("state", first_word(*state));
  if (const std::optional<std::string_view> state = after(message, " state to "))
    event.set("state", first_word(*state));
  for (const std::string_view marker : {"with reason:", "reason set to: ", "reason set to:", "Reason:"}) {
    if (const std::optional<std::string_view> reason = after(message, marker))
      event.set_once("reason", Fact::of(*reason, number));
  }
  take_comparison(event, message, number);
  if (name == "invalid_gres_cores") {
    if (const auto cores = between(message, "specification (", ")")) event.set("cores", *cores);
  }
  if (name == "differs_from_hardware") take_hardware(event, message, number);
  event.set("message", as_text(message.substr(0, 400)));
  facts.add_event(std::move(event));
}

bool SlurmLog::take(std::string_view line, std::int64_t number, SlurmFacts& facts) {
  SlurmLogLine parsed;
  if (!parse_slurm_log_line(line, parsed)) {
    // "slurmd -G" prints them bare.
    return trim(line).starts_with("GRES[") && take_gres(trim(line), number, facts);
  }
  if (lines_ == 0)
    facts.add_output(parsed.daemon.empty() ? "Slurm log" : std::string(parsed.daemon) + " log", "", number);
  ++lines_;
  if (by_level_.size() < 20) ++by_level_[parsed.level.empty() ? "info" : std::string(parsed.level)];
  if (!parsed.time.empty()) {
    if (first_time_.empty()) first_time_ = std::string(parsed.time);
    last_time_ = std::string(parsed.time);
  }
  if (const auto version = between(parsed.message, " version ", " started")) {
    if (version->size() < 40) facts.more().set("slurm_version", *version, number);
  }
  if (take_gres(parsed.message, number, facts)) return true;
  ignored_follow_ = contains(parsed.message, "GPUs are being ignored");
  take_event(parsed, number, facts);
  return true;
}

void SlurmLog::give(SlurmFacts& facts) {
  if (lines_ == 0) return;
  facts.more().set("log_lines", lines_);
  FactRecord& levels = facts.more().record("log_lines_by_level");
  for (const auto& [level, count] : by_level_) levels.set(level, count);
  if (!first_time_.empty()) {
    facts.more().set("log_first_time", first_time_);
    facts.more().set("log_last_time", last_time_);
  }
}

}  // namespace tare
