// One row of a catalog table at a time, read by column name: typed values, every error at its cell.
//
// A column that is not there reads as empty, so a table may leave out what it does not know; a reader names the columns
// it cannot do without. Used by the readers of this module and by those of price lists with the same columns. Thread
// safety: a reader is used from one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/csv.h"
#include "base/date.h"
#include "catalog/source.h"

namespace tare {

class TableReader {
 public:
  // Reports each of `required` that the table lacks ("missing-column"). `file` gives Source::place its name. The table
  // and the list must outlive the reader.
  TableReader(const CsvTable& table, std::string_view file, DiagnosticList& diagnostics,
              const std::vector<std::string>& required);

  bool complete() const { return complete_; }  // all required columns are there
  std::size_t rows() const { return table_.rows(); }
  void select(std::size_t row) { row_ = row; }

  std::string_view view(std::string_view column) const;  // blanks around it cut
  std::string text(std::string_view column) const { return std::string(view(column)); }
  std::string require_text(std::string_view column);  // reports an empty field ("missing-value")
  std::string require_id(std::string_view column);    // also reports one seen before ("duplicate-id")
  std::vector<std::string> list(std::string_view column, char separator = ';') const;
  std::optional<double> number(std::string_view column);         // finite and not negative ("negative-value")
  std::optional<double> signed_number(std::string_view column);  // finite
  double require_positive(std::string_view column);              // reports an empty field or zero
  std::optional<int> count(std::string_view column);             // whole and not negative
  int require_count(std::string_view column);                    // whole and positive
  std::optional<bool> flag(std::string_view column);             // 1, 0, true, false, yes, no
  std::optional<Date> date(std::string_view column);
  // One of `words`, as they stand; an empty field is `fallback`. Unknown words are reported ("unknown-word").
  std::string word(std::string_view column, const std::vector<std::string>& words, std::string_view fallback);
  // The columns source, evidence, doubt and note, and the place of the row.
  Source source() const;

  void error(std::string_view column, std::string rule, std::string message, std::string help = {});
  void error(std::string_view column, Diagnostic diagnostic);  // given its place here
  Diagnostic at(std::string_view column, std::string rule, std::string message, std::string help = {}) const;
  std::size_t errors() const { return errors_; }  // reported so far

 private:
  void add(Diagnostic diagnostic);

  const CsvTable& table_;
  std::string file_name_;  // without its directory
  DiagnosticList& diagnostics_;
  std::unordered_map<std::string_view, std::size_t> columns_;
  std::unordered_set<std::string> ids_;  // lower case
  std::size_t row_ = 0;
  std::size_t errors_ = 0;
  bool complete_ = true;
};

}  // namespace tare
