// What ids of parts, lines and bars are called for people; ids stay as they are in JSON and CSV.
#pragma once

#include <string>
#include <string_view>

namespace tare {

// "tp_exposed_s" -> "tensor-parallel communication". An id that has no label is shown as words: "foo_bar" -> "foo bar".
std::string label_of(std::string_view id);

// What a refusal's reason means, in one line; empty when nothing is known of it.
std::string_view meaning_of_refusal(std::string_view reason);

}  // namespace tare
