#include "ingest/json_walk.h"

#include <algorithm>

namespace tare {
namespace {

class Walker {
 public:
  Walker(std::string_view text, std::int64_t line, const JsonVisit& visit) : text_(text), line_(line), visit_(visit) {}

  JsonWalk run() {
    skip_blank();
    if (at_ < text_.size() && text_[at_] == '[') {
      walk_.complete = list("");
    } else if (at_ < text_.size() && text_[at_] == '{') {
      ++at_;
      walk_.complete = members(true);
    } else {
      walk_.complete = members(false);
      if (walk_.complete) stop("the outer braces are not there");
      walk_.complete = false;
    }
    if (!walk_.complete && walk_.fault_line == 0) walk_.fault_line = line_;
    walk_.used = at_;
    return walk_;
  }

 private:
  bool stop(std::string why) {
    if (walk_.fault.empty()) {
      walk_.fault = std::move(why);
      walk_.fault_line = line_;
    }
    return false;
  }

  void skip_blank() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    }
  }

  // Parses one value at the current place and moves behind it.
  JsonTree value() {
    JsonTree tree = read_json_tree(text_.substr(at_), line_);
    const std::size_t end = std::min(at_ + tree.used, text_.size());
    line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                        text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    at_ = end;
    if (!tree.complete) stop(tree.fault);
    return tree;
  }

  bool list(std::string_view name) {
    ++at_;
    for (;;) {
      skip_blank();
      if (at_ >= text_.size()) return stop("the input ends inside an array");
      if (text_[at_] == ']') {
        ++at_;
        return true;
      }
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      const JsonTree tree = value();
      if (tree.complete || !tree.root.is_unknown()) visit_(name, true, tree.root, tree.complete);
      if (!tree.complete) return false;
    }
  }

  bool members(bool braces) {
    for (;;) {
      skip_blank();
      if (at_ >= text_.size()) return braces ? stop("the input ends inside an object") : true;
      const char c = text_[at_];
      if (c == '}' || c == ',' || (!braces && (c == ']' || c == '{'))) {
        ++at_;
        if (c == '}' && braces) return true;
        continue;
      }
      if (c != '"') return stop("expected a name in quotes");
      const JsonTree name = value();
      if (!name.complete) return false;
      skip_blank();
      if (at_ >= text_.size() || text_[at_] != ':') return stop("expected ':' behind a name");
      ++at_;
      skip_blank();
      if (at_ < text_.size() && text_[at_] == '[') {
        if (!list(name.root.text())) return false;
        continue;
      }
      const JsonTree tree = value();
      if (tree.complete || !tree.root.is_unknown()) visit_(name.root.text(), false, tree.root, tree.complete);
      if (!tree.complete) return false;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_;
  const JsonVisit& visit_;
  JsonWalk walk_;
};

}  // namespace

JsonWalk walk_json(std::string_view text, std::int64_t first_line, const JsonVisit& visit) {
  return Walker(text, first_line, visit).run();
}

}  // namespace tare
