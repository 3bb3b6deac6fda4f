#include "cli/catalog_import.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "catalog/offers_csv.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "ingest/skypilot_catalog.h"

namespace tare {
namespace {

struct Imported {
  std::string file;
  std::size_t offers = 0;
  std::size_t left_out = 0;
};

struct Import {
  std::vector<Imported> files;
  std::vector<Offer> offers;
  Diagnostics left_out;
};

// A price list rarely says of which day it is; --as-of does.
Result<Import> read_all(const std::vector<std::string>& files, std::optional<Date> date, const Catalog& known) {
  const SkyPilotOptions options{{}, date};
  Import import;
  Diagnostics errors;
  for (const std::string& file : files) {
    Result<std::string> text = read_file(file);
    Result<OfferTable> table = text ? read_price_list(std::move(*text), file, options, known)
                                    : Result<OfferTable>(tl::unexpected(text.error()));
    if (!table) {
      errors.insert(errors.end(), table.error().begin(), table.error().end());
      continue;
    }
    import.files.push_back({file, table->offers.size(), table->left_out.size()});
    import.offers.insert(import.offers.end(), table->offers.begin(), table->offers.end());
    import.left_out.insert(import.left_out.end(), table->left_out.begin(), table->left_out.end());
  }
  if (!errors.empty()) return tl::unexpected(errors);
  return import;
}

Table import_table(const Import& import) {
  Table table;
  table.columns = {{"file", "file", Align::kLeft, Importance::kEssential, 24},
                   {"offers", "offers", Align::kRight},
                   {"left_out", "left out", Align::kRight}};
  for (const Imported& file : import.files) {
    table.rows.push_back({{file.file, number_cell(std::to_string(file.offers), static_cast<double>(file.offers)),
                           number_cell(std::to_string(file.left_out), static_cast<double>(file.left_out))}});
  }
  return table;
}

Json import_json(const Import& import, const std::string& written) {
  Json files = Json::array();
  for (const Imported& file : import.files) {
    files.push_back({{"file", file.file}, {"offers", file.offers}, {"left_out", file.left_out}});
  }
  return {{"format_version", "1.0"}, {"kind", "import"}, {"written", written}, {"files", std::move(files)}};
}

Result<std::string> write_directory(const std::string& directory, const std::vector<Offer>& offers) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail("cannot-write", fmt::format("cannot make the directory '{}': {}", directory, error.message()));
  std::string file = (std::filesystem::path(directory) / "offers.csv").string();
  const Result<void> written = write_file(file, write_offers_csv(offers));
  if (!written) return tl::unexpected(written.error());
  return file;
}

}  // namespace

Result<ExitCode> run_catalog_import(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::vector<std::string> files(arguments.operands.begin() + 1, arguments.operands.end());
  const std::string directory = arguments.text("to");
  const char* usage = "usage: tare catalog import FILE… --to DIR";
  if (files.empty()) return fail("missing-operand", "no file to import", usage);
  if (directory.empty()) return fail("missing-flag", "no directory to write to", usage);

  const Result<Catalog> known = read_catalog(arguments);
  if (!known) return tl::unexpected(known.error());
  const Result<Import> import = read_all(files, arguments.date("as-of"), *known);
  if (!import) return tl::unexpected(import.error());
  const Result<std::string> written = write_directory(directory, import->offers);
  if (!written) return tl::unexpected(written.error());

  Answer answer;
  answer.warnings = import->left_out;
  answer.document = [&] {
    Document document;
    document.table(import_table(*import));
    document.text(fmt::format("Written: {} ({} {}); use it with --catalog {}", *written, import->offers.size(),
                              import->offers.size() == 1 ? "offer" : "offers", directory));
    return document;
  };
  answer.table = [&] { return import_table(*import); };
  answer.json = [&] { return import_json(*import, *written); };
  if (const Result<void> shown = write_answer(context, answer); !shown) return tl::unexpected(shown.error());
  return ExitCode::kYes;
}

}  // namespace tare
