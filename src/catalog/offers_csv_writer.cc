#include <fmt/format.h>

#include "base/text.h"
#include "catalog/offers_csv.h"

namespace tare {
namespace {

std::string csv_field(const std::string& field) {
  const bool plain = field.find_first_of(",\"\r\n") == std::string::npos &&
                     (field.empty() || (field.front() != ' ' && field.back() != ' '));
  if (plain) return field;
  std::string result = "\"";
  for (const char c : field) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

// The shortest text that reads back as the same number.
std::string number(std::optional<double> value) { return value ? fmt::format("{}", *value) : std::string(); }

std::string date(std::optional<Date> value) { return value ? format_date(*value) : std::string(); }

std::vector<std::string> fields_of(const Offer& o) {
  return {o.provider,
          o.instance,
          o.region,
          std::string(name_of(o.purchase)),
          o.term,
          o.node_type,
          o.gpu,
          fmt::format("{}", o.gpus),
          number(o.price_usd_per_h),
          number(o.price_low_usd_per_h),
          number(o.price_high_usd_per_h),
          o.currency,
          o.billing_period,
          number(o.billing_minimum_s),
          date(o.date),
          date(o.date_from),
          date(o.date_to),
          o.delivery.host,
          o.delivery.packaging,
          o.delivery.gpu_share,
          o.delivery.tenancy,
          join(o.certifications, ";"),
          join(o.regions_seen, " "),
          o.suspect,
          o.source.text,
          o.source.evidence,
          o.source.doubt,
          o.source.note};
}

}  // namespace

std::string write_offers_csv(const std::vector<Offer>& offers) {
  std::string text =
      "provider,instance,region,purchase,term,node_type,gpu,gpus,price_usd_per_h,price_low_usd_per_h,"
      "price_high_usd_per_h,currency,billing_period,billing_minimum_s,date,date_from,date_to,host,packaging,gpu_share,"
      "tenancy,certifications,regions_seen,suspect,source,evidence,doubt,note\n";
  for (const Offer& offer : offers) {
    std::string line;
    for (const std::string& field : fields_of(offer)) line += (line.empty() ? "" : ",") + csv_field(field);
    text += line + '\n';
  }
  return text;
}

}  // namespace tare
