#include "ingest/line_source.h"

#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kLongestPrefix = 200;

SourcedLine sourced(std::string_view prefix, std::string_view text) {
  prefix = trim(prefix);
  while (!prefix.empty() && (prefix.back() == ':' || prefix.back() == '>' || prefix.back() == '|')) {
    // "[1,0]<stdout>" is a name whole.
    if (prefix.ends_with("<stdout>") || prefix.ends_with("<stderr>")) break;
    prefix.remove_suffix(1);
  }
  return {trim(prefix), text};
}

}  // namespace

SourcedLine LineSources::learn(std::string_view line, std::size_t marker) {
  if (marker > line.size()) marker = line.size();
  const std::string_view prefix = trim(line.substr(0, marker));
  if (prefix.empty() || prefix.size() > kLongestPrefix) return {{}, line.substr(marker)};
  if (known_.size() < kMost && prefix.find(' ') == std::string_view::npos) known_.emplace(prefix);
  return sourced(prefix, line.substr(marker));
}

SourcedLine LineSources::split(std::string_view line) const {
  if (known_.empty()) return {{}, line};
  const std::size_t from = line.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {{}, line};
  const std::string_view rest = line.substr(from);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  if (const auto found = known_.find(word); found != known_.end()) return sourced(word, rest.substr(word.size()));
  // mpirun puts no blank behind its tag.
  if (const std::size_t tag = word.find(">:"); tag != std::string_view::npos) {
    const std::string_view prefix = word.substr(0, tag + 2);
    if (known_.find(prefix) != known_.end()) return sourced(prefix, rest.substr(prefix.size()));
  }
  return {{}, line};
}

std::string key_name(std::string_view text) {
  std::string name;
  for (const char c : to_lower(trim(text).substr(0, 80))) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

}  // namespace tare
