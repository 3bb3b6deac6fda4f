#include "ingest/dcgmi_dmon.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/dcgm_fields.h"
#include "ingest/line_speaker.h"
#include "ingest/scan.h"
#include "ingest/telemetry_runs.h"

namespace tare {
namespace {

using Role = TelemetryTable::Role;

// "#Entity   GRACT        SMACT", "# Entity  ..." : its columns without the first.
std::vector<std::string_view> header_columns(std::string_view text) {
  text = trim(text);
  while (text.starts_with('#')) text.remove_prefix(1);
  std::vector<std::string_view> words = words_in(text);
  if (words.size() < 2 || (words.front() != "Entity" && words.front() != "Entities")) return {};
  words.erase(words.begin());
  return words;
}

bool is_row(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t");
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at);
  for (const std::string_view kind :
       {"GPU ", "GPU-I ", "GPU-CI ", "Switch ", "NvSwitch ", "Link ", "CPU ", "Core ", "CPU-Core ", "ConnectX "}) {
    if (text.starts_with(kind)) return true;
  }
  return false;
}

class DcgmiDmonReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (runs_.running() && is_row(line.text)) return runs_.take(line.text, line.number, {}, reading);
    return other_line(line, reading);
  }

  void finish(Reading& reading) override {
    runs_.finish(reading, false);
    FactRecord& facts = reading.facts;
    const std::vector<Fact>* const series = facts.find_list("series");
    if (series == nullptr) return;
    std::set<std::string_view> kinds;
    std::vector<Fact> ids;
    for (const Fact& one : *series) {
      kinds.insert(one.as_record()->text("entity_type"));
      if (const Fact* const id = one.as_record()->find("entity")) ids.push_back(*id);
    }
    if (kinds.size() == 1) {
      facts.set("entity_type", std::string(*kinds.begin()));
      facts.set("entities_listed", Fact::of(std::move(ids)));
    }
  }

 private:
  bool other_line(const Line& line, Reading& reading) {
    const PrefixedLine split = split_line_prefix(line.text);
    const std::string_view text = trim(split.text);
    if (text.empty() || equals_ignoring_case(text.substr(0, text.find_first_of(" \t")), "id")) return true;
    const std::vector<std::string_view> columns = header_columns(text);
    if (!columns.empty()) {
      start(columns, line.number);
      return true;
    }
    if (contains(text, "dcgmi dmon")) {
      runs_.end();
      header_.clear();
      runs_.about() = FactRecord(line.number);
      const std::string_view command = text.substr(text.find("dcgmi dmon"));
      runs_.about().set("command", command, line.number);
      const std::string_view delay = option_value(command, "-d", "--delay");
      if (!delay.empty()) runs_.about().set_parsed("interval_ms", delay, line.number);
      return true;
    }
    if (runs_.running() && is_row(text)) return runs_.take(text, line.number, split.speaker, reading);
    return false;
  }

  void start(const std::vector<std::string_view>& words, std::int64_t line) {
    std::vector<std::string> header(words.begin(), words.end());
    if (runs_.running() && header == header_) return;
    header_ = std::move(header);
    std::vector<TelemetryTable::Column> columns = {{"Entity", "entity_type", Role::kKey}, {"ID", "entity", Role::kKey}};
    for (const std::string_view word : words) {
      std::string name = dcgmi_column_name(word);
      const bool taken =
          std::any_of(columns.begin(), columns.end(), [&](const auto& column) { return column.name == name; });
      columns.push_back({std::string(word), taken ? name + "_" + std::to_string(columns.size()) : name, Role::kValue});
    }
    runs_.start(line, std::move(columns), ' ', false);
  }

  TelemetryRuns runs_{"entity"};
  std::vector<std::string> header_;
};

}  // namespace

int recognise_dcgmi_dmon(const Head& head) {
  std::string_view text = head.text;
  for (int lines = 0; !text.empty() && lines < 2000; ++lines) {
    const std::string_view line = split_line_prefix(next_line(text)).text;
    if (line.size() < 2000 && contains(line, "Entit") && contains(line, "#") && !header_columns(line).empty()) {
      return lines < 60 ? confidence::kSure : confidence::kLikely;
    }
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open_dcgmi_dmon() { return std::make_unique<DcgmiDmonReader>(); }

}  // namespace tare
