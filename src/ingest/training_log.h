// Logs of training programs, line by line: who logged, what each step took, and what the log says of the run.
//
// One reader for all programs whose log is lines of names and values; JSON Lines are such lines too. Lines that look
// like one understood before are read by its LineTemplate; others by step_scan.h and the helpers beside it.
// Thread safety: one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ingest/format.h"
#include "ingest/line_template.h"
#include "ingest/progress_bar.h"
#include "ingest/step_series.h"
#include "ingest/training_events.h"
#include "ingest/training_timers.h"

namespace tare {

class TrainingLogReader : public LineReader {
 public:
  TrainingLogReader();
  bool on_line(const Line& line, Reading& reading) override;
  void finish(Reading& reading) override;

  // What was found so far, for recognition.
  std::int64_t rows() const { return rows_; }
  std::int64_t rows_of_known_programs() const { return known_rows_; }
  std::int64_t json_rows() const { return json_rows_; }
  std::int64_t bars() const { return bars_; }
  bool found_summary() const { return !summary_.empty(); }
  bool found_timers() const { return !timers_.empty() || !memory_.empty(); }
  bool found_program() const { return !hints_.empty(); }
  std::size_t run_facts() const { return run_.size(); }

 private:
  struct RankSteps {
    int rank;
    StepSeriesBuilder steps;
    std::uint32_t last_mask = 0;
  };
  // The steps that one program logged.
  struct Track {
    std::uint8_t dialect = 0;
    bool json = false;
    std::array<StepUnit, kStepFields> units{};
    std::uint32_t with_unit = 0;  // fields whose unit is known
    std::vector<RankSteps> ranks;
    std::size_t last = 0;  // the rank that was added to last
  };
  struct Known {
    LineTemplate form;
    std::size_t track;
    std::uint64_t used = 0;
  };
  struct Prefix {
    std::size_t size = 0;
    int rank = -1;
    std::string_view host;
  };

  static Prefix prefix_of(std::string_view text);
  bool fits_known(std::string_view body, const Line& line, int rank);
  bool understand(std::string_view text, const Line& line, const Prefix& prefix, Reading& reading);
  bool on_body(std::string_view text, std::size_t offset, const Line& line, int rank, bool may_learn, Reading& reading);
  bool on_wrapped(std::string_view body, const Line& line, const Prefix& prefix, Reading& reading);
  void flush_wrapped(Reading& reading);
  void on_line_without_step(std::string_view text);
  bool on_bar(const ProgressBar& bar, std::string_view text, const Line& line, int rank);
  bool on_pairs(std::string_view text, std::size_t offset, const Line& line, int rank, bool may_learn, bool json,
                Reading& reading);
  bool on_block_line(std::string_view body, const Line& line, int rank);
  bool on_summary(std::string_view text, std::int64_t number);
  bool note_program(std::string_view text, std::int64_t number);
  bool on_other(std::string_view text, std::int64_t number);
  bool take_run_facts(const StepHits& hits, std::string_view text, std::int64_t number);
  void add_step_without_name(std::string_view text, std::size_t offset, std::string_view program);
  void adopt_unit(Track& track, StepHit& hit);
  void amend_from_ahead();
  bool amend_last(const StepHits& hits, const Line& line);
  void take_evaluation(const StepHits& hits, std::int64_t number);
  bool is_step(const StepHits& hits, std::uint8_t dialect, bool json) const;
  std::size_t track_of(std::uint8_t dialect, bool json);
  RankSteps& steps_of(std::size_t track, int rank);
  void add_hits(std::size_t track, int rank, StepHits& hits, const Line& line);
  void add_row(std::size_t track, int rank, const double* values, std::uint32_t mask, const Line& line);
  void learn(std::size_t track, std::string_view body, const StepHits& hits, bool json);
  void finish_track(std::size_t index, bool is_main, FactRecord& facts);
  void finish_run(StepSeries& series);
  void add_ranks(FactRecord& facts, std::vector<StepSeries>& series) const;
  void add_progress(Reading& reading, bool as_steps);
  std::size_t main_track() const;

  std::vector<Track> tracks_;
  std::vector<Known> known_;
  std::uint64_t clock_ = 0;
  std::size_t latest_ = 0;  // of known_
  std::array<double, kStepSlots> values_{};
  StepRow row_;
  std::uint32_t row_mask_ = 0;
  StepHits hits_;

  std::string wrapped_;
  Line wrapped_line_;
  int wrapped_rank_ = -1, wrapped_parts_ = 0;
  std::int64_t block_step_ = -1;
  bool in_block_ = false;

  std::map<std::string, RunFact, std::less<>> run_;
  std::vector<FactRecord> evaluations_;
  std::int64_t evaluation_count_ = 0;
  FactRecord summary_;
  std::int64_t summary_lines_ = 0;
  std::vector<FactRecord> progress_;
  std::int64_t bars_ = 0, bar_stride_ = 1, bars_until_next_ = 0;
  FactRecord last_bar_;
  TrainingTimers timers_;
  RankMemory memory_;
  TrainingEvents events_;
  std::map<std::string, std::int64_t, std::less<>> hints_;  // program, first line
  std::map<std::string, std::int64_t, std::less<>> hosts_;  // lines that begin with the name
  std::int64_t hosted_lines_ = 0;
  StepHits ahead_;  // of a line that tells of the step to come
  std::int64_t ahead_line_ = 0;
  std::size_t last_track_ = 0;  // of the row added last
  int last_rank_ = -1;
  std::int64_t last_row_line_ = 0, overflows_ = 0, first_overflow_line_ = 0;
  std::string last_other_;               // the last line that is no step
  double first_time_behind_ = kNotSaid;  // of a line behind the last step
  std::int64_t behind_ = -1;             // the step's line that it is behind
  std::int64_t rows_ = 0, known_rows_ = 0, json_rows_ = 0, lines_ = 0, last_line_ = 0;
  std::vector<std::string> noted_;
};

}  // namespace tare
