#include "ingest/device_matrix.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// A prompt or a prefix of ranks and hosts has no more words than this.
constexpr std::size_t kMostPrefixWords = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Longer ones first, where one begins another.
constexpr std::array<std::string_view, 12> kAccelerators = {"MTGPU", "GPU", "NPU", "DCU", "HCU",    "MLU",
                                                            "XPU",   "PPU", "GCU", "Die", "Phy-ID", "Card"};
constexpr std::array<std::string_view, 4> kOthers = {"NIC", "NVME", "NVMe", "CPLD"};
constexpr std::array<std::string_view, 10> kDriverNames = {"mlx5_", "mlx4_", "mthca", "hfi1_", "bnxt_re",
                                                           "irdma", "efa_",  "rdmap", "rocep", "hns_"};
constexpr std::array<std::string_view, 31> kClasses = {
    "HCCS_SW", "ENABLED", "DISABLED", "HCCS", "NODE", "XGMI", "PCIE", "SELF", "SYS", "PHB", "PXB",
    "PIX",     "SOC",     "CNS",      "GNS",  "TNS",  "SIO",  "MDF",  "PIXB", "N/A", "OK",  "NS",
    "NA",      "MX",      "DR",       "PU",   "C2C",  "PSB",  "X",    "S",    "U"};

template <std::size_t N>
std::string_view prefix_of(std::string_view word, const std::array<std::string_view, N>& list) {
  for (const std::string_view prefix : list) {
    if (word.starts_with(prefix)) return prefix;
  }
  return {};
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

// "GPU12", "GPU1/0" at the beginning: its length; 0 when there is none.
std::size_t numbered_length(std::string_view word, std::string_view prefix) {
  if (prefix.empty()) return 0;
  const std::size_t digits = digits_at(word, prefix.size());
  if (digits == 0 || digits > 5) return 0;
  std::size_t end = prefix.size() + digits;
  if (end + 1 < word.size() && word[end] == '/' && is_digit(word[end + 1])) end += 1 + digits_at(word, end + 1);
  return end;
}

// "mlx5_0": driver, underscore or not, number.
std::size_t driver_name_length(std::string_view word) {
  const std::string_view prefix = prefix_of(word, kDriverNames);
  if (prefix.empty()) return 0;
  const std::size_t digits = digits_at(word, prefix.size());
  return digits == 0 || digits > 5 ? 0 : prefix.size() + digits;
}

// "NV18", "XL16", "MTL4", "MT2": a link with a number.
std::size_t numbered_class_length(std::string_view word) {
  for (const std::string_view prefix : {"NV", "XL", "MTL", "MT"}) {
    if (!word.starts_with(prefix)) continue;
    const std::size_t digits = std::min<std::size_t>(digits_at(word, prefix.size()), 2);
    if (digits == 0) continue;
    // No part has more than 18 NVLinks: "NV40-31" is NV4 with an affinity glued to it.
    const bool two = digits == 2 && (word[prefix.size()] - '0') * 10 + (word[prefix.size() + 1] - '0') <= 18;
    return prefix.size() + (two ? 2 : 1);
  }
  return 0;
}

std::size_t class_length(std::string_view word) {
  if (const std::size_t length = numbered_class_length(word); length > 0) return length;
  return prefix_of(word, kClasses).size();
}

bool is_list(std::string_view word) {  // "0-31,64-95"
  return !word.empty() && is_digit(word[0]) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '-' || c == ','; });
}

// "0000:65:00.0"
bool is_bus_id(std::string_view word) {
  const std::size_t dot = word.find('.');
  if (word.size() < 7 || word.size() > 16 || dot == std::string_view::npos || dot + 2 != word.size()) return false;
  const auto hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':'; };
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(dot), hex) &&
         std::count(word.begin(), word.end(), ':') >= 1;
}

bool is_number_cell(std::string_view word) { return to_number(word).has_value(); }

// A word made of nothing but classes, with a list of CPUs behind or not: taken apart at the classes. False: leave it.
bool split_classes(std::string_view word, std::vector<std::string_view>& words) {
  std::vector<std::string_view> parts;
  std::string_view left = word;
  while (!left.empty()) {
    const std::size_t length = class_length(left);
    if (length == 0) break;
    parts.push_back(left.substr(0, length));
    left.remove_prefix(length);
  }
  if (parts.empty() || (!left.empty() && !is_list(left))) return false;
  if (!left.empty()) parts.push_back(left);
  words.insert(words.end(), parts.begin(), parts.end());
  return true;
}

void split_glued(std::string_view word, std::vector<std::string_view>& words) {
  while (!word.empty()) {
    std::size_t length = numbered_length(word, prefix_of(word, kAccelerators));
    if (length == 0) length = numbered_length(word, prefix_of(word, kOthers));
    if (length == 0) length = driver_name_length(word);
    if (length == 0 || length == word.size()) break;
    const std::string_view rest = word.substr(length);
    const bool glued = prefix_of(rest, kAccelerators).size() + prefix_of(rest, kOthers).size() > 0 ||
                       driver_name_length(rest) > 0 || class_length(rest) > 0 || rest.starts_with("CPU") ||
                       rest.starts_with("NUMA");
    if (!glued) break;
    words.push_back(word.substr(0, length));
    word = rest;
  }
  if (word.empty() || split_classes(word, words)) return;
  words.push_back(word);
}

bool begins_tail(const std::vector<std::string_view>& words, std::size_t at) {
  const std::string_view word = words[at];
  if (word.starts_with("CPU") || word.starts_with("NUMA") || word.starts_with("Affinity")) return true;
  const bool more = at + 1 < words.size();
  if (word == "GPU") return more && words[at + 1].starts_with("NUMA");
  return (word == "Node" || word == "NODE" || word == "Memory") && more && words[at + 1].starts_with("Aff");
}

bool is_row_name(std::string_view word) {
  return accelerator_index(word).has_value() || is_device_name(word) || is_bus_id(word);
}

bool is_elision(std::string_view word) { return word == "..." || word == "…" || word == ".."; }

bool is_cell(std::string_view word) {
  return is_elision(word) || is_number_cell(word) || word == "True" || word == "False" || is_link_class(word);
}

struct Place {
  MatrixLine what = MatrixLine::kNone;
  std::size_t at = 0;
};

bool begins_header(const std::vector<std::string_view>& words, std::size_t at) {
  if (at + 1 >= words.size()) return false;
  const std::string_view next = words[at + 1];
  if (begins_tail(words, at + 1)) return true;
  return is_row_name(next) || is_elision(next);
}

// Whether the line is a header or a row, and where its first device stands. `known`: the columns of the matrix so far.
Place place_in(const std::vector<std::string_view>& words, const DeviceMatrix* known) {
  const std::size_t most = std::min(words.size(), kMostPrefixWords);
  for (std::size_t at = 0; at < most; ++at) {
    const std::string_view word = words[at];
    const bool column = known != nullptr && known->column_of(word) < known->columns.size();
    if (!column && !is_row_name(word)) continue;
    if (begins_header(words, at)) return {MatrixLine::kHeader, at};
    if (at + 1 < words.size() && is_cell(words[at + 1]) && (column || !is_number_cell(words[at + 1]))) {
      return {MatrixLine::kRow, at};
    }
    if (column || accelerator_index(word)) return {};
  }
  return {};
}

// Affinities that the squeezed end of a header names: "CPUAffinityNUMAAffinityGPUNUMAID".
std::vector<Affinity> affinities_of(std::string_view tail) {
  struct Name {
    std::string_view text;
    Affinity what;
  };
  static constexpr std::array<Name, 5> kNames = {{{"gpunumaid", Affinity::kGpuNuma},
                                                  {"cpuaffinity", Affinity::kCpu},
                                                  {"numaaffinity", Affinity::kNuma},
                                                  {"nodeaffinity", Affinity::kNuma},
                                                  {"memoryaffinity", Affinity::kMemory}}};
  std::vector<Affinity> found;
  std::string text = to_lower(tail);
  std::string_view left = text;
  while (!left.empty()) {
    const Name* name = nullptr;
    for (const Name& one : kNames) {
      const std::size_t common = std::min(one.text.size(), left.size());
      // The last one may be cut short.
      if (common >= 3 && left.substr(0, common) == one.text.substr(0, common)) name = &one;
    }
    if (name != nullptr) found.push_back(name->what);
    left.remove_prefix(name != nullptr ? std::min(name->text.size(), left.size()) : 1);
  }
  return found;
}

std::string squeezed(const std::vector<std::string_view>& words, std::size_t from) {
  std::string text;
  for (std::size_t at = from; at < words.size() && text.size() < 400; ++at) text += words[at];
  return text;
}

}  // namespace

std::size_t DeviceMatrix::column_of(std::string_view name) const {
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
}

std::string_view accelerator_prefix(std::string_view word) {
  const std::string_view prefix = prefix_of(word, kAccelerators);
  return numbered_length(word, prefix) == word.size() && !word.empty() ? prefix : std::string_view();
}

std::optional<int> accelerator_index(std::string_view word) {
  const std::string_view prefix = accelerator_prefix(word);
  if (prefix.empty()) return std::nullopt;
  int index = 0;
  std::from_chars(word.data() + prefix.size(), word.data() + word.size(), index);  // at most five digits
  return index;
}

bool is_device_name(std::string_view word) {
  if (word.empty()) return false;
  if (numbered_length(word, prefix_of(word, kOthers)) == word.size()) return true;
  return !prefix_of(word, kDriverNames).empty() && word.find(':') == std::string_view::npos;
}

bool is_known_link_class(std::string_view word) {
  return !word.empty() && class_length(word) == word.size() && word != "..." && !is_list(word);
}

bool is_link_class(std::string_view word) {
  if (word.empty() || word.size() > 9) return false;
  if (is_known_link_class(word)) return true;
  if (!is_upper(word[0]) || is_row_name(word) || word.starts_with("CPU") || word.starts_with("NUMA")) return false;
  return word != "GPU" && word != "NIC" && std::all_of(word.begin(), word.end(), [](char c) {
           return is_upper(c) || is_digit(c) || c == '_' || c == '#' || c == '*';
         });
}

std::vector<std::string_view> matrix_words(std::string_view text) {
  // A table of Markdown or CSV has its own separators. Commas part only words, for lists of CPUs have them too.
  const bool commas = contains(text, ",X,") || contains(text, ",GPU1") || contains(text, ",SYS,");
  std::vector<std::string_view> words;
  std::size_t at = 0;
  const auto parts = [commas, text](std::size_t i) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '|' || c == ';' || c == '`' || c == '\r' || c == '\v' || c == '\f') return true;
    if (c != ',' || !commas) return c == '"';
    return !(i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]));
  };
  while (at < text.size() && words.size() < 2 * MatrixBuilder::kMostColumns) {
    while (at < text.size() && parts(at)) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !parts(at)) ++at;
    std::string_view word = text.substr(begin, at - begin);
    if (word.empty()) continue;
    // "GPU 0/0": one name. mpirun glues its tag to the line: "[1,0]<stdout>:GPU0".
    if (word == "GPU" && at + 1 < text.size() && text[at] == ' ' && is_digit(text[at + 1])) {
      const std::size_t end = text.find_first_of(" \t|", at + 1);
      if (contains(text.substr(at, end - at), "/")) {
        at = end == std::string_view::npos ? text.size() : end;
        words.push_back(text.substr(begin, at - begin));
        continue;
      }
    }
    if (const std::size_t colon = word.rfind(':'); colon != std::string_view::npos && colon + 1 < word.size()) {
      const std::string_view behind = word.substr(colon + 1);
      if (!accelerator_prefix(behind).empty() || (contains(word, ">:") && is_device_name(behind))) {
        words.push_back(word.substr(0, colon + 1));
        word = behind;
      }
    }
    split_glued(word, words);
  }
  return words;
}

MatrixLine matrix_line(std::string_view text) { return place_in(matrix_words(text), nullptr).what; }

bool MatrixBuilder::take_header(const std::vector<std::string_view>& words, std::size_t first, std::int64_t line) {
  matrix_.line = line;
  for (std::size_t at = first; at < words.size(); ++at) {
    if (begins_tail(words, at)) {
      tail_ = squeezed(words, at);
      break;
    }
    if (matrix_.columns.size() >= kMostColumns) return false;
    matrix_.columns.emplace_back(words[at]);
  }
  matrix_.affinities = affinities_of(tail_);
  return true;
}

void MatrixBuilder::add_cells(DeviceRow& row, const std::vector<std::string_view>& words, std::size_t from) {
  const std::size_t columns = matrix_.columns.size();
  const bool numeric = (!row.cells.empty() && is_number_cell(row.cells.front())) ||
                       (row.cells.empty() && from < words.size() && is_number_cell(words[from]));
  const bool any_cell = is_bus_id(row.name);
  std::size_t at = from;
  for (; at < words.size() && row.rest.empty(); ++at) {
    if (columns > 0 ? row.cells.size() >= columns : row.cells.size() >= kMostColumns) break;
    const bool is_link = any_cell || (is_cell(words[at]) && (numeric || !is_number_cell(words[at])));
    if (!is_link || (columns == 0 && words[at] == "N/A")) break;
    row.cells.emplace_back(words[at]);
  }
  for (; at < words.size() && row.rest.size() < 16; ++at) {
    // "0-31, 64-95" is one list.
    if (!row.rest.empty() && row.rest.back().ends_with(',') && is_digit(words[at][0])) {
      row.rest.back() += words[at];
    } else {
      row.rest.emplace_back(words[at]);
    }
  }
}

bool MatrixBuilder::take_row(const std::vector<std::string_view>& words, std::size_t first, std::int64_t line) {
  if (matrix_.rows.size() >= kMostRows) return false;
  if (matrix_.line == 0) matrix_.line = line;
  DeviceRow row;
  row.name = words[first];
  row.line = line;
  add_cells(row, words, first + 1);
  matrix_.rows.push_back(std::move(row));
  return true;
}

// A header that the terminal broke: more devices, or the affinities.
bool MatrixBuilder::continue_header(const std::vector<std::string_view>& words, std::int64_t line) {
  if (matrix_.columns.empty() || !matrix_.rows.empty() || line != last_line_ + 1 || words.empty()) return false;
  std::size_t at = 0;
  if (tail_.empty()) {
    for (; at < words.size() && is_row_name(words[at]) && !begins_tail(words, at); ++at) {
      if (matrix_.column_of(words[at]) < matrix_.columns.size() || matrix_.columns.size() >= kMostColumns) return false;
      matrix_.columns.emplace_back(words[at]);
    }
  }
  const std::string more = squeezed(words, at);
  if (at == 0 && !contains(more, "ffinity") && !contains(more, "NUMA")) return false;
  tail_ += more;
  matrix_.affinities = affinities_of(tail_);
  return true;
}

// A row that the terminal broke: nothing but cells and lists, right below.
bool MatrixBuilder::continue_row(const std::vector<std::string_view>& words, std::int64_t line) {
  if (matrix_.rows.empty() || matrix_.columns.empty() || line != last_line_ + 1 || words.empty()) return false;
  DeviceRow& row = matrix_.rows.back();
  const bool open = row.cells.size() < matrix_.columns.size() || row.rest.size() < matrix_.affinities.size();
  if (!open || !std::all_of(words.begin(), words.end(), [](std::string_view word) {
        return is_known_link_class(word) || is_list(word) || is_elision(word);
      })) {
    return false;
  }
  // The break may stand inside a word: "NV1" + "8", "0-3" + "1,64-95".
  std::size_t from = 0;
  if (row.rest.empty() && row.cells.size() < matrix_.columns.size() && !row.cells.empty() && is_list(words[0]) &&
      is_known_link_class(row.cells.back() + std::string(words[0]))) {
    row.cells.back() += words[0];
    from = 1;
  }
  add_cells(row, words, from);
  return true;
}

MatrixLine MatrixBuilder::take(std::string_view text, std::int64_t line, std::string_view title,
                               std::optional<DeviceMatrix>& done) {
  const std::vector<std::string_view> words = matrix_words(text);
  Place place = place_in(words, &matrix_);
  // "GPU0" alone heads a matrix of one device, where a title announces it.
  if (place.what == MatrixLine::kNone && !title.empty() && words.size() == 1 && is_row_name(words[0])) {
    place = {MatrixLine::kHeader, 0};
  }
  bool taken = false;
  if (place.what == MatrixLine::kHeader) {
    if (continue_header(words, line)) {
      place.what = MatrixLine::kContinued;
    } else {
      done = finish();
      matrix_.title = title;
      take_header(words, place.at, line);
    }
    taken = true;
  } else if (place.what == MatrixLine::kRow) {
    taken = take_row(words, place.at, line);
  } else if (continue_header(words, line) || continue_row(words, line)) {
    place.what = MatrixLine::kContinued;
    taken = true;
  }
  if (!taken) return MatrixLine::kNone;
  last_line_ = line;
  return place.what;
}

std::optional<DeviceMatrix> MatrixBuilder::finish() {
  DeviceMatrix done = std::move(matrix_);
  matrix_ = DeviceMatrix();
  tail_.clear();
  last_line_ = 0;
  if (done.columns.empty() && done.rows.empty()) return std::nullopt;
  return done;
}

}  // namespace tare
