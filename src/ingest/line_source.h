// Where a line of a collected output comes from: "node01: ", "[1,0]<stdout>:", "> ".
//
// A key of "key: value" looks like a prefix too. So a prefix counts only once a line that cannot be mistaken (the
// header of a device, say) has stood behind it.
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace tare {

struct SourcedLine {
  std::string_view source;  // without its colon; empty: none, or a mere quote sign
  std::string_view text;    // behind the prefix
};

class LineSources {
 public:
  static constexpr std::size_t kMost = 4096;

  // `marker`: where in the line the unmistakable part begins. What stands before it becomes a known prefix.
  SourcedLine learn(std::string_view line, std::size_t marker);
  // The line without a prefix that is known.
  SourcedLine split(std::string_view line) const;

 private:
  std::set<std::string, std::less<>> known_;
};

// "CA type" -> "ca_type", "GID[  0]" -> "gid_0".
std::string key_name(std::string_view text);

}  // namespace tare
