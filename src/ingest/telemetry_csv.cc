#include "ingest/telemetry_csv.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/dcgm_fields.h"
#include "ingest/gpu_fields.h"
#include "ingest/line_speaker.h"
#include "ingest/measured.h"
#include "ingest/scan.h"
#include "ingest/telemetry_runs.h"

namespace tare {
namespace {

using Column = TelemetryTable::Column;
using Role = TelemetryTable::Role;

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view unquoted(std::string_view field) {
  field = trim(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = trim(field.substr(1, field.size() - 2));
  return field;
}

std::vector<std::string_view> fields_of(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  for (const std::string_view field : split(text.substr(0, 16384), separator)) fields.push_back(unquoted(field));
  return fields;
}

char separator_of(std::string_view text) {
  for (const char c : {',', ';', '\t'}) {
    if (text.find(c) != std::string_view::npos) return c;
  }
  return ',';
}

constexpr std::array<std::string_view, 8> kTimes = {"timestamp", "time",  "date",  "datetime",
                                                    "ts",        "ts_ms", "epoch", "unix_time"};
constexpr std::array<std::string_view, 10> kGpuKeys = {"index",   "gpu",    "gpu_id",    "gpu_index", "gpuid",
                                                       "gpu_idx", "device", "device_id", "entity",    "entity_id"};
constexpr std::array<std::string_view, 5> kGpuNames = {"uuid", "gpu_uuid", "bus_id", "serial", "minor_number"};
constexpr std::array<std::string_view, 8> kHosts = {"hostname", "host",     "node",   "node_name",
                                                    "nodename", "instance", "server", "node_id"};
constexpr std::array<std::string_view, 7> kMetrics = {"metric",      "metric_name", "field",   "field_name",
                                                      "name_metric", "counter",     "__name__"};
constexpr std::array<std::string_view, 14> kTexts = {
    "name",  "uuid",       "serial", "bus_id",  "device_id",    "sub_system_id", "driver",
    "vbios", "model_name", "model",  "pci_bus", "process_name", "cuda",          "inforom_image"};

// Plain columns of --query-gpu that other CSV has too.
constexpr std::array<std::string_view, 12> kPlainColumns = {"index",    "name",           "uuid",   "gpu_name",
                                                            "gpu_uuid", "timestamp",      "pstate", "serial",
                                                            "count",    "driver_version", "pid",    "process_name"};

// A column that only --query-* prints: "memory.used [MiB]", "pcie.link.gen.max".
bool is_query_column(std::string_view field) {
  if (field.size() > 80 || field.find_first_of("\"'=/") != std::string_view::npos) return false;
  static constexpr std::array<std::string_view, 26> kStarts = {"memory.",
                                                               "utilization.",
                                                               "temperature.",
                                                               "power.",
                                                               "clocks",
                                                               "pcie.link.",
                                                               "pci.",
                                                               "fan.speed",
                                                               "ecc.",
                                                               "mig.mode",
                                                               "compute_mode",
                                                               "persistence_mode",
                                                               "display_",
                                                               "vbios_version",
                                                               "inforom.",
                                                               "gom.",
                                                               "driver_model",
                                                               "retired_pages.",
                                                               "remapped_rows.",
                                                               "enforced.power.limit",
                                                               "encoder.stats",
                                                               "fabric.",
                                                               "used_gpu_memory",
                                                               "used_memory",
                                                               "accounting.",
                                                               "gpu_bus_id"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [field](std::string_view start) { return field.starts_with(start); });
}

bool is_query_header(const std::vector<std::string_view>& fields) {
  std::size_t known = 0, own = 0;
  for (const std::string_view field : fields) {
    const std::string_view bare = trim(field.substr(0, field.find('[')));
    if (is_query_column(bare)) {
      ++known, ++own;
    } else if (one_of(bare, kPlainColumns)) {
      ++known;
    }
  }
  if (fields.size() == 1) return own == 1 && (contains(fields[0], ".") || contains(fields[0], "["));
  return (own > 0 && known * 3 >= fields.size() * 2) || (known == fields.size() && known >= 3) ||
         (known == fields.size() && known == 2 && contains(fields[0], "index"));
}

// A column that measures a GPU, by its name.
bool is_gpu_metric(std::string_view snake) {
  if (snake.starts_with("dcgm_fi_")) return true;
  static constexpr std::array<std::string_view, 16> kParts = {
      "util",   "power", "temp",   "clock",     "fb_",         "mem_used", "memory_used", "sm_active",
      "tensor", "pcie",  "nvlink", "gr_engine", "dram_active", "energy",   "xid",         "fan_speed"};
  return std::any_of(kParts.begin(), kParts.end(), [snake](std::string_view part) { return contains(snake, part); });
}

struct Shape {
  int times = 0, gpus = 0, hosts = 0, metrics = 0, measures = 0, dcgm = 0;
};

Shape shape_of(const std::vector<std::string_view>& fields) {
  Shape shape;
  for (const std::string_view field : fields) {
    const std::string snake = snake_name(field);
    shape.dcgm += contains(field, "DCGM_F") ? 1 : 0;
    if (one_of(snake, kTimes)) {
      ++shape.times;
    } else if (one_of(snake, kHosts)) {
      ++shape.hosts;
    } else if (one_of(snake, kMetrics)) {
      ++shape.metrics;
    } else if (one_of(snake, kGpuKeys) || one_of(snake, kGpuNames)) {
      ++shape.gpus;
    } else if (is_gpu_metric(snake)) {
      ++shape.measures;
    }
  }
  return shape;
}

bool is_telemetry_header(const std::vector<std::string_view>& fields) {
  if (fields.size() < 2 || fields.size() > TelemetryTable::kColumns) return false;
  for (const std::string_view field : fields) {
    if (field.empty() || field.size() > 120 || (field.front() >= '0' && field.front() <= '9')) return false;
  }
  const Shape shape = shape_of(fields);
  if (shape.dcgm > 0 && (shape.gpus > 0 || shape.times > 0)) return true;
  return (shape.gpus > 0 && shape.measures >= 2) || (shape.gpus > 0 && shape.times > 0 && shape.measures >= 1) ||
         (shape.gpus > 0 && shape.metrics > 0 && shape.times > 0);
}

// "power (W)" is taken for "power [W]".
std::string generic_name(std::string_view field) {
  if (contains(field, "DCGM_")) return dcgm_fact_name(field);
  const std::size_t open = field.rfind('(');
  if (open != std::string_view::npos && field.ends_with(')')) {
    const std::string_view unit = field.substr(open + 1, field.size() - open - 2);
    const std::string_view ending = unit_ending(unit);
    return snake_name(field.substr(0, open)) + (ending.empty() ? "" : "_" + std::string(ending));
  }
  return gpu_column_name(field);
}

bool is_query_gpu_name(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kMakers = {"NVIDIA", "Tesla", "GeForce", "Quadro", "TITAN", "GRID"};
  return std::any_of(kMakers.begin(), kMakers.end(),
                     [word](std::string_view maker) { return word.starts_with(maker); });
}

// "2024/05/01 10:00:00.123"
bool is_timestamp(std::string_view word) {
  return word.size() >= 19 && word[0] == '2' && (word[4] == '/' || word[4] == '-') && word[13] == ':' &&
         word[16] == ':';
}

bool is_percent_or_memory(std::string_view field) {
  const std::optional<Measure> measure = to_measure(field);
  return measure && (measure->unit == "%" || measure->unit == "MiB" || measure->unit == "W" || measure->unit == "MHz");
}

// Rows without a header: at least one measure with its unit and one thing that tells a GPU.
bool is_headless_row(const std::vector<std::string_view>& fields) {
  if (fields.size() < 2) return false;
  int measures = 0, marks = 0;
  for (const std::string_view field : fields) {
    measures += is_percent_or_memory(field) ? 1 : 0;
    marks += is_query_gpu_name(field) || field.starts_with("GPU-") || is_timestamp(field) ? 1 : 0;
  }
  return (measures >= 1 && marks >= 1) || measures >= 2;
}

// The list behind --query-gpu= in a command.
std::vector<std::string> queried(std::string_view text) {
  std::vector<std::string> names;
  const std::size_t at = text.find("--query-");
  if (at == std::string_view::npos) return names;
  std::string_view rest = text.substr(at);
  const std::size_t equals = rest.find_first_of("= ");
  if (equals == std::string_view::npos) return names;
  rest = rest.substr(equals + 1);
  if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  for (const std::string_view name : split(rest.substr(0, rest.find_first_of(" \"'`")), ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

class GpuCsvReader : public LineReader {
 public:
  explicit GpuCsvReader(bool query) : query_(query) {}

  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text;
    if (text.empty()) return true;
    if (runs_.running() && !prefixed_ && (text.front() != header_.front() || text != header_)) {
      const TelemetryTable::Row taken = runs_.table().take(text, line.number);
      if (taken == TelemetryTable::Row::kTaken) return true;
    }
    return other_line(text, line.number, reading);
  }

  void finish(Reading& reading) override {
    if (runs_.running()) end_run(reading);
    runs_.finish(reading, query_ && !processes_);
    if (query_) finish_query(reading);
  }

 private:
  bool other_line(std::string_view raw, std::int64_t line, Reading& reading) {
    const PrefixedLine prefixed = split_line_prefix(raw);
    const std::string_view text = trim(prefixed.text);
    if (text.empty() || text.starts_with("```")) return true;
    if (runs_.running() && text == header_) return true;  // repeated by a loop
    const std::vector<std::string_view> fields = fields_of(text, separator_of(text));
    if (query_ ? is_query_header(fields) : is_telemetry_header(fields)) {
      prefixed_ = !prefixed.speaker.empty();
      start(text, fields, line, reading);
      return true;
    }
    if (contains(text, "nvidia-smi") && contains(text, "--query-")) {
      asked_ = queried(text);
      command_ = text.substr(text.find("nvidia-smi"));
      command_line_ = line;
      if (runs_.running()) end_run(reading);
      return true;
    }
    if (!runs_.running() && query_) {
      if (is_headless_row(fields) || (!asked_.empty() && fields.size() == asked_.size())) {
        prefixed_ = !prefixed.speaker.empty();
        start_headless(fields, line, reading);
      }
    }
    if (!runs_.running()) return false;
    if (fields.size() < 2 && runs_.table().columns().size() > 1) return false;  // other output in between
    return runs_.take(prefixed_ ? text : trim(raw), line, prefixed_ ? prefixed.speaker : std::string_view(), reading);
  }

  void start(std::string_view text, const std::vector<std::string_view>& fields, std::int64_t line, Reading& reading) {
    if (runs_.running()) end_run(reading);
    header_ = std::string(text);
    std::vector<Column> columns;
    for (const std::string_view field : fields) {
      Column column;
      column.printed = std::string(field);
      column.name = query_ ? gpu_column_name(field) : generic_name(field);
      columns.push_back(std::move(column));
    }
    begin(std::move(columns), separator_of(text), line);
  }

  void start_headless(const std::vector<std::string_view>& fields, std::int64_t line, Reading& reading) {
    header_ = "\x01";
    std::vector<Column> columns;
    const bool asked = asked_.size() == fields.size();
    bool has_index = false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Column column;
      column.printed = asked ? asked_[i] : "";
      column.name = asked ? gpu_column_name(asked_[i]) : headless_name(fields[i], i, has_index);
      if (asked) {  // the unit is in the rows only
        const std::optional<Measure> measure = to_measure(fields[i]);
        const std::string_view ending = measure ? unit_ending(measure->unit) : std::string_view();
        if (!ending.empty() && !column.name.ends_with("_" + std::string(ending)))
          column.name += "_" + std::string(ending);
      }
      columns.push_back(std::move(column));
    }
    if (!asked) reading.note("the rows have no header: columns are named by what stands in them, or by their place");
    begin(std::move(columns), ',', line);
  }

  static std::string headless_name(std::string_view field, std::size_t at, bool& has_index) {
    if (is_timestamp(field)) return "timestamp";
    if (is_query_gpu_name(field)) return "name";
    if (field.starts_with("GPU-")) return "uuid";
    if (std::count(field.begin(), field.end(), ':') == 2 && contains(field, ".")) return "bus_id";
    if (field.size() >= 2 && field.size() <= 3 && field[0] == 'P' && to_integer(field.substr(1))) return "pstate";
    if (!has_index && at <= 1 && to_integer(field)) {
      has_index = true;
      return "index";
    }
    const std::string place = "column_" + std::to_string(at + 1);
    const std::optional<Measure> measure = to_measure(field);
    const std::string_view ending = measure ? unit_ending(measure->unit) : std::string_view();
    return ending.empty() ? place : place + "_" + std::string(ending);
  }

  // What each column is for.
  void begin(std::vector<Column> columns, char separator, std::int64_t line) {
    unique_names(columns);
    processes_ = std::any_of(columns.begin(), columns.end(), [](const Column& column) { return column.name == "pid"; });
    bool has_key = false;
    for (Column& column : columns) {
      const std::string& name = column.name;
      if (one_of(name, kTimes)) {
        column.role = Role::kTime;
      } else if (processes_ ? name == "pid" : one_of(name, kGpuKeys) && !has_key) {
        column.role = Role::kKey;
        has_key = true;
      } else if (one_of(name, kTexts)) {
        column.role = Role::kText;
      }
    }
    for (Column& column : columns) {
      const std::string& name = column.name;
      const bool instance = name == "gpu_i_id" || name == "gpu_instance_id";
      if ((!query_ && (one_of(name, kHosts) || one_of(name, kMetrics) || instance)) ||
          (!has_key && one_of(name, kGpuNames))) {
        column.role = Role::kKey;
        has_key = has_key || one_of(name, kGpuNames);
      }
    }
    keyed_ = has_key;
    runs_.end();
    if (!command_.empty()) {
      runs_.about() = FactRecord(command_line_);
      runs_.about().set("command", command_, command_line_);
      command_.clear();
    }
    runs_.of(processes_ ? "process" : "gpu");
    runs_.start(line, std::move(columns), separator, false);
  }

  static void unique_names(std::vector<Column>& columns) {
    for (std::size_t i = 0; i < columns.size() && i < TelemetryTable::kColumns; ++i) {
      if (columns[i].name.empty()) columns[i].name = "column_" + std::to_string(i + 1);
      for (std::size_t j = 0; j < i; ++j) {
        if (columns[j].name == columns[i].name) {
          columns[i].name += "_" + std::to_string(i + 1);
          break;
        }
      }
    }
  }

  void end_run(Reading& reading) {
    if (runs_.table().not_numbers() > 0) {
      reading.note(std::to_string(runs_.table().not_numbers()) +
                   " fields of columns of numbers hold other text: counted as unknown");
    }
    runs_.end();
  }

  void finish_query(Reading& reading) const {
    FactRecord& facts = reading.facts;
    const auto rows = facts.integer("row_count");
    if (!rows) return;
    if (processes_) {
      if (const Fact* const list = facts.find("rows")) facts.set("processes", Fact(*list));
      return;
    }
    if (!keyed_) {  // every row is a GPU of its own, if they are of one moment
      const auto rounds = facts.integer("rounds");
      if (facts.has("first_time") && rounds && *rounds > 1) {
        reading.note("no column tells the GPUs apart: their values are taken together");
      } else if (const Fact* const list = facts.find("rows")) {
        facts.set("gpus", Fact(*list));
        facts.set("gpu_count", *rows);
      }
    }
    summarise_gpus(facts);
  }

  bool query_;
  TelemetryRuns runs_{"gpu"};
  std::string header_ = "\x01";
  std::vector<std::string> asked_;
  std::string command_;
  std::int64_t command_line_ = 0;
  bool prefixed_ = false, processes_ = false, keyed_ = false;
};

// The first header or row among the first lines.
template <typename Is>
int first_line_with(std::string_view text, int limit, Is is) {
  for (int lines = 0; !text.empty() && lines < limit; ++lines) {
    const std::string_view line = trim(split_line_prefix(next_line(text)).text);
    if (line.size() > 16384 || line.empty() || line.front() == '{' || line.front() == '|') continue;
    if (is(line)) return lines;
  }
  return -1;
}

}  // namespace

int recognise_smi_csv(const Head& head) {
  const int header = first_line_with(
      head.text, 200, [](std::string_view line) { return is_query_header(fields_of(line, separator_of(line))); });
  if (header >= 0) return header < 30 ? confidence::kSure : confidence::kLikely;
  bool asked = false;
  int rows = 0, others = 0;
  first_line_with(head.text, 200, [&](std::string_view line) {
    if (contains(line, "nvidia-smi") && contains(line, "--query-")) {
      asked = true;
    } else {
      is_headless_row(fields_of(line, ',')) ? ++rows : ++others;
    }
    return false;
  });
  if (rows > others) return asked ? 85 : 70;
  return asked && others > 0 && others < 40 ? confidence::kPossible + 20 : confidence::kNone;
}

int recognise_gpu_csv(const Head& head) {
  const int header = first_line_with(head.text, 20, [](std::string_view line) {
    const auto fields = fields_of(line, separator_of(line));
    return is_telemetry_header(fields) && !is_query_header(fields);
  });
  if (header < 0) return confidence::kNone;
  return contains(head.text.substr(0, 65536), "DCGM_F") ? 85 : 70;
}

std::unique_ptr<LineReader> open_smi_csv() { return std::make_unique<GpuCsvReader>(true); }
std::unique_ptr<LineReader> open_gpu_csv() { return std::make_unique<GpuCsvReader>(false); }

}  // namespace tare
