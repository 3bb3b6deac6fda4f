// Small text helpers that several readers share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// Bytes of the UTF-8 code point that `text` begins with (1 to 4); 0 when there is none or it is not valid.
std::size_t utf8_length(std::string_view text);
// Offset of the first byte that no text file holds (NUL, or not UTF-8); npos when all is text.
std::size_t find_not_text(std::string_view text);
// `text` with a '?' for every byte that is not text: what a message may quote.
std::string as_text(std::string_view text);

std::string to_lower(std::string_view text);  // ASCII only
bool equals_ignoring_case(std::string_view a, std::string_view b);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// 'text' for a message: as_text, cut to some 40 bytes with ….
std::string in_quotes(std::string_view text);

// Case-insensitive glob over the whole of `text`: '*' any run (also across '/'), '?' one byte, '[abc]' / '[a-z]' a set,
// '[!abc]' its complement. A '[' without its ']' stands for itself.
bool glob_matches(std::string_view pattern, std::string_view text);

// Edit distance with transpositions (optimal string alignment), ASCII case ignored.
int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, or empty when none is near enough: within max(2, length/3) edits, and at most half
// of the letters.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// "n[1-3,7],m1" -> n1 n2 n3 n7 m1; "r[1-2]n[1-2]" -> r1n1 r1n2 r2n1 r2n2. Zero padding is kept (n[01-03]).
// Empty on a malformed range, one over `limit` names, or a name over 255 bytes (the longest a host can have).
std::vector<std::string> expand_range(std::string_view text, std::size_t limit = 1'000'000);

}  // namespace tare
