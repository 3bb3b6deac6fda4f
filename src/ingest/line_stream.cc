#include "ingest/line_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/quantity.h"

namespace tare {
namespace {

constexpr std::size_t kChunk = 256u << 10;  // stays in the second-level cache
constexpr char kEscape = '\x1b';
constexpr char kBackspace = '\b';

Diagnostic cannot_read(const std::string& path, int error) {
  Diagnostic diagnostic =
      make_error("cannot-read", fmt::format("cannot read the file: {}", std::generic_category().message(error)),
                 error == ENOENT   ? "check the path"
                 : error == EACCES ? "ask for the right to read it"
                                   : "");
  diagnostic.file = path;
  return diagnostic;
}

class FileSource : public ByteSource {
 public:
  FileSource(int fd, bool owned, std::string path) : fd_(fd), owned_(owned), path_(std::move(path)) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }
  Result<std::size_t> read(char* into, std::size_t size) override {
    for (;;) {
      const ssize_t got = ::read(fd_, into, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return fail(cannot_read(path_, errno));
    }
  }
  std::optional<std::uint64_t> size() const override {
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  int fd_;
  bool owned_;
  std::string path_;
};

class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t count = std::min(size, text_.size() - at_);
    std::memcpy(into, text_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::optional<std::uint64_t> size() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// UTF-16 units as they come, in pieces of any length, to UTF-8.
class Utf16 {
 public:
  explicit Utf16(bool big_endian) : big_endian_(big_endian) {}
  void append(std::string_view bytes, std::string& out) {
    for (const char c : bytes) {
      if (!half_) {
        half_ = static_cast<unsigned char>(c);
        continue;
      }
      const std::uint32_t first = *half_;
      const std::uint32_t second = static_cast<unsigned char>(c);
      half_.reset();
      unit(big_endian_ ? first << 8 | second : second << 8 | first, out);
    }
  }

 private:
  void unit(std::uint32_t code, std::string& out) {
    if (code >= 0xD800 && code < 0xDC00) {
      high_ = code;
    } else if (code >= 0xDC00 && code < 0xE000) {
      append_utf8(out, high_ == 0 ? 0xFFFDu : 0x10000 + ((high_ - 0xD800) << 10) + (code - 0xDC00));
      high_ = 0;
    } else {
      append_utf8(out, code);
      high_ = 0;
    }
  }
  bool big_endian_;
  std::optional<std::uint32_t> half_;
  std::uint32_t high_ = 0;
};

// Bytes of the escape sequence that `text` begins with.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {  // CSI: parameters, then one letter
    std::size_t at = 2;
    while (at < text.size() && (text[at] < '@' || text[at] > '~') && text[at] != '\n') ++at;
    return std::min(at + (at < text.size() && text[at] != '\n' ? 1 : 0), text.size());
  }
  if (text[1] == ']') {  // OSC: to BEL or ESC backslash
    std::size_t at = 2;
    while (at < text.size() && text[at] != '\a' && text[at] != kEscape && text[at] != '\n') ++at;
    if (at < text.size() && text[at] == '\a') return at + 1;
    return at + 1 < text.size() && text[at] == kEscape && text[at + 1] == '\\' ? at + 2 : at;
  }
  if (text[1] == '(' || text[1] == ')') return std::min<std::size_t>(3, text.size());
  return text[1] == '\n' ? 1 : 2;
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("\x1b\b"), text.size());
    clean.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (text.front() == kBackspace) {
      if (!clean.empty() && clean.back() != '\n') clean.pop_back();
      text.remove_prefix(1);
    } else {
      text.remove_prefix(escape_length(text));
    }
  }
  return clean;
}

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO, false, "<stdin>");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(cannot_read(path, errno));
  return std::make_unique<FileSource>(fd, true, path);
}

std::unique_ptr<ByteSource> source_of(std::string text) { return std::make_unique<TextSource>(std::move(text)); }

struct LineStream::State {
  std::unique_ptr<ByteSource> source;
  std::vector<char> buffer;
  std::size_t begin = 0, end = 0;  // what is not used up yet
  std::size_t scanned = 0;         // no LF before here
  bool has_cr = false, has_escape = false, at_end = false, started = false;
  std::uint64_t bytes = 0;
  std::int64_t line = 1;
  std::optional<Utf16> utf16;
  std::string scratch, raw;
  Diagnostics error;

  std::string_view left() const { return {buffer.data() + begin, end - begin}; }

  void make_room(std::size_t more) {
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      scanned = scanned > begin ? scanned - begin : 0;
      end -= begin;
      begin = 0;
    }
    if (buffer.size() < end + more + kPadding) buffer.resize(end + more + kPadding);
  }

  void put(std::string_view bytes_in) {
    make_room(bytes_in.size());
    std::memcpy(buffer.data() + end, bytes_in.data(), bytes_in.size());
    end += bytes_in.size();
  }

  // The mark at the start of a file: which encoding it is in.
  void begin_text() {
    started = true;
    const std::string_view text = left();
    if (text.starts_with("\xEF\xBB\xBF")) {
      begin += 3;
    } else if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      utf16.emplace(text.starts_with("\xFE\xFF"));
      std::string decoded;
      utf16->append(text.substr(2), decoded);
      begin = end = scanned = 0;
      put(decoded);
    }
  }

  // Reads one more chunk. False at the end.
  bool fill() {
    if (at_end) return false;
    std::size_t from = 0;
    if (utf16) {
      raw.resize(kChunk);
      const Result<std::size_t> got = source->read(raw.data(), raw.size());
      if (!take(got)) return false;
      std::string decoded;
      utf16->append(std::string_view(raw).substr(0, *got), decoded);
      from = end - begin;
      put(decoded);
    } else {
      make_room(kChunk);
      const Result<std::size_t> got = source->read(buffer.data() + end, kChunk);
      if (!take(got)) return false;
      from = end - begin;
      end += *got;
      if (!started && (end - begin >= 3 || *got == 0)) {
        begin_text();
        from = 0;
      }
    }
    const std::string_view fresh = left().substr(std::min(from, end - begin));
    has_cr = has_cr || fresh.find('\r') != std::string_view::npos;
    has_escape =
        has_escape || fresh.find(kEscape) != std::string_view::npos || fresh.find(kBackspace) != std::string_view::npos;
    return true;
  }

  bool take(const Result<std::size_t>& got) {
    if (!got) error = got.error();
    at_end = !got || *got == 0;
    if (!at_end) bytes += *got;
    return !at_end;
  }

  // What is left of an endless line is passed over.
  void skip_line() {
    while (fill()) {
      const void* const newline = std::memchr(buffer.data() + begin, '\n', end - begin);
      if (newline != nullptr) {
        begin = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer.data()) + 1;
        ++line;
        break;
      }
      begin = end;
    }
    scanned = begin;
  }

  std::string_view cleaned(std::string_view text) {
    if (!has_escape || text.find_first_of("\x1b\b") == std::string_view::npos) return text;
    scratch = without_escapes(text);
    scratch.reserve(scratch.size() + kPadding);
    return scratch;
  }
};

LineStream::LineStream(std::unique_ptr<ByteSource> source) : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
}
LineStream::~LineStream() = default;

Result<std::string> LineStream::head() {
  while (state_->end - state_->begin < kHead && state_->fill()) {
  }
  if (!state_->error.empty()) return tl::unexpected(state_->error);
  return without_escapes(state_->left().substr(0, kHead));
}

bool LineStream::next(Line& line) {
  State& state = *state_;
  const char* newline = nullptr;
  for (;;) {
    const std::size_t from = std::max(state.begin, state.scanned);
    newline = state.end == from
                  ? nullptr
                  : static_cast<const char*>(std::memchr(state.buffer.data() + from, '\n', state.end - from));
    state.scanned = newline == nullptr ? state.end : static_cast<std::size_t>(newline - state.buffer.data());
    if (newline != nullptr) break;
    if (state.end - state.begin > kLineLimit || !state.fill()) break;
  }
  if (newline == nullptr && state.begin == state.end) return false;

  std::string_view text = newline == nullptr
                              ? state.left()
                              : std::string_view(state.buffer.data() + state.begin,
                                                 static_cast<std::size_t>(newline - state.buffer.data()) - state.begin);
  line.number = state.line;
  line.cut = newline == nullptr && !state.at_end;
  const std::size_t used = text.size() + (newline == nullptr ? 0 : 1);
  bool ends_line = newline != nullptr;
  std::size_t consumed = used;
  if (state.has_cr) {
    const std::size_t cr = text.find('\r');
    if (cr != std::string_view::npos) {
      const std::size_t behind = text.find_first_not_of('\r', cr);
      if (behind != std::string_view::npos) {  // a lone CR: a line that was written over
        consumed = behind;
        ends_line = false;
        line.cut = false;
      }
      text = text.substr(0, cr);
    }
  }
  state.begin += consumed;
  if (ends_line) {
    ++state.line;
    state.scanned = state.begin;
  }
  line.text = state.cleaned(text);
  if (line.cut) {
    if (line.text.data() != state.scratch.data()) {
      state.scratch = std::string(line.text);
      line.text = state.scratch;
    }
    state.skip_line();
  }
  return true;
}

Result<std::string> LineStream::rest(std::size_t limit_bytes) {
  State& state = *state_;
  while (state.fill()) {
    if (state.end - state.begin > limit_bytes) {
      return fail(
          "file-too-large",
          fmt::format("one document, larger than the limit of {}", format_gib(static_cast<double>(limit_bytes))),
          "split it, or give the part that matters");
    }
  }
  if (!state.error.empty()) return tl::unexpected(state.error);
  Result<std::string> text(without_escapes(state.has_escape ? state.left() : std::string_view()));
  if (!state.has_escape) text->assign(state.left());
  text->reserve(text->size() + kPadding);
  state.begin = state.end;
  return text;
}

std::uint64_t LineStream::bytes_read() const { return state_->bytes; }
const Diagnostics& LineStream::error() const { return state_->error; }

}  // namespace tare
