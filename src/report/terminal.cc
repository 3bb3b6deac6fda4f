#include "report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>

#include "base/text.h"

namespace tare {
namespace {

// Narrower than this nothing can be laid out; a terminal that says so is taken as saying nothing.
constexpr int kNarrowest = 20;

bool names_utf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = to_lower(environment(name).value_or(""));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int columns_variable(const Environment& environment) {
  const std::string text = environment("COLUMNS").value_or("");
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc() && end == text.data() + text.size() && columns >= kNarrowest ? columns : 0;
}

int own_columns(int file_descriptor) {
  winsize size{};
  if (ioctl(file_descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < kNarrowest) return 0;
  return size.ws_col;
}

}  // namespace

Terminal detect_terminal(int file_descriptor, ColorChoice choice, const Environment& environment) {
  Terminal terminal;
  terminal.interactive = isatty(file_descriptor) == 1;
  terminal.unicode = names_utf8(environment);
  terminal.color = use_color(choice, terminal.interactive, environment);
  terminal.width = columns_variable(environment);
  if (terminal.width == 0 && terminal.interactive) terminal.width = own_columns(file_descriptor);
  return terminal;
}

}  // namespace tare
