// Rows of measurements of many devices over time, in bounded memory and at the speed of the disk.
//
// Each row belongs to an entity (a GPU, a GPU of a host, a process), made of its key fields. Kept are, per entity and
// column, count, least, most, mean and last; per text column how often each text came; and kRows rows spread evenly.
// The hot path takes a line in one pass: no allocation, numbers read in place.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/fact.h"
#include "ingest/field_scan.h"
#include "ingest/running_stat.h"

namespace tare {

class TelemetryTable {
 public:
  static constexpr std::size_t kRows = 2000;
  static constexpr std::size_t kEntities = 4096;
  static constexpr std::size_t kColumns = 256;
  static constexpr std::size_t kTexts = 24;  // of one entity and column

  enum class Role : std::uint8_t {
    kValue,  // a number; becomes kText when the first field that says something is none
    kText,
    kTime,
    kKey,
    kIgnored
  };
  struct Column {
    std::string printed;
    std::string name;  // of the fact, with its unit
    Role role = Role::kValue;
  };

  // `separator` ',', ';' or '\t'; ' ' for fields between runs of blanks (commas pass for blanks then). In that case
  // `last_takes_rest` lets the last column hold blanks.
  TelemetryTable(std::vector<Column> columns, char separator, bool last_takes_rest = false);

  enum class Row : std::uint8_t { kTaken, kTooFew, kTooMany, kFull };
  // Takes a row, a part of a Line's text (field_scan.h reads behind it). `prefix_key` is put in front of the key fields
  // (a host).
  Row take(std::string_view text, std::int64_t line, std::string_view prefix_key = {});

  std::int64_t rows() const { return row_count_; }
  std::int64_t not_numbers() const { return not_numbers_; }  // texts in columns of numbers, N/A and its kin left out
  const std::vector<Column>& columns() const { return columns_; }

  // Into `facts`: columns[], row_count, rounds, first_time, last_time, entities[], series[] (an entity's statistics),
  // rows[] and rows_every when thinned. `entity_name`: what an entity is called ("gpu").
  void put(FactRecord& facts, std::string_view entity_name) const;
  // Every entity's last values as a record of its own.
  std::vector<Fact> latest() const;

 private:
  struct TextCount {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    std::size_t last = 0;
    std::int64_t others = 0;
    std::int64_t unknown = 0;
  };
  struct Entity {
    std::string key;
    std::uint64_t short_key = 0;
    std::vector<std::string> fields;  // of the key columns
    std::int64_t rows = 0, first_line = 0, last_line = 0;
    std::size_t next = 0;  // who came next the last time
    std::vector<TextCount> texts;
  };
  struct KeptRow {
    std::int64_t line = 0;
    std::int64_t round = 0;
    std::size_t entity = 0;
    std::string time;
    std::vector<double> values;
    std::vector<std::string> texts;
  };

  bool take_fields(std::string_view text);
  void note_decided();
  void set_unit(std::size_t column, std::string_view unit);
  Row take_patiently(std::string_view text);
  const char* read_field(const char* at, const char* end, std::size_t column, bool last);
  const char* odd_field(const char* at, const char* end, std::size_t column, bool last);
  const char* field_end(const char* at, const char* end, bool last) const;
  void odd_value(std::string_view field, std::size_t column);
  std::size_t find_entity(std::string_view prefix_key);
  std::size_t look_up(std::string_view key, std::string_view prefix_key);
  void add(Entity& entity, std::size_t at);
  void add_known(std::size_t at);
  void add_some(std::size_t at);
  RunningStat stat_of(std::size_t entity, std::size_t column) const;
  void count_text(TextCount& count, std::string_view text);
  void keep(const Entity& entity, std::size_t at, std::int64_t line);
  void become_text(std::size_t column);
  void put_columns(FactRecord& facts) const;
  void put_key(FactRecord& record, const Entity& entity) const;
  void put_texts(FactRecord& record, const Entity& entity) const;
  void put_rows(FactRecord& facts) const;
  void put_overall(FactRecord& facts) const;

  std::vector<Column> columns_;
  char separator_;
  bool last_takes_rest_;
  // The row being read.
  FieldScan scan_;
  std::vector<FieldScan::Column> specs_;
  std::vector<std::size_t> other_columns_;  // those that are no values
  bool all_known_ = false, all_decided_ = false;
  std::vector<double> values_;            // of other columns: 0
  std::vector<std::string_view> fields_;  // of all but values
  // By entity, then column.
  std::vector<double> least_, most_, sum_, last_;
  std::vector<std::int64_t> unknown_;
  std::vector<std::size_t> counted_;  // columns of utilisation, whose values of 0 are counted
  std::vector<std::int64_t> zero_;    // by entity, then counted column
  std::size_t stride_ = 0;            // columns, made even
  std::vector<Entity> entities_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::vector<std::size_t> key_columns_, time_columns_, text_columns_;
  std::size_t previous_ = 0;
  std::string key_;
  std::string first_time_, last_time_;
  std::vector<char> decided_;       // columns that were a number once, or are text
  std::vector<std::string> units_;  // behind a column's numbers, with the blank: " MiB"
  std::vector<KeptRow> kept_;
  std::int64_t row_count_ = 0, every_ = 1, next_kept_ = 0, not_numbers_ = 0;
};

}  // namespace tare
