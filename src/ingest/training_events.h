// What programs and launchers say beside the steps of a training run: how it failed, what they warn of, checkpoints
// they saved, which GPU they run on.
//
//   torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB …
//   Finished saving the checkpoint in 14.05 seconds.
//   Peak FLOPS used for computing MFU: 9.890e+14
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fact.h"

namespace tare {

class TrainingEvents {
 public:
  // A line that is no step's.
  void on_line(std::string_view line, std::int64_t number);
  // gpu_model, mfu_peak_tflops, events[], checkpoint_saves, checkpoint_seconds_total, checkpoint_seconds_max
  void to_facts(FactRecord& facts) const;

 private:
  struct Event {
    std::string_view kind;
    std::int64_t line = 0, count = 0;
    std::string text;
  };
  void take_event(std::string_view line, std::int64_t number);
  void take_checkpoint(std::string_view line, std::int64_t number);
  void take_gpu(std::string_view line, std::int64_t number);
  void take_peak(std::string_view line, std::int64_t number);

  std::vector<Event> events_;  // by kind, the first line of each
  std::string gpu_;
  std::int64_t gpu_line_ = 0, peak_line_ = 0, save_line_ = 0, saves_ = 0, timed_saves_ = 0;
  double peak_tflops_ = 0, save_seconds_ = 0, longest_save_ = 0;
};

}  // namespace tare
