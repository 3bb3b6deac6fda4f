// A table as sinfo, squeue, sacct and their kin print it: columns under headings (dashes below them or not), cells cut
// to their width or collapsed, or separated by a character (-P, -O x:|), with or without the headings.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/slurm_columns.h"

namespace tare {

class SlurmTable {
 public:
  // A line of headings (a fresh table), or nullopt. `command`: the command above it, if any.
  static std::optional<SlurmTable> of_headings(std::string_view line, const SlurmCommand& command);
  // The rows that a command with -h prints.
  static std::optional<SlurmTable> of_command(const SlurmCommand& command);

  SlurmTool tool() const { return tool_; }
  // "------ ----- ---": where the columns stand.
  bool take_dashes(std::string_view line);
  // A row as facts, unless the line cannot be one: then `why` says so.
  std::optional<FactRecord> row(std::string_view line, std::int64_t number, std::string& why) const;

 private:
  struct Column {
    std::string name;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  bool has(std::string_view name) const;
  void guess_tool();
  std::vector<std::string_view> cells(std::string_view line) const;
  std::vector<std::string_view> separated(std::string_view line) const;
  std::vector<std::string_view> by_place(std::string_view line) const;
  std::vector<std::string_view> rest_joined(std::vector<std::string_view> words, std::string_view line) const;
  bool numbers_fit(const std::vector<std::string_view>& cells) const;
  std::size_t border(std::string_view line, std::size_t column, std::size_t from) const;
  std::string_view why_no_row(const std::vector<std::string_view>& cells) const;

  SlurmTool tool_ = SlurmTool::kUnknown;
  std::vector<Column> columns_;
  std::string separator_;  // empty: blanks
  std::string before_;
  bool exact_ = false;      // the columns' places are known from dashes
  bool collapsed_ = false;  // the headings are one blank apart: places say nothing
};

}  // namespace tare
