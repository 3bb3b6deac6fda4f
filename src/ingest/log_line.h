// The head of a line of a kernel or system log: when, where, who, how bad; and what is left.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tare {

struct LogLine {
  std::string_view time;         // as printed: "Sun Feb 23 16:24:18 2025", "2025-01-21T04:41:44,285060+00:00"
  std::optional<double> boot_s;  // seconds since boot: "[74785.660366]"
  std::string_view host;
  std::string_view source;  // "kernel", "nv-fabricmanager"
  std::string_view level;   // "warn", "err" …
  std::string_view message;
  bool stamped = false;  // some head was there
  bool kernel = false;   // the head is one of the kernel's log
};

// Understands dmesg (plain, -T, -x, -H, raw "<6>"), journalctl's short forms, syslog with or without year, and the log
// of NVIDIA's fabric manager.
LogLine read_log_line(std::string_view line);

// Seconds since 1970 of a printed time, without regard to its zone; nullopt when it has no date that is understood. A
// time without a year counts from 1970.
std::optional<double> log_seconds(std::string_view time);

}  // namespace tare
