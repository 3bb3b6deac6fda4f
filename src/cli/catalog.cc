// tare catalog: list, show, import.
#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/catalog_import.h"
#include "cli/catalog_view.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"

namespace tare {
namespace {

// "gpu" and "gpus", "node" and "nodes" mean the same.
std::string kind_of(const std::string& word) {
  const auto& kinds = catalog_kinds();
  if (std::find(kinds.begin(), kinds.end(), word) != kinds.end()) return word;
  const std::string plural = word + "s";
  return std::find(kinds.begin(), kinds.end(), plural) != kinds.end() ? plural : "";
}

Diagnostic unknown_kind(const std::string& word) {
  std::vector<std::string> words = catalog_kinds();
  words.emplace_back("import");
  const std::string near = did_you_mean(word, words);
  return make_error("unknown-kind", fmt::format("the catalog has no '{}'", word),
                    near.empty() ? "it has " + join(catalog_kinds(), ", ") : fmt::format("did you mean \"{}\"?", near));
}

std::string id_of(const Catalog& catalog, const std::string& kind, const std::string& word) {
  // Accelerators and NICs are known by other names too.
  if (kind == "gpus") {
    if (const Accelerator* gpu = find_accelerator(catalog, word)) return gpu->id;
  }
  if (kind == "nics") {
    if (const Nic* nic = find_nic(catalog, word)) return nic->id;
  }
  return word;
}

// An id before a pattern: the '*' of aws/p5.48xlarge/*/spot is a region that nobody states.
std::vector<CatalogItem> select(std::vector<CatalogItem> items, const std::string& pattern) {
  std::vector<CatalogItem> selected;
  const auto named = std::find_if(items.begin(), items.end(),
                                  [&](const CatalogItem& item) { return equals_ignoring_case(item.id, pattern); });
  if (named != items.end()) {
    selected.push_back(std::move(*named));
    return selected;
  }
  for (CatalogItem& item : items) {
    if (glob_matches(pattern, item.id)) selected.push_back(std::move(item));
  }
  return selected;
}

Diagnostic nothing_matches(const std::string& kind, const std::string& word, const std::vector<CatalogItem>& items) {
  std::vector<std::string> ids;
  ids.reserve(items.size());
  for (const CatalogItem& item : items) ids.push_back(item.id);
  const std::string near = did_you_mean(word, ids);
  return make_error("unknown-id", fmt::format("nothing of the catalog's {} matches '{}'", kind, word),
                    near.empty()
                        ? fmt::format("'tare catalog {}' lists them; '*' stands for any run of characters", kind)
                        : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

Result<ExitCode> run_catalog(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::vector<std::string>& operands = arguments.operands;
  if (operands.front() == "import") return run_catalog_import(context);
  const std::string kind = kind_of(operands.front());
  if (kind.empty()) return fail(unknown_kind(operands.front()));
  if (operands.size() > 2) return fail("extra-operand", fmt::format("unexpected '{}'", operands[2]));

  const Result<Catalog> catalog = read_catalog(arguments);
  if (!catalog) return tl::unexpected(catalog.error());
  std::vector<CatalogItem> items = catalog_items(*catalog, kind, as_of(arguments));
  bool single = false;
  if (operands.size() == 2) {
    const std::string word = id_of(*catalog, kind, operands[1]);
    std::vector<CatalogItem> selected = select(items, word);
    if (selected.empty()) return fail(nothing_matches(kind, word, items));
    items = std::move(selected);
    single = items.size() == 1;
  }
  const bool explain = arguments.is_on("explain");
  Answer answer;
  answer.document = [&] { return single ? item_document(items.front()) : list_document(kind, items, explain); };
  answer.table = [&] { return list_table(items, explain); };
  answer.json = [&] { return catalog_json(kind, items); };
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());
  return ExitCode::kYes;
}

}  // namespace tare
