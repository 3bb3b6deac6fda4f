// Events of a kernel's log, gathered by what they are about.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "audit/observed.h"

namespace tare {

// Of the list, by the text of a member, each in the order of the log.
using EventsBy = std::map<std::string, std::vector<const FactRecord*>>;
EventsBy events_by(const Seen& seen, std::string_view list, std::string_view member);

// How many there were: a reading lists at most some hundred of a kind.
std::int64_t event_count(const Seen& seen, std::string_view list);

bool any_text_has(const std::vector<const FactRecord*>& events, std::initializer_list<std::string_view> parts);

}  // namespace tare
