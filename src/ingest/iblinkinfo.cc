#include "ingest/iblinkinfo.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "ingest/kept_rows.h"
#include "ingest/scan.h"

namespace tare {
namespace {

// "0xb8cef603 …  12    3[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>  45   9[  ] "sw1" ( )".
struct LinkLine {
  std::string_view left, inside, right;
};

bool parts_of(std::string_view text, LinkLine& parts) {
  const std::size_t open = text.find("==(");
  const std::size_t close = open == std::string_view::npos ? open : text.find(")==>", open);
  if (close == std::string_view::npos) return false;
  parts = {text.substr(0, open), text.substr(open + 3, close - open - 3), text.substr(close + 4)};
  return true;
}

// "12    3[  ]": LID and port before the bracket.
void put_end(FactRecord& link, std::string_view text, std::string_view lid_name, std::string_view port_name) {
  const std::size_t bracket = text.find('[');
  const std::vector<std::string_view> words = words_in(text.substr(0, bracket));
  if (words.empty()) return;
  if (to_integer(words.back())) link.set_parsed(port_name, words.back());
  if (words.size() > 1 && to_integer(words[words.size() - 2])) link.set_parsed(lid_name, words[words.size() - 2]);
}

FactRecord link_of(const LinkLine& parts, std::string_view node, std::int64_t line) {
  FactRecord link(line);
  // With -l every line names its node.
  const std::optional<std::string_view> own = between(parts.left, "\"", "\"");
  if (own || !node.empty()) link.set("node", own ? *own : node);
  put_end(link, own ? parts.left.substr(parts.left.rfind('"') + 1) : parts.left, "lid", "port");
  const std::vector<std::string_view> words = words_in(parts.inside);
  const std::size_t slash = parts.inside.find('/');
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].ends_with('X') && to_integer(words[i].substr(0, words[i].size() - 1))) link.set("width", words[i]);
    if (i + 1 < words.size() && words[i + 1] == "Gbps") link.set_parsed("lane_gbit_per_s", words[i]);
  }
  if (slash != std::string_view::npos) {
    const std::vector<std::string_view> before = words_in(parts.inside.substr(0, slash));
    if (!before.empty()) link.set("state", before.back());
    link.set("physical_state", trim(parts.inside.substr(slash + 1)));
  }
  put_end(link, parts.right.substr(0, parts.right.find('"')), "peer_lid", "peer_port");
  if (const std::optional<std::string_view> peer = between(parts.right, "\"", "\""); peer && !peer->empty()) {
    link.set("peer", *peer);
  }
  const std::size_t remark = parts.right.rfind('(');
  if (remark != std::string_view::npos) {
    const std::string_view text = trim(parts.right.substr(remark + 1, parts.right.find(')', remark) - remark - 1));
    if (!text.empty()) link.set("remark", text);  // "Could be 4X"
  }
  return link;
}

class IblinkinfoReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text.substr(0, 4096);
    LinkLine parts;
    if (parts_of(text, parts)) {
      take_link(link_of(parts, node_, line.number));
      return true;
    }
    const std::string_view start = trim(text);
    if (take_node(start) || take_errors(start, line.number)) return true;
    if (contains(text, "==(")) {
      reading.cannot_use(line.number, text, "the link is cut off");
      return true;
    }
    return start.starts_with("##");
  }

  void finish(Reading& reading) override {
    FactRecord& facts = reading.facts;
    if (links_.seen() > 0) {
      facts.set("link_count", links_.seen());
      facts.set("links_could_be_more", could_be_more_);
      const auto put = [&facts](std::string_view name, const std::map<std::string, std::int64_t>& counts) {
        if (counts.empty()) return;
        FactRecord& record = facts.record(name);
        for (const auto& [text, count] : counts) record.add(text, Fact::of(count));
      };
      put("states", states_);
      put("physical_states", physical_);
      put("speeds", speeds_);
      facts.set("node_count", nodes_);
      links_.give(facts, "links", reading);
    }
    if (errors_.seen() > 0) {
      facts.set("ports_with_errors", errors_.seen());
      FactRecord& sums = facts.record("error_sums");
      for (const auto& [name, sum] : sums_) sums.add(name, Fact::of(sum));
      errors_.give(facts, "port_errors", reading);
    }
  }

 private:
  static void count(std::map<std::string, std::int64_t>& counts, std::string text) {
    if (counts.size() < 256 || counts.contains(text)) ++counts[std::move(text)];
  }

  void take_link(FactRecord link) {
    if (!link.text("state").empty()) count(states_, std::string(link.text("state")));
    if (!link.text("physical_state").empty()) count(physical_, std::string(link.text("physical_state")));
    if (const Fact* const lane = link.find("lane_gbit_per_s"); lane != nullptr && lane->number()) {
      std::string speed(link.text("width"));
      speed += ' ';
      for (const char c : std::to_string(*lane->number()).substr(0, 6)) speed += c;
      count(speeds_, std::move(speed));
    }
    could_be_more_ += contains(link.text("remark"), "Could be") ? 1 : 0;
    if (links_.wants_next()) links_.add(std::move(link));
  }

  // "CA: node1 mlx5_0:", "Switch: 0xb8… MF0;sw1:MQM9700/U1:".
  bool take_node(std::string_view text) {
    for (const std::string_view kind : {"CA: ", "Switch: ", "Router: ", "Switch 0x"}) {
      if (!text.starts_with(kind) || !text.ends_with(':') || text.size() > 300) continue;
      node_ = trim(text.substr(kind.size(), text.size() - kind.size() - 1));
      ++nodes_;
      return true;
    }
    if (text.starts_with("Errors for ")) {
      node_ = between(text, "\"", "\"").value_or(trim(text.substr(11)).substr(0, 200));
      return true;
    }
    return false;
  }

  // "GUID 0x… port 12: [SymbolErrorCounter == 3] [LinkDownedCounter == 1]".
  bool take_errors(std::string_view text, std::int64_t line) {
    if (!contains(text, " port ") || !contains(text, " == ") || !contains(text, "[")) return false;
    FactRecord row(line);
    if (!node_.empty()) row.set("node", node_);
    if (const std::optional<std::string_view> guid = between(text, "GUID ", " ")) row.set("guid", *guid);
    const std::string_view port = *after(text, " port ");
    row.set_parsed("port", port.substr(0, port.find_first_of(": ")));
    std::string_view left = text;
    for (int i = 0; i < 64; ++i) {
      const std::size_t open = left.find('['), close = left.find(']');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
      const std::string_view counter = left.substr(open + 1, close - open - 1);
      const std::size_t equals = counter.find(" == ");
      if (equals != std::string_view::npos) {
        const std::string_view name = trim(counter.substr(0, equals));
        std::string_view value = trim(counter.substr(equals + 4));
        value = value.substr(0, value.find(' '));
        row.set_parsed(name.substr(0, 60), value);
        const std::optional<double> number = to_number(value);
        if (number && (sums_.size() < 128 || sums_.contains(std::string(name)))) sums_[std::string(name)] += *number;
      }
      left.remove_prefix(close + 1);
    }
    if (errors_.wants_next()) errors_.add(std::move(row));
    return true;
  }

  std::string node_;
  std::int64_t nodes_ = 0, could_be_more_ = 0;
  std::map<std::string, std::int64_t> states_, physical_, speeds_;
  std::map<std::string, double> sums_;
  KeptRows links_{4000}, errors_{2000};
};

}  // namespace

int recognise_iblinkinfo(const Head& head) {
  const bool links = contains(head.text, "==(") && contains(head.text, ")==>");
  const bool errors =
      contains(head.text, "Errors for ") && contains(head.text, " == ") && contains(head.text, "GUID 0x");
  return links || errors ? confidence::kSure : confidence::kNone;
}

std::unique_ptr<LineReader> open_iblinkinfo() { return std::make_unique<IblinkinfoReader>(); }

}  // namespace tare
