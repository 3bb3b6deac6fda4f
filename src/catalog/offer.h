// A node type at a price.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "catalog/node_type.h"
#include "catalog/source.h"

namespace tare {

enum class Purchase { kOnDemand, kSpot, kReserved, kOwned };
std::string_view name_of(Purchase purchase);  // "on_demand"
std::optional<Purchase> parse_purchase(std::string_view text);
const std::vector<std::string>& purchase_names();

// What an owner of nodes says of how they stand and what becomes of them. Text values, checked when read.
struct Ownership {
  bool colocation = false;            // space and cooling at a rate by the watt instead of an own building
  std::string cooling = "auto";       // air, liquid; auto: by the density of its racks
  std::string residual = "progress";  // progress, decline, table, resale: how value falls with age (docs/bill.md)
};

struct Offer {
  std::string id;                          // provider/instance/region/purchase[-term], lower case
  std::string provider, instance, region;  // region "*" = not stated
  Purchase purchase = Purchase::kOnDemand;
  std::string term;                       // "1y", "3y" for reserved
  std::string node_type;                  // id; empty when none is known
  std::string gpu;                        // an accelerator id
  int gpus = 0;                           // of one unit that is sold
  std::optional<double> price_usd_per_h;  // of the unit; nullopt when owned
  std::optional<double> price_low_usd_per_h, price_high_usd_per_h;
  std::string currency = "USD";
  std::string billing_period;  // second, minute, hour, month; empty = unknown
  std::optional<double> billing_minimum_s;
  std::optional<Date> date;                // of the price
  std::optional<Date> date_from, date_to;  // the span its snapshot was taken in, when undated
  Delivery delivery;
  Ownership ownership;  // when owned
  std::vector<std::string> certifications;
  std::vector<std::string> regions_seen;  // what a price of region "*" was gathered from; empty = not stated
  std::string suspect;                    // why not to trust it; such a row is ranked only on request
  Source source;
};

// provider/instance/region/purchase[-term] in lower case, blanks as '-'; an empty region is "*".
std::string make_offer_id(const Offer& offer);

inline double price_usd_per_gpu_h(const Offer& offer) { return offer.price_usd_per_h.value_or(0.0) / offer.gpus; }

// Stale: no date and no span, or the newest day it can be from is more than `max_age_days` before `as_of`.
// The span's end counts for an undated price, so its age is a lower bound; price_date_text says which it is.
bool is_stale(const Offer& offer, Date as_of, int max_age_days);
std::optional<int> price_age_days(const Offer& offer, Date as_of);
std::string price_date_text(const Offer& offer);  // "2026-05-24", "2025-06..2026-08", "undated"

}  // namespace tare
