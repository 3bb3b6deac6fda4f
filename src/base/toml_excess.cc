#include "base/toml_excess.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace tare {
namespace {

constexpr int kDeepest = 64;
constexpr int kMostPaths = 50'000;  // half a second of toml++ at worst

class ShapeScan {
 public:
  explicit ShapeScan(std::string_view text) : text_(text) {}

  // Stops at the first byte that is too much; false when there is none.
  bool finds_too_much() {
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        i_ = std::min(text_.find('\n', i_), text_.size());
        continue;
      }
      count(c);
      if (depth_ > kDeepest || paths_ > kMostPaths) return true;
      ++i_;
    }
    return false;
  }

  std::size_t offset() const { return i_; }
  std::string message() const {
    if (depth_ > kDeepest) return fmt::format("nested more than {} deep", kDeepest);
    return fmt::format("more than {} table headers and dotted keys", kMostPaths);
  }

 private:
  // The file itself, or an open bracket.
  struct Level {
    int dots = 0;  // in the key or header being read: each nests one deeper
    bool is_list = false;
  };

  void count(char c) {
    Level& level = levels_.back();
    if (c == '[' || c == '{') {
      paths_ += is_key_ && c == '[' && levels_.size() == 1 ? 1 : 0;
      is_key_ = is_key_ || c == '{';
      levels_.push_back({0, c == '['});
      ++depth_;
    } else if ((c == ']' || c == '}') && levels_.size() > 1) {
      depth_ -= 1 + level.dots;
      levels_.pop_back();
    } else if (c == '.') {
      paths_ += is_key_ ? 1 : 0;
      ++level.dots;
      ++depth_;
    } else if (c == '=') {
      is_key_ = false;
    } else if (c == ',' || (c == '\n' && levels_.size() == 1)) {
      is_key_ = !level.is_list;
      depth_ -= level.dots;
      level.dots = 0;
    }
  }

  void skip_string(char quote) {
    const bool has_escapes = quote == '"';
    const std::string fence(3, quote);
    if (text_.substr(i_, 3) == fence) {
      i_ += 3;
      while (i_ < text_.size() && text_.substr(i_, 3) != fence) i_ += has_escapes && text_[i_] == '\\' ? 2 : 1;
      i_ += 3;
      // Up to two quotes of the string itself stand before the closing three.
      for (int more = 0; more < 2 && i_ < text_.size() && text_[i_] == quote; ++more) ++i_;
      return;
    }
    for (++i_; i_ < text_.size() && text_[i_] != quote && text_[i_] != '\n'; ++i_) {
      if (has_escapes && text_[i_] == '\\' && i_ + 1 < text_.size() && text_[i_ + 1] != '\n') ++i_;
    }
    ++i_;
  }

  std::string_view text_;
  std::size_t i_ = 0;
  int depth_ = 0;
  int paths_ = 0;
  bool is_key_ = true;  // a key or header is being read, not a value
  std::vector<Level> levels_ = {Level{}};
};

}  // namespace

std::optional<TomlExcess> find_toml_excess(std::string_view text) {
  ShapeScan scan(text);
  if (!scan.finds_too_much()) return std::nullopt;
  return TomlExcess{scan.offset(), scan.message()};
}

}  // namespace tare
