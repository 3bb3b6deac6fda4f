#include "audit/rank_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tare {
namespace {

constexpr std::size_t kMentioned = 3;

// Faults that make a GPU or its node slow or late; those of bills, quotas and queues do not.
bool can_make_late(const Finding& finding) {
  static constexpr std::string_view kFamilies[] = {"health.", "pcie.",    "topology.", "nvlink.",
                                                   "gpu.",    "network.", "storage.",  "telemetry."};
  const std::string_view id = finding.rule_id;
  return finding.severity >= FindingSeverity::kLow &&
         std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view one) { return id.starts_with(one); });
}

// The fault is this GPU's, or names it among others.
bool is_about_gpu(const Finding& finding, const std::string& gpu) {
  if (gpu.empty()) return false;
  if (finding.subject.name == gpu) return true;
  const std::size_t at = finding.title.find(gpu);
  const std::size_t end = at + gpu.size();
  return at != std::string::npos &&
         (end == finding.title.size() || finding.title[end] < '0' || finding.title[end] > '9');
}

std::set<std::string> nodes_of(const std::vector<int>& ranks, const std::map<int, RankSeen>& seen) {
  std::set<std::string> nodes;
  for (const int rank : ranks) {
    const auto found = seen.find(rank);
    nodes.insert(found == seen.end() ? std::string() : found->second.node);
  }
  return nodes;
}

std::string list_ranks(const std::vector<int>& ranks) {
  const bool run = ranks.size() > 2 && ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
  if (run) return fmt::format("{} to {}", ranks.front(), ranks.back());
  if (ranks.size() == 2) return fmt::format("{} and {}", ranks[0], ranks[1]);
  std::vector<std::string> names;
  names.reserve(ranks.size());
  for (const int rank : ranks) names.push_back(std::to_string(rank));
  return list_names(names, 8);
}

}  // namespace

std::string name_of_ranks(const std::vector<int>& ranks, const std::map<int, RankSeen>& seen) {
  std::string text = (ranks.size() == 1 ? "rank " : "ranks ") + list_ranks(ranks);
  const std::set<std::string> nodes = nodes_of(ranks, seen);
  const std::string node = nodes.size() == 1 ? *nodes.begin() : std::string();
  const auto one = ranks.size() == 1 ? seen.find(ranks.front()) : seen.end();
  const std::string gpu = one == seen.end() ? std::string() : one->second.gpu;
  if (!gpu.empty() && !node.empty()) return text + fmt::format(" ({} on {})", gpu, node);
  if (!gpu.empty() || !node.empty()) return text + fmt::format(" ({})", gpu.empty() ? node : gpu);
  return text;
}

Subject subject_of_ranks(const std::vector<int>& ranks, const std::map<int, RankSeen>& seen) {
  const std::set<std::string> nodes = nodes_of(ranks, seen);
  const std::string node = nodes.size() == 1 ? *nodes.begin() : std::string();
  if (ranks.size() == 1) return {"rank", fmt::format("rank {}", ranks.front()), node};
  if (!node.empty()) return {"node", node, node};
  return {"job", "ranks " + list_ranks(ranks), ""};
}

void look_for_cause(Finding& finding, const std::vector<int>& ranks, const std::map<int, RankSeen>& seen,
                    std::vector<Finding>& findings) {
  const std::set<std::string> nodes = nodes_of(ranks, seen);
  if (nodes.size() > 1) finding.nodes.assign(nodes.begin(), nodes.end());
  std::erase(finding.nodes, std::string());
  if (nodes.size() != 1 || nodes.begin()->empty()) return;
  const std::string gpu = ranks.size() == 1 ? seen.at(ranks.front()).gpu : std::string();
  Finding* cause = nullptr;
  std::vector<std::string> mentioned;
  for (Finding& other : findings) {
    if (other.subject.node != *nodes.begin() || !can_make_late(other)) continue;
    const bool whole_node = ranks.size() > 1 && (other.subject.kind == "node" || other.subject.kind == "nic");
    const bool hits = is_about_gpu(other, gpu) || whole_node;
    if (hits && other.severity >= FindingSeverity::kMedium && (cause == nullptr || other.severity > cause->severity)) {
      cause = &other;
    } else if (hits || !other.subject.name.starts_with("GPU")) {  // by PCI address it may be this one
      mentioned.push_back(other.title);
    }
  }
  if (cause != nullptr) {
    cause->consequences.push_back(finding.rule_id);
    finding.cause += " Its cause is likely: " + cause->title + ".";
    // What was measured on the job says more than what a fault of that kind takes as a rule.
    if (finding.loss && (!cause->loss || cause->loss->value < finding.loss->value)) {
      cause->loss = finding.loss;
      cause->loss_unknown.clear();
    }
  } else if (!mentioned.empty()) {
    finding.cause += " On the same node: " + list_names(mentioned, kMentioned) + ".";
  }
}

std::span<const Rule> rank_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto part : {rank_timing_rules, rank_hang_rules}) {
      const std::span<const Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

}  // namespace tare
