#include "ingest/perftest.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/kept_rows.h"
#include "ingest/line_source.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool is_header(std::string_view text) {
  return contains(text, "#bytes") && (contains(text, "#iterations") || contains(text, "BW ") ||
                                      contains(text, "t_avg") || contains(text, "Conflicts"));
}

// "BW peak[Gb/sec]" -> "bw_peak_gbit_per_s", "t_avg[usec]" -> "t_avg_us", "99% percentile[usec]" -> "p99_us".
std::string column_name(std::string_view text) {
  const std::optional<std::string_view> unit = between(text, "[", "]");
  std::string name = key_name(text.substr(0, text.find('[')));
  if (name.starts_with("99_9")) name = "p99_9";
  if (name.starts_with("99_") && name != "99_9") name = "p99";
  if (!unit) return name;
  if (*unit == "Gb/sec") return name + "_gbit_per_s";
  if (*unit == "MB/sec") return name + "_mb_per_s";  // MiB, where perftest is not told otherwise
  if (*unit == "MiB/sec") return name + "_mib_per_s";
  if (*unit == "Mpps") return name + "_mpps";
  if (*unit == "usec") return name + "_us";
  return name + "_" + key_name(*unit);
}

// Columns are parted by two blanks, or by the bracket of the unit.
std::vector<std::string> columns_of(std::string_view header) {
  std::vector<std::string> columns;
  std::string_view left = trim(header.substr(header.find("#bytes")));
  while (!left.empty() && columns.size() < 24) {
    std::size_t end = left.find("  ");
    const std::size_t bracket = left.find(']');
    const std::size_t tab = left.find('\t');
    end = std::min({end, tab, bracket == std::string_view::npos ? bracket : bracket + 1, left.size()});
    // "#bytes #iterations" has one blank in between.
    if (left.starts_with("#")) end = std::min(end, left.find(' '));
    columns.push_back(column_name(left.substr(0, end)));
    left = trim(left.substr(std::min(end, left.size())));
  }
  return columns;
}

class PerftestReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text.substr(0, 2048);
    if (is_header(text)) {
      columns_ = columns_of(text);
      return true;
    }
    if (!columns_.empty() && take_row(text, line.number, reading)) return true;
    return take_test(text, line.number) || take_setting(text, line.number);
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    if (rows_.seen() == 0 && tests_ == 0) return;
    if (!test_.empty()) facts.set("test", test_, test_line_);
    if (tests_ > 1) facts.set("test_count", tests_);
    if (!settings_.empty()) facts.set("settings", Fact::of(std::move(settings_)));
    facts.set("row_count", rows_.seen());
    for (const auto& [name, value] : best_) facts.set(name, value.first, value.second);
    rows_.give(facts, "rows", reading);
  }

 private:
  bool take_row(std::string_view text, std::int64_t line, Reading& reading) {
    const std::vector<std::string_view> words = words_in(text);
    if (words.size() < 2 || !to_integer(words[0]) || !to_number(words[1])) return false;
    if (words.size() < columns_.size()) reading.cannot_use(line, text, "fewer columns than the header");
    FactRecord row(line);
    if (tests_ > 1) row.set("test", tests_);
    for (std::size_t i = 0; i < words.size() && i < columns_.size(); ++i) {
      row.set_parsed(columns_[i].empty() ? "column" : columns_[i], words[i]);
      const std::optional<double> value = to_number(words[i]);
      if (value && columns_[i].starts_with("bw_average")) keep_best("max_" + columns_[i], *value, line, true);
      if (value && columns_[i].starts_with("t_avg")) keep_best("min_" + columns_[i], *value, line, false);
    }
    if (rows_.wants_next()) rows_.add(std::move(row));
    return true;
  }

  void keep_best(const std::string& name, double value, std::int64_t line, bool greater) {
    for (auto& [key, best] : best_) {
      if (key != name) continue;
      if (greater ? value > best.first : value < best.first) best = {value, line};
      return;
    }
    if (best_.size() < 8) best_.push_back({name, {value, line}});
  }

  // "                    RDMA_Write BW Test".
  bool take_test(std::string_view text, std::int64_t line) {
    const std::string_view name = trim(text);
    const bool test = name.size() < 60 && (name.ends_with("BW Test") || name.ends_with("Latency Test") ||
                                           name.ends_with("Bidirectional BW Test") || name.ends_with("Rate Test"));
    if (!test) return false;
    ++tests_;
    if (test_.empty()) {
      test_ = name;
      test_line_ = line;
    }
    return true;
  }

  // " Dual-port       : OFF          Device         : mlx5_0".
  bool take_setting(std::string_view text, std::int64_t line) {
    text = trim(text);
    if (text.starts_with("---")) return true;
    if (!contains(text, " : ") && !contains(text, "\t: "))
      return text.starts_with("local address") || text.starts_with("remote address") || text.starts_with("GID");
    if (tests_ == 0 && columns_.empty() && !contains(text, "Device") && !contains(text, "Dual-port")) return false;
    bool taken = false;
    while (!text.empty() && settings_.members().size() < 100) {
      const std::size_t colon = text.find(": ");
      if (colon == std::string_view::npos) break;
      const std::string_view value = trim(text.substr(colon + 2));
      const std::size_t end = std::min({value.find("  "), value.find('\t'), value.size()});
      const std::string name = key_name(text.substr(0, colon));
      if (!name.empty()) settings_.set_parsed(name, value.substr(0, end), line);
      taken = taken || !name.empty();
      text = trim(value.substr(end));
    }
    return taken;
  }

  std::vector<std::string> columns_;
  std::string test_;
  std::int64_t test_line_ = 0, tests_ = 0;
  FactRecord settings_;
  std::vector<std::pair<std::string, std::pair<double, std::int64_t>>> best_;
  KeptRows rows_{2000};
};

}  // namespace

int recognise_perftest(const Head& head) {
  std::string_view text = head.text;
  if (!contains(text, "#bytes")) return confidence::kNone;
  while (!text.empty()) {
    const std::string_view line = next_line(text).substr(0, 400);
    if (is_header(line)) return confidence::kSure;
  }
  return confidence::kNone;
}

std::unique_ptr<LineReader> open_perftest() { return std::make_unique<PerftestReader>(); }

}  // namespace tare
