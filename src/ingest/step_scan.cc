#include "ingest/step_scan.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ingest/fast_number.h"
#include "ingest/scan.h"
#include "ingest/step_units.h"

namespace tare {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit_char(c); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Of the names that a step's number goes by.
std::uint8_t rank_of(std::string_view name) {
  if (name == "globalstep" || name == "globalsteps" || name == "completedstep") return 5;
  if (contains(name, "step") || name == "numupdates") return 4;
  if (name.starts_with("iteration")) return 3;
  if (name.starts_with("it")) return 2;
  return 1;
}

bool is_time(StepSlot slot) { return slot < kStepFields && class_of(static_cast<StepField>(slot)) == UnitClass::kTime; }

// Which slot a value has whose unit says what its name does not ("645277 tok/s").
bool slot_of_unit(UnitClass of, StepSlot& slot) {
  switch (of) {
    case UnitClass::kTokensPerS:
      slot = slot_of(StepField::kTokensPerS);
      return true;
    case UnitClass::kTokensPerSPerGpu:
      slot = slot_of(StepField::kTokensPerSPerGpu);
      return true;
    case UnitClass::kSamplesPerS:
      slot = slot_of(StepField::kSamplesPerS);
      return true;
    case UnitClass::kTflops:
      slot = slot_of(StepField::kTflopsPerGpu);
      return true;
    case UnitClass::kTimePerStep:
      slot = slot_of(StepField::kStepTime);
      return true;
    default:
      return false;
  }
}

// Makes the hit of a value whose name means `key` and behind which `unit` stands. False when they do not go together.
// `plain_seconds`: the program prints "time: 0.35", in seconds.
bool resolve(const StepKey& key, const PrintedUnit& unit, StepHit& hit, bool plain_seconds = false) {
  hit.slot = key.slot;
  hit.unit = key.unit;
  hit.scale = key.scale * unit.multiplier;
  hit.rank = key.slot == kStepSlot ? rank_of(key.name) : key.name == "reducedtrainloss" ? 1 : 0;
  if (key.slot >= kStepFields) return unit.of == UnitClass::kNone || unit.of == UnitClass::kMultiplier;
  const UnitClass wanted = class_of(static_cast<StepField>(key.slot));
  if (unit.of == UnitClass::kNone || unit.of == UnitClass::kMultiplier) {
    if (wanted == UnitClass::kMemory && unit.multiplier > 1 && key.unit.suffix.empty()) {  // "5000M" of memory
      hit.scale = key.scale;
      if (unit.multiplier == 1e6) hit.unit = {"mb", 1e6};
      return true;
    }
    if (wanted == UnitClass::kTime && unit.of == UnitClass::kMultiplier) return false;  // "1m 3s"
    return !key.needs_unit || (plain_seconds && wanted == UnitClass::kTime);
  }
  if (unit.of == wanted) {
    if (!unit.unit.suffix.empty()) hit.unit = unit.unit;
    return true;
  }
  if (wanted == UnitClass::kTime && unit.of == UnitClass::kTimePerStep) {
    hit.unit = unit.unit;
    return true;
  }
  if (wanted == UnitClass::kTokensPerS && unit.of == UnitClass::kTokensPerSPerGpu) {
    hit.slot = slot_of(StepField::kTokensPerSPerGpu);
    return true;
  }
  // "Speed: 6.19 tokens/sec": the unit knows better than the name.
  return key.needs_unit && slot_of_unit(unit.of, hit.slot);
}

class Scanner {
 public:
  Scanner(std::string_view text, StepHits& hits, std::size_t offset) : text_(text), hits_(hits), offset_(offset) {}

  void run() {
    // OpenMMLab, Detectron2, PyTorch's ImageNet example and timm.
    plain_seconds_ = contains(text_, "eta:") || contains(text_, "data_time") || contains(text_, "\tTime ") ||
                     (contains(text_, "Train: ") && contains(text_, " Data: "));
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_letter(c)) {
        word();
      } else if (is_digit_char(c) || ((c == '-' || c == '+' || c == '.') && at_ + 1 < text_.size() &&
                                      is_digit_char(text_[at_ + 1]) && !(at_ > 0 && is_word(text_[at_ - 1])))) {
        number();
      } else {
        ++at_;
      }
    }
  }

 private:
  char behind(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.size() < 3 || word.size() > 8) return;
    const bool infinite = equals_ignoring_case(word, "inf") || equals_ignoring_case(word, "infinity");
    if (!infinite && !equals_ignoring_case(word, "nan") && !word.starts_with("nan")) return;
    if (word.size() > 3 && !infinite && word != "nanms") return;
    StepHit hit;
    hit.finite = false;
    StepHit resolved = hit;
    const StepKey* const key = key_before(begin);
    PrintedUnit unit;
    if (word == "nanms") find_printed_unit("ms", unit);
    if (key == nullptr || !resolve(*key, unit, resolved, plain_seconds_)) return;  // "number of nan iterations"
    put(resolved, begin, at_);
    previous_ = at_;
  }

  // Passes over dates, clocks, addresses and versions. False when there is none.
  bool passes_token(std::size_t end) {
    const char c = behind(end);
    const char next = behind(end + 1);
    if (!((c == ':' || c == '.' || c == '-') && is_digit_char(next))) return false;
    if (c == '-' && end > 0 && (text_[end - 1] == 'e' || text_[end - 1] == 'E')) return false;
    std::size_t at = end;
    while (at < text_.size() && (is_word(text_[at]) || text_[at] == ':' || text_[at] == '.' || text_[at] == '-')) ++at;
    at_ = previous_ = at;
    return true;
  }

  // Thousands: ",123" groups behind up to three digits.
  std::size_t grouped_end(std::size_t begin, std::size_t end, double& value) const {
    if (end - begin > 3 || behind(end) != ',' || text_[begin] == '-') return end;
    std::size_t at = end;
    double sum = value;
    while (behind(at) == ',' && at + 4 <= text_.size() && is_digit_char(text_[at + 1]) &&
           is_digit_char(text_[at + 2]) && is_digit_char(text_[at + 3]) && !is_word(behind(at + 4))) {
      sum = sum * 1000 + (text_[at + 1] - '0') * 100 + (text_[at + 2] - '0') * 10 + (text_[at + 3] - '0');
      at += 4;
    }
    if (at == end || behind(at) == '=' || behind(at) == ':') return end;
    value = sum;
    if (behind(at) == '.' && is_digit_char(behind(at + 1))) {
      double fraction = 0;
      const char* const from = text_.data() + at;
      const char* const to = parse_number(from, text_.data() + text_.size(), fraction);
      if (to != nullptr) {
        value += fraction;
        at += static_cast<std::size_t>(to - from);
      }
    }
    return at;
  }

  void number() {
    const std::size_t begin = at_;
    double value = 0;
    const char* const last = text_.data() + text_.size();
    const char* const from = text_.data() + begin + (text_[begin] == '+' ? 1 : 0);
    const char* const to = parse_number(from, last, value);
    if (to == nullptr) {
      ++at_;
      return;
    }
    std::size_t end = static_cast<std::size_t>(to - text_.data());
    if (passes_token(end)) return;
    end = grouped_end(begin, end, value);
    StepHit hit;
    hit.value = value;
    const StepKey* const key = key_before(begin);
    std::size_t unit_end = end;
    const PrintedUnit unit = unit_behind(end, unit_end);
    const std::size_t previous = previous_;
    at_ = previous_ = std::max(unit_end, end);
    if (unit_end == kNoUnit) {  // letters that are no unit: "8xA100", "3rd"
      at_ = end;
      previous_ = previous;
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      return;
    }
    if (key != nullptr && resolve(*key, unit, hit, plain_seconds_)) {
      put(hit, begin, end);
      if (key->slot == kStepSlot) total_behind(end);
    } else if (key == nullptr && begin > 0 && is_bracketed(begin, end)) {
      hit.slot = kStepSlot;  // "Epoch(train) [1][  50/1000]"
      put(hit, begin, end);
      total_behind(end);
    } else if (key == nullptr && is_count_of_parameters(end)) {
      hit.slot = kParamsSlot;
      put(hit, begin, end);
    } else if (slot_of_unit(unit.of, hit.slot)) {
      hit.unit = unit.unit;
      hit.scale = unit.multiplier;
      put(hit, begin, end);
    } else if (key == nullptr && unit.of == UnitClass::kTime && stands_alone(previous, begin, unit_end)) {
      hit.slot = slot_of(StepField::kStepTime);
      hit.unit = unit.unit;
      put(hit, begin, end);
    } else if (key == nullptr && unit.of == UnitClass::kPercent && is_mfu_behind(unit_end)) {
      hit.slot = slot_of(StepField::kMfu);
      hit.unit = unit.unit;
      put(hit, begin, end);
    }
  }

  // "[  50/1000]", not the step of a bar, which a clock follows.
  bool is_bracketed(std::size_t begin, std::size_t end) const {
    std::size_t before = begin;
    while (before > 0 && text_[before - 1] == ' ') --before;
    if (before == 0 || text_[before - 1] != '[' || behind(end) != '/') return false;
    std::size_t at = end + 1;
    while (is_digit_char(behind(at))) ++at;
    return at > end + 1 && behind(at) == ']';
  }

  // "Model llama3 8B size: 8,030,261,248 total parameters"
  bool is_count_of_parameters(std::size_t end) const {
    const std::string_view rest = text_.substr(end);
    return rest.starts_with(" total parameters") || rest.starts_with(" parameters");
  }

  // "| 812.45 ms |"
  bool stands_alone(std::size_t, std::size_t begin, std::size_t end) const {
    std::size_t before = begin;
    while (before > 0 && is_blank(text_[before - 1])) --before;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    return before > 0 && text_[before - 1] == '|' && (end == text_.size() || text_[end] == '|');
  }

  bool is_mfu_behind(std::size_t end) const { return contains(text_.substr(end, 12), "MFU"); }

  static constexpr std::size_t kNoUnit = static_cast<std::size_t>(-1);

  // A unit glued to the value, or as the next word. `end` moves behind it.
  PrintedUnit unit_behind(std::size_t from, std::size_t& end) const {
    PrintedUnit unit;
    const auto is_unit_char = [](char c) { return is_letter(c) || c == '%' || c == '/'; };
    std::size_t at = from;
    const bool glued = at < text_.size() && (is_letter(text_[at]) || text_[at] == '%');
    if (text_.substr(from).starts_with("/gpu)")) {  // "tps 12345.6(1543.2/gpu)"
      unit.of = UnitClass::kTokensPerSPerGpu;
      end = from + 4;
      return unit;
    }
    if (!glued) {
      if (behind(at) != ' ' || !is_letter(behind(at + 1))) return unit;
      ++at;
    }
    const std::size_t begin = at;
    while (at < text_.size() && is_unit_char(text_[at]) && at - begin < 24) ++at;
    std::string_view word = text_.substr(begin, at - begin);
    if (find_printed_unit(word, unit)) {
      // A lone letter as a word of its own is no unit ("step 10 m"), except B behind a count of parameters.
      if (!glued && unit.of == UnitClass::kMultiplier && word != "B" && word.size() < 2) return {};
      const bool names_something = !glued && (behind(at) == ':' || behind(at) == '=');
      if (names_something) return {};
      end = at;
      return unit;
    }
    if (!glued) return {};
    // "54.3TFLOPS,": cut at the first character that no unit has is done; a unit may be followed by more words.
    if (word.size() > 1 && word.back() == '/') word.remove_suffix(1);
    if (find_printed_unit(word, unit)) {
      end = begin + word.size();
      return unit;
    }
    end = kNoUnit;
    return {};
  }

  // "/ 5000" behind the step.
  void total_behind(std::size_t end) {
    std::size_t at = end;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    if (behind(at) != '/') return;
    ++at;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    const std::size_t begin = at;
    double total = 0;
    const char* const to = parse_number(text_.data() + at, text_.data() + text_.size(), total);
    if (to == nullptr) return;
    at_ = previous_ = static_cast<std::size_t>(to - text_.data());
    StepHit hit;
    hit.slot = kTotalSlot;
    hit.value = total;
    put(hit, begin, at_);
  }

  // The name in front of the value that begins at `begin`.
  const StepKey* key_before(std::size_t begin) const {
    std::size_t end = begin;
    const auto skip = [&](std::string_view set) {
      while (end > previous_ && set.find(text_[end - 1]) != std::string_view::npos) --end;
    };
    skip(" \t");
    skip("'\"[(");
    skip(" \t");
    if (end == previous_) return nullptr;
    const bool gap = end < begin;
    bool is_explicit = text_[end - 1] == ':' || text_[end - 1] == '=';
    if (is_explicit) {
      --end;
      if (end > previous_ && text_[end - 1] == '.') skip(".");
    } else if (text_[end - 1] == '.' && end - previous_ > 2 && text_[end - 2] == '.') {
      skip(".");
      is_explicit = true;
    } else if (!gap) {
      return nullptr;
    }
    skip(" \t'\"");
    std::size_t bound = bound_of(end);
    const StepKey* key = lookup(bound, end, is_explicit);
    if (key == nullptr && is_explicit && bound > previous_ + 1 && text_[bound - 1] == '{') {
      // grad_norm={'0_default': 66.5}
      end = bound - 1;
      skip(" \t");
      if (end > previous_ && (text_[end - 1] == '=' || text_[end - 1] == ':')) {
        --end;
        skip(" \t'\"");
        bound = bound_of(end);
        key = lookup(bound, end, true);
        if (key != nullptr && key->slot != slot_of(StepField::kGradNorm)) key = nullptr;
      }
    }
    return key;
  }

  // Where a name that ends at `end` may begin at the earliest.
  std::size_t bound_of(std::size_t end) const {
    constexpr std::size_t kLongestName = 80;
    const std::size_t least = std::max(previous_, end > kLongestName ? end - kLongestName : 0);
    std::size_t at = end;
    if (at > least && text_[at - 1] == ')') {  // "(ms)" belongs to the name
      const std::size_t open = text_.substr(least, at - least).rfind('(');
      if (open != std::string_view::npos) at = least + open;
    }
    while (at > least) {
      const char c = text_[at - 1];
      if (c == '|' || c == ',' || c == ';' || c == '{' || c == '}' || c == '[' || c == ']' || c == '\t' || c == '(' ||
          c == ')' || c == '>' || c == '<' || c == ':' || c == '=') {
        break;
      }
      --at;
    }
    return at;
  }

  // The longest known name among the last words of [bound, end).
  const StepKey* lookup(std::size_t bound, std::size_t end, bool is_explicit) const {
    constexpr int kWords = 7;
    std::array<std::size_t, kWords> starts{};
    int count = 0;
    for (std::size_t at = end; at > bound && count < kWords;) {
      std::size_t begin = at;
      while (begin > bound && !is_blank(text_[begin - 1])) --begin;
      if (begin < at) starts[static_cast<std::size_t>(count++)] = begin;
      at = begin;
      while (at > bound && is_blank(text_[at - 1])) --at;
    }
    for (int i = count - 1; i >= 0; --i) {
      const std::string_view name =
          text_.substr(starts[static_cast<std::size_t>(i)], end - starts[static_cast<std::size_t>(i)]);
      const StepKey* const key = find_step_key(name);
      if (key != nullptr && (is_explicit || key->bare || name.starts_with("--"))) return key;
    }
    // "Total batch size (2 x 4 x 1) = 8"
    const std::size_t open = text_.substr(bound, end - bound).rfind('(');
    if (is_explicit && end > bound && text_[end - 1] == ')' && open != std::string_view::npos && open > 0) {
      std::size_t before = bound + open;
      while (before > bound && is_blank(text_[before - 1])) --before;
      return lookup_plain(bound, before);
    }
    return nullptr;
  }

  const StepKey* lookup_plain(std::size_t bound, std::size_t end) const {
    for (std::size_t begin = bound; begin < end;) {
      if (const StepKey* const key = find_step_key(text_.substr(begin, end - begin))) return key;
      while (begin < end && !is_blank(text_[begin])) ++begin;
      while (begin < end && is_blank(text_[begin])) ++begin;
    }
    return nullptr;
  }

  void put(StepHit hit, std::size_t begin, std::size_t end) {
    hit.value *= hit.scale;
    hit.begin = static_cast<std::uint32_t>(begin + offset_);
    hit.end = static_cast<std::uint32_t>(end + offset_);
    if (is_time(hit.slot) && hit.unit.suffix.empty()) {
      hit.unit = {"s", 1};
      if (!plain_seconds_) hits_.set_unit_unstated();
    }
    hits_.add(hit);
  }

  std::string_view text_;
  StepHits& hits_;
  std::size_t offset_;
  bool plain_seconds_ = false;
  std::size_t at_ = 0;
  std::size_t previous_ = 0;  // end of the value before: no name reaches over it
};

}  // namespace

void StepHits::add(const StepHit& hit) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (hits_[i].slot != hit.slot) continue;
    if (hit.rank <= hits_[i].rank) return;
    StepHit less = hits_[i];
    hits_[i] = hit;
    if (hit.slot != kStepSlot) return;
    less.slot = kMicroSlot;  // "iter 3050 step 610"
    less.rank = 0;
    return add(less);
  }
  if (count_ < hits_.size()) hits_[count_++] = hit;
}

const StepHit* StepHits::find(StepSlot slot) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (hits_[i].slot == slot) return &hits_[i];
  }
  return nullptr;
}

void StepHits::make_evaluation() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (hits_[i].slot == slot_of(StepField::kLoss)) hits_[i].slot = slot_of(StepField::kEvalLoss);
  }
  evaluation_ = true;
}

void scan_key_values(std::string_view text, StepHits& hits, std::size_t offset) {
  constexpr std::size_t kLongestLine = 64u << 10;
  Scanner(text.substr(0, kLongestLine), hits, offset).run();
}

namespace {

// JSON without building it: a path of names, and the numbers at its leaves.
class JsonScanner {
 public:
  JsonScanner(std::string_view text, StepHits& hits, std::size_t offset) : text_(text), hits_(hits), offset_(offset) {}

  bool run() {
    skip_blank();
    if (peek() != '{' || !object()) return false;
    if (evaluation_) hits_.make_evaluation();
    return true;
  }

 private:
  static constexpr int kDepth = 32;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blank() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\r' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_blank();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  // One level after the other, with the length of the path to go back to.
  bool object() {
    std::array<std::size_t, kDepth> lengths{};
    std::array<char, kDepth> kinds{};
    int depth = 0;
    ++at_;
    kinds[0] = '{';
    bool first = true;
    for (;;) {
      skip_blank();
      const char close = kinds[static_cast<std::size_t>(depth)] == '{' ? '}' : ']';
      if (peek() == close) {
        ++at_;
        if (depth == 0) return true;
        --depth;
        path_size_ = lengths[static_cast<std::size_t>(depth)];
        first = false;
        continue;
      }
      if (!first && !take(',')) return false;
      first = false;
      const std::size_t before = path_size_;
      if (close == '}' && !name()) return false;
      skip_blank();
      const char c = peek();
      if (c == '{' || c == '[') {
        if (depth + 1 >= kDepth) return false;
        lengths[static_cast<std::size_t>(depth)] = before;
        kinds[static_cast<std::size_t>(++depth)] = c;
        ++at_;
        first = true;
        continue;
      }
      if (!value()) return false;
      path_size_ = before;
    }
  }

  bool string(std::string_view& content) {
    skip_blank();
    if (peek() != '"') return false;
    const std::size_t begin = ++at_;
    for (;;) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) return false;
      std::size_t slashes = 0;
      while (quote - slashes > begin && text_[quote - slashes - 1] == '\\') ++slashes;
      at_ = quote + 1;
      if (slashes % 2 == 0) {
        content = text_.substr(begin, quote - begin);
        return true;
      }
    }
  }

  bool name() {
    std::string_view content;
    if (!string(content) || !take(':')) return false;
    if (path_size_ > 0 && path_size_ < path_.size()) path_[path_size_++] = '/';
    for (const char c : content) {
      if (path_size_ < path_.size()) path_[path_size_++] = c;
    }
    return true;
  }

  std::string_view path() const { return {path_.data(), path_size_}; }

  bool value() {
    const char c = peek();
    if (c == '"') {
      std::string_view content;
      if (!string(content)) return false;
      text_value(content);
      return true;
    }
    double number = 0;
    const std::size_t begin = at_;
    const char* const to = parse_number(text_.data() + at_, text_.data() + text_.size(), number);
    if (to != nullptr) {
      at_ = static_cast<std::size_t>(to - text_.data());
      put(number, true, begin, at_);
      return true;
    }
    const std::size_t end = std::min(text_.find_first_of(",}] \t\r\n", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) return false;
    at_ = end;
    if (word == "NaN" || word == "nan" || word == "Infinity" || word == "-Infinity") put(0, false, begin, end);
    return true;
  }

  // "loss": "1.23" is a number all the same; "split": "eval" says of what the numbers are.
  void text_value(std::string_view content) {
    if (content.empty() || content.size() > 40) return;
    double number = 0;
    const char* const last = content.data() + content.size();
    if (parse_number(content.data(), last, number) == last) {
      const std::size_t begin = static_cast<std::size_t>(content.data() - text_.data());
      put(number, true, begin, begin + content.size());
      return;
    }
    const std::string_view key = path();
    if (key == "split" || key == "mode" || key == "phase" || key == "stage" || key == "type" || key == "event") {
      evaluation_ = evaluation_ || content.starts_with("eval") || content.starts_with("val") || content == "test";
    }
  }

  void put(double value, bool finite, std::size_t begin, std::size_t end) {
    const StepKey* const key = find_step_key(path());
    if (key == nullptr) return;
    StepHit hit;
    if (!resolve(*key, PrintedUnit{}, hit)) {
      if (!key->needs_unit || key->slot >= kStepFields) return;
      // In JSON a number has no unit behind it: a time is in seconds, a memory unstated.
      if (key->name == "time") {
        if (value < 1e9) return;
        hit.slot = kTimeSlot;
      }
    }
    hit.value = value * hit.scale;
    hit.finite = finite;
    hit.begin = static_cast<std::uint32_t>(begin + offset_);
    hit.end = static_cast<std::uint32_t>(end + offset_);
    if (is_time(hit.slot) && hit.unit.suffix.empty()) {
      hit.unit = {"s", 1};
      hits_.set_unit_unstated();
    }
    hits_.add(hit);
  }

  std::string_view text_;
  StepHits& hits_;
  std::size_t offset_;
  std::size_t at_ = 0;
  std::array<char, 160> path_;
  std::size_t path_size_ = 0;
  bool evaluation_ = false;
};

}  // namespace

bool scan_json_object(std::string_view text, StepHits& hits, std::size_t offset) {
  return JsonScanner(text, hits, offset).run();
}

}  // namespace tare
