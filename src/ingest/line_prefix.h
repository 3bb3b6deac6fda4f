// What launchers, mail and log collectors put before (or into) the lines of another program.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tare {

// The line without the marks that say who printed or quoted it: "> " of mail, "[1,0]<stdout>:" of mpirun,
// "3: " of srun -l, "worker-0: " of pdsh when `host_names` (a word that holds a digit or a '-', a colon, a blank).
// Blanks behind the mark are kept, so that columns stay where they are.
std::string_view without_line_tags(std::string_view line, bool host_names = false);

// The same for marks inside a line: every "[0]", "[1,0]" and "[1,0]<stdout>:" becomes a blank.
std::string without_inner_tags(std::string_view line);

}  // namespace tare
