// The manual page.
#pragma once

#include <string>

namespace tare {

std::string man_page();  // tare(1) as roff

}  // namespace tare
