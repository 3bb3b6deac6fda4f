#include "ingest/collective_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

std::size_t bytes_of_type(std::string_view type) {
  struct Width {
    std::string_view name;
    std::size_t bytes;
  };
  static constexpr std::array<Width, 20> kWidths = {
      {{"int8", 1},  {"uint8", 1},  {"char", 1},    {"int32", 4},  {"uint32", 4},  {"int", 4},      {"uint", 4},
       {"int64", 8}, {"uint64", 8}, {"half", 2},    {"fp16", 2},   {"float16", 2}, {"bfloat16", 2}, {"bf16", 2},
       {"float", 4}, {"fp32", 4},   {"float32", 4}, {"double", 8}, {"fp64", 8},    {"float64", 8}}};
  for (const Width& width : kWidths) {
    if (width.name == type) return width.bytes;
  }
  return type.starts_with("f8") || type.starts_with("fp8") ? 1 : 0;
}

// The one whole number within [low, high], if there is exactly one.
std::optional<std::int64_t> only_integer_in(double low, double high) {
  if (!(low > 0) || !(high < 1e7)) return std::nullopt;
  const double first = std::ceil(low - 1e-9);
  if (first > high + 1e-9 || first + 1 <= high + 1e-9 || first < 2) return std::nullopt;
  return static_cast<std::int64_t>(first);
}

struct Ratio {
  double low = 0;
  double high = 0;
};

// busbw over algbw, with what two decimals leave open.
std::optional<Ratio> ratio_of(const CollectiveCells& row) {
  const CollectiveSide& side = row.out.busbw_gb_per_s ? row.out : row.in;
  if (!side.algbw_gb_per_s || !side.busbw_gb_per_s || *side.algbw_gb_per_s < 0.2) return std::nullopt;
  const double alg = *side.algbw_gb_per_s;
  const double bus = *side.busbw_gb_per_s;
  return Ratio{(bus - 0.0051) / (alg + 0.0051), (bus + 0.0051) / (alg - 0.0051)};
}

// Ring factors: all_reduce 2(n-1)/n; gather-like (n-1)/n; the others 1.
void guess_by_ratio(const Ratio& ratio, const CollectiveRun& run, CollectiveGuess& guess) {
  const CollectiveCells& row = run.widest;
  const bool reduces = !row.redop.empty() && row.redop != "none";
  const bool rooted = row.root && *row.root >= 0;
  const bool one = ratio.low <= 1 && ratio.high >= 1;
  std::optional<std::int64_t> ranks;
  if (reduces && !rooted) {
    const bool all_reduce = ratio.high >= 1;
    guess.collectives = {all_reduce ? "all_reduce" : "reduce_scatter"};
    ranks = all_reduce ? only_integer_in(2 / (2 - ratio.low), ratio.high < 2 ? 2 / (2 - ratio.high) : 1e9)
                       : only_integer_in(1 / (1 - ratio.low), 1 / (1 - ratio.high));
  } else if (reduces) {
    guess.collectives = {"reduce"};
  } else if (rooted) {
    guess.collectives = one ? std::vector<std::string>{"broadcast"} : std::vector<std::string>{"scatter", "gather"};
  } else {
    guess.collectives = one ? std::vector<std::string>{"sendrecv"} : std::vector<std::string>{"all_gather", "alltoall"};
  }
  if (!reduces && !one && ratio.high < 1) ranks = only_integer_in(1 / (1 - ratio.low), 1 / (1 - ratio.high));
  if (ranks) {
    guess.ranks = ranks;
    guess.ranks_from = "busbw over algbw";
  }
}

void guess_by_count(const CollectiveCells& row, CollectiveGuess& guess) {
  const std::size_t width = bytes_of_type(row.type);
  if (width == 0 || !row.bytes || !row.count || *row.count <= 0 || *row.count > (std::int64_t{1} << 58)) return;
  const std::int64_t one = *row.count * static_cast<std::int64_t>(width);
  if (*row.bytes <= one || *row.bytes % one != 0) return;
  guess.ranks = *row.bytes / one;
  guess.ranks_from = "size and count";
}

template <typename T>
void set_if(FactRecord& record, std::string_view name, const std::optional<T>& value) {
  if (value) record.set(name, *value);
}

void add_side(FactRecord& record, const std::string& prefix, const CollectiveSide& side, const CollectiveCells& row,
              const CollectiveColumns& columns) {
  if (!side.any) return;
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) record.set(prefix + name, *value);
  };
  put(columns.cpu_time ? "cpu_time_us" : "time_us", side.time_us);
  put("algbw_gb_per_s", side.algbw_gb_per_s);
  put("busbw_gb_per_s", side.busbw_gb_per_s);
  const char* const errors = row.float_errors || (columns.known && !columns.wrong) ? "error" : "wrong";
  if (side.errors) {
    record.set(prefix + errors, *side.errors);
  } else if (side.whole && (!columns.known || columns.errors)) {
    record.set_unknown(prefix + errors);
  }
  put("i_min_us", side.i_min_us);
  put("i_max_us", side.i_max_us);
  put("i_p99_us", side.i_p99_us);
  put("i_cv_pct", side.i_cv_pct);
}

FactRecord facts_of(const CollectiveCells& row, const CollectiveColumns& columns) {
  FactRecord record(row.line);
  if (row.bytes) {
    record.set("bytes", *row.bytes);
  } else {
    record.set_unknown("bytes");
  }
  set_if(record, "count", row.count);
  if (!row.type.empty()) record.set("type", row.type);
  if (!row.redop.empty()) record.set("redop", row.redop);
  set_if(record, "root", row.root);
  // nccom-test has no sides: its values are plain.
  const bool plain = columns.known && !columns.in_place && !columns.errors;
  add_side(record, plain ? "" : "out_of_place_", row.out, row, columns);
  add_side(record, "in_place_", row.in, row, columns);
  for (const auto& [name, value] : row.statistics) {
    if (name != "avg") record.set("time_" + name + "_us", value);
  }
  if (!row.timestamp.empty()) record.set("timestamp", row.timestamp);
  if (!row.whole) record.set("complete", false);
  return record;
}

void add_devices(FactRecord& facts, const CollectiveRun& run) {
  std::set<std::string> hosts, gpus;
  std::set<std::int64_t> ranks;
  std::int64_t repeated = 0;
  for (const CollectiveDevice& device : run.devices) {
    hosts.insert(device.host);
    if (!device.gpu.empty()) gpus.insert(device.gpu);
    if (device.rank && !ranks.insert(*device.rank).second) ++repeated;
  }
  facts.set("ranks", static_cast<std::int64_t>(run.devices.size()), run.devices.front().line);
  facts.set("nodes", static_cast<std::int64_t>(hosts.size()), run.devices.front().line);
  if (repeated > 0) facts.set("repeated_ranks", repeated);
  if (gpus.size() == 1) facts.set("gpu", *gpus.begin(), run.devices.front().line);
  for (const std::string& gpu : gpus) facts.list("gpus").push_back(Fact::of(gpu));
  for (const std::string& host : hosts) facts.list("hosts").push_back(Fact::of(host));
  for (const CollectiveDevice& device : run.devices) {
    FactRecord& record = facts.append("devices", device.line);
    set_if(record, "rank", device.rank);
    set_if(record, "group", device.group);
    set_if(record, "pid", device.pid);
    record.set("host", device.host);
    set_if(record, "device", device.device);
    if (!device.bus_id.empty()) record.set("bus_id", device.bus_id);
    if (!device.gpu.empty()) record.set("gpu", device.gpu);
  }
}

void add_guess(FactRecord& facts, const CollectiveRun& run) {
  const CollectiveGuess guess = guess_from_rows(run);
  if (run.collective.empty() && guess.collectives.size() == 1) {
    facts.set("collective", guess.collectives.front());
    facts.set("collective_from", "the columns and the ratio of busbw to algbw");
  } else if (run.collective.empty()) {
    for (const std::string& name : guess.collectives) facts.list("collective_candidates").push_back(Fact::of(name));
  }
  if (run.devices.empty() && guess.ranks) {
    facts.set("ranks", *guess.ranks, run.widest.line);
    facts.set("ranks_from", guess.ranks_from, run.widest.line);
  }
}

void add_layout(FactRecord& facts, const CollectiveRun& run) {
  if (run.rows.seen() == 0 && run.column_headers == 0) return;
  const CollectiveCells& row = run.widest;
  FactRecord& layout = facts.record("layout", run.line);
  layout.set("redop_column", run.columns.known ? run.columns.redop : !row.redop.empty());
  layout.set("redop_cells", !row.redop.empty());
  layout.set("root_column", run.columns.known ? run.columns.root : row.root.has_value());
  if (run.columns.errors) layout.set("errors", run.columns.wrong ? "#wrong" : "error");
  layout.set("in_place", run.columns.known ? run.columns.in_place : row.in.any);
}

void add_summary(FactRecord& facts, const CollectiveRun& run) {
  if (run.rows.seen() > 0 || run.column_headers > 0) {
    facts.set("data_rows", run.whole_rows);
    if (run.cut_rows > 0) facts.set("cut_rows", run.cut_rows);
  }
  if (run.elided) facts.set("elided", true);
  set_if(facts, "smallest_bytes", run.smallest);
  set_if(facts, "largest_bytes", run.largest);
  if (run.peak) {
    facts.set("peak_busbw_gb_per_s", run.peak->busbw_gb_per_s, run.peak->line);
    facts.set("peak_algbw_gb_per_s", run.peak->algbw_gb_per_s, run.peak->line);
    set_if(facts, "peak_bytes", run.peak->bytes);
    facts.set("peak_in_place", run.peak->in_place, run.peak->line);
  }
  if (!run.averages.empty()) {
    facts.set("avg_busbw_gb_per_s", run.averages.front().second, run.averages.front().first);
    if (!run.average_status.empty()) facts.set("avg_busbw_status", run.average_status, run.averages.front().first);
  }
  for (std::size_t i = 1; i < run.averages.size(); ++i) {
    facts.list("further_avg_busbw_gb_per_s").push_back(Fact::of(run.averages[i].second, run.averages[i].first));
  }
  if (run.out_of_bounds) facts.set("out_of_bounds", *run.out_of_bounds, run.summary_line);
  if (!run.status.empty()) facts.set("status", run.status, run.summary_line);
  if (run.rows.seen() > 0 && run.columns.wrong && run.checked_rows == 0) {
    facts.set_unknown("rows_with_wrong_values");
  } else if (run.checked_rows > 0) {
    facts.set("rows_with_wrong_values", run.wrong_rows);
    facts.set("wrong_values", run.wrong_values);
  }
  set_if(facts, "largest_deviation", run.largest_deviation);
}

}  // namespace

void CollectiveRun::add(CollectiveCells row) {
  row.whole ? ++whole_rows : ++cut_rows;
  if (row.bytes) {
    if (!smallest || *row.bytes < *smallest) smallest = row.bytes;
    if (!largest || *row.bytes > *largest) largest = row.bytes;
  }
  const auto see = [&](const CollectiveSide& side, bool in_place) {
    if (!side.busbw_gb_per_s || (peak && *side.busbw_gb_per_s <= peak->busbw_gb_per_s)) return;
    peak = CollectivePeak{*side.busbw_gb_per_s, side.algbw_gb_per_s.value_or(0), row.bytes, in_place, row.line};
  };
  see(row.out, false);
  see(row.in, true);
  bool wrong = false;
  bool checked = false;
  for (const CollectiveSide* side : {&row.out, &row.in}) {
    if (!side->errors) continue;
    if (columns.wrong && !row.float_errors) {
      checked = true;
      wrong = wrong || *side->errors > 0;
      wrong_values += *side->errors;
    } else if (!largest_deviation || *side->errors > *largest_deviation) {
      largest_deviation = *side->errors;
    }
  }
  if (wrong) ++wrong_rows;
  if (checked) ++checked_rows;
  const double width = row.out.algbw_gb_per_s.value_or(row.in.algbw_gb_per_s.value_or(0));
  if (rows.seen() == 0 || width >= widest.out.algbw_gb_per_s.value_or(widest.in.algbw_gb_per_s.value_or(0))) {
    if (row.bytes || rows.seen() == 0) widest = row;
  }
  rows.add(std::move(row));
}

CollectiveGuess guess_from_rows(const CollectiveRun& run) {
  CollectiveGuess guess;
  if (run.rows.seen() == 0 || run.widest.type.empty()) return guess;
  if (const std::optional<Ratio> ratio = ratio_of(run.widest)) guess_by_ratio(*ratio, run, guess);
  guess_by_count(run.widest, guess);
  return guess;
}

FactRecord facts_of(const CollectiveRun& run, bool with_rows) {
  FactRecord facts(run.line);
  if (!run.tool.empty()) facts.set("tool", run.tool);
  for (const auto& [name, value] : run.versions.members()) facts.set(name, value);
  if (!run.command.empty()) facts.set("command", run.command, run.command_line);
  if (!run.collective.empty()) facts.set("collective", run.collective, run.collective_line);
  if (run.parameter_headers > 0) facts.set("parameter_headers", run.parameter_headers);
  facts.set("column_headers", run.column_headers);
  if (!run.parameters.empty()) facts.set("parameters", Fact::of(run.parameters));
  if (!run.devices.empty()) add_devices(facts, run);
  add_guess(facts, run);
  add_layout(facts, run);
  add_summary(facts, run);
  for (const auto& [line, text] : run.failures) {
    facts.list("failures").push_back(Fact::of(std::string_view(text), line));
  }
  if (!with_rows) return facts;
  if (run.rows.every() > 1) facts.set("rows_kept_every", run.rows.every());
  for (const CollectiveCells& row : run.rows.kept()) {
    facts.list("rows").push_back(Fact::of(facts_of(row, run.columns)));
  }
  return facts;
}

std::string nccl_version_text(std::int64_t code) {
  const std::int64_t major = code >= 10'000 ? code / 10'000 : code / 1000;
  const std::int64_t minor = code >= 10'000 ? code / 100 % 100 : code / 100 % 10;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(code % 100);
}

std::string_view collective_named_in(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "all_reduce", "all_gather", "alltoall", "alltoallv", "broadcast", "reduce",          "reduce_scatter",
      "gather",     "scatter",    "sendrecv", "hypercube", "bisection", "all_reduce_bias", "all_reduce_group"};
  for (std::size_t at = text.find("_perf"); at != std::string_view::npos; at = text.find("_perf", at + 5)) {
    std::size_t begin = at;
    while (begin > 0 && at - begin < 20 &&
           ((text[begin - 1] >= 'a' && text[begin - 1] <= 'z') || text[begin - 1] == '_')) {
      --begin;
    }
    const std::string_view name = text.substr(begin, at - begin);
    const auto* const found = std::find(kNames.begin(), kNames.end(), name);
    if (found != kNames.end()) return *found;
  }
  return {};
}

}  // namespace tare
