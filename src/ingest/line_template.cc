#include "ingest/line_template.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ingest/fast_number.h"

namespace tare {
namespace {

constexpr std::size_t kLongestLine = 8u << 10;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What a number or a date that nobody wants is made of.
constexpr std::array<bool, 256> kOfNumber = [] {
  std::array<bool, 256> of{};
  for (const char c : {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '-', '+', 'e', 'E'}) {
    of[static_cast<unsigned char>(c)] = true;
  }
  return of;
}();
bool is_of_number(char c) { return kOfNumber[static_cast<unsigned char>(c)]; }

// memcmp for the short texts between numbers, without a call.
inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  const auto same = [](const char* x, const char* y, auto word) {
    decltype(word) other;
    std::memcpy(&word, x, sizeof word);
    std::memcpy(&other, y, sizeof other);
    return word == other;
  };
  if (size > 32) return std::memcmp(a, b, size) == 0;
  if (size >= 8) {
    bool equal = same(a, b, std::uint64_t{}) && same(a + size - 8, b + size - 8, std::uint64_t{});
    if (size > 16) {
      equal = equal && same(a + 8, b + 8, std::uint64_t{}) && same(a + size - 16, b + size - 16, std::uint64_t{});
    }
    return equal;
  }
  if (size >= 4) return same(a, b, std::uint32_t{}) && same(a + size - 4, b + size - 4, std::uint32_t{});
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Whether the digits at `at` may be others in the next line: not those of a name ("layer3"), but those of a date.
bool may_differ(std::string_view text, std::size_t at) {
  if (at == 0 || !is_letter(text[at - 1])) return true;
  return text[at - 1] == 'T' && at >= 2 && is_digit_char(text[at - 2]);
}

}  // namespace

LineTemplate::LineTemplate(std::string_view line, const StepHits& hits, bool json) {
  std::vector<StepHit> sorted(hits.begin(), hits.end());
  std::sort(sorted.begin(), sorted.end(), [](const StepHit& a, const StepHit& b) { return a.begin < b.begin; });
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  usable_ = line.size() <= kLongestLine;
  std::size_t at = 0;
  for (const StepHit& hit : sorted) {
    usable_ = usable_ && hit.finite && hit.begin >= at && hit.end <= line.size() && hit.begin < hit.end;
    if (!usable_) return;
    // Grouped thousands are read the slow way: the groups may be more in the next line.
    if (line.substr(hit.begin, hit.end - hit.begin).find(',') != std::string_view::npos) {
      usable_ = false;
      return;
    }
    add_between(line.substr(at, hit.begin - at), json);
    const bool wanted = hit.slot < kStepSlots;
    add_piece(wanted ? Kind::kNumber : Kind::kDigits, hit.slot, hit.scale);
    if (wanted) mask_ |= 1u << hit.slot;
    at = hit.end;
  }
  add_between(line.substr(at), json);
  add_piece(Kind::kEnd);
}

void LineTemplate::add_piece(Kind kind, StepSlot slot, double scale) {
  // Numbers are padded with blanks to a width: how many there are does not matter.
  std::size_t size = literals_.size() - open_;
  if (kind == Kind::kNumber || kind == Kind::kDigits) {
    while (size > 0 && literals_[open_ + size - 1] == ' ') --size;
    literals_.resize(open_ + size);
  }
  pieces_.push_back({static_cast<std::uint32_t>(open_), static_cast<std::uint16_t>(size), kind, slot, scale});
  open_ = literals_.size();
}

void LineTemplate::add_between(std::string_view text, bool json) {
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (json && c == '"') {
      const std::size_t quote = text.find('"', at + 1);
      const std::size_t end = quote == std::string_view::npos ? text.size() : quote + 1;
      const std::string_view content = text.substr(at + 1, end - at - 1);
      const bool is_value = quote != std::string_view::npos && text.substr(end).find_first_not_of(' ') != text.npos &&
                            text[end + text.substr(end).find_first_not_of(' ')] != ':';
      const bool has_digit = std::any_of(content.begin(), content.end(), is_digit_char);
      if (is_value && has_digit && content.find('\\') == std::string_view::npos) {
        literals_ += '"';
        add_piece(Kind::kString);
        at = end;
        continue;
      }
      literals_.append(text.substr(at, end - at));
      at = end;
      continue;
    }
    if (is_digit_char(c) && may_differ(text, at)) {
      const std::size_t size = literals_.size();
      if (size > open_ && literals_.back() == '-' && (size - 1 == open_ || !is_digit_char(literals_[size - 2]))) {
        literals_.pop_back();  // a sign
      }
      add_piece(Kind::kDigits);
      while (at < text.size() && is_of_number(text[at])) ++at;
      continue;
    }
    literals_ += c;
    ++at;
    if (is_digit_char(c)) {  // the rest of a name's digits
      while (at < text.size() && is_digit_char(text[at])) literals_ += text[at++];
    }
  }
}

bool LineTemplate::match(std::string_view line, double* values) const {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (const Piece& piece : pieces_) {
    if (end - at < piece.size || !same_bytes(at, literals_.data() + piece.literal, piece.size)) return false;
    at += piece.size;
    switch (piece.kind) {
      case Kind::kNumber: {
        while (at != end && *at == ' ') ++at;
        double value;
        at = parse_number(at, end, value);
        if (at == nullptr) return false;
        values[piece.slot] = value * piece.scale;
        break;
      }
      case Kind::kDigits:
        while (at != end && *at == ' ') ++at;
        if (at == end || !is_of_number(*at)) return false;
        while (at != end && is_of_number(*at)) ++at;
        break;
      case Kind::kString: {
        const char* const quote = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
        if (quote == nullptr || quote[-1] == '\\') return false;
        at = quote + 1;
        break;
      }
      case Kind::kEnd:
        while (at != end && (*at == ' ' || *at == '\r')) ++at;
        break;
    }
  }
  return at == end;
}

}  // namespace tare
