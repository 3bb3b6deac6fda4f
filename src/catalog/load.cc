// load_catalog: the shipped tables, then the files of an overlay directory, each checked against what was read before
// it.
#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "catalog/embedded.h"
#include "catalog/offer_selection.h"
#include "catalog/offers_csv.h"
#include "catalog/tables.h"

namespace tare {
namespace {

namespace fs = std::filesystem;

struct TableText {
  std::string file;
  std::string text;
};

void append(Diagnostics& all, const Diagnostics& more) { all.insert(all.end(), more.begin(), more.end()); }

// Where the tables come from: the shipped ones and the overlay directory.
class TableSource {
 public:
  TableSource(std::string overlay_directory, Diagnostics& diagnostics)
      : overlay_(std::move(overlay_directory)), diagnostics_(diagnostics) {}

  // Reports a directory that cannot be read or holds no table, and CSV files whose name no table has: a typo would pass
  // in silence.
  void check_overlay() const;
  // The texts of a table from the shipped one to the overlaid one; none where there is none.
  std::vector<TableText> layers(std::string_view name) const;

 private:
  std::string overlay_;
  Diagnostics& diagnostics_;
};

const std::vector<std::string>& table_names() {
  static const std::vector<std::string> names = {"accelerators.csv", "nics.csv",      "node_types.csv",
                                                 "offers.csv",       "models.csv",    "parameters.csv",
                                                 "stacks.csv",       "step_error.csv"};
  return names;
}

void TableSource::check_overlay() const {
  if (overlay_.empty()) return;
  std::vector<std::string> known = table_names();
  for (const EmbeddedFile& file : embedded_files()) known.emplace_back(file.name);
  std::error_code code;
  bool has_table = false;
  for (fs::directory_iterator entry(overlay_, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (entry->path().extension() != ".csv") continue;
    has_table = true;
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    const std::string near = did_you_mean(name, table_names());
    Diagnostic diagnostic = make_error(
        "unknown-table", fmt::format("unknown table {}", in_quotes(name)),
        near.empty() ? "known tables: " + join(table_names(), ", ") : fmt::format("did you mean \"{}\"?", near));
    diagnostic.file = entry->path().string();
    diagnostics_.push_back(std::move(diagnostic));
  }
  if (code) {
    Diagnostic diagnostic = make_error("cannot-read", "cannot read the catalog directory: " + code.message(),
                                       "name a directory with files such as offers.csv");
    diagnostic.file = overlay_;
    diagnostics_.push_back(std::move(diagnostic));
  } else if (!has_table) {
    Diagnostic diagnostic = make_error("no-table", "expected tables of the catalog, found none",
                                       "name a directory with files such as offers.csv");
    diagnostic.file = overlay_;
    diagnostics_.push_back(std::move(diagnostic));
  }
}

std::vector<TableText> TableSource::layers(std::string_view name) const {
  std::vector<TableText> texts;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) texts.push_back({"data/catalog/" + std::string(name), std::string(file.text)});
  }
  if (overlay_.empty()) return texts;
  const std::string path = (fs::path(overlay_) / name).string();
  std::error_code code;
  if (!fs::exists(path, code)) return texts;
  auto text = read_file(path);
  if (text) {
    texts.push_back({path, std::move(*text)});
  } else {
    append(diagnostics_, text.error());
  }
  return texts;
}

// A row with a known id replaces it where it stands, others are added.
template <typename Row>
void lay_over(std::vector<Row>& rows, std::vector<Row> over) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places.emplace(to_lower(rows[i].id), i);
  for (Row& row : over) {
    const auto found = places.find(to_lower(row.id));
    if (found == places.end()) {
      rows.push_back(std::move(row));
    } else {
      rows[found->second] = std::move(row);
    }
  }
}

// `read(table, file, list)` -> the rows of one layer. What is wrong is reported file by file, in reading order: an
// unknown GPU of one table may be an error in another.
template <typename Row, typename Read>
void load_table(const TableSource& source, std::string_view name, std::vector<Row>& rows, Diagnostics& diagnostics,
                Read read) {
  for (TableText& layer : source.layers(name)) {
    const auto table = CsvTable::parse(std::move(layer.text), layer.file);
    if (table) {
      DiagnosticList found;
      lay_over(rows, read(*table, layer.file, found));
      append(diagnostics, found.sorted());
    } else {
      append(diagnostics, table.error());
    }
  }
}

void load_offers(const TableSource& source, Catalog& catalog, Diagnostics& diagnostics) {
  std::vector<std::vector<Offer>> layers;
  for (TableText& layer : source.layers("offers.csv")) {
    auto table = read_offers_csv(std::move(layer.text), layer.file, catalog);
    if (!table) {
      append(diagnostics, table.error());
      continue;
    }
    layers.push_back(std::move(table->offers));
    catalog.left_out.insert(catalog.left_out.end(), table->left_out.begin(), table->left_out.end());
  }
  OfferSelection selection = select_offers(std::move(layers));
  catalog.offers = std::move(selection.current);
  catalog.offer_history = std::move(selection.history);
}

}  // namespace

Result<Catalog> load_catalog(const std::string& overlay_directory) {
  Catalog catalog;
  Diagnostics errors;
  const TableSource source(overlay_directory, errors);
  source.check_overlay();
  // What others refer to goes first.
  load_table(source, "accelerators.csv", catalog.accelerators, errors, read_accelerators);
  load_table(source, "nics.csv", catalog.nics, errors, read_nics);
  load_table(source, "node_types.csv", catalog.node_types, errors,
             [&](const CsvTable& table, const std::string& file, DiagnosticList& found) {
               return read_node_types(table, file, catalog, found);
             });
  load_offers(source, catalog, errors);
  load_table(source, "models.csv", catalog.models, errors, read_models);
  load_table(source, "parameters.csv", catalog.parameters, errors, read_parameters);
  load_table(source, "stacks.csv", catalog.stacks, errors, read_stacks);
  load_table(source, "step_error.csv", catalog.step_errors, errors, read_step_errors);
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return catalog;
}

}  // namespace tare
