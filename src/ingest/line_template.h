// The form of a line, learned from one and matched against the next.
//
// A log prints the same line over and over with other numbers in it. Once a line has been understood, its text is cut
// into literals with slots between them; a later line that fits is read by comparing the literals and parsing the
// numbers of the slots, some twenty times faster than understanding it again. A line that differs in anything but
// numbers does not fit, and is read the slow way.
// Thread safety: as a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/step_scan.h"

namespace tare {

class LineTemplate {
 public:
  // `json`: strings that hold digits (time stamps, names of hosts) may differ too.
  LineTemplate(std::string_view line, const StepHits& hits, bool json);

  // Puts the numbers of the slots into `values` (indexed by StepSlot, kStepSlots of them), each multiplied by its
  // scale. False when the line does not fit; `values` may have been written to.
  bool match(std::string_view line, double* values) const;
  std::uint32_t mask() const { return mask_; }  // bit per slot that it fills
  bool usable() const { return usable_; }

 private:
  enum class Kind : std::uint8_t { kNumber, kDigits, kString, kEnd };
  struct Piece {
    std::uint32_t literal = 0;
    std::uint16_t size = 0;
    Kind kind = Kind::kEnd;
    StepSlot slot = 0;
    double scale = 1;
  };
  void add_between(std::string_view text, bool json);
  void add_piece(Kind kind, StepSlot slot = 0, double scale = 1);

  std::string literals_;
  std::size_t open_ = 0;  // where the literal of the next piece begins
  std::vector<Piece> pieces_;
  std::uint32_t mask_ = 0;
  bool usable_ = true;
};

}  // namespace tare
