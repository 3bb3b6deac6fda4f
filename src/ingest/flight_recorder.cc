#include "ingest/flight_recorder.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "ingest/json_tree.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kUnfinished = 1000;
constexpr std::size_t kGroups = 1000;
constexpr std::size_t kKept = 2000;  // the last ones: a hang stands at the end

// [[4096, 1024]] -> "[4096, 1024]" and the product of all.
std::string sizes_text(const Fact& fact, double& elements) {
  elements = 0;
  const std::vector<Fact>* const tensors = fact.as_list();
  if (tensors == nullptr) return {};
  std::string text;
  for (const Fact& tensor : *tensors) {
    const std::vector<Fact>* const dimensions = tensor.as_list();
    if (dimensions == nullptr) continue;
    if (!text.empty()) text += ' ';
    text += '[';
    double product = 1;
    for (const Fact& dimension : *dimensions) {
      const double value = dimension.number().value_or(0);
      product *= value;
      if (text.back() != '[') text += ", ";
      text += value >= 0 && value < 9e15 ? std::to_string(static_cast<std::int64_t>(value)) : "?";
      if (text.size() > 200) break;
    }
    text += ']';
    elements += product;
    if (text.size() > 200) break;
  }
  return text;
}

class FlightReader {
 public:
  explicit FlightReader(Reading& reading) : reading_(reading) {}

  void read(const FactRecord& dump) {
    FactRecord& facts = reading_.facts;
    facts.set("program", "PyTorch NCCL flight recorder");
    for (const char* const name : {"version", "nccl_version", "rank", "host_name", "hostname", "world_size"}) {
      if (const Fact* const fact = dump.find(name)) facts.set(name, *fact);
    }
    read_groups(dump, facts);
    const std::vector<Fact>* const entries = dump.find_list("entries");
    if (entries == nullptr) return;
    facts.set("entry_count", static_cast<std::int64_t>(entries->size()), dump.find("entries")->line);
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const FactRecord* const record = (*entries)[i].as_record();
      if (record == nullptr) continue;
      on_entry(*record);
      if (entries->size() - i <= kKept) kept_.push_back(Fact::of(entry_record(*record)));
    }
    write(facts);
  }

 private:
  // The configuration goes by a group's name, the status by the number it has in this process: entries carry both.
  static std::map<std::string, std::string> numbers_by_name(const FactRecord& dump) {
    std::map<std::string, std::string> numbers;
    const std::vector<Fact>* const entries = dump.find_list("entries");
    if (entries == nullptr) return numbers;
    for (const Fact& fact : *entries) {
      const FactRecord* const entry = fact.as_record();
      if (entry == nullptr || numbers.size() >= kGroups) continue;
      const std::vector<Fact>* const group = entry->find_list("process_group");
      const std::optional<std::int64_t> number = entry->integer("pg_id");
      if (group == nullptr || group->empty() || !number) continue;
      const Fact& name = group->front();
      const std::optional<double> numeric = name.number();
      const std::string text = numeric ? fmt::format("{:.0f}", *numeric) : std::string(name.text());
      numbers.emplace(text, std::to_string(*number));
    }
    return numbers;
  }

  void read_groups(const FactRecord& dump, FactRecord& facts) {
    const FactRecord* const config = dump.find_record("pg_config");
    const FactRecord* const status = dump.find_record("pg_status");
    if (config == nullptr && status == nullptr) return;
    const FactRecord& names = config == nullptr ? *status : *config;
    const std::map<std::string, std::string> numbers = numbers_by_name(dump);
    for (const auto& [id, fact] : names.members()) {
      if (facts.list("process_groups").size() >= kGroups) break;
      FactRecord& group = facts.append("process_groups", fact.line);
      group.set("id", id);
      if (const FactRecord* const one = config == nullptr ? nullptr : fact.as_record()) {
        for (const char* const name : {"name", "desc", "ranks"}) {
          if (const Fact* const member = one->find(name)) group.set(name, *member);
        }
      }
      const auto number = numbers.find(id);
      const bool by_number = config != nullptr && number != numbers.end();
      const FactRecord* const state =
          status == nullptr ? nullptr : status->find_record(by_number ? number->second : id);
      if (state == nullptr) continue;
      for (const char* const name :
           {"last_enqueued_collective", "last_started_collective", "last_completed_collective"}) {
        if (const Fact* const member = state->find(name)) {
          group.set(name, member->text().empty() ? *member : Fact::parsed(member->text(), member->line));
        }
      }
      const auto enqueued = group.integer("last_enqueued_collective");
      const auto completed = group.integer("last_completed_collective");
      if (enqueued && completed && *enqueued < (1LL << 60) && *completed > -(1LL << 60)) {
        group.set("outstanding", *enqueued - *completed);
      }
    }
  }

  struct Operation {
    std::int64_t count = 0, unfinished = 0, line = 0, timed = 0;
    double sum = 0, max = 0;
  };

  FactRecord entry_record(const FactRecord& entry) const {
    FactRecord record(entry.line);
    for (const char* const name : {"record_id", "collective_seq_id", "p2p_seq_id", "seq_id", "op_id", "profiling_name",
                                   "state", "duration_ms", "time_created_ns", "time_discovered_started_ns",
                                   "time_discovered_completed_ns", "timeout_ms", "is_p2p", "retired", "pg_id"}) {
      const Fact* const fact = entry.find(name);
      if (fact != nullptr && fact->as_list() == nullptr && fact->as_record() == nullptr) record.set(name, *fact);
    }
    if (const std::vector<Fact>* const group = entry.find_list("process_group")) {
      if (!group->empty()) record.set("process_group", group->front());
      if (group->size() > 1) record.set("process_group_description", (*group)[1]);
    }
    double elements = 0;
    if (const Fact* const sizes = entry.find("input_sizes")) {
      if (const std::string text = sizes_text(*sizes, elements); !text.empty()) record.set("input_sizes", text);
      if (elements >= 1 && elements < 9e15) record.set("input_elements", static_cast<std::int64_t>(elements));
    }
    if (const std::vector<Fact>* const types = entry.find_list("input_dtypes")) {
      if (!types->empty()) record.set("input_type", types->front());
    }
    if (const std::vector<Fact>* const frames = entry.find_list("frames")) {
      const FactRecord* const frame = frames->empty() ? nullptr : frames->front().as_record();
      if (frame != nullptr) {
        const auto line = frame->integer("line");
        record.set("called_from", std::string(frame->text("name")) + " (" + std::string(frame->text("filename")) + ":" +
                                      (line ? std::to_string(*line) : "?") + ")");
      }
    }
    return record;
  }

  void on_entry(const FactRecord& entry) {
    const std::string state(entry.text("state"));
    if (states_.size() < 20 || states_.contains(state)) ++states_[state.empty() ? "unstated" : state];
    const std::string name(entry.text("profiling_name"));
    const bool done = state == "completed";
    if (operations_.size() < 500 || operations_.contains(name)) {
      Operation& operation = operations_[name];
      if (operation.count++ == 0) operation.line = entry.line;
      if (!done) ++operation.unfinished;
      if (const std::optional<double> duration = entry.number("duration_ms")) {
        ++operation.timed;
        operation.sum += *duration;
        operation.max = std::max(operation.max, *duration);
      }
    }
    if (done) last_completed_ = &entry;
    if (!done) {
      ++unfinished_count_;
      if (unfinished_.size() < kUnfinished) unfinished_.push_back(Fact::of(entry_record(entry)));
    }
  }

  void write(FactRecord& facts) {
    FactRecord& states = facts.record("states");
    for (const auto& [name, count] : states_) states.set(name, count);
    facts.set("unfinished_count", unfinished_count_);
    if (last_completed_ != nullptr) facts.set("last_completed", Fact::of(entry_record(*last_completed_)));
    if (!unfinished_.empty()) {
      facts.set("first_unfinished", unfinished_.front());
      facts.set("unfinished", Fact::of(std::move(unfinished_)));
    }
    for (const auto& [name, operation] : operations_) {
      FactRecord& record = facts.append("operations", operation.line);
      record.set("name", name);
      record.set("count", operation.count);
      record.set("unfinished", operation.unfinished);
      if (operation.timed > 0) {
        record.set("mean_ms", operation.sum / static_cast<double>(operation.timed));
        record.set("max_ms", operation.max);
      }
    }
    facts.set("entries", Fact::of(std::move(kept_)));
  }

  Reading& reading_;
  std::map<std::string, std::int64_t> states_;
  std::map<std::string, Operation> operations_;
  const FactRecord* last_completed_ = nullptr;
  std::int64_t unfinished_count_ = 0;
  std::vector<Fact> unfinished_, kept_;
};

}  // namespace

int recognise_flight_recorder(const Head& head) {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head.text[first] != '{') return confidence::kNone;
  const bool entries = contains(head.text, "\"entries\"") || !head.whole;
  const bool recorder = contains(head.text, "\"pg_config\"") || contains(head.text, "\"pg_status\"") ||
                        contains(head.text, "\"collective_seq_id\"");
  if (contains(head.text, "\"traceEvents\"") || !entries || !recorder) return confidence::kNone;
  return contains(head.text, "\"profiling_name\"") || contains(head.text, "\"last_enqueued_collective\"") ? 95 : 60;
}

void read_flight_recorder(std::string_view text, Reading& reading) {
  const JsonTree tree = read_json_tree(text);
  if (!tree.complete) reading.cannot_use(tree.fault_line, "", tree.fault);
  if (const FactRecord* const dump = tree.root.as_record()) FlightReader(reading).read(*dump);
}

}  // namespace tare
