// Completion scripts for shells, written from the tables of verbs and flags.
#pragma once

#include <string>

namespace tare {

std::string bash_completions();
std::string zsh_completions();
std::string fish_completions();

}  // namespace tare
