// The parts of the Slurm family. Internal to the family.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "audit/rule.h"

namespace tare {

std::span<const Rule> slurm_node_rules();       // nodes out of use, by the reason
std::span<const Rule> slurm_partition_rules();  // how much of a partition is left
std::span<const Rule> slurm_gres_rules();       // gres.conf, slurm.conf, what slurmd finds
std::span<const Rule> slurm_config_rules();     // settings and topology
std::span<const Rule> slurm_job_rules();        // jobs that wait, fail, hold GPUs
std::span<const Rule> slurm_reading_rules();    // what these outputs do not say

// The subject of what a whole output says: the node it is of, where one is known.
Subject subject_of_output(const Seen& seen, std::string_view kind, std::string name);

}  // namespace tare
