// What is known of the world: the shipped facts, compiled into the binary, overlaid by id from a directory.
//
// A Catalog is built once and then only read: safe from many threads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "catalog/accelerator.h"
#include "catalog/model_architecture.h"
#include "catalog/node_type.h"
#include "catalog/offer.h"
#include "catalog/parameter.h"
#include "catalog/stack.h"
#include "catalog/step_error.h"

namespace tare {

struct Catalog {
  std::vector<Accelerator> accelerators;
  std::vector<Nic> nics;
  std::vector<NodeType> node_types;
  std::vector<Offer> offers;         // the one that counts per id, sorted by id
  std::vector<Offer> offer_history;  // other dates of those ids and suspect rows a sound one superseded
  std::vector<ModelArchitecture> models;
  std::vector<CostParameter> parameters;
  std::vector<SoftwareStack> stacks;
  std::vector<StepError> step_errors;
  Diagnostics left_out;  // rows understood but not usable (a price not in USD), each with its reason
};

// The shipped catalog, then every file of `overlay_directory` (same names and columns; empty = none) over it by id: a
// row with a known id replaces it, others are added.
//
// Of several rows of one offer id the newest counts, the others are its history; an overlaid row is newer than a
// shipped one whatever its date, and a suspect row never supersedes a sound one. A spot price equal to the on-demand
// price of the same instance and region is no spot market: such an offer is marked suspect.
Result<Catalog> load_catalog(const std::string& overlay_directory = {});

// By id or alias, ASCII case ignored. nullptr when unknown.
const Accelerator* find_accelerator(const Catalog& catalog, std::string_view id_or_alias);
const NodeType* find_node_type(const Catalog& catalog, std::string_view id);
const Offer* find_offer(const Catalog& catalog, std::string_view id);
const ModelArchitecture* find_model(const Catalog& catalog, std::string_view id);
const CostParameter* find_parameter(const Catalog& catalog, std::string_view id);
const Nic* find_nic(const Catalog& catalog, std::string_view id_or_name);
const SoftwareStack* find_stack(const Catalog& catalog, std::string_view id);

// The parameter; a programmer error if the catalog has none of that id (a test checks all ids used).
const CostParameter& parameter(const Catalog& catalog, std::string_view id);

// All ids of a kind, for did-you-mean.
std::vector<std::string> accelerator_ids(const Catalog& catalog);
std::vector<std::string> model_ids(const Catalog& catalog);
std::vector<std::string> offer_ids(const Catalog& catalog);
std::vector<std::string> node_type_ids(const Catalog& catalog);
std::vector<std::string> stack_ids(const Catalog& catalog);

// "unknown GPU 'H100-SMX5'", with the nearest ids as help: errors without a place, for readers and the command line.
Diagnostic unknown_accelerator(const Catalog& catalog, std::string_view word);
Diagnostic unknown_node_type(const Catalog& catalog, std::string_view word);
Diagnostic unknown_offer(const Catalog& catalog, std::string_view word);
Diagnostic unknown_model(const Catalog& catalog, std::string_view word);
Diagnostic unknown_stack(const Catalog& catalog, std::string_view word);

// Offers that match any of the case-insensitive globs, in id order. A glob matches the whole id or the id up to one of
// its slashes: "owned/dgx-h100" finds "owned/dgx-h100/*/owned".
bool offer_matches(const Offer& offer, std::string_view glob);
std::vector<const Offer*> match_offers(const Catalog& catalog, const std::vector<std::string>& globs);

}  // namespace tare
