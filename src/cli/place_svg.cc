// The drawing of tare place: a row of nodes for each leaf.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/place_view.h"
#include "report/svg_text.h"
#include "report/text_layout.h"

namespace tare {
namespace {

constexpr double kTop = 72, kRow = 26, kNode = 18, kGap = 4, kBottom = 16;
constexpr double kCharacter = 7.2;       // about what one takes in the labels' font
constexpr std::size_t kNodesInRow = 40;  // longer leaves go on in the next row
constexpr std::size_t kStageColors = 6;
constexpr const char* kFree = "#d9dee3";
constexpr const char* kBusy = "#9aa5b1";
constexpr const char* kForbidden = "#5b6570";
constexpr const char* kUnhealthy = "#b03a2e";

struct NodeLook {
  std::string fill = kFree;
  std::string says = "free";
};

std::map<int, NodeLook> looks_of(const JobPlacement* placement, const PlaceRequest& request) {
  std::map<int, NodeLook> looks;
  for (const BusyNode& busy : request.busy) looks[busy.node] = {kBusy, fmt::format("{} GPUs busy", busy.gpus)};
  for (const int node : request.forbidden) looks[node] = {kForbidden, "forbidden"};
  for (const int node : request.unhealthy) looks[node] = {kUnhealthy, "unhealthy"};
  if (placement == nullptr) return looks;
  std::map<int, const RankSeat*> first;
  for (const RankSeat& rank : placement->ranks) {
    first.emplace(placement->seats.node[static_cast<std::size_t>(rank.seat)], &rank);
  }
  for (const auto& [node, rank] : first) {
    looks[node] = {std::string(svg::palette(static_cast<std::size_t>(rank->pp) % kStageColors)),
                   fmt::format("rank {}, stage {}, dp {}", rank->rank, rank->pp, rank->dp)};
  }
  return looks;
}

std::string legend(double left) {
  std::string out;
  double x = left;
  for (const auto& [fill, text] : {std::pair<std::string_view, std::string_view>{svg::palette(0), "the job, by stage"},
                                   {kFree, "free"},
                                   {kBusy, "busy"},
                                   {kForbidden, "forbidden"},
                                   {kUnhealthy, "unhealthy"}}) {
    out += svg::rect(x, kTop - 30, 12, 12, fill, text);
    out += svg::text(x + 18, kTop - 20, text, svg::Anchor::kStart);
    x += 30 + kCharacter * static_cast<double>(text.size());
  }
  return out;
}

}  // namespace

std::string place_svg(const JobPlacement* placement, const Cluster& cluster, const PlaceRequest& request) {
  int widest = 4;
  std::size_t longest = 1, rows = 0;
  for (const Leaf& leaf : cluster.leaves) {
    widest = std::max(widest, display_width(leaf.name));
    longest = std::max(longest, std::min(leaf.nodes.size(), kNodesInRow));
    rows += (leaf.nodes.size() + kNodesInRow - 1) / kNodesInRow;
  }
  const double left = 24 + kCharacter * widest;
  const double width = std::max(left + static_cast<double>(longest) * (kNode + kGap) + 16, left + 520);
  const std::string title = fmt::format("{}: {} GPUs of {}", request.plan.job.name, request.gpus, cluster.name);
  std::string out = svg::open(width, kTop + static_cast<double>(rows) * kRow + kBottom, title);
  out += svg::text(12, 24, title, svg::Anchor::kStart, "title");
  out += legend(left);
  const std::map<int, NodeLook> looks = looks_of(placement, request);
  double y = kTop;
  for (const Leaf& leaf : cluster.leaves) {
    out += svg::text(left - 8, y + kNode - 4, leaf.name, svg::Anchor::kEnd);
    for (std::size_t i = 0; i < leaf.nodes.size(); ++i) {
      if (i > 0 && i % kNodesInRow == 0) y += kRow;
      const auto found = looks.find(leaf.nodes[i]);
      const NodeLook look = found == looks.end() ? NodeLook{} : found->second;
      const std::string& name = cluster.nodes[static_cast<std::size_t>(leaf.nodes[i])].name;
      out += svg::rect(left + static_cast<double>(i % kNodesInRow) * (kNode + kGap), y, kNode, kNode, look.fill,
                       name + ": " + look.says);
    }
    y += kRow;
  }
  return out + svg::close();
}

}  // namespace tare
