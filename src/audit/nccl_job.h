// What a log of NCCL says of the job as a whole: over how many nodes it runs, on which GPUs, with which settings.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/finding.h"
#include "audit/observed.h"

namespace tare {

enum class Reach { kUnknown, kOneNode, kSeveralNodes };

// By NCCL's own count of nodes, else by the hosts of the lines; the log of one rank of many says nothing.
Reach reach_of(const FactRecord& facts);

// The GPUs of the job: of the list of devices in the log, else of the files beside it.
const Accelerator* accelerator_of(const Observed& observed, const Seen& seen);
bool is_consumer_card(const Accelerator& accelerator);
// More than two GPUs talk over NVLink or its kin.
bool has_link_domain(const Accelerator* accelerator);
std::optional<double> gpus_of_job(const Observed& observed, const Seen& seen);

struct Setting {
  std::string name, value;
  std::int64_t line = 0;
  bool seen_by_nccl = true;  // false: it stands in a command around the log
};
std::string setting_words(const Setting& setting);  // "NCCL_IB_DISABLE=1"
std::vector<Setting> settings_of(const FactRecord& facts);
std::optional<Setting> setting_of(const FactRecord& facts, std::string_view name);
bool is_set_to_one(const FactRecord& facts, std::string_view name);

Subject job_of(const Seen& seen);

// Where a fact stands: the fact's line, else the record's.
std::int64_t line_of_fact(const FactRecord& facts, std::string_view name);

}  // namespace tare
