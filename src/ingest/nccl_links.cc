#include "ingest/nccl_links.h"

#include <algorithm>

#include "base/text.h"
#include "ingest/nccl_line.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct End {
  int rank = -1, device = -1;
  std::string_view bus;  // older versions print the bus address in the brackets
};

// "47[7]", "0[0]", "3[1b000]", "5".
bool take_end(std::string_view text, End& end) {
  text = trim(text);
  end.rank = leading_number(text);
  if (end.rank < 0) return false;
  const std::optional<std::string_view> inside = between(text, "[", "]");
  if (!inside) return true;
  // Five digits and more are an address: a node has no such device.
  if (inside->size() > 3 || !to_integer(*inside)) {
    end.bus = *inside;
  } else {
    end.device = leading_number(*inside);
  }
  return true;
}

}  // namespace

NcclTransport nccl_transport(std::string_view text) {
  NcclTransport transport;
  transport.gdrdma = contains(text, "GDRDMA");
  bool net = false;
  std::size_t part_index = 0;
  for (const std::string_view part : split(text.substr(0, 120), '/')) {
    net = net || part == "NET" || part == "COLLNET" || part == "CollNet";
    const int number = net && part_index >= 1 ? leading_number(part) : -1;
    ++part_index;
    if (number >= 0) {
      transport.nic = number;
      if (const std::optional<std::string_view> proxy = between(part, "(", ")"))
        transport.proxy_rank = leading_number(*proxy);
      continue;
    }
    if (!transport.name.empty()) transport.name += '/';
    transport.name += part;
  }
  return transport;
}

bool NcclLinks::take(std::string_view message, std::int64_t line) {
  const bool channel = message.starts_with("Channel ");
  if (!channel && !message.starts_with("Ring ") && !message.starts_with("Tree ") && !message.starts_with("CollNet ")) {
    return false;
  }
  const std::size_t via = message.find(" via ");
  const std::size_t colon = message.find(':');
  if (via == std::string_view::npos || colon == std::string_view::npos || colon > via) return false;
  std::string_view ends = message.substr(colon + 1, via - colon - 1);
  const std::size_t arrow = ends.find("->");
  if (arrow == std::string_view::npos) return false;
  End from, to;
  std::string_view behind = trim(ends.substr(arrow + 2));
  const bool receive = contains(behind, "[receive]"), send = contains(behind, "[send]");
  if (!take_end(ends.substr(0, arrow), from) || !take_end(behind.substr(0, behind.find(" [")), to)) return false;
  const std::string_view how = trim(message.substr(via + 5));
  const NcclTransport transport = nccl_transport(how.substr(0, how.find(" comm ")));
  const int number = leading_number(message.substr(message.find(' ')));

  if (first_line_ == 0) first_line_ = line;
  highest_rank_ = std::max({highest_rank_, from.rank, to.rank});
  receive_ += receive ? 1 : 0;
  send_ += send ? 1 : 0;
  if (transport.name.starts_with("NET")) {
    ++net_;
    gdrdma_ += transport.gdrdma ? 1 : 0;
  }
  if (transport.nic >= 0 && nics_.size() < 4096) nics_.insert(transport.nic);
  if (number >= 0 && channels_.size() < 4096) channels_.insert(number);
  if (transports_.size() < 256 || transports_.contains(transport.name)) ++transports_[transport.name];
  if (!links_.wants_next()) return true;
  FactRecord link(line);
  if (number >= 0) link.set("channel", number);
  link.set("from_rank", from.rank);
  link.set("to_rank", to.rank);
  if (from.device >= 0) link.set("from_device", from.device);
  if (to.device >= 0) link.set("to_device", to.device);
  if (!from.bus.empty()) link.set("from_bus", from.bus);
  if (!to.bus.empty()) link.set("to_bus", to.bus);
  if (receive || send) link.set("direction", receive ? "receive" : "send");
  link.set("transport", transport.name);
  if (transport.nic >= 0) link.set("nic", transport.nic);
  if (transport.proxy_rank >= 0) link.set("proxy_rank", transport.proxy_rank);
  links_.add(std::move(link));
  return true;
}

void NcclLinks::finish(Reading& reading) {
  if (links_.seen() == 0) return;
  FactRecord& facts = reading.facts;
  facts.set("link_count", links_.seen(), first_line_);
  FactRecord& transports = facts.record("transports", first_line_);
  for (const auto& [name, count] : transports_) transports.add(name, Fact::of(count, first_line_));
  if (net_ > 0) {
    facts.set("net_links", net_, first_line_);
    facts.set("net_links_gdrdma", gdrdma_, first_line_);
    facts.set("gdrdma", gdrdma_ == net_, first_line_);
  }
  if (!nics_.empty()) {
    std::vector<Fact>& list = facts.list("nic_indices", first_line_);
    for (const int nic : nics_) list.push_back(Fact::of(static_cast<std::int64_t>(nic), first_line_));
  }
  facts.set("channels_seen", static_cast<std::int64_t>(channels_.size()), first_line_);
  links_.give(facts, "links", reading);
}

}  // namespace tare
