// Bars made of characters, for a column of a table.
#pragma once

#include <string>

#include "report/terminal.h"

namespace tare {

// `ratio` of `width` columns, to an eighth of a column ("███▍"); a bar that is not zero is never invisible.
std::string bar(double ratio, int width, bool unicode);

// A bar of a waterfall: empty up to the column nearest to `start`, then `length` (both shares of the whole), in `width`
// columns.
std::string waterfall_bar(double start, double length, int width, bool unicode);

}  // namespace tare
