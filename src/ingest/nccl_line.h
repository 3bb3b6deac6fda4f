// One line of NCCL_DEBUG output taken apart: "39: node02:2470577:2471762 [7] NCCL INFO Using network IB".
// Thread safety: pure functions; views point into what was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tare {

enum class NcclLevel { kInfo, kWarn, kTrace, kOther };

struct NcclLine {
  NcclLevel level = NcclLevel::kInfo;
  std::string_view host;   // empty when the paste has none
  std::string_view place;  // "init.cc:1234", of warnings
  std::string_view message;
  std::string_view raw;  // the message with the blanks before it
  std::int64_t pid = -1;
  int device = -1;  // "[7]": the process's CUDA device
  int rank = -1;    // of a prefix that srun or mpirun put before the line
};

// nullopt: no line of NCCL (or of RCCL, which writes the same).
std::optional<NcclLine> parse_nccl_line(std::string_view text);

// "NCCL version 2.18.5+cuda12.2", with or without what stands before it -> "2.18.5+cuda12.2"; "RCCL version
// : 2.20.5-…".
std::optional<std::string_view> nccl_version_in(std::string_view text);

// The number that `text` begins with after blanks; -1 when there is none or it has more than nine digits.
int leading_number(std::string_view text);

}  // namespace tare
