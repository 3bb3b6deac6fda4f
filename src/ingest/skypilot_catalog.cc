#include "ingest/skypilot_catalog.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/table_reader.h"
#include "ingest/gpu_name.h"

namespace tare {
namespace {

constexpr double kSamePrice = 1e-3;

// The value behind `key` in the text of a Python dict: 'SizeInMiB': 81920, 'Name': 'A100 PCIe'.
std::string_view dict_value(std::string_view dict, std::string_view key) {
  std::size_t at = dict.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) at = dict.find(fmt::format("\"{}\"", key));
  if (at == std::string_view::npos) return {};
  at = dict.find(':', at);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = trim(dict.substr(at + 1));
  if (rest.starts_with('\'') || rest.starts_with('"')) {
    const std::size_t end = rest.find(rest[0], 1);
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
  }
  return trim(rest.substr(0, rest.find_first_of(",}]")));
}

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// GiB of one GPU. RunPod writes gibibytes under the name SizeInMiB: no GPU of this table has less than 1 GiB.
std::optional<double> memory_gib(std::string_view gpu_info) {
  const auto size = to_number(dict_value(gpu_info, "SizeInMiB"));
  if (!size || *size <= 0) return std::nullopt;
  return *size < 1024 ? *size : *size / 1024;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Prices of one instance in one region, a value per zone.
struct Group {
  GpuMatch gpu;
  int gpus = 0;
  std::vector<double> prices, spot_prices;
  std::string place;
};
using GroupKey = std::tuple<std::string, std::string>;  // instance, region

// Rows that become no offer, by reason, at the first row of each.
class LeftOut {
 public:
  void add(const TableReader& row, std::string_view column, const std::string& reason, std::string help = {}) {
    const auto [entry, is_new] = reasons_.try_emplace(reason);
    if (is_new) {
      entry->second.first = row.at(column, "left-out", reason, std::move(help));
      entry->second.first.severity = Severity::kWarning;
    }
    ++entry->second.second;
  }

  // Most rows first.
  Diagnostics diagnostics() const {
    std::vector<std::pair<Diagnostic, int>> sorted;
    for (const auto& [reason, entry] : reasons_) sorted.push_back(entry);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    Diagnostics diagnostics;
    for (auto& [diagnostic, count] : sorted) {
      diagnostic.text = fmt::format("{} {} left out: {}", count, count == 1 ? "row" : "rows", diagnostic.text);
      diagnostics.push_back(std::move(diagnostic));
    }
    return diagnostics;
  }

 private:
  std::map<std::string, std::pair<Diagnostic, int>> reasons_;
};

class Reader {
 public:
  Reader(const CsvTable& table, const std::string& file, SkyPilotOptions options, const Catalog& known)
      : row_(table, file, diagnostics_, {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"}),
        options_(std::move(options)),
        known_(known) {}

  Result<OfferTable> read() {
    for (std::size_t i = 0; row_.complete() && i < row_.rows(); ++i) {
      row_.select(i);
      read_row();
    }
    if (!diagnostics_.empty()) return tl::unexpected(diagnostics_.sorted());
    OfferTable table;
    for (const auto& [key, group] : groups_) add_offers(key, group, table.offers);
    std::sort(table.offers.begin(), table.offers.end(), [](const Offer& a, const Offer& b) { return a.id < b.id; });
    table.left_out = left_out_.diagnostics();
    return table;
  }

 private:
  void read_row() {
    const std::string name = row_.text("AcceleratorName");
    if (name.empty()) return left_out_.add(row_, "AcceleratorName", "no GPU");
    const std::string instance = row_.text("InstanceType");
    if (instance.empty()) {
      return left_out_.add(row_, "InstanceType", "the price of a GPU without its host",
                           "Google sells the two apart: add the instance's price and write a plain offers CSV");
    }
    const double count = row_.number("AcceleratorCount").value_or(0);
    if (count < 1 || count != std::floor(count) || count > 64) {
      return left_out_.add(row_, "AcceleratorCount", "not a whole number of GPUs");
    }
    const GroupKey key(instance, row_.text("Region"));
    auto found = groups_.find(key);
    if (found == groups_.end()) {
      const GpuMatch gpu = match_gpu(known_, hints(name, instance));
      if (gpu.accelerator == nullptr) {
        return left_out_.add(row_, "AcceleratorName", fmt::format("unknown GPU {}", in_quotes(name)));
      }
      found = groups_.emplace(key, Group{gpu, static_cast<int>(count), {}, {}, row_.source().place}).first;
    }
    add_prices(found->second);
  }

  GpuHints hints(const std::string& name, const std::string& instance) const {
    const std::string_view info = row_.view("GpuInfo");
    return {name, std::string(dict_value(info, "Name")), instance, options_.provider, memory_gib(info)};
  }

  void add_prices(Group& group) {
    const auto price = row_.number("Price");
    const auto spot = row_.number("SpotPrice");
    const bool has_price = price && *price > 0;
    const bool has_spot = spot && *spot > 0;
    if (has_price) group.prices.push_back(*price);
    if (has_spot && has_price && *spot >= *price * (1 - kSamePrice)) {
      left_out_.add(row_, "SpotPrice", "a spot price not below the on-demand price: no spot market");
    } else if (has_spot) {
      group.spot_prices.push_back(*spot);
    }
    if (!has_price && !has_spot) left_out_.add(row_, "Price", "no price");
  }

  void add_offers(const GroupKey& key, const Group& group, std::vector<Offer>& offers) const {
    Offer offer;
    offer.provider = options_.provider;
    std::tie(offer.instance, offer.region) = key;
    if (offer.region.empty()) offer.region = "*";
    offer.gpu = group.gpu.accelerator->id;
    offer.gpus = group.gpus;
    offer.date = options_.date;
    offer.suspect = group.gpu.doubt;
    offer.source.text = "SkyPilot catalog";
    offer.source.evidence = "read";
    offer.source.place = group.place;
    const NodeType* type = find_node_type(known_, offer.provider + '/' + offer.instance);
    if (type != nullptr && type->gpu == offer.gpu && type->gpus == offer.gpus) {
      offer.node_type = type->id;
      offer.delivery = type->delivery;
    }
    for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot}) {
      const std::vector<double>& prices = purchase == Purchase::kSpot ? group.spot_prices : group.prices;
      if (prices.empty()) continue;
      offer.purchase = purchase;
      set_price(prices, offer);
      offer.id = make_offer_id(offer);
      offers.push_back(offer);
    }
  }

  static void set_price(const std::vector<double>& prices, Offer& offer) {
    const auto [low, high] = std::minmax_element(prices.begin(), prices.end());
    offer.price_usd_per_h = median(prices);
    const bool is_range = *low < *high;
    offer.price_low_usd_per_h = is_range ? std::optional<double>(*low) : std::nullopt;
    offer.price_high_usd_per_h = is_range ? std::optional<double>(*high) : std::nullopt;
    offer.source.note = prices.size() > 1 ? fmt::format("median of {} zones", prices.size()) : "";
  }

  DiagnosticList diagnostics_;
  TableReader row_;
  SkyPilotOptions options_;
  const Catalog& known_;
  std::map<GroupKey, Group> groups_;
  LeftOut left_out_;
};

// Where `word` stands in a path for the last time with no letter or digit beside it; npos when nowhere.
std::size_t find_last_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (word.empty()) return std::string::npos;
  for (std::size_t at = text.rfind(word); at != std::string::npos;
       at = at == 0 ? std::string::npos : text.rfind(word, at - 1)) {
    const bool begins = at == 0 || !is_part(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !is_part(text[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string::npos;
}

}  // namespace

bool is_skypilot_catalog(std::string_view text) {
  const std::string_view header = text.substr(0, text.find('\n'));
  return header.find("InstanceType") != std::string_view::npos &&
         header.find("AcceleratorName") != std::string_view::npos;
}

std::string provider_of_path(std::string_view path, const Catalog& known) {
  const std::string text = to_lower(path);
  std::string last;
  std::size_t last_at = 0;
  for (const Offer& offer : known.offers) {
    const std::string provider = to_lower(offer.provider);
    const std::size_t at = provider == last ? std::string::npos : find_last_word(text, provider);
    if (at == std::string::npos || (!last.empty() && at < last_at)) continue;
    last = provider;
    last_at = at;
  }
  if (!last.empty()) return last;
  const std::size_t slash = text.find_last_of('/');
  const std::string name = slash == std::string::npos ? text : text.substr(slash + 1);
  std::string stem = name.substr(0, name.find('.'));
  if (stem != "vms" || slash == std::string::npos) return stem;
  const std::string folder = text.substr(0, slash);
  return folder.substr(folder.find_last_of('/') + 1);
}

Result<OfferTable> read_skypilot_catalog(std::string text, const std::string& file, const SkyPilotOptions& options,
                                         const Catalog& known) {
  const auto table = CsvTable::parse(std::move(text), file);
  if (!table) return tl::unexpected(table.error());
  SkyPilotOptions complete = options;
  if (complete.provider.empty()) complete.provider = provider_of_path(file, known);
  return Reader(*table, file, std::move(complete), known).read();
}

Result<OfferTable> read_price_list(std::string text, const std::string& file, const SkyPilotOptions& options,
                                   const Catalog& known) {
  if (is_skypilot_catalog(text)) return read_skypilot_catalog(std::move(text), file, options, known);
  return read_offers_csv(std::move(text), file, known);
}

}  // namespace tare
