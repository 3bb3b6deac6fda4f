// What launchers and loggers put in front of every line of a tool's output, and how to be rid of it.
//
// "node01: " (pdsh, clush), "12: " (srun --label), "[1,0]<stdout>:" (mpirun), "2024-05-01T10:00:00.123Z " (kubectl
// logs --timestamps, journald), "> " (a quote in mail). What stands in front is the host or rank that speaks.
// Thread safety: pure functions.
#pragma once

#include <string_view>

namespace tare {

struct PrefixedLine {
  std::string_view text;     // without the prefix; its own indentation kept
  std::string_view speaker;  // "node01", "12", "1,0"; empty when there is none
  std::string_view time;     // the timestamp in front; empty when there is none
};

PrefixedLine split_line_prefix(std::string_view line);

}  // namespace tare
