// The GPUs that a reading is of, whatever the tool, and what rules about GPUs share.
//
// Thread safety: pure functions.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/rule.h"

namespace tare {

struct GpuSeen {
  const FactRecord* facts = nullptr;
  std::string name;  // "GPU3"; its bus id, or "GPU", where it has no index
  bool partitioned = false;
};

// The GPUs of one node at one time: a snapshot of a reading. A partitioned GPU is in it once.
struct GpuGroup {
  const Seen* seen = nullptr;
  std::string node;  // the host that the GPUs' records name, else the reading's; may be empty
  std::vector<GpuSeen> gpus;
};

// Of every reading of nvidia-smi and DCGM, in the order of the files.
std::vector<GpuGroup> gpu_groups(const Observed& observed);

// The node of a finding about a reading: a log from one host names it.
std::string node_of(const Seen& seen);

// The first of these members that is a number; the names differ between nvidia-smi and DCGM.
std::optional<double> first_number(const FactRecord& facts, std::initializer_list<std::string_view> names);
std::optional<double> power_w(const FactRecord& gpu);
std::optional<double> power_limit_w(const FactRecord& gpu);
std::optional<double> util_pct(const FactRecord& gpu);
std::optional<double> temperature_c(const FactRecord& gpu);
std::optional<double> memory_used_ratio(const FactRecord& gpu);
std::optional<double> memory_used_mib(const FactRecord& gpu);

// "hw_slowdown: Active", "temp_c: 91" - a fact as evidence quotes it.
std::string fact_in_words(const FactRecord& facts, std::string_view name);
std::int64_t line_of(const FactRecord& facts, std::string_view name);

// Says it in its own words: "Yes", "Active", "Enabled".
bool says(const FactRecord& facts, std::string_view name, std::string_view word);

// What an accelerator is sold as.
bool is_data_centre(const Accelerator& gpu);     // no GeForce, no workstation card
bool has_nvlink_fabric(const Accelerator& gpu);  // links to more than one neighbour, on the board

// The GPUs of a group that a rule finds wrong: one finding, about the GPU where it is one, else about the node.
class GpuFaults {
 public:
  explicit GpuFaults(const GpuGroup& group) : group_(&group) {}

  void add(const GpuSeen& gpu, std::int64_t line, std::string text);
  // Quotes the member.
  void add(const GpuSeen& gpu, std::string_view fact);
  bool empty() const { return names_.empty(); }
  std::size_t count() const { return names_.size(); }
  const GpuGroup& group() const { return *group_; }
  // "GPU3", "GPU0, GPU3 and 4 more", "all 8 GPUs".
  std::string who() const;
  // The title is `who` and what is given; its verb stands for one or for several: "is|are hot".
  Finding finding(const Rule& rule, FindingSeverity severity, std::string_view title) const;
  // These GPUs are lost.
  Formula lost(const std::string& source) const;

 private:
  const GpuGroup* group_;
  std::vector<std::string> names_;
  std::vector<Evidence> evidence_;
};

// Adds it unless a finding of the same rule and subject is there (of the same file, where no node is known): several
// tools and snapshots say the same.
void add_once(std::vector<Finding>& findings, Finding finding);

}  // namespace tare
