#include "ingest/bill_csv.h"

#include <cmath>

#include "base/text.h"
#include "ingest/bill_rows.h"
#include "ingest/bill_summary.h"
#include "ingest/price_offers.h"
#include "ingest/scan.h"

namespace tare {
namespace {

std::string snake(std::string_view heading) {
  std::string name;
  for (std::size_t i = 0; i < heading.size() && name.size() < 60; ++i) {
    const char c = heading[i];
    const bool upper = c >= 'A' && c <= 'Z';
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!word) {
      if (!name.empty() && name.back() != '_') name += '_';
      continue;
    }
    const bool after_lower = i > 0 && heading[i - 1] >= 'a' && heading[i - 1] <= 'z';
    if (upper && after_lower) name += '_';
    name += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

// "{'Gpus': [{… 'SizeInMiB': 81920}], 'TotalGpuMemoryInMiB': 655360}", a Python dict.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view key) {
  const std::optional<std::string_view> rest = after(text, key);
  if (!rest) return std::nullopt;
  const std::size_t begin = rest->find_first_of("0123456789");
  if (begin > 6) return std::nullopt;
  const std::string_view digits = rest->substr(begin);
  return to_integer(digits.substr(0, digits.find_first_not_of("0123456789")));
}

class BillCsv : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    reading_ = &reading;
    return rows_.take(line.text, line.number);
  }

  void finish(Reading& reading) override {
    reading_ = &reading;
    rows_.finish();
    if (!rows_.has_headings()) return;
    const BillColumns& columns = rows_.columns();
    FactRecord& facts = reading.facts;
    facts.set("dialect", columns.dialect, rows_.heading_line());
    std::vector<Fact>& names = facts.list("columns", rows_.heading_line());
    for (const std::string& heading : columns.headings) names.push_back(Fact::of(heading, rows_.heading_line()));
    if (is_list()) {
      if (columns.has(BillRole::kPrice))
        facts.set("price_column", columns.headings[columns[BillRole::kPrice]], rows_.heading_line());
      offers_.give(reading);
    } else {
      if (columns.has(BillRole::kCost))
        facts.set("cost_column", columns.headings[columns[BillRole::kCost]], rows_.heading_line());
      bill_.give(reading);
      if (rows_.stated_total()) facts.set("stated_total", *rows_.stated_total());
    }
    if (rows_.ambiguous_numbers()) {
      reading.note(std::string("amounts like '1,234' are read as ") +
                   (rows_.decimal_comma() ? "1.234, since others of the file have a decimal comma"
                                          : "1234, since nothing shows a decimal comma"));
    }
  }

 private:
  bool is_list() const {
    return rows_.columns().dialect == "SkyPilot catalog" || rows_.columns().dialect == "price list";
  }

  static std::string_view cell(const BillColumns& columns, BillRole role, const std::vector<std::string>& raw) {
    const std::size_t at = columns[role];
    return at < raw.size() ? std::string_view(raw[at]) : std::string_view();
  }

  void take(BillRow&& row, const std::vector<std::string>& raw) {
    const BillColumns& columns = rows_.columns();
    if (is_list()) return take_offer(row, raw);
    const auto count = [&](BillRole role, std::string_view name) {
      if (columns.has(role)) bill_.count_cell(name, cell(columns, role, raw));
    };
    count(BillRole::kChargeCategory, "charge_categories");
    count(BillRole::kPricingCategory, "pricing_categories");
    count(BillRole::kCommitmentType, "commitment_types");
    bill_.add(std::move(row));
  }

  void take_offer(const BillRow& row, const std::vector<std::string>& raw) {
    const BillColumns& columns = rows_.columns();
    FactRecord offer(row.line);
    const auto text = [&](BillRole role, std::string_view name) {
      const std::string_view value = cell(columns, role, raw);
      if (!value.empty()) offer.set(name, value);
    };
    text(BillRole::kProvider, "provider");
    text(BillRole::kInstanceType, "instance_type");
    text(BillRole::kGpuModel, "gpu");
    text(BillRole::kRegion, "region");
    text(BillRole::kZone, "zone");
    const auto amount = [&](BillRole role, std::string_view name) {
      const std::string_view value = cell(columns, role, raw);
      if (value.empty()) return;
      if (const std::optional<PrintedAmount> found = parse_amount(value, mark_)) {
        offer.set(name, found->value);
        if (!found->currency.empty()) offer.set("currency", found->currency);
      } else {
        offer.set(name, value);
      }
    };
    amount(BillRole::kGpuCount, "gpus");
    amount(BillRole::kPrice, "price");
    amount(BillRole::kSpotPrice, "spot_price");
    // A spot price of 0.00 stands where there is none.
    if (offer.number("spot_price") == 0.0) offer.set_unknown("spot_price");
    if (!offer.has("currency") && columns.dialect == "SkyPilot catalog") offer.set("currency", "USD");
    if (!offer.has("currency") && !columns.currency.empty()) offer.set("currency", columns.currency);
    if (!offer.has("currency") && !row.currency.empty()) offer.set("currency", row.currency);
    for (std::size_t i = 0; i < raw.size() && i < columns.headings.size() && i < 200; ++i) {
      const std::string name = snake(columns.headings[i]);
      if (name == "gpu_info") {
        if (const auto size = number_behind(raw[i], "SizeInMiB'")) offer.set("gpu_memory_mib", *size);
        if (const auto total = number_behind(raw[i], "TotalGpuMemoryInMiB'")) offer.set("gpu_memory_total_mib", *total);
        continue;
      }
      if (!name.empty() && !offer.has(name) && !raw[i].empty()) offer.set_parsed(name, raw[i]);
    }
    offers_.add(std::move(offer));
  }

  Reading* reading_ = nullptr;
  BillRowReader rows_{[this](BillRow&& row, const std::vector<std::string>& raw) { take(std::move(row), raw); },
                      [this](std::int64_t line, std::string_view text, std::string_view reason) {
                        if (reading_ != nullptr && !is_list()) reading_->cannot_use(line, text, reason);
                      }};
  BillSummary bill_;
  PriceOffers offers_;
  DecimalMark mark_;
};

int recognise(const Head& head) {
  const std::string_view begin = trim(head.text.substr(0, 4096));
  if (begin.starts_with('{') || begin.starts_with('[')) return confidence::kNone;
  const std::string dialect = bill_dialect_of(head.text);
  if (dialect.empty()) return confidence::kNone;
  if (dialect == "invoice" || dialect == "price list") return confidence::kLikely;
  return confidence::kSure;
}

std::unique_ptr<LineReader> open() { return std::make_unique<BillCsv>(); }

}  // namespace

Format bill_csv_format() { return {"billing", "bill", recognise, open, nullptr}; }

}  // namespace tare
