// The objects of one array in a large JSON text, one after the other, without building the text.
//
// A reader for traces: they are hundreds of megabytes, and of each event only a few members matter. Whatever stands
// before a fault is found.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace tare {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Enters the object or array at the cursor; false when there is none.
  bool enter(char open);
  // In an object: moves to the next member's value and gives its name (raw, escapes as they are). False at its end or a
  // fault.
  bool next_member(std::string_view& name);
  // In an array: moves to the next value. False at its end or a fault.
  bool next_value();
  char peek();  // first character of the value at the cursor; '\0' at the end
  // Values; each leaves the cursor behind. False when the value is of another type (which is then passed over).
  bool read_string(std::string_view& raw);
  bool read_number(double& value);
  bool skip();  // any value; false at a fault

  std::size_t at() const { return at_; }
  bool failed() const { return failed_; }

 private:
  void skip_blank();
  bool fail();
  bool skip_string();

  std::string_view text_;
  std::size_t at_ = 0;
  bool first_ = false;  // nothing of the current object or array has been read yet
  bool failed_ = false;
};

// Counts lines up to places that only grow.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  std::int64_t line_at(std::size_t place);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace tare
