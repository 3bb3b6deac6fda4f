#include "ingest/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/json_events.h"
#include "ingest/json_tree.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kNames = 20'000;    // kernels told apart by name
constexpr std::size_t kNamesShown = 200;  // of them, by time
constexpr std::size_t kCategories = 100;
constexpr std::size_t kCollectives = 4'000;  // kept one by one
constexpr std::size_t kGroups = 1'000;       // process groups whose collectives are counted
constexpr std::size_t kSteps = 1'000;
constexpr std::size_t kSpans = 4'000'000;  // for the time that kernels ran
constexpr std::size_t kDevices = 256;

struct Total {
  std::int64_t count = 0, line = 0;
  double sum = 0, min = std::numeric_limits<double>::infinity(), max = 0;
  void add(double duration, std::int64_t at) {
    if (count++ == 0) line = at;
    sum += duration;
    min = std::min(min, duration);
    max = std::max(max, duration);
  }
};

struct Span {
  double begin, end;
};

// Length of the union; the spans come sorted out.
double merge(std::vector<Span>& spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  double sum = 0;
  std::size_t kept = 0;
  for (const Span& span : spans) {
    if (kept > 0 && span.begin <= spans[kept - 1].end) {
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
  for (const Span& span : spans) sum += span.end - span.begin;
  return sum;
}

// Of two merged lists, the time that both run.
double overlap(const std::vector<Span>& a, const std::vector<Span>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double begin = std::max(a[i].begin, b[j].begin);
    const double end = std::min(a[i].end, b[j].end);
    if (end > begin) sum += end - begin;
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

// What an event says; views point into the text.
struct Event {
  std::string_view phase, category, name;
  double start = std::numeric_limits<double>::quiet_NaN();
  double duration = std::numeric_limits<double>::quiet_NaN();
  double device = -1, stream = -1, group_size = -1, in_elements = -1, sequence = -1;
  std::string_view collective, type, group, group_ranks;
  std::size_t at = 0;
};

bool is_kernel(std::string_view category) { return equals_ignoring_case(category, "kernel"); }

bool is_nccl(std::string_view name) {
  return name.starts_with("nccl") || name.starts_with("ncclKernel") || name.starts_with("rccl") ||
         contains(name.substr(0, 64), "nccl");
}

// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)" -> "AllReduce".
std::string_view collective_of(std::string_view name) {
  for (const std::string_view one :
       {"AllReduce", "ReduceScatter", "AllGather", "AllToAll", "Broadcast", "Reduce", "SendRecv"}) {
    if (contains(name, one)) return one;
  }
  return "other";
}

class TraceReader {
 public:
  TraceReader(std::string_view text, Reading& reading) : cursor_(text), lines_(text), text_(text), reading_(reading) {}

  void read() {
    if (cursor_.peek() == '[') {
      read_events();
    } else if (cursor_.enter('{')) {
      std::string_view name;
      while (cursor_.next_member(name)) read_top(name);
    }
    if (cursor_.failed()) {
      reading_.cannot_use(lines_.line_at(cursor_.at()), "", "the JSON ends or breaks here");
    }
    write();
  }

 private:
  void read_top(std::string_view name) {
    const std::size_t begin = cursor_.at();
    if (name == "traceEvents") {
      read_events();
    } else if (name == "distributedInfo" || name == "deviceProperties") {
      const std::int64_t line = lines_.line_at(begin);
      cursor_.skip();
      const JsonTree tree = read_json_tree(text_.substr(begin, cursor_.at() - begin), line);
      if (name == "distributedInfo") distributed_ = tree.root;
      if (name == "deviceProperties") devices_ = tree.root;
    } else if (const char c = cursor_.peek(); c == '{' || c == '[') {
      cursor_.skip();
    } else if (head_.members().size() < 30) {
      const std::int64_t line = lines_.line_at(begin);
      const JsonTree tree = read_json_tree(text_.substr(begin, 400), line);
      cursor_.skip();
      if (!tree.root.is_unknown() && name.size() < 60) head_.set(name, tree.root);
    } else {
      cursor_.skip();
    }
  }

  void read_events() {
    if (!cursor_.enter('[')) {
      cursor_.skip();
      return;
    }
    while (cursor_.next_value()) {
      Event event;
      event.at = cursor_.at();
      if (!cursor_.enter('{')) {
        if (!cursor_.skip()) break;
        continue;
      }
      if (!read_event(event)) break;
      on_event(event);
    }
  }

  bool read_event(Event& event) {
    std::string_view name;
    while (cursor_.next_member(name)) {
      if (name == "ph") {
        cursor_.read_string(event.phase);
      } else if (name == "cat") {
        cursor_.read_string(event.category);
      } else if (name == "name") {
        cursor_.read_string(event.name);
      } else if (name == "ts") {
        cursor_.read_number(event.start);
      } else if (name == "dur") {
        cursor_.read_number(event.duration);
      } else if (name == "args" && cursor_.peek() == '{' && is_kernel(event.category)) {
        read_arguments(event);
      } else {
        cursor_.skip();
      }
    }
    return !cursor_.failed();
  }

  void read_arguments(Event& event) {
    cursor_.enter('{');
    std::string_view name;
    while (cursor_.next_member(name)) {
      if (name == "device") {
        cursor_.read_number(event.device);
      } else if (name == "stream") {
        cursor_.read_number(event.stream);
      } else if (name == "Collective name") {
        cursor_.read_string(event.collective);
      } else if (name == "dtype") {
        cursor_.read_string(event.type);
      } else if (name == "Process Group Name") {
        cursor_.read_string(event.group);
      } else if (name == "Process Group Ranks") {
        cursor_.read_string(event.group_ranks);
      } else if (name == "Seq") {
        cursor_.read_number(event.sequence);
      } else if (name == "Group size") {
        cursor_.read_number(event.group_size);
      } else if (name == "In msg nelems") {
        cursor_.read_number(event.in_elements);
      } else {
        cursor_.skip();
      }
    }
  }

  void on_event(const Event& event) {
    ++events_;
    if (event.phase != "X" && !event.phase.empty()) return;
    if (!(event.duration >= 0) || !std::isfinite(event.start)) return;
    ++complete_;
    first_ = std::min(first_, event.start);
    last_ = std::max(last_, event.start + event.duration);
    const std::int64_t line = lines_.line_at(event.at);
    if (Total* const total = total_of(categories_, event.category, kCategories)) total->add(event.duration, line);
    if (event.name.starts_with("ProfilerStep#")) on_step(event, line);
    if (!is_kernel(event.category)) {
      if (contains(event.category, "memcpy") || contains(event.category, "Memcpy")) {
        if (Total* const total = total_of(copies_, event.name, kCategories)) total->add(event.duration, line);
      }
      return;
    }
    const std::string_view name = event.name.substr(0, 300);
    if (Total* const total = total_of(kernels_, name, kNames)) {
      total->add(event.duration, line);
    } else {
      ++not_told_apart_;
    }
    const bool nccl = is_nccl(name);
    const auto device = static_cast<std::int64_t>(std::clamp(event.device, -1.0, 1e6));
    if (spans_ < kSpans && (busy_.contains(device) || busy_.size() < kDevices)) {
      ++spans_;
      Busy& busy = busy_[device];
      (nccl ? busy.nccl : busy.compute).push_back({event.start, event.start + event.duration});
    }
    if (nccl) on_collective(event, name, line);
  }

  template <typename Map>
  static Total* total_of(Map& map, std::string_view name, std::size_t limit) {
    const auto found = map.find(name);
    if (found != map.end()) return &found->second;
    if (map.size() >= limit) return nullptr;
    return &map.emplace(std::string(name), Total{}).first->second;
  }

  void on_step(const Event& event, std::int64_t line) {
    // The profiler writes a step twice: as the host sees it and as the GPU does.
    const std::string_view number = event.name.substr(13);
    const std::optional<std::int64_t> step = to_integer(number);
    if (!step || steps_.size() >= kSteps) return;
    FactRecord record(line);
    record.set("step", *step);
    record.set("category", as_text(event.category));
    record.set("start_us", event.start);
    record.set("duration_us", event.duration);
    steps_.push_back(Fact::of(std::move(record)));
  }

  void on_collective(const Event& event, std::string_view name, std::int64_t line) {
    const std::string_view kind = event.collective.empty() ? collective_of(name) : event.collective;
    if (Total* const total = total_of(collectives_, kind, kCategories)) total->add(event.duration, line);
    ++collective_count_;
    const std::int64_t order = next_of_group(event);
    if (order % stride_ != 0) return;
    if (collective_list_.size() >= kCollectives) thin_collectives();
    if (order % stride_ != 0 || collective_list_.size() >= kCollectives) return;
    FactRecord record(line);
    record.set("collective", as_text(kind));
    record.set("kernel", as_text(name.substr(0, name.find('('))));
    record.set("start_us", event.start);
    record.set("duration_us", event.duration);
    if (event.device >= 0) set_count(record, "device", event.device);
    if (event.stream >= 0) set_count(record, "stream", event.stream);
    if (event.group_size >= 0) set_count(record, "group_size", event.group_size);
    if (event.in_elements >= 0) set_count(record, "elements", event.in_elements);
    if (!event.type.empty()) record.set("type", as_text(event.type));
    if (!event.group.empty()) record.set("group", as_text(event.group));
    if (!event.group_ranks.empty()) record.set("group_ranks", as_text(event.group_ranks.substr(0, 1000)));
    if (event.sequence >= 0) set_count(record, "sequence", event.sequence);
    record.set("order", order);
    collective_list_.push_back(Fact::of(std::move(record)));
  }

  // Which collective of its process group this is, counted from 0.
  std::int64_t next_of_group(const Event& event) {
    const auto found = group_orders_.find(event.group);
    if (found != group_orders_.end()) return found->second++;
    if (group_orders_.size() >= kGroups) return 1;  // not kept once some are passed over
    group_orders_.emplace(std::string(event.group), 1);
    return 0;
  }

  // Ranks that keep different shares still keep the same ones: the multiples of the larger stride.
  void thin_collectives() {
    stride_ *= 2;
    std::erase_if(collective_list_,
                  [this](const Fact& fact) { return fact.as_record()->integer("order").value_or(0) % stride_ != 0; });
  }

  static void set_count(FactRecord& record, std::string_view name, double value) {
    if (value < 9e15) record.set(name, static_cast<std::int64_t>(value));
  }

  static void set_total(FactRecord& record, const Total& total) {
    record.set("count", total.count);
    record.set("total_us", total.sum);
    record.set("mean_us", total.sum / static_cast<double>(total.count));
    record.set("min_us", total.min);
    record.set("max_us", total.max);
  }

  template <typename Map>
  static void write_totals(const Map& map, const char* list, const char* name, FactRecord& facts, std::size_t most) {
    std::vector<std::pair<std::string_view, const Total*>> sorted;
    sorted.reserve(map.size());
    for (const auto& [key, total] : map) sorted.emplace_back(key, &total);
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second->sum != b.second->sum ? a.second->sum > b.second->sum : a.first < b.first;
    });
    if (sorted.size() > most) sorted.resize(most);
    for (const auto& [key, total] : sorted) {
      FactRecord& record = facts.append(list, total->line);
      record.set(name, as_text(key));
      set_total(record, *total);
    }
  }

  void write_distributed(FactRecord& facts) {
    const FactRecord* const info = distributed_.as_record();
    if (info == nullptr) return;
    for (const char* const name : {"rank", "world_size", "backend", "nccl_version"}) {
      if (const Fact* const fact = info->find(name)) facts.set(name, *fact);
    }
    const std::vector<Fact>* const groups = info->find_list("pg_config");
    if (groups != nullptr && groups->size() <= 200) facts.set("process_groups", *info->find("pg_config"));
  }

  void write_devices(FactRecord& facts) {
    const std::vector<Fact>* const list = devices_.as_list();
    if (list == nullptr) return;
    for (const Fact& one : *list) {
      const FactRecord* const device = one.as_record();
      if (device == nullptr || facts.list("devices").size() >= kDevices) continue;
      FactRecord& record = facts.append("devices", device->line);
      struct Name {
        std::string_view printed, fact;
      };
      static constexpr Name kPrinted[] = {{"id", "id"},
                                          {"name", "name"},
                                          {"totalGlobalMem", "memory_bytes"},
                                          {"computeMajor", "compute_major"},
                                          {"computeMinor", "compute_minor"},
                                          {"numSms", "multiprocessors"}};
      for (const Name& name : kPrinted) {
        if (const Fact* const fact = device->find(name.printed)) record.set(name.fact, *fact);
      }
    }
  }

  void write_busy(FactRecord& facts) {
    for (auto& [device, busy] : busy_) {
      const double nccl = merge(busy.nccl);
      const double compute = merge(busy.compute);
      const double both = overlap(busy.nccl, busy.compute);
      FactRecord& record = facts.append("busy", 0);
      if (device >= 0) record.set("device", device);
      record.set("kernels_us", nccl + compute - both);
      record.set("compute_us", compute);
      record.set("nccl_us", nccl);
      record.set("nccl_alone_us", nccl - both);
      if (last_ > first_) record.set("busy_share", (nccl + compute - both) / (last_ - first_));
    }
    if (spans_ >= kSpans) reading_.note(fmt::format("busy times are of the first {} kernels", kSpans));
  }

  void write() {
    if (events_ == 0) return;
    FactRecord& facts = reading_.facts;
    const bool kineto =
        head_.has("schemaVersion") || distributed_.as_record() != nullptr || devices_.as_list() != nullptr;
    facts.set("program", kineto ? "PyTorch profiler" : "Chrome trace events");
    for (const auto& [name, fact] : head_.members()) {
      if (name == "cuda_runtime_version" || name == "cuda_driver_version" || name == "schemaVersion" ||
          name == "traceName" || name == "trace_id" || name == "displayTimeUnit" || name == "baseTimeNanoseconds") {
        facts.set(name == "schemaVersion"         ? "schema_version"
                  : name == "traceName"           ? "trace_name"
                  : name == "displayTimeUnit"     ? "display_time_unit"
                  : name == "baseTimeNanoseconds" ? "base_time_ns"
                                                  : name,
                  fact);
      }
    }
    write_distributed(facts);
    write_devices(facts);
    facts.set("events", events_);
    facts.set("complete_events", complete_);
    if (last_ > first_) {
      facts.set("first_us", first_);
      facts.set("span_us", last_ - first_);
    }
    write_busy(facts);
    if (!steps_.empty()) facts.set("profiler_steps", Fact::of(std::move(steps_)));
    write_totals(categories_, "categories", "category", facts, kCategories);
    facts.set("kernel_names", static_cast<std::int64_t>(kernels_.size()));
    write_totals(kernels_, "kernels", "name", facts, kNamesShown);
    if (not_told_apart_ > 0) facts.set("kernels_not_told_apart", not_told_apart_);
    write_totals(copies_, "copies", "name", facts, kCategories);
    if (collective_count_ == 0) return;
    facts.set("collective_count", collective_count_);
    write_totals(collectives_, "collective_totals", "collective", facts, kCategories);
    if (stride_ > 1) facts.set("collectives_thinned_to_every", stride_);
    facts.set("collectives", Fact::of(std::move(collective_list_)));
  }

  struct Busy {
    std::vector<Span> nccl, compute;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Totals = std::unordered_map<std::string, Total, Hash, std::equal_to<>>;

  JsonCursor cursor_;
  LineCounter lines_;
  std::string_view text_;
  Reading& reading_;
  Fact distributed_, devices_;
  FactRecord head_;
  std::int64_t events_ = 0, complete_ = 0, not_told_apart_ = 0, collective_count_ = 0, stride_ = 1;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> group_orders_;
  double first_ = std::numeric_limits<double>::infinity(), last_ = -std::numeric_limits<double>::infinity();
  Totals categories_, kernels_, copies_, collectives_;
  std::map<std::int64_t, Busy> busy_;
  std::size_t spans_ = 0;
  std::vector<Fact> collective_list_, steps_;
};

}  // namespace

int recognise_chrome_trace(const Head& head) {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (head.text[first] != '{' && head.text[first] != '[')) return confidence::kNone;
  const bool events = contains(head.text, "\"ph\"") && contains(head.text, "\"ts\"");
  if (contains(head.text, "\"traceEvents\"")) return events || head.text.size() < 4096 ? 95 : 70;
  if (contains(head.text, "\"deviceProperties\"") && contains(head.text, "\"schemaVersion\"")) return 95;
  return events && head.text[first] == '[' && contains(head.text, "\"name\"") ? confidence::kSure : confidence::kNone;
}

void read_chrome_trace(std::string_view text, Reading& reading) { TraceReader(text, reading).read(); }

}  // namespace tare
