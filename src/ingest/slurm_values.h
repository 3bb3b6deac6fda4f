// The notations of Slurm: generic resources (GRES), trackable resources (TRES), times, node states, names of fields.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/fact.h"

namespace tare {

// "gpu:h100:8(S:0-1)", "gres/gpu:a100=4", "tmp:844G". `count` is unknown when it is no number ("844G").
struct SlurmResource {
  std::string_view name;  // "gpu", "tmp", "cpu", "mem"
  std::string_view type;  // "h100"; may be empty
  std::string_view count_text;
  std::optional<std::int64_t> count;
};
// A comma-separated GRES list ("gpu:2,gpu:a100:4(IDX:0-3),tmp:844G"); "(null)" and N/A give none.
std::vector<SlurmResource> parse_gres(std::string_view text);
// A TRES list ("cpu=4,mem=32G,gres/gpu:h100=8,gres/gpu=8"): `name` is "gpu" for gres/gpu, with `type` behind the colon.
std::vector<SlurmResource> parse_tres(std::string_view text);

// GPUs of a list: an entry without a type says the total (typed ones repeat it), else the typed ones are summed. MPS
// and shards are no GPUs. nullopt when the list names none.
std::optional<std::int64_t> gpus_of(const std::vector<SlurmResource>& list);
// Adds <prefix>gpus, <prefix>gpu_types {type: count}, <prefix>gpu_type (of one type only).
void add_gpus(FactRecord& record, const std::vector<SlurmResource>& list, std::string_view prefix, std::int64_t line);

// "7-00:00:00", "01:49", "5-12", "00:01:49.250" -> seconds; nullopt for UNLIMITED, N/A, INVALID and the like.
std::optional<double> slurm_seconds(std::string_view text);

// "drng@" -> draining, "alloc" -> allocated, "fail*" -> fail, "IDLE+DRAIN" -> idle+drain; empty when it is no state of
// a node. `flags` gets what the suffixes mean ("pending reboot").
std::string node_state_name(std::string_view text, std::vector<std::string_view>* flags = nullptr);
bool is_job_state(std::string_view text);
// The long name of a job's state, also of one that was cut: "PD" -> PENDING, "OUT_OF_ME+" -> OUT_OF_MEMORY, "CANCELLED
// by 1000" -> CANCELLED; the first word as it is when it is none.
std::string job_state_name(std::string_view text);

// "CPUAlloc" -> cpu_alloc, "CPUs/Task" -> cpus_task, "NtasksPerN:B:S:C" -> ntasks_per_n_b_s_c.
std::string slurm_fact_name(std::string_view key);

// How many names "c[002,004,008-010],d1" stands for, without making them; 0 for none. At least 1 for any other text.
std::int64_t count_hosts(std::string_view hostlist);
// "(null)", "None assigned", "N/A" … : no host.
bool says_no_host(std::string_view text);

}  // namespace tare
