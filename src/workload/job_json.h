// A job and a parallelism as JSON.
#pragma once

#include "base/json_fwd.h"
#include "workload/job.h"

namespace tare {

// {name, model {…}, method, tokens, …}: what was asked, in base units; limits that the job does not set are left out.
Json to_json(const Job& job);

// {tp, pp, vpp, cp, ep, dp, zero_stage, micro_batch, recompute, sequence_parallel, …}
Json to_json(const Parallelism& parallelism);

}  // namespace tare
