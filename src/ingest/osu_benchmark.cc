#include "ingest/osu_benchmark.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/line_prefix.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kTestsKept = 5000;
constexpr std::size_t kRowsKept = 2000;

// "Bandwidth (MB/s)" -> "bandwidth_mb_per_s", "Avg Latency(us)" -> "avg_latency_us".
std::string column_name(std::string_view heading) {
  std::string name;
  for (const char c : to_lower(heading)) {
    if (c == '/') {
      name += "_per_";
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name == "size" ? "bytes" : name;
}

// Headings stand two blanks apart; where blanks were lost, a ")" ends one.
std::vector<std::string> columns_of(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t gap = std::min(text.find("  "), text.find('\t'));
    std::string_view cell = trim(text.substr(0, gap));
    text = gap == std::string_view::npos ? std::string_view() : trim(text.substr(gap));
    while (!cell.empty()) {
      const std::size_t close = cell.find(')');
      const bool further = close != std::string_view::npos && close + 1 < cell.size();
      names.push_back(column_name(cell.substr(0, further ? close + 1 : cell.size())));
      cell = further ? trim(cell.substr(close + 1)) : std::string_view();
    }
  }
  return names;
}

class OsuReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    if (line.text.size() > 4096) return false;
    const std::string_view text = trim(without_line_tags(line.text));
    if (text.starts_with("# OSU ")) return on_title(text, line.number, reading);
    if (text.starts_with("# Size")) {
      if (test_ == nullptr) on_title("", line.number, reading);
      columns_ = columns_of(trim(text.substr(1)));
      return true;
    }
    if (text.starts_with("#") && test_ != nullptr) return on_comment(trim(text.substr(1)), line.number);
    return test_ != nullptr && on_row(text, line.number);
  }
  void finish(Reading& reading) override {
    const std::vector<Fact>* const tests = reading.facts.find_list("tests");
    if (tests != nullptr) reading.facts.set("test_count", static_cast<std::int64_t>(tests->size()));
  }

 private:
  // "# OSU MPI-CUDA Bandwidth Test v5.9"
  bool on_title(std::string_view text, std::int64_t line, Reading& reading) {
    columns_.clear();
    test_ = nullptr;
    if (reading.facts.list("tests").size() >= kTestsKept) return true;
    test_ = &reading.facts.append("tests", line);
    if (text.empty()) return true;
    const std::size_t version = text.rfind(" v");
    test_->set("test", trim(text.substr(2, version == std::string_view::npos ? version : version - 2)));
    if (version != std::string_view::npos) test_->set("version", text.substr(version + 2));
    return true;
  }

  // "Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)", "Datatype: MPI_CHAR."
  bool on_comment(std::string_view text, std::int64_t line) {
    if (const auto type = after(text, "Datatype:")) {
      test_->set("datatype", type->ends_with('.') ? type->substr(0, type->size() - 1) : *type, line);
    } else if (contains(text, "Buffer on")) {
      test_->set("buffers", text, line);
    }
    return true;
  }

  bool on_row(std::string_view text, std::int64_t line) {
    const std::vector<std::string_view> words = words_in(text);
    if (words.empty() || words.size() > 64) return false;
    for (const std::string_view word : words) {
      if (!to_number(word)) return false;
    }
    // "osu_barrier" and "osu_init" print no sizes.
    if (columns_.empty() && words.size() > 1) columns_ = {"bytes", "value"};
    if (test_->list("rows").size() >= kRowsKept) return true;
    FactRecord& row = test_->append("rows", line);
    for (std::size_t i = 0; i < words.size(); ++i) {
      row.set_parsed(i < columns_.size() ? columns_[i] : "value_" + std::to_string(i + 1), words[i]);
    }
    return true;
  }

  FactRecord* test_ = nullptr;
  std::vector<std::string> columns_;
};

}  // namespace

int recognise_osu(const Head& head) {
  const bool title = contains(head.text, "# OSU ");
  const bool table =
      contains(head.text, "# Size ") && (contains(head.text, "Bandwidth (MB/s)") ||
                                         contains(head.text, "Latency (us)") || contains(head.text, "Latency(us)"));
  return title && table ? 96 : title || table ? 85 : confidence::kNone;
}

std::unique_ptr<LineReader> open_osu() { return std::make_unique<OsuReader>(); }

}  // namespace tare
