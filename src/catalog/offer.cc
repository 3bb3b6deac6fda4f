#include "catalog/offer.h"

#include <algorithm>

#include "base/text.h"

namespace tare {
namespace {

// The newest day the price can be from. A span without an end says nothing about its age.
std::optional<Date> newest_day(const Offer& offer) { return offer.date ? offer.date : offer.date_to; }

std::string month_of(Date date) { return format_date(date).substr(0, 7); }

}  // namespace

// In the order of the enum.
const std::vector<std::string>& purchase_names() {
  static const std::vector<std::string> names = {"on_demand", "spot", "reserved", "owned"};
  return names;
}

std::string_view name_of(Purchase purchase) { return purchase_names().at(static_cast<std::size_t>(purchase)); }

std::optional<Purchase> parse_purchase(std::string_view text) {
  const auto& names = purchase_names();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Purchase>(found - names.begin());
}

std::string make_offer_id(const Offer& offer) {
  std::string id = offer.provider + '/' + offer.instance + '/' + (offer.region.empty() ? "*" : offer.region) + '/';
  id += name_of(offer.purchase);
  if (!offer.term.empty()) id += '-' + offer.term;
  std::replace_if(
      id.begin(), id.end(), [](char c) { return c == ' ' || c == '\t'; }, '-');
  return to_lower(id);
}

std::optional<int> price_age_days(const Offer& offer, Date as_of) {
  const auto newest = newest_day(offer);
  if (!newest) return std::nullopt;
  return as_of.days - newest->days;
}

bool is_stale(const Offer& offer, Date as_of, int max_age_days) {
  const auto age = price_age_days(offer, as_of);
  return !age || *age > max_age_days;
}

std::string price_date_text(const Offer& offer) {
  if (offer.date) return format_date(*offer.date);
  if (offer.date_from && offer.date_to) {
    const std::string from = month_of(*offer.date_from);
    const std::string to = month_of(*offer.date_to);
    return from == to ? from : from + ".." + to;
  }
  if (offer.date_to) return "until " + month_of(*offer.date_to);
  if (offer.date_from) return "since " + month_of(*offer.date_from);
  return "undated";
}

}  // namespace tare
