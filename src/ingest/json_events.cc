#include "ingest/json_events.h"

#include <algorithm>
#include <cstring>

#include "ingest/fast_number.h"

namespace tare {

void JsonCursor::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++at_;
  }
}

bool JsonCursor::fail() {
  failed_ = true;
  return false;
}

char JsonCursor::peek() {
  skip_blank();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::enter(char open) {
  if (peek() != open) return false;
  ++at_;
  first_ = true;
  return true;
}

bool JsonCursor::skip_string() {
  ++at_;
  for (;;) {
    const void* const found = at_ < text_.size() ? std::memchr(text_.data() + at_, '"', text_.size() - at_) : nullptr;
    if (found == nullptr) {
      at_ = text_.size();
      return fail();
    }
    const std::size_t quote = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
    std::size_t slashes = 0;
    while (quote - slashes > at_ && text_[quote - slashes - 1] == '\\') ++slashes;
    at_ = quote + 1;
    if (slashes % 2 == 0) return true;
  }
}

bool JsonCursor::read_string(std::string_view& raw) {
  if (peek() != '"') {
    skip();
    return false;
  }
  const std::size_t begin = at_ + 1;
  if (!skip_string()) return false;
  raw = text_.substr(begin, at_ - 1 - begin);
  return true;
}

bool JsonCursor::read_number(double& value) {
  skip_blank();
  const char* const from = text_.data() + at_;
  const char* const to = parse_number(from, text_.data() + text_.size(), value);
  if (to == nullptr) {
    skip();
    return false;
  }
  at_ += static_cast<std::size_t>(to - from);
  return true;
}

bool JsonCursor::next_member(std::string_view& name) {
  if (failed_) return false;
  char c = peek();
  if (c == ',' && !first_) {
    ++at_;
    c = peek();
  }
  first_ = false;
  if (c == '}') {
    ++at_;
    return false;
  }
  if (c != '"') return fail();
  if (!read_string(name)) return false;
  if (peek() != ':') return fail();
  ++at_;
  return peek() != '\0' || fail();
}

bool JsonCursor::next_value() {
  if (failed_) return false;
  char c = peek();
  if (c == ',' && !first_) {
    ++at_;
    c = peek();
  }
  first_ = false;
  if (c == ']') {
    ++at_;
    return false;
  }
  return c != '\0' || fail();
}

bool JsonCursor::skip() {
  const char c = peek();
  if (c == '"') return skip_string();
  if (c != '{' && c != '[') {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' && text_[at_] != '\n')
      ++at_;
    return at_ > begin || fail();
  }
  // Depth by brackets alone: what matters is where the value ends.
  std::int64_t depth = 0;
  while (at_ < text_.size()) {
    const char d = text_[at_];
    if (d == '"') {
      if (!skip_string()) return false;
      continue;
    }
    if (d == '{' || d == '[') ++depth;
    if (d == '}' || d == ']') --depth;
    ++at_;
    if (depth == 0) return true;
  }
  return fail();
}

std::int64_t LineCounter::line_at(std::size_t place) {
  place = std::min(place, text_.size());
  if (place > at_) {
    line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                        text_.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    at_ = place;
  }
  return line_;
}

}  // namespace tare
