// The answers of sacct, squeue, sinfo and scontrol with --json (data parsers v0.0.36 to v0.0.43) or --yaml, and
// topology.yaml.
#pragma once

#include "ingest/format.h"

namespace tare {

Format slurm_json_format();

}  // namespace tare
