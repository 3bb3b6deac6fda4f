#include "ingest/csv_lines.h"

#include <algorithm>

#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kMostFields = 4000;
constexpr std::size_t kMostLines = 200;       // of one quoted field
constexpr std::size_t kMostBytes = 4u << 20;  // and bytes

// Whether a quoted field is open at the end of a line that begins in one (`quoted`) or not.
bool ends_open(std::string_view row, char separator, bool quoted) {
  bool begins = !quoted;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (quoted) {
      if (c == '"') {
        if (i + 1 < row.size() && row[i + 1] == '"') {
          ++i;
        } else {
          quoted = false;
        }
      }
    } else if (c == '"' && begins) {
      quoted = true;
    } else if (c == separator) {
      begins = true;
      continue;
    }
    if (c != ' ') begins = false;
  }
  return quoted;
}

}  // namespace

std::vector<std::string> csv_fields(std::string_view row, char separator) {
  std::vector<std::string> fields;
  std::size_t at = 0;
  while (at <= row.size() && fields.size() < kMostFields) {
    while (at < row.size() && row[at] == ' ') ++at;
    std::string field;
    if (at < row.size() && row[at] == '"') {
      ++at;
      while (at < row.size()) {
        const std::size_t quote = std::min(row.find('"', at), row.size());
        field += row.substr(at, quote - at);
        at = quote + 1;
        if (quote >= row.size()) break;
        if (at < row.size() && row[at] == '"') {
          field += '"';
          ++at;
          continue;
        }
        // A quote inside that nobody doubled goes on until one before a separator.
        std::size_t next = at;
        while (next < row.size() && row[next] == ' ') ++next;
        if (next >= row.size() || row[next] == separator) break;
        field += '"';
      }
      at = std::min(at, row.size());
      const std::size_t end = std::min(row.find(separator, at), row.size());
      at = end + 1;
    } else {
      const std::size_t end = std::min(row.find(separator, at), row.size());
      field = std::string(trim(row.substr(at, end - at)));
      at = end + 1;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

void CsvLines::take(std::string_view line, std::int64_t number, std::vector<CsvRow>& rows) {
  const bool was_open = !pending_.empty();
  const bool open = ends_open(line, separator_, was_open);
  if (!was_open && !open) {
    rows.push_back({csv_fields(line, separator_), number});
    return;
  }
  if (!was_open) pending_line_ = number;
  pending_.emplace_back(line);
  pending_bytes_ += line.size();
  if (!open) {
    std::string whole;
    for (const std::string& part : pending_) {
      if (!whole.empty()) whole += '\n';
      whole += part;
    }
    rows.push_back({csv_fields(whole, separator_), pending_line_});
    pending_.clear();
    pending_bytes_ = 0;
  } else if (pending_.size() > kMostLines || pending_bytes_ > kMostBytes) {
    give_up(rows);
  }
}

void CsvLines::give_up(std::vector<CsvRow>& rows) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    rows.push_back({csv_fields(pending_[i], separator_), pending_line_ + static_cast<std::int64_t>(i)});
  }
  pending_.clear();
  pending_bytes_ = 0;
}

void CsvLines::finish(std::vector<CsvRow>& rows) { give_up(rows); }

char CsvLines::separator_of(std::string_view headings) {
  char best = '\0';
  std::ptrdiff_t most = 0;
  for (const char c : {'\t', ',', ';', '|'}) {
    // Commas in quotes and in words ("Cost, USD") are few beside separators.
    const std::ptrdiff_t count = std::count(headings.begin(), headings.end(), c);
    if (count > most) {
      most = count;
      best = c;
    }
  }
  return best;
}

}  // namespace tare
