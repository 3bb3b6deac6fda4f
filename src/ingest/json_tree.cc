#include "ingest/json_tree.h"

#include <charconv>
#include <cmath>

#include "ingest/scan.h"

namespace tare {
namespace {

void append_code_point(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
}

// Recursive descent that stops at the first fault and leaves what it has built.
class Parser {
 public:
  Parser(std::string_view text, std::int64_t line) : text_(text), line_(line) {}

  JsonTree run() {
    JsonTree tree;
    tree.complete = value(tree.root, 0);
    tree.fault = fault_;
    tree.fault_line = tree.complete ? 0 : line_;
    tree.used = at_;
    return tree;
  }

 private:
  bool stop(const char* why) {
    if (fault_.empty()) fault_ = why;
    return false;
  }
  bool at_end() const { return at_ >= text_.size(); }

  void skip_blank() {
    for (; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '.' && text_.substr(at_, 3) == "...") {  // left out by whoever pasted it
        at_ += 2;
        continue;
      }
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    }
  }

  // One comma, or more where something between them was left out.
  void skip_commas() {
    while (!at_end() && text_[at_] == ',') {
      ++at_;
      skip_blank();
    }
  }

  bool value(Fact& into, int depth) {
    skip_blank();
    if (at_end()) return stop("the input ends where a value should stand");
    if (depth > JsonTree::kDepth) return stop("nested too deep");
    into.line = line_;
    switch (text_[at_]) {
      case '{':
        return object(into, depth);
      case '[':
        return array(into, depth);
      case '"': {
        std::string text;
        const bool whole = string(text);
        into.value = std::move(text);
        return whole;
      }
      default:
        return word(into);
    }
  }

  bool object(Fact& into, int depth) {
    into.value = FactRecord(line_);
    FactRecord& record = std::get<FactRecord>(into.value);
    ++at_;
    for (bool first = true;; first = false) {
      skip_blank();
      if (at_end()) return stop("the input ends inside an object");
      if (text_[at_] == '}') {
        ++at_;
        return true;
      }
      if (!first) {
        if (text_[at_] != ',') return stop("expected ',' or '}' in an object");
        skip_commas();
        if (!at_end() && text_[at_] == '}') continue;  // a comma too many
      }
      if (at_end()) return stop("the input ends inside an object");
      if (text_[at_] != '"') return stop("expected a name in quotes");
      std::string name;
      if (!string(name)) return false;
      skip_blank();
      if (at_end()) return stop("the input ends inside an object");
      if (text_[at_] != ':') return stop("expected ':' behind a name");
      ++at_;
      skip_blank();
      if (at_end()) return stop("the input ends inside an object");
      if (!value(record.add(std::move(name), Fact{}), depth + 1)) return false;
    }
  }

  bool array(Fact& into, int depth) {
    into.value = std::vector<Fact>();
    std::vector<Fact>& list = std::get<std::vector<Fact>>(into.value);
    ++at_;
    for (bool first = true;; first = false) {
      skip_blank();
      if (at_end()) return stop("the input ends inside an array");
      if (text_[at_] == ']') {
        ++at_;
        return true;
      }
      if (!first) {
        if (text_[at_] != ',') return stop("expected ',' or ']' in an array");
        skip_commas();
        if (!at_end() && text_[at_] == ']') continue;  // a comma too many
        if (at_end()) return stop("the input ends inside an array");
      }
      if (!value(list.emplace_back(), depth + 1)) {
        if (list.back().is_unknown()) list.pop_back();  // nothing was there
        return false;
      }
    }
  }

  bool string(std::string& into) {
    ++at_;
    for (;;) {
      const std::size_t plain = std::min(text_.find_first_of("\"\\\n", at_), text_.size());
      into.append(text_.substr(at_, plain - at_));
      at_ = plain;
      if (at_end()) return stop("the input ends inside a string");
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c == '\n') {
        ++line_;
        into += '\n';
      } else if (!escape(into)) {
        return false;
      }
    }
  }

  bool escape(std::string& into) {
    if (at_end()) return stop("the input ends inside a string");
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        into += '\n';
        return true;
      case 't':
        into += '\t';
        return true;
      case 'r':
        into += '\r';
        return true;
      case 'b':
      case 'f':
        into += ' ';
        return true;
      case 'u':
        return code_point(into);
      default:
        into += c;
        return true;
    }
  }

  bool four_digits(std::uint32_t& code) {
    if (at_ + 4 > text_.size()) return stop("the input ends inside a string");
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
    if (error != std::errc() || end != begin + 4) return stop("\\u needs four hexadecimal digits");
    at_ += 4;
    return true;
  }

  bool code_point(std::string& into) {
    std::uint32_t code = 0;
    if (!four_digits(code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      std::uint32_t low = 0;
      if (!four_digits(low)) return false;
      code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;
    }
    append_code_point(into, code);
    return true;
  }

  // A number, true, false, null, or a bare word that some writers leave (NaN, None, True).
  bool word(Fact& into) {
    const std::size_t end = std::min(text_.find_first_of(",]}: \t\r\n\"[{", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) return stop("expected a value");
    at_ = end;
    if (word == "true" || word == "True") {
      into.value = true;
    } else if (word == "false" || word == "False") {
      into.value = false;
    } else if (word == "null" || word == "None" || word == "NaN" || word == "nan" || word == "Infinity" ||
               word == "-Infinity") {
      into.value = std::monostate{};
    } else if (const std::optional<std::int64_t> integer = to_integer(word)) {
      into.value = *integer;
    } else if (const std::optional<double> number = to_number(word)) {
      into.value = *number;
    } else {
      return stop(at_end() ? "the input ends inside a value" : "expected a value");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_;
  std::string fault_;
};

}  // namespace

JsonTree read_json_tree(std::string_view text, std::int64_t first_line) { return Parser(text, first_line).run(); }

}  // namespace tare
