#include "ingest/slurm_values.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostResources = 256;  // of one list: far more than any node has

// The items of a comma-separated list, commas in brackets left alone.
template <typename Take>
void each_item(std::string_view text, Take take) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && depth > 0) --depth;
    if (i == text.size() || (c == ',' && depth == 0)) {
      const std::string_view item = trim(text.substr(begin, i - begin));
      if (!item.empty()) take(item);
      begin = i + 1;
    }
  }
}

std::string_view without_note(std::string_view item) { return trim(item.substr(0, item.find('('))); }

// "8", "844G".
bool is_count(std::string_view text) {
  text = trim(text);
  if (!text.empty() && contains("KMGTP", text.substr(text.size() - 1))) text.remove_suffix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::int64_t> count_in(std::string_view text) {
  const std::optional<std::int64_t> count = to_integer(text);
  return count && *count >= 0 && *count <= 1'000'000'000 ? count : std::nullopt;
}

struct StateName {
  std::string_view is;
  std::string_view name;
};
constexpr auto kNodeStates = std::to_array<StateName>({
    {"alloc", "allocated"},
    {"allocated", "allocated"},
    {"allocated+", "allocated"},
    {"alloc#", "allocated"},
    {"idle", "idle"},
    {"mix", "mixed"},
    {"mixed", "mixed"},
    {"comp", "completing"},
    {"completing", "completing"},
    {"down", "down"},
    {"drain", "drained"},
    {"drained", "drained"},
    {"drng", "draining"},
    {"draining", "draining"},
    {"fail", "fail"},
    {"failing", "failing"},
    {"failg", "failing"},
    {"failed", "fail"},
    {"maint", "maint"},
    {"resv", "reserved"},
    {"reserved", "reserved"},
    {"plnd", "planned"},
    {"planned", "planned"},
    {"boot", "reboot"},
    {"reboot", "reboot"},
    {"reboot_issued", "reboot_issued"},
    {"reboot_requested", "reboot_requested"},
    {"unk", "unknown"},
    {"unknown", "unknown"},
    {"future", "future"},
    {"futr", "future"},
    {"npc", "perfctrs"},
    {"perfctrs", "perfctrs"},
    {"block", "blocked"},
    {"blocked", "blocked"},
    {"inval", "inval"},
    {"invalid", "inval"},
    {"pow_dn", "powered_down"},
    {"powering_down", "powering_down"},
    {"powered_down", "powered_down"},
    {"power_down", "power_down"},
    {"power_up", "power_up"},
    {"pow_up", "powering_up"},
    {"powering_up", "powering_up"},
    {"no_respond", "no_respond"},
    {"not_responding", "not_responding"},
    {"dynamic_norm", "dynamic_norm"},
    {"dynamic_future", "dynamic_future"},
    {"cloud", "cloud"},
    {"resume", "resume"},
    {"undrain", "undrain"},
    {"error", "error"},
    {"external", "external"},
    {"invalid_reg", "invalid_reg"},
    {"n/a", "n/a"},
    {"blocked_by", "blocked"},
    {"power", "power"},
});

std::string_view flag_meaning(char flag) {
  switch (flag) {
    case '*':
      return "not responding";
    case '~':
      return "powered down";
    case '#':
      return "powering up";
    case '!':
      return "pending power down";
    case '%':
      return "powering down";
    case '$':
      return "in maintenance";
    case '@':
      return "pending reboot";
    case '^':
      return "reboot issued";
    case '-':
      return "planned by backfill";
    default:
      return {};
  }
}

std::string_view state_word(std::string_view word) {
  const auto* const found = std::find_if(kNodeStates.begin(), kNodeStates.end(),
                                         [word](const StateName& one) { return equals_ignoring_case(one.is, word); });
  return found == kNodeStates.end() ? std::string_view() : found->name;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::vector<SlurmResource> parse_gres(std::string_view text) {
  std::vector<SlurmResource> list;
  if (says_unknown(text)) return list;
  each_item(text, [&list](std::string_view item) {
    item = without_note(item);
    for (const std::string_view prefix : {"gres:", "gres/"}) {
      if (item.starts_with(prefix)) item.remove_prefix(prefix.size());
    }
    SlurmResource one;
    std::size_t cut = item.find_first_of(":=");
    one.name = trim(item.substr(0, cut));
    if (one.name.empty() || list.size() >= kMostResources) return;
    std::string_view rest = cut == std::string_view::npos ? std::string_view() : item.substr(cut + 1);
    cut = rest.find_last_of(":=");
    const std::string_view last = cut == std::string_view::npos ? rest : rest.substr(cut + 1);
    if (is_count(last)) {
      one.count_text = trim(last);
      one.type = cut == std::string_view::npos ? std::string_view() : trim(rest.substr(0, cut));
    } else {
      one.type = trim(rest);
    }
    if (one.type == "no_consume") one.type = {};
    one.count = one.count_text.empty() ? std::optional<std::int64_t>(1) : count_in(one.count_text);
    list.push_back(one);
  });
  return list;
}

std::vector<SlurmResource> parse_tres(std::string_view text) {
  std::vector<SlurmResource> list;
  if (says_unknown(text)) return list;
  each_item(text, [&list](std::string_view item) {
    const std::size_t equal = item.find('=');
    if (equal == std::string_view::npos) {
      if (item.starts_with("gres")) {
        for (const SlurmResource& one : parse_gres(item)) list.push_back(one);
      }
      return;
    }
    if (list.size() >= kMostResources) return;
    SlurmResource one;
    one.name = item.substr(0, equal);
    if (one.name.starts_with("gres/") || one.name.starts_with("gres:")) one.name.remove_prefix(5);
    if (const std::size_t colon = one.name.find(':'); colon != std::string_view::npos) {
      one.type = one.name.substr(colon + 1);
      one.name = one.name.substr(0, colon);
    }
    one.count_text = trim(item.substr(equal + 1));
    one.count = count_in(one.count_text);
    list.push_back(one);
  });
  return list;
}

std::optional<std::int64_t> gpus_of(const std::vector<SlurmResource>& list) {
  std::optional<std::int64_t> typed, total;
  for (const SlurmResource& one : list) {
    if (one.name != "gpu" || !one.count) continue;
    std::optional<std::int64_t>& into = one.type.empty() ? total : typed;
    into = std::min<std::int64_t>(into.value_or(0) + *one.count, 1'000'000'000);
  }
  return total ? std::max(*total, typed.value_or(0)) : typed;
}

void add_gpus(FactRecord& record, const std::vector<SlurmResource>& list, std::string_view prefix, std::int64_t line) {
  const std::optional<std::int64_t> gpus = gpus_of(list);
  if (!gpus) return;
  const std::string start(prefix);
  record.set(start + "gpus", *gpus, line);
  std::vector<std::string_view> types;
  for (const SlurmResource& one : list) {
    if (one.name == "gpu" && !one.type.empty() && one.count) types.push_back(one.type);
  }
  if (types.empty()) return;
  if (std::all_of(types.begin(), types.end(), [&](std::string_view type) { return type == types.front(); })) {
    record.set(start + "gpu_type", types.front(), line);
  }
  FactRecord& by_type = record.record(start + "gpu_types", line);
  for (const SlurmResource& one : list) {
    if (one.name != "gpu" || one.type.empty() || !one.count) continue;
    by_type.set(one.type, by_type.integer(one.type).value_or(0) + *one.count, line);
  }
}

std::optional<double> slurm_seconds(std::string_view text) {
  text = trim(text);
  double days = 0;
  bool has_days = false;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos && dash > 0) {
    const std::optional<std::int64_t> whole = to_integer(text.substr(0, dash));
    if (!whole || *whole < 0) return std::nullopt;
    days = static_cast<double>(*whole);
    has_days = true;
    text.remove_prefix(dash + 1);
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 3 || (parts.size() < 2 && !has_days)) return std::nullopt;
  double seconds = 0;
  for (const std::string_view part : parts) {
    if (part.empty() || !is_digit(part.front())) return std::nullopt;
    const std::optional<double> value = to_number(part);
    if (!value) return std::nullopt;
    seconds = seconds * 60 + *value;
  }
  if (has_days && parts.size() < 3) seconds *= parts.size() == 1 ? 3600 : 60;  // days-hours, days-hours:minutes
  return days * 86400 + seconds;
}

std::string node_state_name(std::string_view text, std::vector<std::string_view>* flags) {
  text = trim(text);
  while (!text.empty() && !flag_meaning(text.back()).empty()) {
    if (flags != nullptr) flags->push_back(flag_meaning(text.back()));
    text.remove_suffix(1);
  }
  if (text.empty()) return {};
  std::string name;
  for (std::string_view word : split(text, '+')) {
    while (!word.empty() && !flag_meaning(word.back()).empty()) {
      if (flags != nullptr) flags->push_back(flag_meaning(word.back()));
      word.remove_suffix(1);
    }
    if (word.empty()) continue;
    std::string_view known = state_word(word);
    // "IDLE+DRAIN" joins a state and a flag: the flag is named as printed.
    if (known == "drained" && contains(text, "+")) known = "drain";
    if (known.empty()) return {};
    if (!name.empty()) name += '+';
    name += known;
  }
  return name;
}

namespace {

struct JobState {
  std::string_view name;
  std::string_view compact;
};
constexpr auto kJobStates = std::to_array<JobState>({
    {"PENDING", "PD"},        {"RUNNING", "R"},        {"SUSPENDED", "S"},     {"COMPLETING", "CG"},
    {"COMPLETED", "CD"},      {"CONFIGURING", "CF"},   {"CANCELLED", "CA"},    {"FAILED", "F"},
    {"TIMEOUT", "TO"},        {"PREEMPTED", "PR"},     {"NODE_FAIL", "NF"},    {"BOOT_FAIL", "BF"},
    {"OUT_OF_MEMORY", "OOM"}, {"DEADLINE", "DL"},      {"REQUEUED", "RQ"},     {"RESIZING", "RS"},
    {"REVOKED", "RV"},        {"SIGNALING", "SI"},     {"SPECIAL_EXIT", "SE"}, {"STAGE_OUT", "SO"},
    {"STOPPED", "ST"},        {"REQUEUE_FED", "RF"},   {"REQUEUE_HOLD", "RH"}, {"RESV_DEL_HOLD", "RD"},
    {"LAUNCH_FAILED", "LF"},  {"RECONFIG_FAIL", "RC"}, {"EXPEDITING", "EX"},
});

// nullptr when it is no state.
const JobState* find_job_state(std::string_view text) {
  text = trim(text);
  const std::string_view word = text.substr(0, text.find_first_of(" ,"));
  for (const JobState& state : kJobStates) {
    if (equals_ignoring_case(state.name, word) || equals_ignoring_case(state.compact, word)) return &state;
  }
  // Cut to the column ("CANCELL", "OUT_OF_M+").
  const std::string_view stem = word.ends_with('+') ? word.substr(0, word.size() - 1) : word;
  if (stem.size() < 4) return nullptr;
  for (const JobState& state : kJobStates) {
    if (state.name.size() >= stem.size() && equals_ignoring_case(state.name.substr(0, stem.size()), stem))
      return &state;
  }
  return nullptr;
}

}  // namespace

bool is_job_state(std::string_view text) { return find_job_state(text) != nullptr; }

std::string job_state_name(std::string_view text) {
  const JobState* const state = find_job_state(text);
  if (state != nullptr) return std::string(state->name);
  text = trim(text);
  return std::string(text.substr(0, text.find_first_of(" ,")));
}

std::string slurm_fact_name(std::string_view key) {
  std::string name;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
      if (!name.empty() && name.back() != '_') name += '_';
      continue;
    }
    if (is_upper(c) && i > 0) {
      const char before = key[i - 1];
      const char next = i + 1 < key.size() ? key[i + 1] : '\0';
      const bool plural = next == 's' && (i + 2 >= key.size() || !is_lower(key[i + 2]));  // the P of "CPUs"
      if ((is_lower(before) || is_digit(before) || (is_upper(before) && is_lower(next) && !plural)) &&
          name.back() != '_') {
        name += '_';
      }
    }
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

namespace {

// Names that one bracket stands for: "002,004,008-010".
std::int64_t count_range(std::string_view inside) {
  std::int64_t sum = 0;
  for (const std::string_view part : split(inside, ',')) {
    const std::size_t dash = part.find('-');
    const std::optional<std::int64_t> from = to_integer(part.substr(0, dash));
    const std::optional<std::int64_t> to = dash == std::string_view::npos ? from : to_integer(part.substr(dash + 1));
    const bool whole = from && to && *from >= 0 && *to >= *from && *to <= 1'000'000'000;
    sum += whole ? *to - *from + 1 : 1;
  }
  return std::min<std::int64_t>(sum, 1'000'000'000);
}

}  // namespace

bool says_no_host(std::string_view text) {
  text = trim(text);
  return says_unknown(text) || equals_ignoring_case(text, "none assigned") || equals_ignoring_case(text, "none");
}

std::int64_t count_hosts(std::string_view hostlist) {
  if (says_no_host(hostlist)) return 0;
  std::int64_t sum = 0;
  each_item(hostlist, [&sum](std::string_view item) {
    std::int64_t names = 1;
    while (!item.empty()) {
      const std::size_t open = item.find('[');
      if (open == std::string_view::npos) break;
      const std::size_t close = item.find(']', open);
      const std::string_view inside = item.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
      names = std::min<std::int64_t>(names * std::min<std::int64_t>(count_range(inside), 1'000'000), 1'000'000'000);
      if (close == std::string_view::npos) break;
      item.remove_prefix(close + 1);
    }
    sum = std::min<std::int64_t>(sum + names, 1'000'000'000);
  });
  return sum;
}

}  // namespace tare
