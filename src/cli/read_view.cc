#include "cli/read_view.h"

#include <fmt/format.h>

#include <functional>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

// Of one file's facts, so many rows are shown on a terminal; the CSV and JSON forms hold all.
constexpr std::size_t kShownFacts = 60;

std::string value_text(const Fact& fact) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "unknown"; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return as_text(text); }
    std::string operator()(const std::vector<Fact>&) const { return ""; }
    std::string operator()(const FactRecord&) const { return ""; }
  };
  return std::visit(Visitor{}, fact.value);
}

using Visit = std::function<void(const std::string& name, const Fact& fact, std::int64_t line)>;

// Every leaf under `fact`, with its full name and the nearest line.
void walk(const std::string& name, const Fact& fact, std::int64_t line, const Visit& visit) {
  if (fact.line > 0) line = fact.line;
  if (const FactRecord* const record = fact.as_record()) {
    for (const auto& [key, value] : record->members())
      walk(name.empty() ? key : fmt::format("{}.{}", name, key), value, line, visit);
  } else if (const std::vector<Fact>* const list = fact.as_list()) {
    for (std::size_t i = 0; i < list->size(); ++i) walk(fmt::format("{}[{}]", name, i), (*list)[i], line, visit);
  } else {
    visit(name, fact, line);
  }
}

void walk(const FactRecord& record, const Visit& visit) {
  for (const auto& [key, value] : record.members()) walk(key, value, record.line, visit);
}

Table files_table(const std::vector<FileFacts>& files) {
  Table table;
  table.columns = {{"path", "FILE"},   {"kind", "KIND"},   {"format", "FORMAT"},
                   {"facts", "FACTS"}, {"lines", "LINES"}, {"unread", "UNREAD"}};
  for (std::size_t c = 3; c < 6; ++c) table.columns[c].align = Align::kRight;
  for (const FileFacts& file : files) {
    std::int64_t unread = file.unused_lines;
    for (const FormatReading& one : file.readings) unread += one.reading.unread_count();
    const bool read = !file.readings.empty();
    Row row;
    row.cells = {as_text(file.path),
                 read ? std::string(file.readings.front().format->kind) : "unknown",
                 read                  ? std::string(file.readings.front().format->name)
                 : file.errors.empty() ? ""
                                       : file.errors.front().text,
                 read ? fmt::format("{}", count_facts(file.readings.front().reading.facts)) : "",
                 fmt::format("{}", file.lines),
                 fmt::format("{}", unread)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_facts(Document& document, const FormatReading& one) {
  document.heading(fmt::format("{}: {}", one.format->kind, one.format->name));
  Table table;
  table.columns = {{"fact", "FACT"}, {"value", "VALUE"}, {"line", "LINE"}};
  table.columns[1].fold_width = 30;
  table.columns[2].align = Align::kRight;
  std::size_t all = 0;
  walk(one.reading.facts, [&](const std::string& name, const Fact& fact, std::int64_t line) {
    if (++all > kShownFacts) return;
    Row row;
    row.cells = {as_text(name), value_text(fact), line > 0 ? fmt::format("{}", line) : ""};
    table.rows.push_back(std::move(row));
  });
  const std::size_t shown = table.rows.size();
  document.table(std::move(table));
  if (all > shown) document.text(fmt::format("Shown {} of {} facts; --output csv or json has all.", shown, all));
}

void add_unread(Document& document, const FileFacts& file) {
  Table table;
  table.columns = {{"line", "LINE"}, {"text", "TEXT"}, {"reason", "WHY NOT USED"}};
  table.columns[0].align = Align::kRight;
  table.columns[1].fold_width = 40;
  const auto add = [&](const UnreadLine& line) {
    Row row;
    row.cells = {fmt::format("{}", line.line), as_text(line.text), line.reason};
    table.rows.push_back(std::move(row));
  };
  for (const FormatReading& one : file.readings) {
    for (const UnreadLine& line : one.reading.unread()) add(line);
  }
  for (const UnreadLine& line : file.first_unused) add(line);
  if (table.rows.empty()) return;
  document.heading("Not used");
  document.table(std::move(table));
}

}  // namespace

Document read_document_of(const std::vector<FileFacts>& files) {
  Document document;
  document.table(files_table(files));
  if (files.size() != 1) return document;
  const FileFacts& file = files.front();
  for (const FormatReading& one : file.readings) {
    add_facts(document, one);
    for (const std::string& note : one.reading.notes()) document.text(as_text(note));
  }
  add_unread(document, file);
  return document;
}

Table facts_table(const std::vector<FileFacts>& files) {
  Table table;
  table.columns = {{"path", "path"}, {"kind", "kind"}, {"line", "line"}, {"fact", "fact"}, {"value", "value"}};
  for (const FileFacts& file : files) {
    for (const FormatReading& one : file.readings) {
      walk(one.reading.facts, [&](const std::string& name, const Fact& fact, std::int64_t line) {
        Row row;
        row.cells = {as_text(file.path), std::string(one.format->kind), line > 0 ? fmt::format("{}", line) : "",
                     as_text(name), fact.is_unknown() ? "" : value_text(fact)};
        table.rows.push_back(std::move(row));
      });
    }
  }
  return table;
}

Json read_json(const std::vector<FileFacts>& files) {
  Json json = Json::object();
  json["format_version"] = "1.0";
  json["files"] = Json::array();
  for (const FileFacts& file : files) json["files"].push_back(to_json(file));
  return json;
}

}  // namespace tare
