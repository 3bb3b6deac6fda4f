#include "ingest/dcgm_exporter.h"

#include <string>

#include "base/text.h"
#include "ingest/gpu_labels.h"
#include "ingest/line_speaker.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kLabels = 64;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

// {name="value",…}: what can be read of it. `whole` tells whether it was closed. Stray marks between labels (bold of
// markdown) are passed over.
std::size_t read_labels(std::string_view text, Labels& labels, bool& whole) {
  std::size_t at = 1;  // behind the brace
  whole = false;
  while (at < text.size()) {
    while (at < text.size() && !is_name_char(text[at]) && text[at] != '}') ++at;
    if (at >= text.size()) break;
    if (text[at] == '}') {
      whole = true;
      return at + 1;
    }
    const std::size_t name = at;
    while (at < text.size() && is_name_char(text[at])) ++at;
    const std::size_t name_end = at;
    if (at + 1 >= text.size() || text[at] != '=' || text[at + 1] != '"') {
      if (at < text.size()) ++at;
      continue;
    }
    at += 2;
    std::string value;
    while (at < text.size() && text[at] != '"') {
      if (text[at] == '\\' && at + 1 < text.size()) {
        ++at;
        value += text[at] == 'n' ? '\n' : text[at];
      } else {
        value += text[at];
      }
      ++at;
    }
    if (at >= text.size()) break;  // cut in the middle of the value
    ++at;
    if (labels.size() < kLabels) labels.emplace_back(text.substr(name, name_end - name), std::move(value));
  }
  return text.size();
}

bool is_dcgm(std::string_view name) { return name.starts_with("DCGM_") || name.starts_with("dcgm_"); }

class DcgmExporterReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    std::string_view text = trim(line.text);
    if (text.empty() || text == "...") return true;
    if (!is_dcgm(text) && !text.starts_with("# ")) text = trim(split_line_prefix(text).text);
    if (text.starts_with("# ")) return take_comment(text);
    std::size_t name_end = 0;
    while (name_end < text.size() && is_name_char(text[name_end])) ++name_end;
    const std::string_view name = text.substr(0, name_end);
    const bool labelled = name_end < text.size() && text[name_end] == '{';
    if (!is_dcgm(name)) {
      if (labelled || name.starts_with("go_") || name.starts_with("process_")) return true;  // the exporter's own
      if (contains(text, "curl ")) {
        reading.facts.set_once("command", Fact::of(text, line.number));
        return true;
      }
      return false;
    }
    take_series(name, text.substr(name_end), line, reading);
    return true;
  }

  void finish(Reading& reading) override {
    series_.put(reading.facts);
    if (series_.blanks() > 0) {
      reading.note(std::to_string(series_.blanks()) +
                   " values are DCGM's mark for 'blank': not supported or no permission, not a measurement");
    }
  }

 private:
  bool take_comment(std::string_view text) {
    const std::vector<std::string_view> words = words_in(text.substr(0, 2000));
    if (words.size() < 3 || (words[1] != "HELP" && words[1] != "TYPE") || !is_dcgm(words[2]))
      return words.size() >= 2 && words[1] != "#";
    const std::string_view rest =
        words.size() > 3 ? text.substr(static_cast<std::size_t>(words[3].data() - text.data())) : std::string_view();
    series_.about(words[2], words[1], rest);
    return true;
  }

  void take_series(std::string_view name, std::string_view rest, const Line& line, Reading& reading) {
    Labels labels;
    bool whole = true;
    if (rest.starts_with('{')) rest.remove_prefix(read_labels(rest, labels, whole));
    if (!whole) {
      reading.cannot_use(line.number, line.text, "the line ends inside its labels");
      if (labels.empty()) return;
    }
    const std::vector<std::string_view> words = words_in(rest.substr(0, 200));
    Fact value = Fact::unknown(line.number);
    if (!words.empty() && whole) value = Fact::parsed(words.front(), line.number);
    if (words.empty() && whole) reading.cannot_use(line.number, line.text, "no value behind the labels");
    if (!value.number() && !value.is_unknown()) value = Fact::unknown(line.number);
    series_.add(name, labels, value);
  }

  GpuSeries series_;
};

}  // namespace

int recognise_dcgm_exporter(const Head& head) {
  std::string_view text = head.text;
  int series = 0, lines = 0;
  while (!text.empty() && lines < 3000) {
    std::string_view line = trim(next_line(text));
    if (line.empty()) continue;
    ++lines;
    if (!is_dcgm(line) && !line.starts_with("# ")) line = trim(split_line_prefix(line).text);
    if (line.starts_with("# HELP DCGM_") || line.starts_with("# TYPE DCGM_") || line.starts_with("# HELP dcgm_"))
      ++series;
    if (!is_dcgm(line)) continue;
    const std::size_t brace = line.find('{');
    if (brace < 100 && contains(line.substr(brace), "=\"")) ++series;
  }
  if (series == 0) return confidence::kNone;
  return series * 4 >= lines || lines < 30 ? confidence::kSure : confidence::kLikely;
}

std::unique_ptr<LineReader> open_dcgm_exporter() { return std::make_unique<DcgmExporterReader>(); }

}  // namespace tare
