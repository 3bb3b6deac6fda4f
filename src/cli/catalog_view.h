// How catalog entries are shown.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "cli/catalog_items.h"
#include "report/document.h"

namespace tare {

// One row an entry. `sources`: where each comes from, too.
Table list_table(const std::vector<CatalogItem>& items, bool sources);

Document list_document(const std::string& kind, const std::vector<CatalogItem>& items, bool sources);

// One entry: every field, known or not, and every source.
Document item_document(const CatalogItem& item);

// {format_version, kind, items[]}: an unknown field is null.
Json catalog_json(const std::string& kind, const std::vector<CatalogItem>& items);

}  // namespace tare
