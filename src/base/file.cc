#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/quantity.h"

namespace tare {
namespace {

// Closes what it holds; close() reports what the destructor cannot.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

std::string reason(int error) { return std::generic_category().message(error); }

tl::unexpected<Diagnostics> cannot_read(const std::string& path, const std::string& why, std::string help) {
  Diagnostic diagnostic = make_error("cannot-read", fmt::format("cannot read the file: {}", why), std::move(help));
  diagnostic.file = path;
  return fail(std::move(diagnostic));
}

tl::unexpected<Diagnostics> cannot_write(const std::string& path, int error) {
  std::string help;
  if (error == ENOENT) help = "create its directory first";
  if (error == EACCES || error == EROFS || error == EPERM) help = "choose a place you may write to";
  if (error == ENOSPC || error == EDQUOT) help = "free some space; nothing of the old file was lost";
  Diagnostic diagnostic =
      make_error("cannot-write", fmt::format("cannot write the file: {}", reason(error)), std::move(help));
  diagnostic.file = path;
  return fail(std::move(diagnostic));
}

tl::unexpected<Diagnostics> too_large(const std::string& path, std::size_t limit_bytes) {
  Diagnostic diagnostic = make_error(
      "file-too-large", fmt::format("larger than the limit of {}", format_gib(static_cast<double>(limit_bytes))),
      "check that this is the file you meant, or split it");
  diagnostic.file = path;
  return fail(std::move(diagnostic));
}

// Reads to the end, or to one byte past the limit. 0 or errno.
int read_all(int fd, std::size_t limit_bytes, std::string& text) {
  constexpr std::size_t kChunk = 1u << 16;
  while (text.size() <= limit_bytes) {
    const std::size_t had = text.size();
    if (text.capacity() < had + kChunk) text.reserve(had * 2 + kChunk);
    text.resize(had + kChunk);
    const ssize_t got = ::read(fd, text.data() + had, kChunk);
    text.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
  }
  return 0;
}

// 0 or errno.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno != EINTR) return errno;
    if (put > 0) content.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

// A descriptor that is open already and is named by `path`: "-", /dev/stdout, /dev/fd/3. Opening such a path anew would
// start at the beginning of a redirected file, and renaming over it would replace the link.
std::optional<int> open_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    int fd = -1;
    const char* const last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + prefix.size(), last, fd);
    if (error == std::errc() && end == last && fd >= 0) return fd;
  }
  return std::nullopt;
}

// The file behind symbolic links, so that a link stays a link; `path` itself when there is none.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

// Makes an empty file of a name not in use in `directory`. The name is short: one as long as the target's would not
// fit beside a target of the longest allowed.
int create_temporary(const std::string& directory, std::string& path) {
  static std::atomic<unsigned> counter{0};
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    path = fmt::format("{}/.tare-{}-{}.tmp", directory, ::getpid(), counter++);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

// Makes the rename itself durable. Some file systems cannot sync a directory, and the content is whole either way.
void sync_directory(const std::string& directory) {
  const Descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) static_cast<void>(::fsync(descriptor.get()));
}

// Writes `temporary` and moves it over `target`. 0 or errno.
int fill_and_rename(Descriptor& file, std::string_view content, const std::string& temporary,
                    const std::string& target) {
  if (const int error = write_all(file.get(), content); error != 0) return error;
  if (::fsync(file.get()) != 0) return errno;
  if (!file.close()) return errno;
  if (::rename(temporary.c_str(), target.c_str()) != 0) return errno;
  return 0;
}

// 0 or errno. `mode` of the file that is replaced, if there is one.
int replace_file(const std::string& target, std::string_view content, std::optional<mode_t> mode) {
  const std::size_t slash = target.rfind('/');
  const std::string directory =
      slash == std::string::npos ? std::string(".") : target.substr(0, slash == 0 ? 1 : slash);
  std::string temporary;
  Descriptor file(create_temporary(directory, temporary));
  if (!file.is_open()) return errno;
  int error = mode && ::fchmod(file.get(), *mode & 07777) != 0 ? errno : 0;
  if (error == 0) error = fill_and_rename(file, content, temporary, target);
  if (error != 0) {
    ::unlink(temporary.c_str());
    return error;
  }
  sync_directory(directory);
  return 0;
}

// A pipe, a terminal, a device: nothing to rename. 0 or errno.
int write_straight(const std::string& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return errno;
  const int error = write_all(file.get(), content);
  if (error != 0) return error;
  return file.close() ? 0 : errno;
}

int write_to_path(const std::string& path, std::string_view content) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? replace_file(path, content, std::nullopt) : errno;
  }
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return write_straight(path, content);
  // A rename would also replace a file that is marked as not to be written.
  if (::access(path.c_str(), W_OK) != 0) return errno;
  return replace_file(behind_links(path), content, status.st_mode);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit_bytes) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "<stdin>" : path;
  if (path.find('\0') != std::string::npos) return cannot_read(name, "its name holds a NUL byte", {});
  Descriptor file(is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return cannot_read(name, reason(errno), errno == ENOENT ? "check the path, or use - for standard input" : "");
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return cannot_read(name, "it is a directory", "name a file inside it");
    if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > limit_bytes) {
      return too_large(name, limit_bytes);
    }
  }
  std::string text;
  if (const int error = read_all(file.get(), limit_bytes, text); error != 0) {
    return cannot_read(name, reason(error), {});
  }
  if (text.size() > limit_bytes) return too_large(name, limit_bytes);
  return text;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  if (path.empty() || path.find('\0') != std::string::npos) return cannot_write(path, EINVAL);
  int error = 0;
  if (const auto descriptor = open_descriptor(path)) {
    std::fflush(nullptr);  // what was printed before comes first
    error = write_all(*descriptor, content);
  } else {
    error = write_to_path(path, content);
  }
  if (error != 0) return cannot_write(path, error);
  return {};
}

}  // namespace tare
