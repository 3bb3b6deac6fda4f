// The process: words in, what was printed out, signals.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/command.h"

namespace {

// Ends at once: files are written whole or not at all, so nothing is left half done. Only calls that are safe in a
// signal handler; the escape sequence takes a progress line away.
extern "C" void interrupted(int /*signal*/) {
  if (isatty(STDERR_FILENO) == 1) {
    static constexpr char kErase[] = "\r\033[K";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kErase, sizeof kErase - 1);
  }
  _exit(static_cast<int>(tare::ExitCode::kInterrupted));
}

bool put(std::FILE* stream, const std::string& text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return std::fflush(stream) == 0 && complete;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, interrupted);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  tare::World world;
  world.settings.environment = tare::process_environment();
  world.terminal = [&](int file_descriptor, tare::ColorChoice choice) {
    return tare::detect_terminal(file_descriptor, choice, world.settings.environment);
  };
  tare::Console console;
  const tare::ExitCode code = tare::run_command(words, world, console);
  put(stderr, console.err);
  if (!put(stdout, console.out)) {
    std::perror("tare: standard output");
    return static_cast<int>(tare::ExitCode::kWrongUse);
  }
  return static_cast<int>(code);
}
