// What the columns of a bill or a price list mean, whoever wrote it: AWS Cost and Usage Report (1 and 2), Azure exports
// (old, new, with localised headings), GCP billing export and cost table, FOCUS 1.0 to 1.2, invoices.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

enum class BillRole : std::uint8_t {
  kProvider,
  kService,
  kSku,
  kSkuId,
  kDescription,
  kRegion,
  kZone,
  kResource,
  kAccount,
  kCurrency,
  kQuantity,
  kUnit,
  kUnitPrice,
  kCost,
  kEffectiveCost,
  kReservationCost,  // AWS: effective cost where a reservation covers the usage
  kSavingsPlanCost,  // AWS: and where a savings plan does
  kListCost,
  kCredits,
  kChargeCategory,
  kPricingCategory,
  kCommitmentType,
  kCommitmentId,
  kStart,
  kEnd,
  kTags,
  kAdditionalInfo,
  kInstanceType,
  kGpuModel,
  kGpuCount,
  kPrice,  // of an offer, per hour mostly
  kSpotPrice,
  kCount,
};
constexpr std::size_t kBillRoles = static_cast<std::size_t>(BillRole::kCount);

struct BillColumns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::string dialect;                          // "FOCUS 1.0", "AWS CUR 1", "Azure cost export", "invoice" …
  std::vector<std::string> headings;            // as printed
  std::array<std::size_t, kBillRoles> at = {};  // column of each role
  std::string currency;                         // that a heading names
  std::size_t roles = 0;                        // how many are there

  std::size_t operator[](BillRole role) const { return at[static_cast<std::size_t>(role)]; }
  bool has(BillRole role) const { return (*this)[role] != kNone; }
};

// Heading without case, blanks, signs and translation: "Ressourcengruppe (ResourceGroup)" -> resourcegroup,
// "lineItem/UnblendedCost" and "line_item_unblended_cost" -> lineitemunblendedcost.
std::string bill_heading(std::string_view heading);

// `dialect` is empty when these are no headings of a bill or a price list.
BillColumns bill_columns(const std::vector<std::string>& headings);

}  // namespace tare
