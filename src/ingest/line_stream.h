// The lines of a file of any size, in bounded memory.
//
// Line ends are LF, CRLF or a lone CR: what a progress bar writes over itself comes as lines that share one number. A
// byte order mark and the escape sequences of terminals are taken out, and UTF-16 (a mark at the start) is turned into
// UTF-8. A line longer than kLineLimit comes cut, `cut` set.
// A Line's text holds until the next call of next(), and kPadding bytes behind it may be read (not written).
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace tare {

struct Line {
  std::string_view text;
  std::int64_t number = 0;  // 1-based
  bool cut = false;
};

// Where bytes come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes; 0 at the end. Errors: rule "cannot-read".
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }  // of all, where it is known
};

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);  // "-" = standard input
std::unique_ptr<ByteSource> source_of(std::string text);

class LineStream {
 public:
  static constexpr std::size_t kPadding = 64;           // what simdjson wants behind its input
  static constexpr std::size_t kHead = 1u << 20;        // bytes that head() shows at most
  static constexpr std::size_t kLineLimit = 16u << 20;  // bytes of one line

  explicit LineStream(std::unique_ptr<ByteSource> source);
  ~LineStream();

  // The first bytes, cleaned as lines are; nothing is used up. Before the first next() only.
  Result<std::string> head();
  bool next(Line& line);  // false at the end, or when reading failed: see error()
  // All that is left, cleaned, for formats that are one document. Errors: rule "file-too-large".
  Result<std::string> rest(std::size_t limit_bytes);

  std::uint64_t bytes_read() const;
  const Diagnostics& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `text` without a byte order mark, escape sequences, backspaces; CRLF and CR as they are.
std::string without_escapes(std::string_view text);

}  // namespace tare
