// The accuracy of the model as JSON (schema/validate.schema.json).
#pragma once

#include "base/json_fwd.h"
#include "validation/validate.h"

namespace tare {

// {format_version, rows, predicted, skipped {reason: count}, overall, by_gpu[], by_source_group[], predictions[]}. A
// figure that is not known is null: of no rows, or of a baseline for which there are no shipped rows.
Json to_json(const ValidationReport& report);

// {id, model, gpu, gpus, parallelism, measured_step_time_s, predicted_step_time_s, step {…}, assumed[]}; the formulas
// go into the "explain" list that every answer has.
Json to_json(const RowExplanation& explanation);

}  // namespace tare
