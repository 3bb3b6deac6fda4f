// What a dataset costs beyond GPU time and the room it takes (line `storage`): the way to where the job runs.
//
//   data_transfer = data bytes · rate         once, at the start; a restart reads the copy that lies with the job
//   rate  another provider:                   what the provider that holds the data asks for what leaves it
//         another region of one large cloud:  inter_region_usd_per_byte
//         the same region:                    cross_zone_ratio · cross_zone_usd_per_byte (large clouds)
// Without [job.data] at the data lie where the job runs and there is no line. What comes in is free everywhere.
#pragma once

#include <optional>
#include <string>

#include "cost/bill.h"
#include "cost/line_draft.h"

namespace tare {

// The large clouds charge for data that leaves, most others do not.
bool is_large_cloud(const std::string& provider);
const char* egress_parameter(const std::string& provider);

// nullopt: no dataset, no place stated, or nothing is charged on this way.
std::optional<LineDraft> data_transfer_line(const BillInput& input, const Catalog& catalog);

}  // namespace tare
