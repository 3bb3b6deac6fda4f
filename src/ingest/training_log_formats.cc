#include <array>

#include "base/text.h"
#include "ingest/families.h"
#include "ingest/mlperf_log.h"
#include "ingest/scan.h"
#include "ingest/step_csv.h"
#include "ingest/step_document.h"
#include "ingest/training_log.h"

namespace tare {
namespace {

// Reads the head as the file would be read, up to enough steps to be sure.
void survey(const Head& head, TrainingLogReader& reader) {
  constexpr std::int64_t kEnough = 24;
  Reading ignored;
  std::string_view left = head.text;
  Line line;
  while (!left.empty() && reader.rows() < kEnough && reader.bars() < kEnough) {
    ++line.number;
    std::string_view text = next_line(left);
    // A progress bar writes over itself.
    while (!text.empty()) {
      const std::size_t cr = text.find('\r');
      line.text = text.substr(0, cr);
      reader.on_line(line, ignored);
      text.remove_prefix(cr == std::string_view::npos ? text.size() : cr + 1);
    }
  }
  reader.finish(ignored);
}

bool has_any_word(std::string_view text) {
  for (const std::string_view word : {"step", "iter", "loss", "Step", "Iter", "Loss", "s/it", "it/s", "SamplesPerSec",
                                      "train_runtime", "time (ms)", "tokens", "Train "}) {
    if (contains(text, word)) return true;
  }
  return false;
}

// Whether the first line is an object; a Python dict is none.
bool begins_with_object(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  const std::size_t name = text.find_first_not_of(' ', first + 1);
  return name != std::string_view::npos && text[name] == '"';
}

int recognise_text(const Head& head) {
  if (!has_any_word(head.text) || head.text.starts_with(":::ML")) return confidence::kNone;
  TrainingLogReader reader;
  survey(head, reader);
  if (begins_with_object(head.text) && reader.rows() == reader.json_rows()) return confidence::kNone;
  if (reader.rows_of_known_programs() > 2) return 95;
  if (reader.rows_of_known_programs() > 0 || reader.found_summary()) return confidence::kSure;
  if (reader.rows() > 2) return 75;
  if (reader.found_timers()) return 85;
  if (reader.rows() > 0) return 55;
  if (reader.bars() > 0) return 55;
  if (reader.found_program() && reader.run_facts() > 2) return 45;
  return confidence::kNone;
}

int recognise_json_lines(const Head& head) {
  if (!begins_with_object(head.text)) return confidence::kNone;
  TrainingLogReader reader;
  survey(head, reader);
  if (reader.json_rows() > 2) return confidence::kSure;
  return reader.json_rows() > 0 ? 50 : confidence::kNone;
}

std::unique_ptr<LineReader> open_reader() { return std::make_unique<TrainingLogReader>(); }

}  // namespace

std::span<const Format> training_log_formats() {
  static constexpr std::array<Format, 6> kFormats = {{
      {"training-log", "training log", recognise_text, open_reader, nullptr},
      {"training-log", "JSON Lines of training steps", recognise_json_lines, open_reader, nullptr},
      {"training-log", "CSV of training steps", recognise_step_csv, open_step_csv, nullptr},
      {"training-log", "MLPerf result log", recognise_mlperf_log, open_mlperf_log, nullptr},
      {"training-log", "trainer_state.json", recognise_trainer_state, nullptr, read_step_document},
      {"training-log", "JSON of training steps", recognise_step_document, nullptr, read_step_document},
  }};
  return kFormats;
}

}  // namespace tare
