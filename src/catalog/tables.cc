#include "catalog/tables.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tare {

std::string read_gpu(TableReader& row, std::string_view column, const Catalog& known) {
  const std::string word = row.require_text(column);
  if (word.empty()) return {};
  if (const Accelerator* accelerator = find_accelerator(known, word)) return accelerator->id;
  row.error(column, unknown_accelerator(known, word));
  return {};
}

Delivery read_delivery(TableReader& row) {
  const Delivery defaults;
  return {row.word("host", host_names(), defaults.host), row.word("packaging", packaging_names(), defaults.packaging),
          row.word("gpu_share", gpu_share_names(), defaults.gpu_share),
          row.word("tenancy", tenancy_names(), defaults.tenancy)};
}

void check_range(TableReader& row, std::string_view low_column, std::optional<double> low, std::optional<double> base,
                 std::optional<double> high) {
  const bool low_above = low && ((base && *low > *base) || (high && *low > *high));
  const bool base_above = base && high && *base > *high;
  if (!low_above && !base_above) return;
  const auto show = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : std::string("-"); };
  row.error(low_column, "unordered-range",
            fmt::format("expected low <= base <= high, found {}, {}, {}", show(low), show(base), show(high)));
}

}  // namespace tare
