// free and df: how much memory and disk space there is, and how much is taken.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_free(const Head& head);
int recognise_df(const Head& head);
std::unique_ptr<LineReader> open_free();
std::unique_ptr<LineReader> open_df();

}  // namespace tare
