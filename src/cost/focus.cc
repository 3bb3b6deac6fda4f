#include "cost/focus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace tare {
namespace {

constexpr std::array<const char*, 37> kColumns = {"BilledCost",
                                                  "EffectiveCost",
                                                  "ListCost",
                                                  "ContractedCost",
                                                  "BillingAccountId",
                                                  "BillingAccountName",
                                                  "BillingCurrency",
                                                  "BillingPeriodStart",
                                                  "BillingPeriodEnd",
                                                  "ChargePeriodStart",
                                                  "ChargePeriodEnd",
                                                  "ChargeCategory",
                                                  "ChargeClass",
                                                  "ChargeDescription",
                                                  "ChargeFrequency",
                                                  "CommitmentDiscountCategory",
                                                  "CommitmentDiscountStatus",
                                                  "ConsumedQuantity",
                                                  "ConsumedUnit",
                                                  "ContractedUnitPrice",
                                                  "InvoiceIssuerName",
                                                  "ListUnitPrice",
                                                  "PricingCategory",
                                                  "PricingQuantity",
                                                  "PricingUnit",
                                                  "ProviderName",
                                                  "PublisherName",
                                                  "RegionId",
                                                  "ResourceId",
                                                  "ServiceCategory",
                                                  "ServiceName",
                                                  "SkuId",
                                                  "Tags",
                                                  "x_TareLine",
                                                  "x_TareP10Usd",
                                                  "x_TareP50Usd",
                                                  "x_TareP90Usd"};

std::string_view service_category(std::string_view line) {
  if (line == "storage" || line == "checkpoint_storage") return "Storage";
  if (line == "egress" || line == "cross_zone") return "Networking";
  if (line == "operations" || line == "compliance" || line == "support") return "Management and Governance";
  return "Compute";
}

std::string_view pricing_category(Purchase purchase) {
  switch (purchase) {
    case Purchase::kOnDemand:
      return "Standard";
    case Purchase::kSpot:
      return "Dynamic";
    case Purchase::kReserved:
      return "Committed";
    case Purchase::kOwned:
      break;
  }
  return "Other";
}

// Beyond this a date has no four digits of a year.
constexpr double kMostDays = 1e6;

Date first_of_month(Date date) {
  std::string text = format_date(date);
  text.replace(text.size() - 2, 2, "01");
  return parse_date(text).value_or(date);
}

std::string timestamp(Date start, double seconds) {
  const auto whole = static_cast<long long>(std::min(std::ceil(seconds), kMostDays * 86400));
  const Date day{start.days + static_cast<int>(whole / 86400)};
  const long long rest = whole % 86400;
  return fmt::format("{}T{:02}:{:02}:{:02}Z", format_date(day), rest / 3600, rest / 60 % 60, rest % 60);
}

std::string money(double usd) { return fmt::format("{:.2f}", usd); }
std::string money(const std::optional<double>& usd) { return usd ? money(*usd) : std::string(); }

std::string cell_of(std::string_view column, const BillLine& line, const FocusBill& of) {
  const Bill& bill = *of.bill;
  const Offer& offer = *of.offer;
  const bool rent = line.id == "rent";
  const bool committed = offer.purchase == Purchase::kReserved && rent;
  std::string seller = offer.purchase == Purchase::kOwned ? "owned" : offer.provider;
  const double hours = bill.billed_gpu_hours;
  if (column == "BilledCost" || column == "EffectiveCost" || column == "ListCost" || column == "ContractedCost") {
    return money(line.amount.usd);
  }
  if (column == "BillingCurrency") return "USD";
  if (column == "BillingPeriodStart") return fmt::format("{}T00:00:00Z", format_date(first_of_month(of.start)));
  if (column == "BillingPeriodEnd") {
    const Date last{of.start.days + static_cast<int>(std::min(of.wall_s / 86400, kMostDays))};
    return fmt::format("{}T00:00:00Z", format_date(first_of_month({first_of_month(last).days + 31})));
  }
  if (column == "ChargePeriodStart") return timestamp(of.start, 0);
  if (column == "ChargePeriodEnd") return timestamp(of.start, of.wall_s);
  if (column == "ChargeCategory") return "Usage";
  if (column == "ChargeDescription") return line.formula.note.empty() ? line.id : line.formula.note;
  if (column == "ChargeFrequency") return "Usage-Based";
  if (column == "CommitmentDiscountCategory") return committed ? "Usage" : "";
  if (column == "CommitmentDiscountStatus") return committed ? "Used" : "";
  if (column == "ConsumedQuantity" || column == "PricingQuantity") return rent ? fmt::format("{}", hours) : "";
  if (column == "ConsumedUnit" || column == "PricingUnit") return rent ? "GPU-Hours" : "";
  if (column == "ListUnitPrice" || column == "ContractedUnitPrice") {
    return rent && hours > 0 ? fmt::format("{}", line.formula.value / hours) : "";
  }
  if (column == "InvoiceIssuerName" || column == "ProviderName" || column == "PublisherName") return seller;
  if (column == "PricingCategory") return std::string(pricing_category(offer.purchase));
  if (column == "RegionId") return offer.region == "*" ? "" : offer.region;
  if (column == "ResourceId") return offer.id;
  if (column == "ServiceCategory") return std::string(service_category(line.id));
  if (column == "ServiceName") return offer.instance.empty() ? seller : offer.instance;
  if (column == "SkuId") return offer.id;
  if (column == "Tags") return "{}";
  if (column == "x_TareLine") return line.id;
  if (column == "x_TareP10Usd") return money(line.amount.p10);
  if (column == "x_TareP50Usd") return money(line.amount.p50);
  if (column == "x_TareP90Usd") return money(line.amount.p90);
  return "";  // BillingAccountId, BillingAccountName, ChargeClass: there is no account yet, and no correction
}

}  // namespace

Table focus_table(const std::vector<FocusBill>& bills) {
  Table table;
  for (const char* const column : kColumns) table.columns.push_back({column, column});
  for (const FocusBill& of : bills) {
    if (!is_known(*of.bill)) continue;
    for (const BillLine& line : of.bill->lines) {
      Row row;
      for (const char* const column : kColumns) row.cells.emplace_back(cell_of(column, line, of));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace tare
