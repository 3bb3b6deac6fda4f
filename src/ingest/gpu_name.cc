#include "ingest/gpu_name.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace tare {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
// Marketed and usable sizes of one part differ (B200: 192, 184, 180); those of two parts of a family are further apart.
constexpr double kSameSize = 0.10;

enum class Form { kUnstated, kModule, kCard, kNvl };

bool has_word(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

// "NVLINK" is said of both forms: a bridge joins cards, a baseboard modules.
Form stated_form(const GpuHints& hints) {
  const std::string text = to_lower(hints.name + ' ' + hints.detail + ' ' + hints.instance);
  if (has_word(text, "sxm")) return Form::kModule;
  if (has_word(text, "pcie")) return Form::kCard;
  for (std::size_t at = text.find("nvl"); at != std::string::npos; at = text.find("nvl", at + 1)) {
    if (text.compare(at, 6, "nvlink") != 0) return Form::kNvl;
  }
  return Form::kUnstated;
}

// "sxm2" where one of the texts says which socket; V100 came in two.
std::string stated_socket(const GpuHints& hints) {
  const std::string text = to_lower(hints.name + ' ' + hints.detail + ' ' + hints.instance);
  const std::size_t at = text.find("sxm");
  if (at == std::string::npos || at + 3 >= text.size()) return {};
  return text[at + 3] >= '0' && text[at + 3] <= '9' ? text.substr(at, 4) : std::string();
}

Form form_of(const Accelerator& accelerator) {
  if (has_word(to_lower(accelerator.id), "-nvl")) return Form::kNvl;
  return equals_ignoring_case(accelerator.form_factor, "pcie") ? Form::kCard : Form::kModule;
}

// The first word of a name without the maker's: "NVIDIA A100-80GB" -> "a100".
std::string family(std::string_view name) {
  std::string text = to_lower(name);
  for (const std::string_view maker : {"nvidia ", "amd ", "intel ", "tesla ", "instinct ", "geforce "}) {
    if (text.starts_with(maker)) text.erase(0, maker.size());
  }
  return text.substr(0, text.find_first_of("- _/"));
}

// Gigabytes at the end of a name, or in its middle: "A100-80GB-SXM" -> 80.
std::optional<double> size_in(std::string_view name) {
  const std::string text = to_lower(name);
  const std::size_t unit = text.find("gb");
  if (unit == std::string::npos) return std::nullopt;
  std::size_t begin = unit;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  if (begin == unit || unit - begin > 4) return std::nullopt;
  return std::stod(text.substr(begin, unit - begin));
}

bool has_size(const Accelerator& accelerator, double gib) {
  // Lists write decimal and binary sizes alike: either may be meant.
  return std::abs(accelerator.memory_bytes / kGib / gib - 1) <= kSameSize ||
         std::abs(accelerator.memory_bytes / 1e9 / gib - 1) <= kSameSize;
}

template <typename Keep>
void keep_if_any(std::vector<const Accelerator*>& candidates, Keep keep) {
  std::vector<const Accelerator*> kept;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(kept), keep);
  if (!kept.empty()) candidates = std::move(kept);
}

const Accelerator* by_node_type(const Catalog& catalog, const GpuHints& hints) {
  const NodeType* type = find_node_type(catalog, hints.provider + '/' + hints.instance);
  if (type == nullptr || family(type->gpu) != family(hints.name)) return nullptr;
  return find_accelerator(catalog, type->gpu);
}

}  // namespace

GpuMatch match_gpu(const Catalog& catalog, const GpuHints& hints) {
  if (const Accelerator* known = by_node_type(catalog, hints)) return {known, ""};
  const auto memory = size_in(hints.name) ? size_in(hints.name) : hints.memory_gib;
  for (const std::string& word : {hints.name, hints.detail}) {
    const Accelerator* known = word.empty() ? nullptr : find_accelerator(catalog, word);
    if (known != nullptr && (!memory || has_size(*known, *memory))) return {known, ""};
  }

  std::vector<const Accelerator*> candidates;
  const std::string wanted = family(hints.name);
  for (const Accelerator& accelerator : catalog.accelerators) {
    if (!wanted.empty() && family(accelerator.id) == wanted) candidates.push_back(&accelerator);
  }
  if (memory) std::erase_if(candidates, [&](const Accelerator* a) { return !has_size(*a, *memory); });
  const Form form = stated_form(hints);
  if (form != Form::kUnstated) std::erase_if(candidates, [&](const Accelerator* a) { return form_of(*a) != form; });
  if (const std::string socket = stated_socket(hints); !socket.empty()) {
    keep_if_any(candidates, [&](const Accelerator* a) { return has_word(to_lower(a->id), socket); });
  }
  if (candidates.empty()) return {};
  if (candidates.size() == 1) return {candidates.front(), ""};

  std::vector<std::string> open;
  if (!memory) open.emplace_back("memory");
  if (form == Form::kUnstated) open.emplace_back("form factor");
  keep_if_any(candidates, [](const Accelerator* a) { return form_of(*a) == Form::kModule; });
  const Accelerator* taken = candidates.front();
  if (open.empty()) open.emplace_back("variant");
  return {taken, fmt::format("{} not in the source: taken as {}", join(open, " and "), taken->id)};
}

}  // namespace tare
