// A plan as JSON (schema/plan.schema.json); other verbs and the server reuse the parts.
#pragma once

#include "base/json_fwd.h"
#include "plan/plan.h"

namespace tare {

// {format_version, job, searched, options[], refused[], closest}
Json to_json(const Plan& plan);
Json to_json(const PlanOption& option);
Json to_json(const Refusal& refusal);

}  // namespace tare
