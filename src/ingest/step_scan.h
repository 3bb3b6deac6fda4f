// Finds "name: value" pairs of the known names in one line, however it separates them.
//
//   iteration   43/  100 | elapsed time per iteration (ms): 5444.9 | lm loss: 1.825991E+00 |
//   step:9 loss:1.051 updt_s:0.302       step=3,tgs (tokens/gpu/second)=4252.55,lr=1e-06
//   {'loss': 1.23, 'epoch': 0.1}         {"step": 3, "metrics": {"loss": "1.23"}}
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ingest/step_keys.h"

namespace tare {

struct StepHit {
  StepSlot slot = 0;
  bool finite = true;     // false: "nan" or "inf" stood there
  std::uint8_t rank = 0;  // of several names of one thing, the highest counts
  double value = 0;
  double scale = 1;                  // that `value` has been multiplied with
  StepUnit unit;                     // as the name or the value states it
  std::uint32_t begin = 0, end = 0;  // of the number in the line
};

// What stands in one line. More hits than there is room for are passed over.
class StepHits {
 public:
  static constexpr std::size_t kMost = 48;
  void clear() { count_ = 0, unit_unstated_ = evaluation_ = false; }
  // The highest rank of a slot counts, or the first.
  void add(const StepHit& hit);
  const StepHit* find(StepSlot slot) const;
  const StepHit* find(StepField field) const { return find(slot_of(field)); }
  const StepHit* begin() const { return hits_.data(); }
  const StepHit* end() const { return hits_.data() + count_; }
  bool empty() const { return count_ == 0; }
  // A time whose unit neither name nor value states was taken as seconds.
  bool unit_unstated() const { return unit_unstated_; }
  void set_unit_unstated() { unit_unstated_ = true; }
  // All of the line is of an evaluation: its loss is the evaluation's.
  void make_evaluation();

 private:
  std::array<StepHit, kMost> hits_;
  std::size_t count_ = 0;
  bool unit_unstated_ = false, evaluation_ = false;
};

// `offset` is added to the places of hits: that of `text` in its line.
void scan_key_values(std::string_view text, StepHits& hits, std::size_t offset = 0);
// One JSON object at the start of `text`, names as paths. False when it is none or broken (then what stands before the
// fault has been found).
bool scan_json_object(std::string_view text, StepHits& hits, std::size_t offset = 0);

}  // namespace tare
