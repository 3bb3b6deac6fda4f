// Timing for tests that catch a quadratic algorithm: the processor's time, so that a busy machine does not fail them,
// and limits that stretch where sanitizers slow the code down.
#pragma once

#include <ctime>

namespace tare {

inline double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

#if defined(__SANITIZE_ADDRESS__)
inline constexpr double kInstrumentedFactor = 50;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr double kInstrumentedFactor = 50;
#else
inline constexpr double kInstrumentedFactor = 1;
#endif
#else
inline constexpr double kInstrumentedFactor = 1;
#endif

}  // namespace tare
