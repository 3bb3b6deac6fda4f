#include "ingest/bill_summary.h"

#include <algorithm>

#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kNames = 2000;
constexpr std::size_t kServices = 200;

template <typename Map>
typename Map::mapped_type* entry(Map& map, const std::string& name) {
  if (map.size() >= kNames && map.find(name) == map.end()) return nullptr;
  return &map[name];
}

void set_text(FactRecord& record, std::string_view name, const std::string& text) {
  if (!text.empty()) record.set(name, as_text(text));
}

void set_number(FactRecord& record, std::string_view name, const std::optional<double>& value) {
  if (value) record.set(name, *value);
}

}  // namespace

FactRecord bill_row_record(const BillRow& row) {
  FactRecord record(row.line);
  set_text(record, "provider", row.provider);
  set_text(record, "service", row.service);
  set_text(record, "sku", row.sku);
  set_text(record, "sku_id", row.sku_id);
  set_text(record, "description", row.description);
  set_text(record, "region", row.region);
  set_text(record, "zone", row.zone);
  set_text(record, "resource", row.resource);
  set_text(record, "account", row.account);
  set_number(record, "usage_quantity", row.usage_quantity);
  set_text(record, "usage_unit", row.usage_unit);
  set_number(record, "unit_price", row.unit_price);
  set_number(record, "cost", row.cost);
  set_number(record, "effective_cost", row.effective_cost);
  set_number(record, "list_cost", row.list_cost);
  set_number(record, "credits", row.credits);
  set_text(record, "currency", row.currency);
  set_text(record, "charge_category", row.charge_category);
  set_text(record, "pricing_category", row.pricing_category);
  set_text(record, "commitment_type", row.commitment_type);
  set_text(record, "commitment_id", row.commitment_id);
  set_text(record, "start", row.start);
  set_text(record, "end", row.end);
  set_text(record, "instance_type", row.instance_type);
  if (row.vcpus) record.set("vcpus", *row.vcpus);
  if (!row.tags.empty()) {
    FactRecord& tags = record.record("tags");
    for (const auto& [name, value] : row.tags) {
      if (tags.members().size() < 100) tags.set(name, value);
    }
  }
  return record;
}

void BillSummary::count_cell(std::string_view name, std::string_view cell) {
  std::map<std::string, std::int64_t>& counts = cells_[std::string(name)];
  if (std::int64_t* const count = entry(counts, std::string(cell.substr(0, 200)))) ++*count;
}

void BillSummary::add(BillRow row) {
  ++rows_;
  cost_.add(row.cost);
  effective_.add(row.effective_cost);
  list_.add(row.list_cost);
  credits_.add(row.credits);
  if (row.cost && *row.cost < 0) ++negative_;
  if (row.cost && *row.cost == 0 && row.effective_cost && *row.effective_cost > 0) ++covered_;
  if (!row.provider.empty()) {
    if (std::int64_t* const count = entry(providers_, row.provider)) ++*count;
  }
  const auto add_to = [&row](std::map<std::string, Sums>& map, const std::string& name) {
    if (name.empty()) return;
    if (Sums* const sums = entry(map, name)) {
      ++sums->rows;
      sums->cost.add(row.cost.value_or(0));
    }
  };
  add_to(services_, row.service);
  add_to(currencies_, row.currency);
  add_to(instances_, row.instance_type);
  if (row.usage_quantity && !row.usage_unit.empty()) {
    if (ExactSum* const sum = entry(usage_, row.usage_unit)) sum->add(*row.usage_quantity);
  }
  // Dates of one file are written one way: those that begin with the year sort as texts.
  const auto sorts = [](const std::string& date) {
    const std::string_view year = std::string_view(date).substr(0, 4);
    return date.size() >= 8 && year.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (sorts(row.start) && (first_start_.empty() || row.start < first_start_)) first_start_ = row.start;
  const std::string& end = row.end.empty() ? row.start : row.end;
  if (sorts(end) && end > last_end_) last_end_ = end;
  if (kept_.wants_next()) kept_.add(bill_row_record(row));
}

void BillSummary::give(Reading& reading) {
  FactRecord& facts = reading.facts;
  facts.set("row_count", rows_);
  if (currencies_.size() == 1) facts.set("currency", currencies_.begin()->first);
  if (!currencies_.empty()) {
    std::vector<Fact>& list = facts.list("currencies");
    for (const auto& [currency, sums] : currencies_) list.push_back(Fact::of(currency));
  }
  if (currencies_.size() > 1) {
    FactRecord& record = facts.record("cost_by_currency");
    for (const auto& [currency, sums] : currencies_) record.add(currency, Fact::of(sums.cost.value()));
    reading.note("the bill has several currencies: sums over all rows would mix them, see cost_by_currency");
  } else {
    if (cost_.any) facts.set("cost", cost_.sum.value());
    if (effective_.any) facts.set("effective_cost", effective_.sum.value());
    if (list_.any) facts.set("list_cost", list_.sum.value());
    if (credits_.any) facts.set("credits", credits_.sum.value());
  }
  facts.set("negative_cost_rows", negative_);
  if (effective_.any) facts.set("covered_rows", covered_);
  if (!first_start_.empty()) facts.set("first_start", first_start_);
  if (!last_end_.empty()) facts.set("last_end", last_end_);
  if (!providers_.empty()) {
    FactRecord& record = facts.record("providers");
    for (const auto& [name, count] : providers_) record.add(name, Fact::of(count));
  }
  for (const auto& [name, counts] : cells_) {
    FactRecord& record = facts.record(name);
    for (const auto& [cell, count] : counts) record.add(cell, Fact::of(count));
  }
  if (!usage_.empty()) {
    FactRecord& record = facts.record("usage_by_unit");
    for (const auto& [unit, sum] : usage_) record.add(unit, Fact::of(sum.value()));
  }
  const auto give_sums = [&](const std::map<std::string, Sums>& map, std::string_view list, std::string_view name) {
    std::vector<std::pair<const std::string*, const Sums*>> sorted;
    sorted.reserve(map.size());
    for (const auto& [key, sums] : map) sorted.emplace_back(&key, &sums);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second->cost.value() > b.second->cost.value(); });
    for (const auto& [key, sums] : sorted) {
      if (facts.find_list(list) != nullptr && facts.find_list(list)->size() >= kServices) break;
      FactRecord& record = facts.append(list, 0);
      record.set(name, *key);
      record.set("rows", sums->rows);
      if (cost_.any && currencies_.size() <= 1) record.set("cost", sums->cost.value());
    }
  };
  give_sums(services_, "services", "service");
  give_sums(instances_, "instance_types", "instance_type");
  kept_.give(facts, "rows", reading);
}

}  // namespace tare
