#include "ingest/yaml_tree.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kBadKept = 20;
constexpr std::size_t kFlowLines = 2000;  // of one flow list or map

struct YamlLine {
  std::size_t indent = 0;
  std::string_view content;  // without indentation, comment and end
  std::string_view raw;
  std::int64_t number = 0;
};

// Where the colon of a key stands; npos when the text is no "key: …".
std::size_t key_colon(std::string_view text) {
  if (text.empty()) return std::string_view::npos;
  if (text.front() == '"' || text.front() == '\'') {
    const std::size_t close = text.find(text.front(), 1);
    if (close == std::string_view::npos) return close;
    const std::size_t colon = text.find_first_not_of(' ', close + 1);
    return colon != std::string_view::npos && text[colon] == ':' ? colon : std::string_view::npos;
  }
  if (contains("{[|>#%@`", text.substr(0, 1))) return std::string_view::npos;
  for (std::size_t at = text.substr(0, 300).find(':'); at < 300; at = text.substr(0, 300).find(':', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\t') return at;
  }
  return std::string_view::npos;
}

// Takes a comment off: " #" outside quotes.
std::string_view without_comment(std::string_view text) {
  if (text.starts_with('#')) return {};
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote && (quote == '\'' || text[i - 1] != '\\')) quote = '\0';
    } else if ((c == '"' || c == '\'') && (i == 0 || contains(" ,[{:-", text.substr(i - 1, 1)))) {
      quote = c;
    } else if (c == '#' && i > 0 && (text[i - 1] == ' ' || text[i - 1] == '\t')) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::string unquoted(std::string_view text) {
  std::string out;
  if (text.front() == '\'') {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\'') {
        if (i + 1 >= text.size() || text[i + 1] != '\'') break;
        ++i;
      }
      out += text[i];
    }
    return out;
  }
  for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    } else {
      out += text[i];
    }
  }
  return out;
}

Fact scalar(std::string_view text, std::int64_t line) {
  text = trim(text);
  while (text.starts_with('&') || text.starts_with('!')) {  // an anchor or a tag
    const std::size_t blank = text.find(' ');
    text = blank == std::string_view::npos ? std::string_view() : trim(text.substr(blank));
  }
  if (text.empty() || text == "~" || text == "null") return Fact::unknown(line);
  if (text.front() == '"' || text.front() == '\'') return Fact::of(unquoted(text), line);
  if (text == "true" || text == "True") return Fact::of(true, line);
  if (text == "false" || text == "False") return Fact::of(false, line);
  if (const std::optional<std::int64_t> whole = to_integer(text)) return Fact::of(*whole, line);
  if (const std::optional<double> number = to_number(text)) return Fact::of(*number, line);
  return Fact::of(text, line);
}

// "[a, b: c]" and "{a: b}" on one line.
class FlowParser {
 public:
  FlowParser(std::string_view text, std::int64_t line) : text_(text), line_(line) {}

  Fact value(int depth) {
    skip();
    if (at_ >= text_.size() || depth > YamlTree::kDepth) return Fact::unknown(line_);
    if (text_[at_] == '[') return list(depth);
    if (text_[at_] == '{') return map(depth);
    return scalar(word(",]}"), line_);
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  // Up to one of `ends` outside quotes.
  std::string_view word(std::string_view ends) {
    const std::size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' && quote == '"' ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
    }
    while (at_ < text_.size() && !contains(ends, text_.substr(at_, 1))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Fact list(int depth) {
    std::vector<Fact> items;
    ++at_;
    for (;;) {
      skip();
      if (at_ >= text_.size()) break;
      if (text_[at_] == ']') {
        ++at_;
        break;
      }
      const std::size_t before = at_;
      items.push_back(value(depth + 1));
      skip();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
      if (at_ == before) ++at_;  // a stray '}'
    }
    return Fact::of(std::move(items), line_);
  }

  Fact map(int depth) {
    FactRecord record(line_);
    ++at_;
    for (;;) {
      skip();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '}') {
        ++at_;
        break;
      }
      const std::size_t before = at_;
      std::string_view name = trim(word(":,}]"));
      Fact item = Fact::unknown(line_);
      if (at_ < text_.size() && text_[at_] == ':') {
        ++at_;
        item = value(depth + 1);
      }
      skip();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
      if (at_ == before) ++at_;
      if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'')) name = name.substr(1, name.size() - 2);
      record.add(std::string(name), std::move(item));
    }
    return Fact::of(std::move(record));
  }

  std::string_view text_;
  std::int64_t line_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, std::int64_t line) {
    for (; !text.empty(); ++line) {
      const std::string_view raw = next_line(text);
      const std::size_t indent = std::min(raw.find_first_not_of(' '), raw.size());
      lines_.push_back({indent, trim(without_comment(raw.substr(indent))), raw, line});
    }
  }

  YamlTree run() {
    while (skip_blank()) {
      const std::string_view content = lines_[at_].content;
      if (content.starts_with("---") || content == "..." || content.starts_with("%YAML")) {
        ++at_;
        open_ = false;
        continue;
      }
      const std::int64_t line = lines_[at_].number;
      Fact block = this->block(lines_[at_].indent, 0);
      if (block.line == 0) block.line = line;
      join(std::move(block));
    }
    return std::move(tree_);
  }

 private:
  bool at_document_end() const {
    return lines_[at_].indent == 0 && (lines_[at_].content.starts_with("---") || lines_[at_].content == "...");
  }
  bool skip_blank() {
    while (at_ < lines_.size() && lines_[at_].content.empty()) ++at_;
    return at_ < lines_.size();
  }
  void bad() {
    ++tree_.bad_count;
    if (tree_.bad.size() < kBadKept) tree_.bad.emplace_back(lines_[at_].number, lines_[at_].raw);
    ++at_;
  }

  // A block that follows one of its document: the beginning was cut off, and these are members further out.
  void join(Fact block) {
    if (open_ && !tree_.documents.empty()) {
      Fact& last = tree_.documents.back();
      FactRecord* const into = std::get_if<FactRecord>(&last.value);
      FactRecord* const from = std::get_if<FactRecord>(&block.value);
      if (into != nullptr && from != nullptr) {
        for (const auto& [name, value] : from->members()) into->add(name, value);
        return;
      }
    }
    open_ = true;
    tree_.documents.push_back(std::move(block));
  }

  static bool is_item(std::string_view content) { return content == "-" || content.starts_with("- "); }

  Fact block(std::size_t indent, int depth) {
    if (depth > YamlTree::kDepth) {
      bad();
      return Fact::unknown();
    }
    const YamlLine& line = lines_[at_];
    if (is_item(line.content)) return list(indent, depth);
    if (key_colon(line.content) != std::string_view::npos) return map(indent, depth);
    if (line.content.starts_with('{') || line.content.starts_with('[')) {
      const std::string_view content = line.content;
      const std::int64_t number = line.number;
      ++at_;
      return flow(content, number);
    }
    Fact value = scalar(line.content, line.number);
    ++at_;
    return value;
  }

  Fact list(std::size_t indent, int depth) {
    std::vector<Fact> items;
    const std::int64_t first = lines_[at_].number;
    while (skip_blank() && lines_[at_].indent == indent && is_item(lines_[at_].content)) {
      YamlLine& line = lines_[at_];
      const std::size_t inner = std::min(line.content.find_first_not_of(' ', 1), line.content.size());
      if (inner == line.content.size()) {  // "-" alone: the item stands below
        const std::int64_t number = line.number;
        ++at_;
        const bool below = skip_blank() && lines_[at_].indent > indent;
        items.push_back(below ? block(lines_[at_].indent, depth + 1) : Fact::unknown(number));
        continue;
      }
      line.indent += inner;
      line.content.remove_prefix(inner);
      if ((line.content.front() == '|' || line.content.front() == '>') && line.content.size() <= 3) {
        const char joint = line.content.front() == '|' ? '\n' : ' ';
        const std::int64_t number = line.number;
        ++at_;
        items.push_back(block_scalar(joint, number, indent));
        continue;
      }
      const std::size_t item_indent = line.indent;
      items.push_back(block(item_indent, depth + 1));
      skip_deeper(indent);
    }
    return Fact::of(std::move(items), first);
  }

  // Lines further in than what they could belong to.
  void skip_deeper(std::size_t indent) {
    while (skip_blank() && lines_[at_].indent > indent && !at_document_end()) bad();
  }

  Fact map(std::size_t indent, int depth) {
    FactRecord record(lines_[at_].number);
    while (skip_blank() && lines_[at_].indent == indent && !at_document_end()) {
      const std::string_view content = lines_[at_].content;
      const std::size_t colon = key_colon(content);
      if (colon == std::string_view::npos || is_item(content)) {
        if (is_item(content)) break;
        bad();
        continue;
      }
      std::string_view key = trim(content.substr(0, colon));
      if (key.size() >= 2 && (key.front() == '"' || key.front() == '\'')) key = key.substr(1, key.size() - 2);
      const std::string_view rest = trim(content.substr(colon + 1));
      const std::int64_t number = lines_[at_].number;
      ++at_;
      record.add(std::string(key), value(rest, number, indent, depth));
      if (skip_blank() && lines_[at_].indent > indent) skip_deeper(indent);
    }
    return Fact::of(std::move(record));
  }

  // What stands behind "key:", on its line or below it.
  Fact value(std::string_view rest, std::int64_t number, std::size_t indent, int depth) {
    while (rest.starts_with('&') || rest.starts_with('!')) {
      const std::size_t blank = rest.find(' ');
      rest = blank == std::string_view::npos ? std::string_view() : trim(rest.substr(blank));
    }
    if (rest.empty()) {
      if (!skip_blank() || at_document_end()) return Fact::unknown(number);
      const bool deeper = lines_[at_].indent > indent;
      const bool list_here = lines_[at_].indent == indent && is_item(lines_[at_].content);
      return deeper || list_here ? block(lines_[at_].indent, depth + 1) : Fact::unknown(number);
    }
    if (rest.front() == '|' || rest.front() == '>')
      return block_scalar(rest.front() == '|' ? '\n' : ' ', number, indent);
    if (rest.front() == '{' || rest.front() == '[') return flow(rest, number);
    if (rest.front() == '"' || rest.front() == '\'') return quoted(rest, number);
    return scalar(rest, number);
  }

  // A quoted text that may go on over lines.
  Fact quoted(std::string_view rest, std::int64_t number) {
    if (rest.size() > 1 && rest.find(rest.front(), 1) != std::string_view::npos) return scalar(rest, number);
    std::string whole(rest);
    for (std::size_t lines = 0; at_ < lines_.size() && lines < kFlowLines; ++lines) {
      const std::string_view next = trim(lines_[at_].raw);
      if (key_colon(next) != std::string_view::npos && next.find(rest.front()) == std::string_view::npos) break;
      whole += ' ';
      whole += next;
      ++at_;
      if (next.find(rest.front()) != std::string_view::npos) break;
    }
    return scalar(whole, number);
  }

  Fact block_scalar(char joint, std::int64_t number, std::size_t indent) {
    std::string text;
    std::size_t own = std::string_view::npos;
    while (at_ < lines_.size()) {
      const YamlLine& line = lines_[at_];
      const bool blank = trim(line.raw).empty();
      if (!blank && line.indent <= indent) break;
      if (!blank && own == std::string_view::npos) own = line.indent;
      if (!text.empty()) text += joint;
      if (!blank) text += line.raw.substr(std::min(own, line.indent));
      ++at_;
    }
    while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
    return Fact::of(text, number);
  }

  // A flow value, gathered until its brackets close.
  Fact flow(std::string_view begin, std::int64_t number) {
    std::string text(begin);
    int open = depth_of(begin);
    for (std::size_t lines = 0; open > 0 && at_ < lines_.size() && lines < kFlowLines; ++lines, ++at_) {
      text += '\n';
      text += lines_[at_].content;
      open += depth_of(lines_[at_].content);
    }
    return FlowParser(text, number).value(0);
  }

  static int depth_of(std::string_view text) {
    int depth = 0;
    char quote = '\0';
    for (const char c : text) {
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if (c == ']' || c == '}') {
        --depth;
      }
    }
    return depth;
  }

  std::vector<YamlLine> lines_;
  std::size_t at_ = 0;
  bool open_ = false;
  YamlTree tree_;
};

}  // namespace

YamlTree read_yaml_tree(std::string_view text, std::int64_t first_line) { return Parser(text, first_line).run(); }

std::string_view yaml_key(std::string_view line) {
  line = trim(line);
  while (line.starts_with("- ")) line = trim(line.substr(2));
  const std::size_t colon = key_colon(line);
  return colon == std::string_view::npos ? std::string_view() : trim(line.substr(0, colon));
}

}  // namespace tare
