// The files and folders of a command line, read into facts.
#pragma once

#include <vector>

#include "cli/command.h"
#include "ingest/read_file_facts.h"

namespace tare {

// With a bar on standard error. Errors: a path that is not there, a folder without files, a --kind that is not known; a
// file that cannot be read has its errors in its FileFacts. `row_budget`: how many rows of series all files together
// may keep, shared evenly; 0 = no limit but each reader's own.
Result<std::vector<FileFacts>> read_operands(Context& context, std::size_t row_budget = 0);

}  // namespace tare
