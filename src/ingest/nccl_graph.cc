#include "ingest/nccl_graph.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/nccl_comms.h"
#include "ingest/nccl_line.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostNumbers = 100'000;  // ranks of rings and heads, all together
constexpr std::size_t kMostKinds = 256;

// Ranks of "    0   1   2 …" into a list; stops at the first word that is none.
std::vector<Fact> ranks_in(std::string_view text, std::int64_t line, int& highest) {
  std::vector<Fact> ranks;
  for (const std::string_view word : words_in(text)) {
    const std::optional<std::int64_t> rank = to_integer(word);
    if (!rank || *rank < 0 || *rank > 100'000'000) break;
    highest = std::max(highest, static_cast<int>(*rank));
    ranks.push_back(Fact::of(*rank, line));
  }
  return ranks;
}

}  // namespace

// "Channel 00/16 :    0   1   2 …", older "Ring 00 :    0   1   2".
bool NcclGraph::take_ring(std::string_view message, std::int64_t line) {
  if ((!message.starts_with("Channel ") && !message.starts_with("Ring ")) || contains(message, "->")) return false;
  const std::size_t colon = message.find(':');
  if (colon > 40) return false;
  const std::string_view name = trim(message.substr(message.find(' '), colon - message.find(' ')));
  const int channel = leading_number(name);
  if (channel < 0) return false;
  const std::size_t slash = name.find('/');
  const int of = slash == std::string_view::npos ? -1 : leading_number(name.substr(slash + 1));
  std::vector<Fact> ranks = ranks_in(message.substr(colon + 1), line, highest_rank_);
  if (ranks.empty()) return false;
  if (rings_.size() >= kMostKinds || numbers_ + ranks.size() > kMostNumbers || rings_.contains({channel, of}))
    return true;
  numbers_ += ranks.size();
  FactRecord ring(line);
  ring.set("channel", channel);
  if (of >= 0) ring.set("of", of);
  ring.set("ranks", Fact::of(std::move(ranks), line));
  rings_.emplace(std::pair(channel, of), Fact::of(std::move(ring)));
  return true;
}

// "Trees [0] 1/8/-1->0->-1 [1] …": children -> rank -> parent. Before 2.8 "[0] 1->0->2/-1/-1".
bool NcclGraph::take_trees(std::string_view message, std::int64_t line) {
  if (!message.starts_with("Trees [") && !message.starts_with("Tree ")) return false;
  const std::vector<std::string_view> words = words_in(message);
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with('[') || !words[i].ends_with(']')) continue;
    const int channel = leading_number(words[i].substr(1));
    if (channel < 0 || channel > 4096) continue;
    const std::string_view tree = words[i + 1];
    const std::size_t first = tree.find("->");
    const std::size_t second = first == std::string_view::npos ? first : tree.find("->", first + 2);
    if (second == std::string_view::npos) continue;
    tree_channels_ = std::max(tree_channels_, channel + 1);
    std::vector<Fact> children;
    const std::string_view left = tree.substr(0, first), right = tree.substr(second + 2);
    const bool new_order = contains(left, "/") || !contains(right, "/");
    for (const std::string_view child : split(new_order ? left : right, '/')) {
      if (const int rank = leading_number(child); rank >= 0) {
        children.push_back(Fact::of(static_cast<std::int64_t>(rank), line));
        highest_rank_ = std::max(highest_rank_, rank);
      }
    }
    const int rank = leading_number(tree.substr(first + 2, second - first - 2));
    const int parent = leading_number(new_order ? right : left);
    highest_rank_ = std::max({highest_rank_, rank, parent});
    if (!trees_.wants_next()) continue;
    FactRecord row(line);
    row.set("channel", channel);
    row.set("rank", rank);
    row.set("children", Fact::of(std::move(children), line));
    if (parent >= 0) {
      row.set("parent", parent);
    } else {
      row.set_unknown("parent");  // -1: the root
    }
    trees_.add(std::move(row));
  }
  return true;
}

// "NVLS Head  0:  0  8 16 24"; "NVLS multicast support is available on dev 0".
bool NcclGraph::take_head(std::string_view message, std::int64_t line) {
  if (!message.starts_with("NVLS")) return false;
  if (contains(message, "multicast support")) {
    ++(contains(message, "not available") || contains(message, "unavailable") ? nvls_no_ : nvls_yes_);
    if (nvls_line_ == 0) nvls_line_ = line;
    return true;
  }
  if (!message.starts_with("NVLS Head ")) return true;
  const int head = leading_number(message.substr(10));
  const std::size_t colon = message.find(':');
  if (head < 0 || colon == std::string_view::npos) return true;
  std::vector<Fact> ranks = ranks_in(message.substr(colon + 1), line, highest_rank_);
  if (heads_.size() >= kMostKinds || heads_.contains(head) || numbers_ + ranks.size() > kMostNumbers) return true;
  numbers_ += ranks.size();
  FactRecord record(line);
  record.set("head", head);
  record.set("ranks", Fact::of(std::move(ranks), line));
  heads_.emplace(head, Fact::of(std::move(record)));
  return true;
}

// "16 coll channels, 16 nvls channels, 16 p2p channels, 2 p2p channels per peer".
bool NcclGraph::take_counts(std::string_view message, std::int64_t line) {
  if (!contains(message, " coll channels")) return false;
  if (channels_.size() >= kMostKinds && !channels_.contains(message)) return true;
  Kept& kept = channels_[std::string(message.substr(0, 200))];
  if (kept.count++ > 0) return true;
  FactRecord record(line);
  for (const std::string_view part : split(message, ',')) {
    const std::optional<Measure> measure = to_measure(part);
    if (measure && !measure->unit.empty() && measure->unit.size() < 40) {
      std::string name = to_lower(measure->unit);
      std::replace(name.begin(), name.end(), ' ', '_');
      record.set_parsed(name, trim(part).substr(0, trim(part).find(' ')));
    }
  }
  kept.fact = Fact::of(std::move(record));
  return true;
}

// "Pattern 4, crossNic 0, nChannels 16, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1".
bool NcclGraph::take_pattern(std::string_view message, std::int64_t line) {
  if (!message.starts_with("Pattern ")) return false;
  if (patterns_.size() >= kMostKinds && !patterns_.contains(message)) return true;
  Kept& kept = patterns_[std::string(message.substr(0, 200))];
  if (kept.count++ > 0) return true;
  FactRecord record(line);
  record.set_parsed("pattern", std::string(message.substr(8, message.find(',') - 8)));
  // By number in all versions: ncclTopoPattern.
  static constexpr std::array<std::string_view, 6> kNames = {"", "balanced_tree", "split_tree", "tree", "ring", "nvls"};
  const int pattern = leading_number(message.substr(8));
  if (pattern > 0 && pattern < static_cast<int>(kNames.size())) {
    record.set("pattern_name", kNames[static_cast<std::size_t>(pattern)]);
  }
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"crossNic", "cross_nic"},
                                 {"nChannels", "channels"},
                                 {"sameChannels", "same_channels"}}) {
    if (const std::string_view value = nccl_value(message, from); !value.empty()) record.set_parsed(to, value);
  }
  std::string_view bw = nccl_value(message, "bw");
  if (bw.empty()) bw = nccl_value(message, "speed");
  if (!bw.empty()) {
    record.set_parsed("bw_intra_gb_per_s", bw.substr(0, bw.find('/')));
    if (contains(bw, "/")) record.set_parsed("bw_inter_gb_per_s", bw.substr(bw.find('/') + 1));
  }
  if (const std::string_view type = nccl_value(message, "type"); !type.empty()) {
    record.set("type_intra", type.substr(0, type.find('/')));
    if (contains(type, "/")) record.set("type_inter", type.substr(type.find('/') + 1));
  }
  kept.fact = Fact::of(std::move(record));
  return true;
}

// "Connected all rings, use ring PXN 0 GDR 1", "Connected NVLS tree".
bool NcclGraph::take_connected(std::string_view message, std::int64_t line) {
  if (!message.starts_with("Connected ")) return false;
  const std::string_view what = message.substr(10, std::min<std::size_t>(message.find_first_of(",(") - 10, 40));
  if (connected_.size() < kMostKinds || connected_.contains(what)) {
    const auto found = connected_.find(what);
    ++(found != connected_.end() ? found->second : connected_[std::string(what)]);
  }
  if (connected_line_ == 0) connected_line_ = line;
  return true;
}

bool NcclGraph::take(std::string_view message, std::int64_t line) {
  if (message.empty()) return false;
  switch (message.front()) {
    case 'C':
      return take_ring(message, line) || take_connected(message, line);
    case 'R':
      return take_ring(message, line);
    case 'T':
      return take_trees(message, line);
    case 'N':
      return take_head(message, line);
    case 'P':
      return take_pattern(message, line);
    default:
      return message.front() >= '0' && message.front() <= '9' && take_counts(message, line);
  }
}

void NcclGraph::finish(Reading& reading) {
  FactRecord& facts = reading.facts;
  const auto put = [&facts](std::string_view name, std::map<std::string, Kept, std::less<>>& kept) {
    std::vector<const Kept*> order;
    order.reserve(kept.size());
    for (const auto& [text, one] : kept) order.push_back(&one);
    std::sort(order.begin(), order.end(), [](const Kept* a, const Kept* b) { return a->fact.line < b->fact.line; });
    for (const Kept* const one : order) {
      Fact fact = one->fact;
      std::get<FactRecord>(fact.value).set("count", one->count);
      facts.list(name).push_back(std::move(fact));
    }
  };
  put("channel_counts", channels_);
  put("graphs", patterns_);
  if (!rings_.empty()) {
    const Fact& first = rings_.begin()->second;
    const std::optional<std::int64_t> of = first.as_record()->integer("of");
    facts.set("ring_count", of.value_or(static_cast<std::int64_t>(rings_.size())), first.line);
    std::vector<Fact>& list = facts.list("rings", first.line);
    for (auto& [key, ring] : rings_) list.push_back(std::move(ring));
  }
  if (tree_channels_ > 0) facts.set("tree_channels", tree_channels_);
  trees_.give(facts, "trees", reading);
  if (nvls_yes_ + nvls_no_ > 0) {
    facts.set("nvls_available", nvls_yes_ > 0 && nvls_no_ == 0, nvls_line_);
    if (nvls_yes_ > 0 && nvls_no_ > 0) facts.set("nvls_unavailable_lines", nvls_no_, nvls_line_);
  }
  if (!heads_.empty()) {
    const std::int64_t line = heads_.begin()->second.line;
    facts.set("nvls_head_count", static_cast<std::int64_t>(heads_.size()), line);
    std::vector<Fact>& list = facts.list("nvls_heads", line);
    for (auto& [key, head] : heads_) list.push_back(std::move(head));
  }
  if (!connected_.empty()) {
    FactRecord& record = facts.record("connected", connected_line_);
    for (const auto& [what, count] : connected_) record.add(what, Fact::of(count, connected_line_));
  }
}

}  // namespace tare
