#include "audit/log_events.h"

#include <algorithm>

#include "ingest/scan.h"

namespace tare {

EventsBy events_by(const Seen& seen, std::string_view list, std::string_view member) {
  EventsBy events;
  for (const FactRecord* const one : records_of(*seen.facts, list)) {
    events[std::string(one->text(member))].push_back(one);
  }
  return events;
}

std::int64_t event_count(const Seen& seen, std::string_view list) {
  const FactRecord* const counts = seen.facts->find_record("counts");
  return counts == nullptr ? 0 : counts->integer(list).value_or(0);
}

bool any_text_has(const std::vector<const FactRecord*>& events, std::initializer_list<std::string_view> parts) {
  return std::any_of(events.begin(), events.end(), [&](const FactRecord* event) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return contains(event->text("text"), part); });
  });
}

}  // namespace tare
