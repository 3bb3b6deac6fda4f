#include "catalog/catalog.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"

namespace tare {
namespace {

// The row of that id: as it is written first (what files of this project do), then with ASCII case ignored.
template <typename Row>
const Row* find_by_id(const std::vector<Row>& rows, std::string_view id) {
  for (const Row& row : rows) {
    if (row.id == id) return &row;
  }
  for (const Row& row : rows) {
    if (equals_ignoring_case(row.id, id)) return &row;
  }
  return nullptr;
}

template <typename Row>
std::vector<std::string> ids_of(const std::vector<Row>& rows) {
  std::vector<std::string> ids;
  ids.reserve(rows.size());
  for (const Row& row : rows) ids.push_back(row.id);
  return ids;
}

// What somebody may have meant: the ids that begin with the word ("H100"), else the nearest one, else where to look.
std::string suggestion(std::string_view word, const std::vector<std::string>& ids, std::string_view list_command) {
  constexpr std::size_t kMost = 4;
  constexpr std::size_t kShortestBeginning = 3;
  std::vector<std::string> nearest;
  for (const std::string& id : ids) {
    const bool begins = word.size() >= kShortestBeginning && id.size() > word.size() &&
                        equals_ignoring_case(std::string_view(id).substr(0, word.size()), word);
    if (begins && nearest.size() < kMost) nearest.push_back(id);
  }
  if (nearest.empty()) nearest.push_back(did_you_mean(word, ids));
  if (nearest.front().empty()) return fmt::format("`{}` lists them", list_command);
  return fmt::format("did you mean \"{}\"?", join(nearest, "\", \""));
}

Diagnostic unknown(std::string rule, std::string_view kind, std::string_view word, const std::vector<std::string>& ids,
                   std::string_view list_command) {
  return make_error(std::move(rule), fmt::format("unknown {} {}", kind, in_quotes(word)),
                    suggestion(word, ids, list_command));
}

}  // namespace

const Accelerator* find_accelerator(const Catalog& catalog, std::string_view id_or_alias) {
  if (const Accelerator* found = find_by_id(catalog.accelerators, id_or_alias)) return found;
  for (const Accelerator& accelerator : catalog.accelerators) {
    if (equals_ignoring_case(accelerator.name, id_or_alias)) return &accelerator;
    for (const std::string& alias : accelerator.aliases) {
      if (equals_ignoring_case(alias, id_or_alias)) return &accelerator;
    }
  }
  return nullptr;
}

const NodeType* find_node_type(const Catalog& catalog, std::string_view id) {
  return find_by_id(catalog.node_types, id);
}

const Offer* find_offer(const Catalog& catalog, std::string_view id) {
  // Offer ids are lower case and sorted.
  const std::string wanted = to_lower(id);
  const auto found = std::lower_bound(catalog.offers.begin(), catalog.offers.end(), wanted,
                                      [](const Offer& offer, const std::string& key) { return offer.id < key; });
  return found != catalog.offers.end() && found->id == wanted ? &*found : nullptr;
}

const ModelArchitecture* find_model(const Catalog& catalog, std::string_view id) {
  return find_by_id(catalog.models, id);
}

const CostParameter* find_parameter(const Catalog& catalog, std::string_view id) {
  return find_by_id(catalog.parameters, id);
}

const Nic* find_nic(const Catalog& catalog, std::string_view id_or_name) {
  if (const Nic* found = find_by_id(catalog.nics, id_or_name)) return found;
  for (const Nic& nic : catalog.nics) {
    if (equals_ignoring_case(nic.name, id_or_name)) return &nic;
  }
  return nullptr;
}

const SoftwareStack* find_stack(const Catalog& catalog, std::string_view id) { return find_by_id(catalog.stacks, id); }

const CostParameter& parameter(const Catalog& catalog, std::string_view id) {
  const CostParameter* found = find_parameter(catalog, id);
  if (found == nullptr) std::abort();  // a test checks every id the program uses
  return *found;
}

std::vector<std::string> accelerator_ids(const Catalog& catalog) { return ids_of(catalog.accelerators); }
std::vector<std::string> model_ids(const Catalog& catalog) { return ids_of(catalog.models); }
std::vector<std::string> offer_ids(const Catalog& catalog) { return ids_of(catalog.offers); }
std::vector<std::string> node_type_ids(const Catalog& catalog) { return ids_of(catalog.node_types); }
std::vector<std::string> stack_ids(const Catalog& catalog) { return ids_of(catalog.stacks); }

Diagnostic unknown_accelerator(const Catalog& catalog, std::string_view word) {
  return unknown("unknown-gpu", "GPU", word, accelerator_ids(catalog), "tare catalog gpus");
}
Diagnostic unknown_node_type(const Catalog& catalog, std::string_view word) {
  return unknown("unknown-node-type", "node type", word, node_type_ids(catalog), "tare catalog nodes");
}
Diagnostic unknown_offer(const Catalog& catalog, std::string_view word) {
  return unknown("unknown-offer", "offer", word, offer_ids(catalog), "tare catalog offers");
}
Diagnostic unknown_model(const Catalog& catalog, std::string_view word) {
  return unknown("unknown-model", "model", word, model_ids(catalog), "tare catalog models");
}
Diagnostic unknown_stack(const Catalog& catalog, std::string_view word) {
  return unknown("unknown-stack", "software stack", word, stack_ids(catalog), "tare catalog stacks");
}

bool offer_matches(const Offer& offer, std::string_view glob) {
  if (glob_matches(glob, offer.id)) return true;
  for (std::size_t slash = offer.id.find('/'); slash != std::string::npos; slash = offer.id.find('/', slash + 1)) {
    if (glob_matches(glob, std::string_view(offer.id).substr(0, slash))) return true;
  }
  return false;
}

std::vector<const Offer*> match_offers(const Catalog& catalog, const std::vector<std::string>& globs) {
  std::vector<const Offer*> matching;
  for (const Offer& offer : catalog.offers) {
    const bool matches =
        std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return offer_matches(offer, glob); });
    if (matches) matching.push_back(&offer);
  }
  return matching;
}

}  // namespace tare
