#include "cli/catalog_view.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

constexpr const char* kUnknownShort = "?";

Cell field_cell(const Field& field) {
  if (!field.known) return {kUnknownShort, "", Tone::kFaint};
  return {field.text, field.value};
}

Column column_of(const Field& field) {
  Column column;
  column.id = field.id;
  column.title = field.title;
  column.align = field.kind == Field::Kind::kNumber ? Align::kRight : Align::kLeft;
  column.importance = field.importance;
  column.audience = field.listed ? Audience::kEveryone : Audience::kPrograms;
  if (field.kind == Field::Kind::kText || field.kind == Field::Kind::kList) column.fold_width = 24;
  return column;
}

void add_source(Document& document, const Source& source) {
  std::string text = source.text.empty() ? "no source" : source.text;
  if (!source.evidence.empty()) text += fmt::format(" ({})", source.evidence);
  if (!source.place.empty()) text += ", " + source.place;
  document.text("- " + text, source.evidence == "unsourced" || source.text.empty() ? Tone::kWarning : Tone::kPlain);
  if (!source.doubt.empty()) document.text("  doubt: " + source.doubt, Tone::kWarning);
  if (!source.note.empty()) document.text("  " + source.note, Tone::kFaint);
}

Json source_json(const Source& source) {
  return {{"text", source.text},
          {"evidence", source.evidence},
          {"doubt", source.doubt},
          {"note", source.note},
          {"place", source.place}};
}

Json number_json(const std::string& digits) {
  const char* end = digits.data() + digits.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(digits.data(), end, whole); read.ec == std::errc() && read.ptr == end)
    return whole;
  double number = 0;
  std::from_chars(digits.data(), end, number);
  return number;
}

Json field_json(const Field& field) {
  if (!field.known || field.value.empty()) return nullptr;
  switch (field.kind) {
    case Field::Kind::kText:
      return field.value;
    case Field::Kind::kTruth:
      return field.value == "true";
    case Field::Kind::kNumber:
      return number_json(field.value);
    case Field::Kind::kList: {
      Json list = Json::array();
      for (const std::string_view part : split(field.value, ';')) list.push_back(part);
      return list;
    }
  }
  return nullptr;
}

}  // namespace

Table list_table(const std::vector<CatalogItem>& items, bool sources) {
  Table table;
  if (items.empty()) return table;
  table.columns.push_back({"id", "id", Align::kLeft, Importance::kEssential, 24});
  for (const Field& field : items.front().fields) table.columns.push_back(column_of(field));
  const Audience source_audience = sources ? Audience::kEveryone : Audience::kPrograms;
  table.columns.push_back({"source", "source", Align::kLeft, Importance::kEssential, 30, source_audience});
  table.columns.push_back({"place", "place", Align::kLeft, Importance::kImportant, 0, source_audience});
  for (const CatalogItem& item : items) {
    Row row;
    row.cells.emplace_back(item.id);
    for (const Field& field : item.fields) row.cells.push_back(field_cell(field));
    row.cells.emplace_back(item.sources.front().text);
    row.cells.emplace_back(item.sources.front().place);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Document list_document(const std::string& kind, const std::vector<CatalogItem>& items, bool sources) {
  Document document;
  document.table(list_table(items, sources));
  document.text(fmt::format("{} {}; 'tare catalog {} ID' shows one with its sources", items.size(), kind, kind),
                Tone::kFaint);
  return document;
}

Document item_document(const CatalogItem& item) {
  Document document;
  document.text(item.id, Tone::kStrong);
  Table table;
  table.columns = {{"field", ""}, {"value", "", Align::kLeft, Importance::kEssential, 30}};
  for (const Field& field : item.fields) {
    table.rows.push_back({{field.title, field.known ? Cell(field.text) : Cell("unknown", "", Tone::kFaint)}});
  }
  document.table(std::move(table));
  document.heading(item.sources.size() == 1 ? "Source" : "Sources, with the prices of other dates");
  for (const Source& source : item.sources) add_source(document, source);
  return document;
}

Json catalog_json(const std::string& kind, const std::vector<CatalogItem>& items) {
  Json list = Json::array();
  for (const CatalogItem& item : items) {
    Json json = {{"id", item.id}};
    for (const Field& field : item.fields) json[field.id] = field_json(field);
    json["sources"] = Json::array();
    for (const Source& source : item.sources) json["sources"].push_back(source_json(source));
    list.push_back(std::move(json));
  }
  return {{"format_version", "1.0"}, {"kind", kind}, {"items", std::move(list)}};
}

}  // namespace tare
