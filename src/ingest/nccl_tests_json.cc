#include "ingest/nccl_tests_json.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/collective_run.h"
#include "ingest/json_tree.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kRowsKept = 20'000;

void copy(const FactRecord& from, std::string_view name, FactRecord& into, std::string_view as) {
  const Fact* const fact = from.find(name);
  if (fact == nullptr || fact->as_record() || fact->as_list()) return;
  const std::string_view text = fact->text();
  // Numbers and truth values are written as texts here and there.
  if (text.empty()) {
    into.set(as, *fact);
  } else if (text == "true" || text == "false") {
    into.set(as, text == "true", fact->line);
  } else {
    into.set(as, Fact::parsed(text, fact->line));
  }
}

std::int64_t line_of(std::string_view text, std::size_t at) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

// The best bandwidth of the rows, smallest and largest size.
void summarise(FactRecord& facts) {
  const std::vector<Fact>* const rows = facts.find_list("rows");
  if (rows == nullptr) return;
  std::optional<double> peak;
  bool in_place = false;
  std::optional<std::int64_t> peak_bytes, smallest, largest;
  for (const Fact& fact : *rows) {
    const FactRecord& row = *fact.as_record();
    const std::optional<std::int64_t> bytes = row.integer("bytes");
    if (bytes && (!smallest || *bytes < *smallest)) smallest = bytes;
    if (bytes && (!largest || *bytes > *largest)) largest = bytes;
    for (const bool place : {false, true}) {
      const auto busbw = row.number(place ? "in_place_busbw_gb_per_s" : "out_of_place_busbw_gb_per_s");
      if (!busbw || (peak && *busbw <= *peak)) continue;
      peak = busbw;
      in_place = place;
      peak_bytes = bytes;
    }
  }
  facts.set("data_rows", static_cast<std::int64_t>(rows->size()));
  if (smallest) facts.set("smallest_bytes", *smallest);
  if (largest) facts.set("largest_bytes", *largest);
  if (peak) {
    facts.set("peak_busbw_gb_per_s", *peak);
    facts.set("peak_in_place", in_place);
    if (peak_bytes) facts.set("peak_bytes", *peak_bytes);
  }
}

// "out_of_place": {"time": 12.5, "alg_bw": 1.0, "bus_bw": 1.5, "nwrong": 0}
void add_side(const FactRecord& result, const char* side, FactRecord& row) {
  const std::string prefix = std::string(side) + "_";
  if (const FactRecord* const values = result.find_record(side)) {
    copy(*values, "time", row, prefix + "time_us");
    copy(*values, "cpu_time", row, prefix + "cpu_time_us");
    copy(*values, "alg_bw", row, prefix + "algbw_gb_per_s");
    copy(*values, "bus_bw", row, prefix + "busbw_gb_per_s");
    copy(*values, "nwrong", row, prefix + "wrong");
  }
  if (const FactRecord* const values = result.find_record(std::string(side) + "_per_iter")) {
    for (const char* const name : {"min_us", "max_us", "avg_us", "p50_us", "p95_us", "p99_us", "stdev_us", "cv_pct"}) {
      copy(*values, name, row, prefix + "i_" + name);
    }
  }
}

void add_devices(const FactRecord& config, FactRecord& facts) {
  const std::vector<Fact>* const devices = config.find_list("devices");
  if (devices == nullptr) return;
  std::set<std::string> hosts, gpus;
  for (std::size_t i = 0; i < devices->size() && i < CollectiveRun::kDevicesKept; ++i) {
    const FactRecord* const from = (*devices)[i].as_record();
    if (from == nullptr) continue;
    FactRecord& device = facts.append("devices", from->line);
    copy(*from, "rank", device, "rank");
    copy(*from, "group", device, "group");
    copy(*from, "pid", device, "pid");
    copy(*from, "hostname", device, "host");
    copy(*from, "device", device, "device");
    copy(*from, "device_hex", device, "bus_id");
    copy(*from, "device_info", device, "gpu");
    hosts.insert(std::string(device.text("host")));
    gpus.insert(std::string(device.text("gpu")));
  }
  facts.set("ranks", static_cast<std::int64_t>(devices->size()));
  facts.set("nodes", static_cast<std::int64_t>(hosts.size()));
  if (gpus.size() == 1) facts.set("gpu", std::string_view(*gpus.begin()));
}

FactRecord run_facts(const FactRecord& root) {
  FactRecord facts(root.line);
  facts.set("tool", "nccl-tests");
  copy(root, "start_time", facts, "start_time");
  copy(root, "end_time", facts, "end_time");
  if (const auto code = root.integer("nccl_version")) {
    facts.set("nccl_library_code", *code, root.find("nccl_version")->line);
    facts.set("nccl_library", nccl_version_text(*code), root.find("nccl_version")->line);
  }
  if (const std::vector<Fact>* const args = root.find_list("args")) {
    std::string command;
    for (const Fact& arg : *args) {
      if (command.size() < 2000) command += (command.empty() ? "" : " ") + std::string(arg.text());
    }
    facts.set("command", command);
    if (const std::string_view name = collective_named_in(command); !name.empty()) facts.set("collective", name);
  }
  // What the program was told by its environment; the rest of the environment is nobody's business.
  if (const std::vector<Fact>* const env = root.find_list("env")) {
    for (const Fact& variable : *env) {
      const std::string_view text = variable.text();
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos) continue;
      if (!text.starts_with("NCCL_") && !text.starts_with("CUDA_VISIBLE") && !text.starts_with("UCX_")) continue;
      FactRecord& environment = facts.record("environment", variable.line);
      if (environment.members().size() >= 500) break;
      environment.set(text.substr(0, equals), text.substr(equals + 1), variable.line);
    }
  }
  if (const FactRecord* const config = root.find_record("config")) {
    FactRecord parameters(config->line);
    for (const auto& [name, value] : config->members()) {
      if (parameters.members().size() >= 100) break;
      if (value.as_list() == nullptr && value.as_record() == nullptr) copy(*config, name, parameters, name);
    }
    facts.set("parameters", Fact::of(std::move(parameters)));
    add_devices(*config, facts);
  }
  if (const std::vector<Fact>* const results = root.find_list("results")) {
    for (std::size_t i = 0; i < results->size() && i < kRowsKept; ++i) {
      const FactRecord* const result = (*results)[i].as_record();
      if (result == nullptr) continue;
      FactRecord row(result->line);
      copy(*result, "size", row, "bytes");
      for (const char* const name : {"count", "type", "redop", "root", "actual_iterations"})
        copy(*result, name, row, name);
      add_side(*result, "out_of_place", row);
      add_side(*result, "in_place", row);
      facts.list("rows").push_back(Fact::of(std::move(row)));
    }
  }
  if (const FactRecord* const bounds = root.find_record("out_of_bounds")) {
    copy(*bounds, "count", facts, "out_of_bounds");
    facts.set("status", bounds->text("okay") == "false" ? "FAILED" : "OK", bounds->line);
  }
  if (const FactRecord* const average = root.find_record("average_bus_bandwidth")) {
    copy(*average, "bandwidth", facts, "avg_busbw_gb_per_s");
  }
  if (const std::vector<Fact>* const errors = root.find_list("errors"); errors != nullptr && !errors->empty()) {
    for (const Fact& error : *errors) {
      if (!error.text().empty()) facts.list("failures").push_back(Fact::of(error.text(), error.line));
    }
  }
  summarise(facts);
  return facts;
}

// rccl-tests: {"name": "AllReduce", "size": 8, "inPlace": 0, "time": …, "algBw": …, "busBw": …, "wrong": "0"}
bool is_rccl_row(const FactRecord& record) { return record.has("busBw") && record.has("size"); }

std::string rccl_collective(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"allreduce", "all_reduce"}, {"allgather", "all_gather"}, {"reducescatter", "reduce_scatter"},
      {"alltoallv", "alltoallv"},  {"alltoall", "alltoall"},    {"sendrecv", "sendrecv"},
      {"broadcast", "broadcast"},  {"reduce", "reduce"},        {"gather", "gather"},
      {"scatter", "scatter"}};
  std::string lower = to_lower(name);
  for (const auto& [from, to] : kNames) {
    if (lower == from) return std::string(to);
  }
  return lower;
}

void add_rccl_row(const FactRecord& from, FactRecord& facts) {
  if (facts.list("rows").size() >= kRowsKept) return;
  FactRecord row(from.line);
  const bool in_place = from.number("inPlace").value_or(0) > 0 || from.text("inPlace") == "1";
  const std::string prefix = in_place ? "in_place_" : "out_of_place_";
  row.set("collective", std::string_view(rccl_collective(from.text("name"))));
  copy(from, "size", row, "bytes");
  for (const char* const name : {"type", "redop", "nodes", "ranks"}) copy(from, name, row, name);
  copy(from, "numCycle", row, "cycle");
  copy(from, "ranksPerNode", row, "ranks_per_node");
  copy(from, "gpusPerRank", row, "gpus_per_rank");
  copy(from, "time", row, prefix + "time_us");
  copy(from, "algBw", row, prefix + "algbw_gb_per_s");
  copy(from, "busBw", row, prefix + "busbw_gb_per_s");
  copy(from, "wrong", row, prefix + "wrong");
  facts.list("rows").push_back(Fact::of(std::move(row)));
}

}  // namespace

int recognise_nccl_tests_json(const Head& head) {
  const std::string_view text = head.text;
  const bool own = contains(text, "\"bus_bw\"") && contains(text, "\"alg_bw\"");
  const bool begun = contains(text, "\"nccl_version\"") && contains(text, "\"args\"") && contains(text, "\"config\"");
  const bool rccl = contains(text, "\"busBw\"") && contains(text, "\"algBw\"") && contains(text, "\"inPlace\"");
  return own || begun || rccl ? 96 : confidence::kNone;
}

void read_nccl_tests_json(std::string_view text, Reading& reading) {
  std::vector<Fact> runs;
  FactRecord rows(1);
  std::size_t counted = 0;
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    if (open == std::string_view::npos) break;
    line += line_of(text.substr(counted), open - counted) - 1;
    counted = open;
    const JsonTree tree = read_json_tree(text.substr(open), line);
    const FactRecord* const root = tree.root.as_record();
    if (root != nullptr && is_rccl_row(*root)) {
      add_rccl_row(*root, rows);
    } else if (root != nullptr && (root->has("results") || root->has("config") || root->has("nccl_version"))) {
      FactRecord facts = run_facts(*root);
      if (!tree.complete) {
        facts.set("complete", false);
        reading.cannot_use(tree.fault_line, "", "the JSON is damaged: " + tree.fault);
      }
      if (runs.size() < 500) runs.push_back(Fact::of(std::move(facts)));
    }
    at = open + std::max<std::size_t>(tree.used, 1);
  }
  if (!runs.empty()) {
    reading.facts = *runs.front().as_record();
    reading.facts.set("run_count", static_cast<std::int64_t>(runs.size()));
    if (runs.size() > 1) reading.facts.list("runs") = std::move(runs);
  } else if (rows.find_list("rows") != nullptr) {
    rows.set("tool", "rccl-tests");
    summarise(rows);
    reading.facts = std::move(rows);
  }
}

}  // namespace tare
