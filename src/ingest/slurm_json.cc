#include "ingest/slurm_json.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/bounded_fact.h"
#include "ingest/json_walk.h"
#include "ingest/scan.h"
#include "ingest/slurm_facts.h"
#include "ingest/slurm_values.h"
#include "ingest/yaml_tree.h"

namespace tare {
namespace {

// A number in any of Slurm's shapes: 5, {"set": true, "infinite": false, "number": 5}. Unset: unknown.
Fact number_fact(const Fact& value) {
  const FactRecord* const record = value.as_record();
  if (record == nullptr) return value;
  const auto is = [record](std::string_view name) {
    const Fact* const fact = record->find(name);
    const bool* const truth = fact == nullptr ? nullptr : std::get_if<bool>(&fact->value);
    return truth != nullptr && *truth;
  };
  if (is("infinite")) return Fact::of(std::string_view("infinite"), value.line);
  const Fact* const number = record->find("number");
  if (number == nullptr || !is("set")) return Fact::unknown(value.line);
  return *number;
}

// A text, or a list of them joined.
std::string text_of(const Fact* fact, std::string_view separator = ",") {
  if (fact == nullptr) return {};
  if (const std::vector<Fact>* const list = fact->as_list()) {
    std::vector<std::string> parts;
    for (const Fact& item : *list) parts.emplace_back(item.text());
    return join(parts, separator);
  }
  if (const std::optional<double> number = fact->number()) {
    const std::int64_t* const integer = std::get_if<std::int64_t>(&fact->value);
    return integer == nullptr ? std::string() : std::to_string(*integer);
  }
  return std::string(fact->text());
}

// The value at "time.limit", through records.
const Fact* at_path(const FactRecord& record, std::string_view path) {
  const FactRecord* at = &record;
  for (;;) {
    const std::size_t dot = path.find('.');
    const Fact* const fact = at->find(path.substr(0, dot));
    if (fact == nullptr || dot == std::string_view::npos) return fact;
    at = fact->as_record();
    if (at == nullptr) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

enum class Take { kText, kNumber };
struct Member {
  std::string_view path;
  std::string_view name;
  Take take;
};

void take_members(FactRecord& into, const FactRecord& from, std::span<const Member> members) {
  for (const Member& member : members) {
    const Fact* const fact = at_path(from, member.path);
    if (fact == nullptr || into.has(member.name)) continue;
    if (member.take == Take::kNumber) {
      Fact number = number_fact(*fact);
      number.line = fact->line;
      if (number.as_record() == nullptr && number.as_list() == nullptr) into.set(member.name, std::move(number));
      continue;
    }
    const std::string text = text_of(fact);
    if (says_unknown(text)) {
      into.set_unknown(member.name, fact->line);
    } else {
      into.set(member.name, text, fact->line);
    }
  }
}

constexpr auto kJobMembers = std::to_array<Member>({
    {"job_id", "job_id", Take::kNumber},
    {"name", "name", Take::kText},
    {"state.current", "state", Take::kText},
    {"job_state", "state", Take::kText},
    {"state.reason", "reason", Take::kText},
    {"state_reason", "reason", Take::kText},
    {"user", "user", Take::kText},
    {"user_name", "user", Take::kText},
    {"account", "account", Take::kText},
    {"partition", "partition", Take::kText},
    {"qos", "qos", Take::kText},
    {"cluster", "cluster", Take::kText},
    {"nodes", "node_list", Take::kText},
    {"allocation_nodes", "node_count", Take::kNumber},
    {"node_count", "node_count", Take::kNumber},
    {"cpus", "cpus", Take::kNumber},
    {"required.CPUs", "req_cpus", Take::kNumber},
    {"required.memory", "req_memory_mb", Take::kNumber},
    {"required.memory_per_cpu", "mem_per_cpu_mb", Take::kNumber},
    {"required.memory_per_node", "mem_per_node_mb", Take::kNumber},
    {"memory_per_cpu", "mem_per_cpu_mb", Take::kNumber},
    {"memory_per_node", "mem_per_node_mb", Take::kNumber},
    {"tasks", "tasks", Take::kNumber},
    {"time.elapsed", "elapsed_s", Take::kNumber},
    {"time.limit", "time_limit_min", Take::kNumber},
    {"time_limit", "time_limit_min", Take::kNumber},
    {"time.submission", "submit_unix", Take::kNumber},
    {"submit_time", "submit_unix", Take::kNumber},
    {"time.eligible", "eligible_unix", Take::kNumber},
    {"time.start", "start_unix", Take::kNumber},
    {"start_time", "start_unix", Take::kNumber},
    {"time.end", "end_unix", Take::kNumber},
    {"end_time", "end_unix", Take::kNumber},
    {"time.suspended", "suspended_s", Take::kNumber},
    {"time.planned", "planned_s", Take::kNumber},
    {"exit_code.return_code", "exit_code", Take::kNumber},
    {"exit_code.status", "exit_status", Take::kText},
    {"exit_code.signal.name", "exit_signal", Take::kText},
    {"derived_exit_code.return_code", "derived_exit_code", Take::kNumber},
    {"array.job_id", "array_job_id", Take::kNumber},
    {"array.task_id", "array_task_id", Take::kNumber},
    {"array_job_id", "array_job_id", Take::kNumber},
    {"array_task_id", "array_task_id", Take::kNumber},
    {"constraints", "features", Take::kText},
    {"features", "features", Take::kText},
    {"failed_node", "failed_node", Take::kText},
    {"flags", "flags", Take::kText},
    {"priority", "priority", Take::kNumber},
    {"restart_cnt", "restarts", Take::kNumber},
    {"dependency", "dependency", Take::kText},
    {"exclusive", "exclusive", Take::kText},
    {"batch_host", "batch_host", Take::kText},
    {"tres_alloc_str", "alloc_tres", Take::kText},
    {"tres_req_str", "req_tres", Take::kText},
    {"tres_per_node", "tres_per_node", Take::kText},
    {"used_gres", "used_gres", Take::kText},
    {"submit_line", "submit_line", Take::kText},
    {"working_directory", "work_dir", Take::kText},
    {"current_working_directory", "work_dir", Take::kText},
    {"container", "container", Take::kText},
});

constexpr auto kStepMembers = std::to_array<Member>({
    {"step.id", "step_id", Take::kText},
    {"step.name", "name", Take::kText},
    {"state", "state", Take::kText},
    {"time.elapsed", "elapsed_s", Take::kNumber},
    {"time.start", "start_unix", Take::kNumber},
    {"time.end", "end_unix", Take::kNumber},
    {"nodes.count", "node_count", Take::kNumber},
    {"nodes.range", "node_list", Take::kText},
    {"tasks.count", "tasks", Take::kNumber},
    {"exit_code.return_code", "exit_code", Take::kNumber},
    {"exit_code.status", "exit_status", Take::kText},
});

constexpr auto kNodeMembers = std::to_array<Member>({
    {"name", "name", Take::kText},
    {"hostname", "host", Take::kText},
    {"address", "node_addr", Take::kText},
    {"gres", "gres", Take::kText},
    {"gres_used", "gres_used", Take::kText},
    {"gres_drained", "gres_drained", Take::kText},
    {"cpus", "cpus", Take::kNumber},
    {"effective_cpus", "cpus_effective", Take::kNumber},
    {"alloc_cpus", "cpus_allocated", Take::kNumber},
    {"cpu_load", "cpu_load", Take::kNumber},
    {"real_memory", "real_memory_mb", Take::kNumber},
    {"alloc_memory", "alloc_memory_mb", Take::kNumber},
    {"free_mem", "free_memory_mb", Take::kNumber},
    {"free_memory", "free_memory_mb", Take::kNumber},
    {"temporary_disk", "tmp_disk_mb", Take::kNumber},
    {"sockets", "sockets", Take::kNumber},
    {"cores", "cores_per_socket", Take::kNumber},
    {"threads", "threads_per_core", Take::kNumber},
    {"boards", "boards", Take::kNumber},
    {"weight", "weight", Take::kNumber},
    {"partitions", "partitions", Take::kText},
    {"features", "features", Take::kText},
    {"active_features", "active_features", Take::kText},
    {"architecture", "arch", Take::kText},
    {"operating_system", "os", Take::kText},
    {"slurmd_version", "version", Take::kText},
    {"version", "version", Take::kText},
    {"reason", "reason", Take::kText},
    {"reason_set_by_user", "reason_user", Take::kText},
    {"reason_changed_at", "reason_unix", Take::kNumber},
    {"boot_time", "boot_unix", Take::kNumber},
    {"slurmd_start_time", "slurmd_start_unix", Take::kNumber},
    {"last_busy", "last_busy_unix", Take::kNumber},
    {"tres", "cfg_tres", Take::kText},
    {"tres_used", "alloc_tres", Take::kText},
    {"owner", "owner", Take::kText},
    {"reservation", "reservation", Take::kText},
    {"topology", "topology", Take::kText},
});

constexpr auto kGroupMembers = std::to_array<Member>({
    {"partition.name", "partition", Take::kText},
    {"partition.partition.state", "avail", Take::kText},
    {"partition.maximums.time", "time_limit_min", Take::kNumber},
    {"nodes.total", "node_count", Take::kNumber},
    {"nodes.allocated", "nodes_allocated", Take::kNumber},
    {"nodes.idle", "nodes_idle", Take::kNumber},
    {"nodes.other", "nodes_other", Take::kNumber},
    {"nodes.nodes", "node_list", Take::kText},
    {"nodes.hostnames", "hosts", Take::kText},
    {"cpus.total", "cpus_total", Take::kNumber},
    {"cpus.allocated", "cpus_allocated", Take::kNumber},
    {"cpus.idle", "cpus_idle", Take::kNumber},
    {"sockets.maximum", "sockets", Take::kNumber},
    {"cores.maximum", "cores_per_socket", Take::kNumber},
    {"threads.maximum", "threads_per_core", Take::kNumber},
    {"memory.maximum", "memory_mb", Take::kNumber},
    {"memory.allocated", "alloc_memory_mb", Take::kNumber},
    {"gres.total", "gres", Take::kText},
    {"gres.used", "gres_used", Take::kText},
    {"features.total", "features", Take::kText},
    {"reason.description", "reason", Take::kText},
    {"reason", "reason", Take::kText},
    {"reason.user", "reason_user", Take::kText},
    {"reservation", "reservation", Take::kText},
});

// tres.allocated of sacct: [{"type": "gres", "name": "gpu:h100", "count": 8}, …] -> "gres/gpu:h100=8,…".
std::string tres_text(const Fact* list) {
  std::string text;
  if (list == nullptr || list->as_list() == nullptr) return text;
  for (const Fact& item : *list->as_list()) {
    const FactRecord* const one = item.as_record();
    if (one == nullptr || text.size() > 4000) continue;
    const std::optional<std::int64_t> count = one->integer("count");
    if (!count) continue;
    if (!text.empty()) text += ',';
    text += one->text("type");
    if (!one->text("name").empty()) {
      text += '/';
      text += one->text("name");
    }
    text += '=' + std::to_string(*count);
  }
  return text;
}

void add_tres(FactRecord& into, const Fact* list, std::string_view name, std::string_view prefix) {
  const std::string text = tres_text(list);
  if (text.empty()) return;
  into.set(name, text, list->line);
  const std::vector<SlurmResource> resources = parse_tres(text);
  add_gpus(into, resources, prefix, list->line);
  for (const SlurmResource& one : resources) {
    if (one.name == "cpu" && one.count && prefix.empty()) into.set_once("cpus", Fact::of(*one.count, list->line));
    if (one.name == "mem" && one.count)
      into.set_once(std::string(prefix) + "memory_mb", Fact::of(*one.count, list->line));
  }
}

class SlurmAnswer {
 public:
  explicit SlurmAnswer(Reading& reading) : reading_(reading) {}

  void member(std::string_view name, bool in_list, const Fact& value, bool whole) {
    const FactRecord* const record = value.as_record();
    if (record != nullptr && (name == "jobs" || (name.empty() && record->has("job_id")))) {
      if (!has_jobs_++) facts_.add_output(record->has("job_state") ? "squeue --json" : "sacct --json", "", value.line);
      return job(*record, whole);
    }
    if (record != nullptr &&
        (name == "nodes" || (name.empty() && (record->has("gres") || record->has("slurmd_start_time")))) &&
        record->has("name")) {
      if (!has_nodes_++) facts_.add_output("nodes as JSON", "", value.line);
      return node(*record, whole);
    }
    if (record != nullptr && name == "sinfo") {
      if (!has_groups_++) facts_.add_output("sinfo --json", "", value.line);
      return group(*record, whole);
    }
    if (record != nullptr && name == "partitions" && in_list) return partition(*record);
    if (record != nullptr && name == "meta") return meta(*record);
    if (record != nullptr && (name == "errors" || name == "warnings") && in_list) {
      return facts_.append(name, bounded(*record));
    }
    if (name == "statistics" && record != nullptr) {
      facts_.more().set("sdiag", bounded(value));
      return;
    }
    if (!in_list && !name.empty()) rest_.add(std::string(name), value);
  }

  void topology(const FactRecord& record) {
    if (const Fact* const name = record.find("topology")) facts_.more().list("topologies").push_back(bounded(*name));
    if (const FactRecord* const tree = record.find_record("tree")) switches(*tree, "switches", "switch", "tree");
    if (const FactRecord* const block = record.find_record("block")) {
      if (const Fact* const sizes = block->find("block_sizes")) facts_.more().set("block_sizes", bounded(*sizes));
      switches(*block, "blocks", "block", "block");
    }
    if (record.has("flat")) facts_.more().set_once("topology", Fact::of(std::string_view("flat"), record.line));
  }

  // A lone job or node whose members stood outermost.
  void finish(const JsonWalk* walk) {
    if (rest_.has("job_id")) {
      job(rest_, walk == nullptr || walk->complete);
    } else if (rest_.has("name") && (rest_.has("gres") || rest_.has("slurmd_start_time"))) {
      node(rest_, true);
    }
    facts_.give(reading_);
    if (walk != nullptr && !walk->complete) {
      reading_.cannot_use(walk->fault_line, "", walk->fault);
      reading_.facts.set("complete", false);
      reading_.facts.set("fault", walk->fault, walk->fault_line);
    }
    topology_sums();
  }

 private:
  void job(const FactRecord& from, bool whole) {
    FactRecord into(from.line);
    take_members(into, from, kJobMembers);
    if (const FactRecord* const tres = from.find_record("tres")) {
      add_tres(into, tres->find("allocated"), "alloc_tres", "");
      add_tres(into, tres->find("requested"), "req_tres", "req_");
    } else {
      for (const std::string_view name : {"alloc_tres", "req_tres"}) {
        const std::string text(into.text(name));
        if (!text.empty()) add_gpus(into, parse_tres(text), name == "req_tres" ? "req_" : "", into.find(name)->line);
      }
    }
    if (!into.text("tres_per_node").empty()) {
      const std::string text(into.text("tres_per_node"));
      add_gpus(into, parse_gres(text), "per_node_", into.find("tres_per_node")->line);
    }
    // 0 is no time: the job has not ended, or not begun.
    if (const std::optional<std::int64_t> end = into.integer("end_unix"))
      into.set("ended", *end != 0, into.find("end_unix")->line);
    if (const std::optional<std::int64_t> start = into.integer("start_unix"); start && *start == 0)
      into.set("started", false);
    steps(from, into);
    if (!whole) into.set("cut", true);
    facts_.add_job(std::move(into));
  }

  void steps(const FactRecord& from, FactRecord& job) {
    const std::vector<Fact>* const list = from.find_list("steps");
    if (list == nullptr) return;
    job.set("step_count", static_cast<std::int64_t>(list->size()));
    for (const Fact& item : *list) {
      const FactRecord* const one = item.as_record();
      if (one == nullptr) continue;
      FactRecord step(one->line);
      if (const Fact* const id = job.find("job_id")) step.set("job_id", Fact(*id));
      take_members(step, *one, kStepMembers);
      if (const FactRecord* const tres = one->find_record("tres"))
        add_tres(step, tres->find("allocated"), "alloc_tres", "");
      facts_.add_step(std::move(step));
    }
  }

  void node(const FactRecord& from, bool whole) {
    FactRecord into(from.line);
    take_members(into, from, kNodeMembers);
    std::string state = text_of(from.find("state"), "+");
    if (const Fact* const flags = from.find("state_flags"); flags != nullptr && !text_of(flags, "+").empty()) {
      state += '+' + text_of(flags, "+");
    }
    if (!state.empty()) into.set("state", state, from.find("state") == nullptr ? 0 : from.find("state")->line);
    const std::string name = node_state_name(state);
    if (!name.empty()) into.set("state_name", name);
    for (const auto& [member, prefix] :
         {std::pair<std::string_view, std::string_view>{"gres", ""}, {"gres_used", "used_"}}) {
      const std::string text(into.text(member));
      if (!text.empty()) add_gpus(into, parse_gres(text), prefix, into.find(member)->line);
    }
    for (const auto& [member, prefix] :
         {std::pair<std::string_view, std::string_view>{"cfg_tres", "cfg_"}, {"alloc_tres", "alloc_"}}) {
      const std::string text(into.text(member));
      if (!text.empty()) add_gpus(into, parse_tres(text), prefix, into.find(member)->line);
    }
    into.set("source", "json");
    if (!whole) into.set("cut", true);
    facts_.add_node(std::move(into));
  }

  void group(const FactRecord& from, bool whole) {
    FactRecord into(from.line);
    take_members(into, from, kGroupMembers);
    const std::string state = text_of(at_path(from, "node.state"), "+");
    if (!state.empty()) into.set("state", state, at_path(from, "node.state")->line);
    const std::string name = node_state_name(state);
    if (!name.empty()) into.set("state_name", name);
    for (const std::string_view member : {"gres", "gres_used"}) {
      const std::string text(into.text(member));
      if (!text.empty()) add_gpus(into, parse_gres(text), member == "gres" ? "" : "used_", into.find(member)->line);
    }
    if (!whole) into.set("cut", true);
    facts_.add_group(std::move(into));
  }

  void partition(const FactRecord& from) {
    FactRecord into(from.line);
    static constexpr auto kMembers = std::to_array<Member>({
        {"name", "name", Take::kText},
        {"nodes.configured", "nodes", Take::kText},
        {"nodes", "nodes", Take::kText},
        {"nodes.total", "node_count", Take::kNumber},
        {"cpus.total", "cpus", Take::kNumber},
        {"total_nodes", "node_count", Take::kNumber},
        {"total_cpus", "cpus", Take::kNumber},
        {"maximums.time", "time_limit_min", Take::kNumber},
        {"maximums.nodes", "max_nodes", Take::kNumber},
        {"partition.state", "state", Take::kText},
        {"state", "state", Take::kText},
        {"tres.configured", "tres", Take::kText},
        {"qos.allowed", "allowed_qos", Take::kText},
        {"accounts.allowed", "allowed_accounts", Take::kText},
    });
    take_members(into, from, kMembers);
    facts_.add_partition(into);
  }

  void meta(const FactRecord& from) {
    for (const std::string_view path : {"Slurm.release", "slurm.release"}) {
      if (const Fact* const release = at_path(from, path)) facts_.more().set("slurm_version", *release);
    }
    for (const std::string_view path : {"plugin.type", "plugins.data_parser"}) {
      if (const Fact* const plugin = at_path(from, path)) facts_.more().set_once("plugin", *plugin);
    }
    for (const std::string_view path : {"plugin.data_parser", "slurm.cluster", "command", "client.source"}) {
      const Fact* const fact = at_path(from, path);
      const std::string text = text_of(fact, " ");
      if (!text.empty())
        facts_.more().set_once(slurm_fact_name(path.substr(path.find('.') == path.npos ? 0 : path.find('.') + 1)),
                               Fact::of(text, fact->line));
    }
  }

  void switches(const FactRecord& from, std::string_view list_name, std::string_view name_member,
                std::string_view kind) {
    facts_.more().set("topology", kind, from.line);
    const std::vector<Fact>* const list = from.find_list(list_name);
    if (list == nullptr) return;
    for (const Fact& item : *list) {
      const FactRecord* const one = item.as_record();
      if (one == nullptr) continue;
      FactRecord into(one->line);
      if (const Fact* const name = one->find(name_member)) into.set("name", *name);
      if (const Fact* const nodes = one->find("nodes")) {
        const std::string text = text_of(nodes);
        into.set("nodes", text, nodes->line);
        into.set("node_count", count_hosts(text), nodes->line);
      }
      if (const Fact* const children = one->find("children")) {
        const std::string text = text_of(children);
        into.set("switches", text, children->line);
        into.set("switch_count", count_hosts(text), children->line);
      }
      facts_.append(list_name, std::move(into));
    }
  }

  void topology_sums() {
    for (const std::string_view name : {"blocks", "switches"}) {
      const std::vector<Fact>* const list = reading_.facts.find_list(name);
      if (list == nullptr) continue;
      std::int64_t nodes = 0;
      for (const Fact& one : *list) {
        if (one.as_record() == nullptr || one.as_record()->has("switch_count")) continue;
        nodes = std::min<std::int64_t>(nodes + one.as_record()->integer("node_count").value_or(0), 1'000'000'000);
      }
      reading_.facts.set(name == "blocks" ? "block_count" : "switch_count", static_cast<std::int64_t>(list->size()));
      reading_.facts.set("topology_nodes", nodes);
      if (!reading_.facts.has("node_count") && nodes > 0) reading_.facts.set("node_count", nodes);
    }
  }

  Reading& reading_;
  SlurmFacts facts_;
  FactRecord rest_{1};
  int has_jobs_ = 0, has_nodes_ = 0, has_groups_ = 0;
};

// Where the document begins, behind a prompt: at the first line that starts with a brace or a quote.
std::string_view json_begin(std::string_view text, std::int64_t& line) {
  line = 1;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const std::string_view at = rest;
    const std::string_view first = trim(next_line(rest));
    if (first.starts_with('{') || first.starts_with('[') || first.starts_with('"') || first.starts_with('}')) return at;
    if (line > 50) break;
  }
  line = 1;
  return {};
}

void read_yaml(std::string_view text, Reading& reading) {
  SlurmAnswer answer(reading);
  const YamlTree tree = read_yaml_tree(text);
  for (const Fact& document : tree.documents) {
    if (const FactRecord* const record = document.as_record()) {
      if (record->has("topology")) answer.topology(*record);
      for (const auto& [name, value] : record->members()) {
        const std::vector<Fact>* const list = value.as_list();
        if (list == nullptr) {
          answer.member(name, false, value, true);
        } else {
          for (const Fact& item : *list) answer.member(name, true, item, true);
        }
      }
    } else if (const std::vector<Fact>* const list = document.as_list()) {
      for (const Fact& item : *list) {
        const FactRecord* const one = item.as_record();
        if (one == nullptr) continue;
        if (one->has("topology")) {
          answer.topology(*one);
        } else {
          answer.member("", true, item, true);
        }
      }
    }
  }
  for (const auto& [line, bad] : tree.bad) reading.cannot_use(line, bad, "it does not fit the indentation around it");
  answer.finish(nullptr);
}

void read_document(std::string_view text, Reading& reading) {
  std::int64_t line = 1;
  const std::string_view begin = json_begin(text, line);
  if (begin.empty()) return read_yaml(text, reading);
  SlurmAnswer answer(reading);
  const JsonWalk walk =
      walk_json(begin, line, [&answer](std::string_view name, bool in_list, const Fact& value, bool whole) {
        answer.member(name, in_list, value, whole);
      });
  answer.finish(&walk);
}

int recognise(const Head& head) {
  const std::string_view text = head.text;
  const auto has = [text](std::string_view part) { return contains(text, part); };
  std::int64_t line = 1;
  const std::string_view json = json_begin(text.substr(0, 8192), line);
  if (!json.empty()) {
    const bool job =
        has("\"job_id\"") && (has("\"job_state\"") || has("\"allocation_nodes\"") || has("\"association\"") ||
                              has("\"tres_alloc_str\"") || has("\"derived_exit_code\""));
    const bool node = has("\"slurmd_start_time\"") || has("\"gres_used\"") ||
                      (has("\"real_memory\"") && (has("\"gres\"") || has("\"alloc_memory\"")));
    const bool sinfo = has("\"sinfo\"") && has("\"partition\"");
    const bool meta = (has("\"Slurm\"") || has("\"slurm\"")) && has("\"release\"");
    if (job || node || sinfo || meta) return confidence::kSure;
    return has("\"partition\"") && has("\"qos\"") && has("\"tres\"") ? confidence::kLikely : confidence::kNone;
  }
  const bool topology = has("topology:") && (has("tree:") || has("block:") || has("flat:")) &&
                        (has("switch:") || has("blocks:") || has("block_sizes:") || has("cluster_default:"));
  const bool answer = (has("job_state:") || has("allocation_nodes:") || has("slurmd_start_time:")) && has("\n");
  return topology || answer ? confidence::kSure : confidence::kNone;
}

}  // namespace

Format slurm_json_format() { return {"slurm", "slurm json", recognise, nullptr, read_document}; }

}  // namespace tare
