#include "ingest/ibdev2netdev.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/fact.h"
#include "ingest/ib_ports.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostPorts = 20'000;

// "mlx5_0 port 1 ==> ib0 (Up)", with -v the bus address, the part and its firmware before "port".
bool read_arrow(std::string_view text, std::int64_t line, FactRecord& port) {
  const std::size_t arrow = text.find("==>");
  const std::size_t word = text.rfind("port ", arrow);
  if (arrow == std::string_view::npos || word == std::string_view::npos) return false;
  const std::vector<std::string_view> left = words_in(text.substr(word + 5, arrow - word - 5));
  const std::vector<std::string_view> right = words_in(text.substr(arrow + 3));
  std::vector<std::string_view> front = words_in(text.substr(0, word));
  if (left.empty() || right.empty() || front.empty() || !to_integer(left[0])) return false;
  port = FactRecord(line);
  // "0000:1a:00.0 mlx5_0 (MT4129 - MCX75310AAS) ConnectX-7 … fw 28.39.1002".
  std::size_t name = front.size() - 1;
  for (std::size_t i = 0; i + 1 < front.size(); ++i) {
    if (std::count(front[i].begin(), front[i].end(), ':') == 2 && contains(front[i], ".")) {
      port.set("pci", front[i]);
      name = i + 1;
    }
  }
  if (name > 0 && !port.has("pci") && front[0].ends_with(':'))
    port.set("source", front[0].substr(0, front[0].size() - 1));
  port.set("device", front[name]);
  port.set_parsed("port", left[0]);
  if (const std::optional<std::string_view> part = between(text.substr(0, word), "(", ")")) port.set("part", *part);
  if (const std::optional<std::string_view> fw = after(text.substr(0, word), " fw ")) port.set("fw", *fw);
  if (left.size() > 1) port.set("port_state", left[1].substr(left[1].starts_with('(') ? 1 : 0, left[1].find(')') - 1));
  port.set("netdev", right[0]);
  if (const std::optional<std::string_view> state = between(text.substr(arrow), "(", ")"))
    port.set("netdev_state", *state);
  if (const std::optional<std::string_view> remark = after(text.substr(arrow), "#")) port.set("remark", *remark);
  return true;
}

// "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0"; older versions begin "0/1: mlx5_0/1:".
bool read_rdma_link(std::string_view text, std::int64_t line, FactRecord& port) {
  const std::vector<std::string_view> words = words_in(text.substr(0, 1000));
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < words.size() && i < 6; ++i) {
    if (words[i] == "link" && contains(words[i + 1], "/")) at = i + 1;
    if (words[i].ends_with(':') && contains(words[i], "/") && words[i + 1].ends_with(':') &&
        contains(words[i + 1], "/")) {
      at = i + 1;
    }
  }
  if (at == 0 || at + 2 >= words.size() || !contains(text, "state")) return false;
  port = FactRecord(line);
  std::string_view name = words[at];
  if (name.ends_with(':')) name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  port.set("device", name.substr(0, slash));
  port.set_parsed("port", name.substr(slash + 1));
  for (std::size_t i = at + 1; i + 1 < words.size(); i += 2) {
    if (words[i] == "state") {
      port.set("port_state", words[i + 1]);
    } else {
      port.set_parsed(key_name(words[i]), words[i + 1]);
    }
  }
  return true;
}

class Ibdev2netdevReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text.substr(0, 4096);
    FactRecord port;
    if (!read_arrow(text, line.number, port)) {
      if (contains(text, "==>") && contains(text, "port ")) {
        reading.cannot_use(line.number, text, "no device, port and interface in it");
        return true;
      }
      if (!read_rdma_link(text, line.number, port)) return contains(text, "ibdev2netdev");
      states_known_ = true;
    }
    if (ports_.size() < kMostPorts) ports_.push_back(Fact::of(std::move(port)));
    return true;
  }

  void finish(Reading& reading) override {
    if (ports_.empty()) return;
    std::int64_t up = 0, down = 0, infiniband = 0, active = 0;
    for (const Fact& one : ports_) {
      const FactRecord& port = *one.as_record();
      up += equals_ignoring_case(port.text("netdev_state"), "up") ? 1 : 0;
      down += equals_ignoring_case(port.text("netdev_state"), "down") ? 1 : 0;
      active += port_state(port.text("port_state")) == "active" ? 1 : 0;
      infiniband += port.text("netdev").starts_with("ib") ? 1 : 0;
    }
    FactRecord& facts = reading.facts;
    facts.set("port_count", static_cast<std::int64_t>(ports_.size()));
    if (up + down > 0) {
      facts.set("netdev_up", up);
      facts.set("netdev_down", down);
      facts.set("ib_netdevs", infiniband);
      facts.set("other_netdevs", static_cast<std::int64_t>(ports_.size()) - infiniband);
    }
    if (states_known_) facts.set("active", active);
    if (down > 0) {
      reading.note(
          "(Down) is the network interface: an InfiniBand port without IPoIB shows it and is well; see ibstat");
    }
    facts.set("ports", Fact::of(std::move(ports_), 1));
  }

 private:
  std::vector<Fact> ports_;
  bool states_known_ = false;
};

}  // namespace

int recognise_ibdev2netdev(const Head& head) {
  if (!contains(head.text, "==>") && !contains(head.text, "physical_state")) return confidence::kNone;
  int own = 0, lines = 0;
  std::string_view text = head.text;
  while (!text.empty() && lines < 5000) {
    const std::string_view line = next_line(text).substr(0, 1000);
    if (trim(line).empty()) continue;
    ++lines;
    FactRecord port;
    own += read_arrow(line, 1, port) || read_rdma_link(line, 1, port) ? 1 : 0;
  }
  if (own == 0) return confidence::kNone;
  return own * 2 >= lines ? confidence::kSure : confidence::kLikely;
}

std::unique_ptr<LineReader> open_ibdev2netdev() { return std::make_unique<Ibdev2netdevReader>(); }

}  // namespace tare
