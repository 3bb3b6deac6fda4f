// Several runs of a monitor in one file: one TelemetryTable after the other.
//
// The facts of the first run stand at the top, all of them in runs[] when there is more than one; run_count tells.
// Thread safety: one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fact.h"
#include "ingest/format.h"
#include "ingest/telemetry_table.h"

namespace tare {

class TelemetryRuns {
 public:
  static constexpr std::size_t kRuns = 64;
  explicit TelemetryRuns(std::string entity_name) : entity_name_(std::move(entity_name)) {}

  // What the rows of the next run are of: "gpu", "process".
  void of(std::string_view entity_name) { entity_name_ = std::string(entity_name); }
  // Ends what runs, if anything.
  void start(std::int64_t line, std::vector<TelemetryTable::Column> columns, char separator, bool last_takes_rest);
  void end();
  bool running() const { return table_.has_value(); }
  TelemetryTable& table() { return *table_; }
  // Facts of the run that runs or comes next: the command that made it.
  FactRecord& about() { return about_; }
  // Takes a row or says why not. False when it is no row at all (a first field that no entity has).
  bool take(std::string_view text, std::int64_t line, std::string_view host, Reading& reading);
  void finish(Reading& reading, bool with_latest);

 private:
  std::string entity_name_;
  std::optional<TelemetryTable> table_;
  std::int64_t line_ = 0, run_count_ = 0, dropped_ = 0;
  FactRecord about_;
  std::vector<FactRecord> runs_;
  std::vector<Fact> latest_;
};

// Options of a monitor's command line: "-d 5", "-d5", "--delay=5"; empty when not there.
std::string_view option_value(std::string_view command, std::string_view short_name, std::string_view long_name);

}  // namespace tare
