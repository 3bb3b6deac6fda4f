// Recordings of made-up jobs: profiler traces and flight recorder dumps, for the cases and tests of rank rules.
#pragma once

#include <string>
#include <vector>

#include "rule_case.h"

namespace tare {

struct MadeJob {
  int ranks = 4;
  int collectives = 12;
  double period_us = 50'000;  // from the end of one collective to the arrival of ranks on time
  double transfer_us = 1'500;
  int late_rank = -1;  // comes late_us after the others; -2: now this one and now that
  double late_us = 0;
  bool computes_longer = true;  // the late rank's kernels take late_us more; else its GPU is idle
  int once = -1;                // late in this collective alone
  double clock_us = 0;          // the clocks of the upper half of the ranks are ahead by this
  int ranks_per_node = 0;       // 0: names of files do not say the node
  bool numbered = true;         // kernels carry sequence numbers
  int first_seen = 0;           // the last rank's trace begins so many collectives later
  std::string folder = "";
  int first_rank = 0, group = 0;
  int world = 0;  // 0: ranks
};
std::vector<CaseFile> traces_of(const MadeJob& job);

struct MadeDump {
  int rank = 0;
  int entered = 0, done = 0;
  std::string state = "started";  // of what is entered and not done
  std::string last_operation = "nccl:all_reduce";
  int last_elements = 4096;
};
std::vector<CaseFile> dumps_of(const std::vector<MadeDump>& dumps, const std::string& members);

}  // namespace tare
