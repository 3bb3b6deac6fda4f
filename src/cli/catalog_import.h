// tare catalog import: price lists in, a directory for --catalog out.
#pragma once

#include "cli/command.h"

namespace tare {

Result<ExitCode> run_catalog_import(Context& context);

}  // namespace tare
