#include "report/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "report/bars.h"
#include "report/text_layout.h"

namespace tare {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kQuiet{1000};  // work that is over sooner draws nothing
constexpr std::chrono::milliseconds kRedraw{100};
constexpr int kBarWidth = 30;
constexpr const char* kEraseLine = "\r\033[K";

void put(int file_descriptor, const std::string& text) {
  // A line that cannot be drawn is no reason to stop the work.
  [[maybe_unused]] const ssize_t written = write(file_descriptor, text.data(), text.size());
}

}  // namespace

std::string progress_line(const std::string& label, double done_ratio, double elapsed_s, const Terminal& terminal) {
  std::string line = label;
  if (done_ratio >= 0) {
    const double ratio = std::min(done_ratio, 1.0);
    line += fmt::format(" {} {:3.0f} %", pad_right(bar(ratio, kBarWidth, terminal.unicode), kBarWidth), ratio * 100);
  }
  line += fmt::format("  {:.0f} s", elapsed_s);
  // Cut to the width: a line that wraps could not be erased again.
  return terminal.width > 1 ? wrap(line, terminal.width - 1).front() : line;
}

Progress::Progress(std::string label, const Terminal& terminal, int file_descriptor)
    : label_(std::move(label)), terminal_(terminal), file_descriptor_(file_descriptor) {
  if (terminal_.interactive) thread_ = std::thread([this] { draw_until_done(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  finished_.notify_one();
  thread_.join();
}

void Progress::draw_until_done() {
  const auto start = Clock::now();
  std::unique_lock lock(mutex_);
  auto next = start + kQuiet;
  bool drawn = false;
  while (!finished_.wait_until(lock, next, [this] { return done_; })) {
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
    put(file_descriptor_, kEraseLine + progress_line(label_, done_ratio_.load(), elapsed_s, terminal_));
    drawn = true;
    next = Clock::now() + kRedraw;
  }
  if (drawn) put(file_descriptor_, kEraseLine);
}

}  // namespace tare
