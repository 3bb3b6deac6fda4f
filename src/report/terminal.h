// What the reader of the output can show: how wide, which characters, colour.
#pragma once

#include "report/color.h"

namespace tare {

struct Terminal {
  int width = 0;        // columns; 0 = no limit (a file, a pipe)
  bool unicode = true;  // false: ASCII only
  bool color = false;
  bool interactive = false;  // someone is watching
};

// Looks at the file descriptor and the environment. Width: COLUMNS if set, else the terminal's own, else no limit.
// Unicode: the locale (LC_ALL, LC_CTYPE, LANG, the first that is set and not empty) names UTF-8.
Terminal detect_terminal(int file_descriptor, ColorChoice choice, const Environment& environment);

}  // namespace tare
