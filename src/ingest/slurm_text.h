// What Slurm's commands print and its files and logs say, as people paste it: several commands after one another, with
// or without the prompt, a configuration file beside a log.
#pragma once

#include "ingest/format.h"

namespace tare {

Format slurm_text_format();

}  // namespace tare
