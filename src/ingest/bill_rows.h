// The rows of a bill, typed, from a stream of any size: what each charge was for, how much was used, what it cost.
//
//   cost             as billed (FOCUS BilledCost, AWS unblended, Azure cost in billing currency): 0 where a commitment
//                    covers the usage
//   effective_cost   with the share of the commitment; AWS: of the reservation or savings plan where one covers the row
//   list_cost        at list prices
// What a bill does not say is nullopt or empty, never 0. Amounts are in `currency` as printed; nothing is converted.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/bill_columns.h"
#include "ingest/csv_lines.h"
#include "ingest/money.h"

namespace tare {

struct BillRow {
  std::int64_t line = 0;
  std::string provider, service, sku, sku_id, description, region, zone, resource, account, currency;
  std::optional<double> usage_quantity;
  std::string usage_unit;
  std::optional<double> unit_price, cost, effective_cost, list_cost, credits;
  std::string charge_category;   // as printed: "Usage", "DiscountedUsage", "Tax"
  std::string pricing_category;  // "Standard", "Committed", "Spot"
  std::string commitment_type, commitment_id;
  std::string start, end;  // as printed
  std::string instance_type;
  std::optional<std::int64_t> vcpus;
  std::vector<std::pair<std::string, std::string>> tags;
};

class BillRowReader {
 public:
  // `raw`: the fields of the row as printed, in the order of the headings.
  using TakeRow = std::function<void(BillRow&& row, const std::vector<std::string>& raw)>;
  using Complain = std::function<void(std::int64_t line, std::string_view text, std::string_view reason)>;
  BillRowReader(TakeRow take, Complain complain) : take_(std::move(take)), complain_(std::move(complain)) {}

  // True when the line belongs to the bill.
  bool take(std::string_view line, std::int64_t number);
  void finish();

  bool has_headings() const { return !columns_.dialect.empty(); }
  const BillColumns& columns() const { return columns_; }
  std::int64_t heading_line() const { return heading_line_; }
  // A line of the bill that states a total; it is no row.
  std::optional<double> stated_total() const { return stated_total_; }
  bool ambiguous_numbers() const { return ambiguous_; }
  bool decimal_comma() const { return mark_.comma; }

 private:
  void take_row(const CsvRow& row);
  void drain();
  std::string text(const CsvRow& row, BillRole role) const;
  std::optional<double> amount(const CsvRow& row, BillRole role, BillRow& into);
  void take_quantity(const CsvRow& row, BillRow& into);
  void take_costs(const CsvRow& row, BillRow& into);
  void take_additional(const CsvRow& row, BillRow& into) const;
  bool is_total(const CsvRow& row);

  TakeRow take_;
  Complain complain_;
  CsvLines csv_;
  std::vector<CsvRow> rows_;
  BillColumns columns_;
  DecimalMark mark_;
  std::vector<std::pair<std::size_t, std::string>> tag_columns_;  // AWS: resourceTags/user:Name
  std::int64_t heading_line_ = 0;
  std::optional<double> stated_total_;
  bool ambiguous_ = false;
};

// Whether one of the first lines holds the headings of a bill or a price list: its dialect, else empty.
std::string bill_dialect_of(std::string_view head);

// "{"a": "b"}" or the same without its braces, or "a=b;c=d": tags and additional information.
std::vector<std::pair<std::string, std::string>> bill_tags(std::string_view text);

}  // namespace tare
