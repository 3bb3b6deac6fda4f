// Slurm's records of Key=Value pairs: what "scontrol show node|job|partition|reservation|topology" prints (over several
// lines or, with -o, on one), and the lines of slurm.conf, gres.conf and topology.conf.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/slurm_facts.h"

namespace tare {

struct SlurmPair {
  std::string_view key;
  std::string_view value;
};

// The pairs of a line. A value reaches to the next " Key="; `to_the_end`: a first key that holds free text (Reason,
// Command, OS) takes the whole line.
std::vector<SlurmPair> slurm_pairs(std::string_view line, bool to_the_end);

// A key that begins a record ("NodeName", "JobId", "SwitchName", "Name"), else empty.
bool begins_slurm_record(std::string_view key);

// One record as it grows line by line.
class SlurmRecord {
 public:
  SlurmRecord() = default;
  explicit SlurmRecord(std::int64_t line) : record_(line) {}
  bool open() const { return record_.line > 0; }
  void add(const std::vector<SlurmPair>& pairs, std::int64_t line);
  // Keeps as `gres_note` what a report says behind the line's Gres.
  void add_note(std::string_view body, std::int64_t line);
  void set_comment(std::string_view comment) { comment_ = std::string(comment); }
  // Puts the finished record where it belongs.
  void give(SlurmFacts& facts);

 private:
  FactRecord record_{0};
  std::string first_key_;
  std::string comment_;
};

// Settings of slurm.conf and of "scontrol show config", as `config`.
void add_slurm_setting(FactRecord& config, std::string_view key, std::string_view value, std::int64_t line);
// Whether this is the name of a setting that no other tool is likely to have.
bool is_slurm_setting(std::string_view key);

}  // namespace tare
