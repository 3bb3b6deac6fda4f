// A line on standard error for work that takes longer than a second, gone when it is done.
//
// Nothing is drawn unless the terminal is interactive. A thread of its own draws, so that work which reports nothing
// still shows the time it takes; update() may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "report/terminal.h"

namespace tare {

class Progress {
 public:
  // `label` says what is being done: "searching". The descriptor is standard error's unless a test has its own.
  Progress(std::string label, const Terminal& terminal, int file_descriptor = 2);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double done_ratio) { done_ratio_.store(done_ratio, std::memory_order_relaxed); }

 private:
  void draw_until_done();

  const std::string label_;
  const Terminal terminal_;
  const int file_descriptor_;
  std::atomic<double> done_ratio_{-1};  // negative: not known
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::thread thread_;
};

// What one drawing looks like: "searching ███████▌             38 %  2 s".
std::string progress_line(const std::string& label, double done_ratio, double elapsed_s, const Terminal& terminal);

}  // namespace tare
