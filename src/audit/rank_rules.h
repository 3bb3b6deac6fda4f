// The parts of the family: each is a table of its own, rank_rules() is all of them.
#pragma once

#include <span>

#include "audit/rank_sources.h"
#include "audit/rule.h"

namespace tare {

std::span<const Rule> rank_timing_rules();  // late ranks, jitter, slow transfers, clocks
std::span<const Rule> rank_hang_rules();    // flight recorder dumps of a hang

// "rank 5 (GPU5 on node07)", "ranks 3 and 5", "ranks 8 to 15 (node07)".
std::string name_of_ranks(const std::vector<int>& ranks, const std::map<int, RankSeen>& seen);
// Of one rank: the rank; of several on one node: the node; else the job.
Subject subject_of_ranks(const std::vector<int>& ranks, const std::map<int, RankSeen>& seen);

// What is wrong with these ranks' GPUs and nodes by the rules that have been run: a fault of the very GPU, or of a
// whole node for ranks that share one, becomes the cause, under which `finding` will stand; others are mentioned in its
// cause.
void look_for_cause(Finding& finding, const std::vector<int>& ranks, const std::map<int, RankSeen>& seen,
                    std::vector<Finding>& findings);

}  // namespace tare
