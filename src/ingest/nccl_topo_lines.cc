#include "ingest/nccl_topo_lines.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/nccl_comms.h"
#include "ingest/nccl_line.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostNodes = 20'000;
constexpr std::size_t kMostKinds = 512;

constexpr std::array<std::string_view, 8> kTypes = {"GPU", "PCI", "NVS", "CPU", "NIC", "NET", "GIN", "C2C"};

// "GPU/E000" -> type and id; false for other words.
bool node_in(std::string_view word, std::string_view& type, std::string_view& id) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos || slash + 1 >= word.size() || word.size() > 80) return false;
  type = word.substr(0, slash);
  id = word.substr(slash + 1);
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

}  // namespace

// "=== System : maxBw 48.0 totalBw 240.0 ===", older "maxWidth 21.0 totalWidth 132.0".
bool NcclTopoLines::take_system(std::string_view message, std::int64_t line) {
  if (!message.starts_with("=== System")) return false;
  ++systems_;
  open_.clear();
  if (system_line_ > 0) return true;
  system_line_ = line;
  max_bw_ = nccl_value(message, contains(message, "maxWidth") ? "maxWidth" : "maxBw");
  total_bw_ = nccl_value(message, contains(message, "totalWidth") ? "totalWidth" : "totalBw");
  return true;
}

// "+ PCI[12.0] - GPU/E000 (0)", "CPU/0 (1/2/-1)".
bool NcclTopoLines::take_node(std::string_view message, std::int64_t line) {
  std::size_t depth = message.find_first_not_of(" \t*");
  if (depth == std::string_view::npos) return false;
  std::string_view text = message.substr(depth);
  while (text.ends_with('*') || text.ends_with(' ')) text.remove_suffix(1);
  Link link;
  if (text.starts_with("+ ")) {
    const std::size_t open = text.find('['), close = text.find(']'), dash = text.find(" - ");
    if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
        dash == std::string_view::npos || dash < close || open > 12) {
      return false;
    }
    link.type = trim(text.substr(2, open - 2));
    link.bandwidth = text.substr(open + 1, std::min<std::size_t>(close - open - 1, 24));
    text = trim(text.substr(dash + 3));
  } else if (!text.starts_with("CPU/")) {
    return false;
  } else {
    depth = 0;
    open_.clear();
  }
  std::string_view type, id;
  const std::string_view word = text.substr(0, text.find(' '));
  if (!node_in(word, type, id) || contains(text, " :")) return false;
  if (first_line_ == 0) first_line_ = line;
  if (!link.type.empty() && (links_.size() < kMostKinds || links_.contains(link))) ++links_[link];
  const auto found = nodes_.find(type);
  std::set<std::string>& ids = found != nodes_.end() ? found->second : nodes_[std::string(type)];
  if (ids.size() < kMostNodes) ids.emplace(id);
  // What hangs directly on the CPU is indented like it, with its plus.
  const std::size_t level = link.type.empty() ? 0 : depth + 1;
  while (!open_.empty() && open_.back().first >= level) open_.pop_back();
  std::string parent = open_.empty() ? std::string() : open_.back().second;
  if (open_.size() < 64) open_.emplace_back(level, std::string(word));
  if (!tree_.wants_next()) return true;
  FactRecord row(line);
  row.set("node", word);
  row.set("type", type);
  if (!link.type.empty()) {
    row.set("link", link.type);
    row.set_parsed("bw_gb_per_s", link.bandwidth);
  }
  if (!parent.empty()) row.set("parent", parent);
  if (const std::optional<std::string_view> more = between(text, "(", ")")) row.set("detail", *more);
  tree_.add(std::move(row));
  return true;
}

// "GPU/1000 :GPU/1000 (0/5000.0/LOC) GPU/2000 (1/20.0/NVL) CPU/0 (2/12.0/PHB)".
bool NcclTopoLines::take_paths(std::string_view message, std::int64_t line) {
  const std::size_t colon = message.find(" :");
  if (colon > 60) return false;
  std::string_view type, id;
  const std::string_view from = trim(message.substr(0, colon));
  if (!node_in(from, type, id)) return false;
  std::string_view left = message.substr(colon + 2);
  while (!left.empty()) {
    const std::size_t open = left.find('('), close = left.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
    const std::vector<std::string_view> parts = split(left.substr(open + 1, close - open - 1), '/');
    if (parts.size() == 3 && parts[2].size() <= 8) {
      if (paths_line_ == 0) paths_line_ = line;
      const auto found = path_types_.find(parts[2]);
      if (found != path_types_.end()) {
        ++found->second;
      } else if (path_types_.size() < 64) {
        path_types_.emplace(parts[2], 1);
      }
      if (paths_.wants_next()) {
        FactRecord row(line);
        row.set("from", from);
        row.set("to", trim(left.substr(0, open)));
        row.set_parsed("hops", parts[0]);
        row.set_parsed("bw_gb_per_s", parts[1]);
        row.set("type", parts[2]);
        paths_.add(std::move(row));
      }
    }
    left.remove_prefix(close + 1);
  }
  return true;
}

bool NcclTopoLines::take(std::string_view message, std::string_view host, std::int64_t line) {
  const std::string_view text = trim(message);
  if (text.empty()) return false;
  const bool mine = text.front() == '+' || text.front() == '=' || text.front() == '*' || text.starts_with("CPU/") ||
                    (contains(text, " :") && contains(text, "/"));
  if (!mine) return false;
  if (text.starts_with("=====")) return true;
  // Every rank prints its machine: the first host's stands for it.
  if (first_line_ > 0 && host != first_host_) return true;
  const bool taken = take_system(text, line) || take_node(message, line) || take_paths(text, line);
  if (taken && first_host_.empty()) first_host_ = host;
  return taken;
}

void NcclTopoLines::finish(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (first_line_ == 0 && paths_line_ == 0 && system_line_ == 0) return;
  if (system_line_ > 0) {
    facts.set_parsed("system_max_bw_gb_per_s", max_bw_, system_line_);
    facts.set_parsed("system_total_bw_gb_per_s", total_bw_, system_line_);
  }
  if (!first_host_.empty()) facts.set("topology_host", first_host_, first_line_);
  for (const auto& [link, count] : links_) {
    FactRecord& record = facts.append("topology_links", first_line_);
    record.set("type", link.type);
    record.set_parsed("bw_gb_per_s", link.bandwidth);
    record.set("count", count);
  }
  if (!nodes_.empty()) {
    FactRecord& record = facts.record("topology_nodes", first_line_);
    for (const auto& [type, ids] : nodes_)
      record.add(type, Fact::of(static_cast<std::int64_t>(ids.size()), first_line_));
  }
  tree_.give(facts, "topology", reading);
  if (!path_types_.empty()) {
    FactRecord& record = facts.record("path_types", paths_line_);
    for (const auto& [type, count] : path_types_) record.add(type, Fact::of(count, paths_line_));
  }
  paths_.give(facts, "paths", reading);
}

}  // namespace tare
