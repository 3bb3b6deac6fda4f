// Tables of steps: a header of known names, then a row a step. Commas, tabs, semicolons or bars between cells; cells
// may be empty (Lightning's CSVLogger writes training and validation in rows of their own) or quoted; columns of a
// Weights & Biases export ("my-run - train/loss") go by what stands behind the dash.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_step_csv(const Head& head);
std::unique_ptr<LineReader> open_step_csv();

}  // namespace tare
