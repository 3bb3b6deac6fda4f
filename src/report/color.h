// Colour for terminals: when to use it and how to paint.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tare {

// Looks up an environment variable; nullopt when unset. A function, so that tests hand in their own.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
Environment process_environment();

enum class ColorChoice { kAuto, kAlways, kNever };

// kAuto: on a terminal, unless NO_COLOR is set and not empty (no-color.org) or TERM is "dumb" or unset.
bool use_color(ColorChoice choice, bool is_terminal, const Environment& environment);

// What a piece of text means; the palette of 16 colours is the terminal's own, so it fits dark and light themes.
enum class Tone { kPlain, kStrong, kFaint, kGood, kBad, kWarning, kAccent };

// `text` between the tone's escape sequence and a reset; unchanged when `color` is false, the tone plain or `text`
// empty.
std::string paint(std::string_view text, Tone tone, bool color);

}  // namespace tare
