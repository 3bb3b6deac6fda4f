// The whole command, run inside a test: no process, no terminal, an environment of the test's own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.h"

namespace tare::test {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

using Variables = std::map<std::string, std::string, std::less<>>;

inline Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

inline Outcome run_tare(const std::vector<std::string>& words, Variables variables = {}, Terminal terminal = {},
                        const std::string& project_file = "") {
  World world;
  world.settings.environment = environment_of(std::move(variables));
  world.settings.project_file = project_file;
  world.terminal = [terminal](int, ColorChoice choice) {
    Terminal shown = terminal;
    shown.color = choice == ColorChoice::kAlways;
    return shown;
  };
  Console console;
  const ExitCode code = run_command(words, world, console);
  return {static_cast<int>(code), console.out, console.err};
}

}  // namespace tare::test
