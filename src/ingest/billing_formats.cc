#include <vector>

#include "ingest/bill_csv.h"
#include "ingest/families.h"
#include "ingest/price_json.h"

namespace tare {

std::span<const Format> billing_formats() {
  static const std::vector<Format> all = {bill_csv_format(), price_json_format()};
  return all;
}

}  // namespace tare
