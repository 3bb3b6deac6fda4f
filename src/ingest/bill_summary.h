// A bill's sums and its rows as facts.
//
//   row_count, currency, cost, effective_cost, list_cost, credits; services[] by cost, providers, charge_categories,
//   pricing_categories, commitment_types as printed with their numbers of rows; usage_by_unit; rows[]
// Sums are of one currency; a bill of several has them in cost_by_currency.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/bill_rows.h"
#include "ingest/kept_rows.h"

namespace tare {

class BillSummary {
 public:
  // A category cell as printed ("NULL" and "" are told apart) counts under `name`.
  void count_cell(std::string_view name, std::string_view cell);
  void add(BillRow row);
  void give(Reading& reading);

 private:
  struct Sums {
    std::int64_t rows = 0;
    ExactSum cost;
  };
  struct Total {
    ExactSum sum;
    bool any = false;
    void add(const std::optional<double>& value) {
      if (!value) return;
      sum.add(*value);
      any = true;
    }
  };
  std::int64_t rows_ = 0, negative_ = 0, covered_ = 0;
  Total cost_, effective_, list_, credits_;
  std::map<std::string, std::int64_t> providers_;
  std::map<std::string, Sums> services_, currencies_, instances_;
  std::map<std::string, ExactSum> usage_;
  std::map<std::string, std::map<std::string, std::int64_t>> cells_;
  std::string first_start_, last_end_;
  KeptRows kept_{2000};
};

FactRecord bill_row_record(const BillRow& row);

}  // namespace tare
