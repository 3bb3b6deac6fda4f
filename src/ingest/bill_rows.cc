#include "ingest/bill_rows.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/json_tree.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr int kHeadingLines = 40;  // an invoice may have lines above its table

// "NULL" is what some exports write for nothing.
bool says_nothing(std::string_view text) {
  return text.empty() || text == "NULL" || text == "null" || says_unknown(text);
}

std::string plain(const Fact& value) {
  if (!value.text().empty()) return std::string(value.text());
  if (const std::int64_t* const number = std::get_if<std::int64_t>(&value.value)) return std::to_string(*number);
  if (const bool* const truth = std::get_if<bool>(&value.value)) return *truth ? "true" : "false";
  return {};
}

bool quoted_word_of_total(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  for (const std::string_view word : {"total", "subtotal", "grand total", "summe", "gesamt", "gesamtsumme",
                                      "rounding error", "zwischensumme", "sum"}) {
    if (lower == word || (lower.starts_with(word) && lower.size() > word.size() &&
                          (lower[word.size()] == ' ' || lower[word.size()] == ':')))
      return true;
  }
  return false;
}

BillColumns columns_in(std::string_view line, char& separator) {
  separator = CsvLines::separator_of(line);
  if (separator == '\0' || line.size() > (256u << 10)) return {};
  return bill_columns(csv_fields(line, separator));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> bill_tags(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> tags;
  text = trim(text);
  if (says_nothing(text) || text == "{}" || text == "[]") return tags;
  if (contains(text, "\":") || contains(text, "\" :")) {
    const bool bare = !text.starts_with('{') && !text.starts_with('[');
    std::string whole(bare ? "{" : "");
    whole += text;
    if (bare) whole += '}';
    const JsonTree tree = read_json_tree(whole);
    const auto take = [&tags](const FactRecord& record) {
      // [{"key": "team", "value": "a"}] of GCP.
      if (record.has("key") && record.has("value")) {
        tags.emplace_back(record.text("key"), plain(*record.find("value")));
        return;
      }
      for (const auto& [name, value] : record.members()) {
        if (tags.size() < 200) tags.emplace_back(name, plain(value));
      }
    };
    if (const FactRecord* const record = tree.root.as_record()) take(*record);
    if (const std::vector<Fact>* const list = tree.root.as_list()) {
      for (const Fact& item : *list) {
        if (item.as_record() != nullptr && tags.size() < 200) take(*item.as_record());
      }
    }
    return tags;
  }
  for (const std::string_view part : split(text, contains(text, ";") ? ';' : ',')) {
    const std::size_t cut = part.find_first_of("=:");
    if (cut != std::string_view::npos && tags.size() < 200) {
      tags.emplace_back(std::string(trim(part.substr(0, cut))), std::string(trim(part.substr(cut + 1))));
    }
  }
  return tags;
}

std::string bill_dialect_of(std::string_view head) {
  for (int i = 0; i < kHeadingLines && !head.empty(); ++i) {
    char separator = '\0';
    const BillColumns columns = columns_in(next_line(head), separator);
    if (!columns.dialect.empty()) return columns.dialect;
  }
  return {};
}

std::string BillRowReader::text(const CsvRow& row, BillRole role) const {
  const std::size_t at = columns_[role];
  if (at >= row.fields.size() || says_nothing(row.fields[at])) return {};
  return row.fields[at];
}

std::optional<double> BillRowReader::amount(const CsvRow& row, BillRole role, BillRow& into) {
  const std::string cell = text(row, role);
  if (cell.empty()) return std::nullopt;
  const std::optional<PrintedAmount> amount = parse_amount(cell, mark_);
  if (!amount) {
    complain_(row.line, cell, "no number in the column of an amount");
    return std::nullopt;
  }
  if (into.currency.empty()) into.currency = std::string(amount->currency);
  ambiguous_ = ambiguous_ || amount->ambiguous;
  return amount->value;
}

void BillRowReader::take_quantity(const CsvRow& row, BillRow& into) {
  const std::string cell = text(row, BillRole::kQuantity);
  into.usage_unit = text(row, BillRole::kUnit);
  if (cell.empty()) return;
  // "51.24 gibibyte month": the unit stands in the cell.
  if (const std::optional<PrintedAmount> quantity = parse_amount(cell, mark_)) {
    into.usage_quantity = quantity->value;
    ambiguous_ = ambiguous_ || quantity->ambiguous;
    if (into.usage_unit.empty()) into.usage_unit = std::string(quantity->rest);
  }
}

void BillRowReader::take_costs(const CsvRow& row, BillRow& into) {
  into.cost = amount(row, BillRole::kCost, into);
  into.list_cost = amount(row, BillRole::kListCost, into);
  into.effective_cost = amount(row, BillRole::kEffectiveCost, into);
  into.unit_price = amount(row, BillRole::kUnitPrice, into);
  if (columns_.has(BillRole::kCredits)) {
    const std::string cell = text(row, BillRole::kCredits);
    DecimalMark unused = mark_;
    if (const std::optional<PrintedAmount> credits = parse_amount(cell, unused)) into.credits = credits->value;
  }
  if (!columns_.dialect.starts_with("AWS CUR") || into.effective_cost) return;
  // The report states the effective cost by how the usage is covered.
  if (into.charge_category == "DiscountedUsage") {
    into.effective_cost = amount(row, BillRole::kReservationCost, into);
  } else if (into.charge_category == "SavingsPlanCoveredUsage") {
    into.effective_cost = amount(row, BillRole::kSavingsPlanCost, into);
  } else if (into.charge_category == "SavingsPlanNegation") {
    into.effective_cost = 0;
  } else if (into.charge_category == "Usage") {
    into.effective_cost = into.cost;
  }
}

// Azure's AdditionalInfo: {"ServiceType": "Standard_ND96asr_v4", "VCPUs": 96, …}.
void BillRowReader::take_additional(const CsvRow& row, BillRow& into) const {
  const std::string cell = text(row, BillRole::kAdditionalInfo);
  if (cell.empty()) return;
  for (const auto& [name, value] : bill_tags(cell)) {
    if (equals_ignoring_case(name, "ServiceType") && into.instance_type.empty()) into.instance_type = value;
    if (equals_ignoring_case(name, "VCPUs")) into.vcpus = to_integer(value);
  }
}

// "Total,,,12.30" below the rows.
bool BillRowReader::is_total(const CsvRow& row) {
  std::size_t filled = 0;
  bool word = false;
  std::optional<double> last;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const std::string& field = row.fields[i];
    if (field.empty()) continue;
    ++filled;
    if (quoted_word_of_total(field)) word = true;
    DecimalMark mark = mark_;
    if (const std::optional<PrintedAmount> amount = parse_amount(field, mark)) last = amount->value;
  }
  if (!word || filled > std::max<std::size_t>(2, row.fields.size() / 3)) return false;
  if (last) stated_total_ = last;
  return true;
}

void BillRowReader::take_row(const CsvRow& row) {
  const std::size_t wanted = columns_.headings.size();
  const bool empty =
      std::all_of(row.fields.begin(), row.fields.end(), [](const std::string& field) { return field.empty(); });
  if (empty) return;
  if (wanted >= 3 && is_total(row)) return;
  if (row.fields.size() == 1 && (row.fields[0] == "..." || row.fields[0] == "…")) {
    complain_(row.line, row.fields[0], "rows were left out here");
    return;
  }
  if (row.fields.size() < wanted && row.fields.size() * 2 < wanted) {
    complain_(row.line, join(row.fields, ","), "fewer columns than the header");
    return;
  }
  if (row.fields.size() > wanted + 1 || (row.fields.size() == wanted + 1 && !row.fields.back().empty())) {
    complain_(row.line, join(row.fields, ","), "more columns than the header");
    return;
  }
  BillRow into;
  into.line = row.line;
  into.provider = text(row, BillRole::kProvider);
  into.service = text(row, BillRole::kService);
  into.sku = text(row, BillRole::kSku);
  into.sku_id = text(row, BillRole::kSkuId);
  into.description = text(row, BillRole::kDescription);
  into.region = text(row, BillRole::kRegion);
  into.zone = text(row, BillRole::kZone);
  into.resource = text(row, BillRole::kResource);
  into.account = text(row, BillRole::kAccount);
  into.currency = text(row, BillRole::kCurrency);
  if (into.currency.empty()) into.currency = columns_.currency;
  // Categories are kept as printed: an empty one and a NULL are two things in a bill.
  into.charge_category = text(row, BillRole::kChargeCategory);
  into.pricing_category = text(row, BillRole::kPricingCategory);
  into.commitment_type = text(row, BillRole::kCommitmentType);
  into.commitment_id = text(row, BillRole::kCommitmentId);
  into.start = text(row, BillRole::kStart);
  into.end = text(row, BillRole::kEnd);
  into.instance_type = text(row, BillRole::kInstanceType);
  take_quantity(row, into);
  take_costs(row, into);
  take_additional(row, into);
  into.tags = bill_tags(text(row, BillRole::kTags));
  for (const auto& [at, name] : tag_columns_) {
    if (at < row.fields.size() && !row.fields[at].empty()) into.tags.emplace_back(name, row.fields[at]);
  }
  take_(std::move(into), row.fields);
}

void BillRowReader::drain() {
  for (const CsvRow& row : rows_) take_row(row);
  rows_.clear();
}

bool BillRowReader::take(std::string_view line, std::int64_t number) {
  if (!has_headings()) {
    char separator = '\0';
    BillColumns columns = columns_in(line, separator);
    if (columns.dialect.empty()) return false;
    columns_ = std::move(columns);
    csv_ = CsvLines(separator);
    mark_.comma = separator == ';';
    heading_line_ = number;
    for (std::size_t i = 0; i < columns_.headings.size() && tag_columns_.size() < 200; ++i) {
      const std::string& heading = columns_.headings[i];
      for (const std::string_view prefix : {"resourceTags/", "resource_tags_"}) {
        if (heading.starts_with(prefix)) tag_columns_.emplace_back(i, heading.substr(prefix.size()));
      }
    }
    return true;
  }
  if (trim(line).empty()) return true;
  if (trim(line).starts_with("```")) return true;
  csv_.take(line, number, rows_);
  drain();
  return true;
}

void BillRowReader::finish() {
  csv_.finish(rows_);
  drain();
}

}  // namespace tare
