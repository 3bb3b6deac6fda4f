#include "workload/checkpoint_text.h"

#include <fmt/format.h>

#include <charconv>

#include "base/quantity.h"
#include "base/text.h"

namespace tare {

Result<CheckpointPolicy> parse_checkpoint_interval(std::string_view text, CheckpointPolicy policy) {
  using Every = CheckpointPolicy::Every;
  text = trim(text);
  if (text == "auto") {
    policy.every = Every::kAuto;
    policy.value = 0;
    return policy;
  }
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  const std::string_view unit = trim(text.substr(digits.size()));
  if (unit == "steps" || unit == "step") {
    int steps = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), steps);
    if (error == std::errc() && end == digits.data() + digits.size() && steps > 0) {
      policy.every = Every::kSteps;
      policy.value = steps;
      return policy;
    }
  } else if (const auto seconds = parse_quantity(text, Dimension::kDuration); seconds && *seconds > 0) {
    policy.every = Every::kSeconds;
    policy.value = *seconds;
    return policy;
  }
  return fail("unknown-value", fmt::format("expected when to write a checkpoint, found {}", in_quotes(text)),
              "\"auto\", a number of steps (\"200 steps\") or a time (\"30min\")");
}

std::string to_text(const CheckpointPolicy& policy) {
  switch (policy.every) {
    case CheckpointPolicy::Every::kSteps:
      return fmt::format("{:.0f} steps", policy.value);
    case CheckpointPolicy::Every::kSeconds:
      return format_duration(policy.value);
    case CheckpointPolicy::Every::kAuto:
      break;
  }
  return "auto";
}

}  // namespace tare
