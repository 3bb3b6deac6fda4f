// Progress bars of tqdm and its kin: " 3%|▎ | 12/345 [00:07<06:50,  1.23s/it, loss=3.1]".
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tare {

struct ProgressBar {
  std::int64_t at = -1, total = -1;  // -1: not shown
  double elapsed_s = 0;
  double remaining_s = 0;          // NaN where the bar has '?'
  double rate = 0;                 // NaN where the bar has '?'
  std::string_view unit;           // "s/it", "it/s"
  std::string_view description;    // in front of the percentage: "Epoch 0"
  std::string_view postfix;        // behind the rate: "loss=3.1, v_num="
  std::size_t begin = 0, end = 0;  // in the line
};

// The first bar at or behind `from`.
std::optional<ProgressBar> find_progress_bar(std::string_view line, std::size_t from = 0);

}  // namespace tare
