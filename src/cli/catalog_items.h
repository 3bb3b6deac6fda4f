// The catalog's entries as lists of named fields, from which lists, single views, CSV and JSON are made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "catalog/catalog.h"
#include "report/table.h"

namespace tare {

struct Field {
  enum class Kind { kText, kNumber, kTruth, kList };
  std::string id;     // "memory_bytes"
  std::string title;  // for people
  Kind kind = Kind::kText;
  bool known = true;
  std::string text = {};   // for people: "80 GiB"
  std::string value = {};  // for programs: "85899345920"
  // Whether lists show it, and how long they hold on to it; programs always get it.
  bool listed = false;
  Importance importance = Importance::kUseful;
};

struct CatalogItem {
  std::string id;
  std::vector<Field> fields;
  std::vector<Source> sources;  // the first is the entry's own; others say what is theirs in `note`
};

// Words that `tare catalog KIND` takes.
const std::vector<std::string>& catalog_kinds();

// Entries of a kind, in catalog order. `as_of` decides which prices are stale.
std::vector<CatalogItem> catalog_items(const Catalog& catalog, std::string_view kind, Date as_of);

}  // namespace tare
