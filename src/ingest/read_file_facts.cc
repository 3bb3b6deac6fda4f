#include "ingest/read_file_facts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic_json.h"
#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

// A second reading is kept when it is nearly as sure as the first.
constexpr int kNearlyAsSure = 45;
constexpr std::size_t kDocumentLimit = 1u << 30;
constexpr std::size_t kUnusedKept = 10;
constexpr std::uint64_t kProgressEvery = 16u << 20;

void refuse(FileFacts& file, std::string rule, std::string text, std::string help) {
  Diagnostic diagnostic = make_error(std::move(rule), std::move(text), std::move(help));
  diagnostic.file = file.path;
  file.errors.push_back(std::move(diagnostic));
}

void take_errors(FileFacts& file, Diagnostics errors) {
  for (Diagnostic& error : errors) {
    if (error.file.empty()) error.file = file.path;
    file.errors.push_back(std::move(error));
  }
}

// Why these bytes are no text that a reader could take; empty when they are.
std::string_view why_no_text(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return "gunzip it first";
  if (head.starts_with("\x28\xb5\x2f\xfd")) return "decompress it with zstd first";
  if (head.starts_with("PK\x03\x04")) return "unzip it first";
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return "it is a Python pickle; if PyTorch's flight recorder wrote it: python3 -c \"import json, pickle, sys; "
           "json.dump(pickle.load(open(sys.argv[1], 'rb')), sys.stdout, default=str)\" FILE > FILE.json";
  }
  if (head.find('\0') != std::string_view::npos) return "it holds bytes that no text has; give the tool's text output";
  return {};
}

std::vector<FormatReading> candidates(const Head& head, const ReadOptions& options) {
  std::vector<FormatReading> found;
  for (const Format& format : formats()) {
    if (!options.only_kind.empty() && format.kind != options.only_kind) continue;
    const int sure = format.recognise(head);
    if (sure > confidence::kNone) found.push_back({&format, sure, {}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FormatReading& a, const FormatReading& b) { return a.confidence > b.confidence; });
  std::erase_if(found, [](const FormatReading& one) { return one.confidence < confidence::kPossible; });
  for (FormatReading& one : found) one.weak = one.confidence < found.front().confidence - kNearlyAsSure;
  // A large file is one output; its many lines are not offered to readers that hardly recognise it.
  std::erase_if(found,
                [&head](const FormatReading& one) { return one.weak && (!head.whole || one.format->open == nullptr); });
  return found;
}

// Every line format of a kind: for a person who knows better than the beginning of the file.
std::vector<FormatReading> all_of_kind(const std::string& kind) {
  std::vector<FormatReading> all;
  for (const Format& format : formats()) {
    if (format.kind == kind) all.push_back({&format, 1, {}});
  }
  return all;
}

struct OpenFormat {
  FormatReading* of;
  std::unique_ptr<LineReader> reader;
};

// The line readers among them over a stream, all at once.
void read_lines(LineStream& lines, FileFacts& file, const ReadOptions& options, std::optional<std::uint64_t> size) {
  std::vector<OpenFormat> open;
  for (FormatReading& one : file.readings) {
    if (one.format->open != nullptr) open.push_back({&one, one.format->open()});
  }
  if (open.empty()) return;
  Line line;
  std::uint64_t next_progress = kProgressEvery;
  while (lines.next(line)) {
    file.lines = line.number;
    bool used = false;
    bool used_by_weak = false;
    for (OpenFormat& one : open) {
      const bool wanted = one.reader->on_line(line, one.of->reading);
      if (!one.of->weak) used = used || wanted;
      if (one.of->weak && wanted && !used) {
        ++one.of->lines_alone;
        used_by_weak = true;
      }
    }
    used = used || used_by_weak;
    if (!used && !trim(line.text).empty()) {
      ++file.unused_lines;
      if (file.first_unused.size() < kUnusedKept) {
        file.first_unused.push_back(
            {line.number, as_text(line.text.substr(0, Reading::kUnreadText)), "nothing in it that a reader knows"});
      }
    }
    if (options.progress && lines.bytes_read() >= next_progress) {
      options.progress(lines.bytes_read(), size);
      next_progress = lines.bytes_read() + kProgressEvery;
    }
  }
  for (OpenFormat& one : open) one.reader->finish(one.of->reading);
}

// One document, by the document readers among them and, if there are any, the line readers too.
void read_document(LineStream& lines, FileFacts& file, const ReadOptions& options) {
  Result<std::string> text = lines.rest(kDocumentLimit);
  if (!text) return take_errors(file, text.error());
  for (FormatReading& one : file.readings) {
    if (one.format->read_document != nullptr) one.format->read_document(*text, one.reading);
  }
  const std::int64_t line_count = std::count(text->begin(), text->end(), '\n') + (text->ends_with('\n') ? 0 : 1);
  LineStream again(source_of(std::move(*text)));
  read_lines(again, file, options, std::nullopt);
  file.lines = line_count;
  // What a document's reader uses is not counted by lines.
  file.unused_lines = 0;
  file.first_unused.clear();
}

// A reading that found nothing goes, unless no other found anything.
void drop_empty(FileFacts& file) {
  std::erase_if(file.readings, [](const FormatReading& one) { return one.weak && one.lines_alone == 0; });
  const auto found = [](const FormatReading& one) { return !one.reading.facts.empty(); };
  std::stable_partition(file.readings.begin(), file.readings.end(), found);
  while (file.readings.size() > 1 && !found(file.readings.back())) file.readings.pop_back();
}

FileFacts read_from(std::unique_ptr<ByteSource> source, const std::string& path, const ReadOptions& options) {
  FileFacts file;
  file.path = path;
  const std::optional<std::uint64_t> size = source->size();
  LineStream lines(std::move(source));
  const Result<std::string> text = lines.head();
  if (!text) {
    take_errors(file, text.error());
    return file;
  }
  file.bytes = lines.bytes_read();
  if (trim(*text).empty()) {
    refuse(file, "empty-file", "nothing in it", "give the output of a tool, or '-' to read standard input");
    return file;
  }
  if (const std::string_view why = why_no_text(*text); !why.empty()) {
    refuse(file, "not-text", "this is no text", std::string(why));
    return file;
  }
  const Head head{*text, path, text->size() < LineStream::kHead};
  file.readings = candidates(head, options);
  const bool forced = file.readings.empty() && !options.only_kind.empty();
  if (forced) file.readings = all_of_kind(options.only_kind);
  if (file.readings.empty()) {
    refuse(file, "unknown-format", "no reader knows this format",
           options.only_kind.empty() ? "'tare help read' lists what can be read" : "leave out --kind to try them all");
    return file;
  }
  const bool documents = std::any_of(file.readings.begin(), file.readings.end(), [&](const FormatReading& one) {
    return one.format->read_document != nullptr && (head.whole || &one == &file.readings.front());
  });
  if (documents) {
    read_document(lines, file, options);
  } else {
    std::erase_if(file.readings, [](const FormatReading& one) { return one.format->open == nullptr; });
    read_lines(lines, file, options, size);
  }
  take_errors(file, lines.error());
  file.bytes = lines.bytes_read();
  drop_empty(file);
  for (FormatReading& one : file.readings) {
    if (options.rows_kept > 0) one.reading.facts.thin_rows(options.rows_kept);
    one.reading.facts.compact();
  }
  if (forced && file.readings.front().reading.facts.empty()) {
    file.readings.clear();
    refuse(file, "unknown-format", "the readers of " + options.only_kind + " found nothing in it",
           "leave out --kind to try them all");
  }
  return file;
}

Json to_json(const UnreadLine& line) {
  return Json::object({{"line", line.line}, {"text", as_text(line.text)}, {"reason", as_text(line.reason)}});
}

Json reading_json(const FormatReading& one) {
  return Json::object({{"kind", one.format->kind},
                       {"format", one.format->name},
                       {"confidence", one.confidence},
                       {"facts", to_json(one.reading.facts)}});
}

void add_unread(Json& json, std::int64_t& count, const Reading& reading) {
  for (const UnreadLine& line : reading.unread()) json.push_back(to_json(line));
  count += reading.unread_count();
}

}  // namespace

FileFacts read_facts(const std::string& path, const ReadOptions& options) {
  Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (source) return read_from(std::move(*source), path == "-" ? "<stdin>" : path, options);
  FileFacts file;
  file.path = path;
  file.errors = source.error();
  return file;
}

FileFacts read_facts_of_text(std::string text, const std::string& path, const ReadOptions& options) {
  return read_from(source_of(std::move(text)), path, options);
}

Result<std::vector<std::string>> files_under(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  Diagnostics errors;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      if (path != "-" && !fs::exists(path, error)) {
        Diagnostic diagnostic = make_error("cannot-read", "there is no such file or folder", "check the path");
        diagnostic.file = path;
        errors.push_back(std::move(diagnostic));
      }
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      const bool hidden = at->path().filename().string().starts_with('.');
      std::error_code status_error;
      if (hidden && at->is_directory(status_error)) at.disable_recursion_pending();
      if (!hidden && at->is_regular_file(status_error)) found.push_back(at->path().string());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return files;
}

Json to_json(const FileFacts& file) {
  Json json = Json::object();
  json["path"] = as_text(file.path);
  const bool read = !file.readings.empty();
  json["kind"] = read ? Json(file.readings.front().format->kind) : Json(nullptr);
  json["format"] = read ? Json(file.readings.front().format->name) : Json(nullptr);
  if (read) json["confidence"] = file.readings.front().confidence;
  json["bytes"] = file.bytes;
  json["lines"] = file.lines;
  json["facts"] = read ? to_json(file.readings.front().reading.facts) : Json::object();
  Json unread = Json::array();
  std::int64_t unread_count = file.unused_lines;
  Json also = Json::array();
  Json notes = Json::array();
  for (const FormatReading& one : file.readings) {
    add_unread(unread, unread_count, one.reading);
    if (&one != &file.readings.front()) also.push_back(reading_json(one));
    for (const std::string& note : one.reading.notes()) notes.push_back(as_text(note));
  }
  for (const UnreadLine& line : file.first_unused) unread.push_back(to_json(line));
  json["unread"] = std::move(unread);
  json["unread_count"] = unread_count;
  if (!also.empty()) json["also"] = std::move(also);
  if (!notes.empty()) json["notes"] = std::move(notes);
  if (!file.errors.empty()) json["errors"] = to_json(file.errors);
  return json;
}

}  // namespace tare
