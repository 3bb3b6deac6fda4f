#include "cli/field_list.h"

#include <fmt/format.h>

#include <cmath>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/option_tables.h"

namespace tare {

FieldList& FieldList::listed(Importance importance) {
  item_.fields.back().listed = true;
  item_.fields.back().importance = importance;
  return *this;
}

FieldList& FieldList::or_none() {
  Field& field = item_.fields.back();
  if (field.known && field.value != "0") return *this;
  field.known = true;
  field.text = "none";
  return *this;
}

FieldList& FieldList::list(std::string id, std::string title, const std::vector<std::string>& values) {
  text(std::move(id), std::move(title), join(values, ", "));
  item_.fields.back().kind = Field::Kind::kList;
  item_.fields.back().value = join(values, ";");
  return *this;
}

FieldList& FieldList::text(std::string id, std::string title, std::string value) {
  Field field{std::move(id), std::move(title), Field::Kind::kText};
  field.known = !value.empty();
  field.text = field.value = std::move(value);
  item_.fields.push_back(std::move(field));
  return *this;
}

FieldList& FieldList::truth(std::string id, std::string title, std::optional<bool> value) {
  Field field{std::move(id), std::move(title), Field::Kind::kTruth};
  field.known = value.has_value();
  if (value) {
    field.text = *value ? "yes" : "no";
    field.value = *value ? "true" : "false";
  }
  item_.fields.push_back(std::move(field));
  return *this;
}

FieldList& FieldList::number(std::string id, std::string title, std::optional<double> value) {
  return number(std::move(id), std::move(title), value, show_plain);
}

FieldList& FieldList::number(std::string id, std::string title, std::optional<double> value,
                             std::string (*show)(double)) {
  Field field{std::move(id), std::move(title), Field::Kind::kNumber};
  field.known = value.has_value();
  if (value) {
    field.text = show(*value);
    field.value = exact_number(*value);
  }
  item_.fields.push_back(std::move(field));
  return *this;
}

FieldList& FieldList::known_number(std::string id, std::string title, double value, std::string (*show)(double)) {
  return number(std::move(id), std::move(title), value > 0 ? std::optional(value) : std::nullopt, show);
}

std::string show_bytes_per_s(double bytes) { return format_bytes(bytes) + "/s"; }

std::string show_plain(double value) {
  if (std::fabs(value) >= 10000 && value == std::floor(value)) return format_count(value);
  return fmt::format("{:.6g}", value);
}

std::string show_usd_per_hour(double usd) { return rate_text(usd) + "/h"; }

}  // namespace tare
