// Builds the fields of one catalog entry; what is not known stays a field, marked as unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/catalog_items.h"

namespace tare {

class FieldList {
 public:
  explicit FieldList(CatalogItem& item) : item_(item) {}

  // In lists too, with this importance. Applies to the field added last.
  FieldList& listed(Importance importance);

  // An empty or zero value of the field added last means "none", which is known.
  FieldList& or_none();

  FieldList& list(std::string id, std::string title, const std::vector<std::string>& values);  // empty = unknown
  FieldList& text(std::string id, std::string title, std::string value);                       // empty = unknown
  FieldList& truth(std::string id, std::string title, std::optional<bool> value);
  FieldList& number(std::string id, std::string title, std::optional<double> value);
  FieldList& number(std::string id, std::string title, std::optional<double> value, std::string (*show)(double));
  // 0 means that it is not known.
  FieldList& known_number(std::string id, std::string title, double value, std::string (*show)(double));

 private:
  CatalogItem& item_;
};

// Numbers for people, as FieldList::number takes them.
std::string show_bytes_per_s(double bytes);  // "3.35 TB/s"
std::string show_plain(double value);        // "132"
std::string show_usd_per_hour(double usd);   // "$24.00/h"

}  // namespace tare
