#include "ingest/collective_rows.h"

namespace tare {
namespace {

std::optional<double> number(const FactRecord& record, const std::string& prefix, const char* name) {
  return record.number(prefix + name);
}

void add_side(const FactRecord& record, const std::string& prefix, CollectiveRow row,
              std::vector<CollectiveRow>& into) {
  const std::optional<double> time = number(record, prefix, "time_us");
  const std::optional<double> algbw = number(record, prefix, "algbw_gb_per_s");
  const std::optional<double> busbw = number(record, prefix, "busbw_gb_per_s");
  if (!time || !algbw || !busbw) return;
  row.time_us = *time;
  row.algbw = *algbw;
  row.busbw = *busbw;
  row.errors = number(record, prefix, "wrong");
  into.push_back(std::move(row));
}

void add_run(const FactRecord& run, std::vector<CollectiveRow>& into) {
  const std::vector<Fact>* const rows = run.find_list("rows");
  if (rows == nullptr) return;
  for (const Fact& fact : *rows) {
    const FactRecord* const record = fact.as_record();
    const std::optional<std::int64_t> bytes = record == nullptr ? std::nullopt : record->integer("bytes");
    if (!bytes) continue;
    CollectiveRow row;
    row.collective = std::string(record->has("collective") ? record->text("collective") : run.text("collective"));
    row.bytes = *bytes;
    row.ranks = record->has("ranks") ? record->integer("ranks") : run.integer("ranks");
    row.nodes = record->has("nodes") ? record->integer("nodes") : run.integer("nodes");
    row.line = record->line;
    add_side(*record, "out_of_place_", row, into);
    row.in_place = true;
    add_side(*record, "in_place_", row, into);
    row.in_place = false;
    add_side(*record, "", row, into);
  }
}

}  // namespace

std::vector<CollectiveRow> collective_rows(const FactRecord& facts) {
  std::vector<CollectiveRow> rows;
  const std::vector<Fact>* const runs = facts.find_list("runs");
  if (runs == nullptr) {
    add_run(facts, rows);
    return rows;
  }
  for (const Fact& run : *runs) {
    if (const FactRecord* const record = run.as_record()) add_run(*record, rows);
  }
  return rows;
}

}  // namespace tare
