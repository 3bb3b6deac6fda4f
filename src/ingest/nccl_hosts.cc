#include "ingest/nccl_hosts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostDevices = 256;
constexpr std::size_t kMostPids = 1024;
constexpr std::size_t kMostPidsOfAll = 500'000;
constexpr std::size_t kHostsListed = 512;

// "[0]mlx5_0:1/IB/SHARP [1]…" up to the ";". `[RO]` says that relaxed ordering is on.
std::vector<NcclDevice> devices_in(std::string_view text, bool& relaxed_ordering) {
  std::vector<NcclDevice> found;
  text = text.substr(0, text.find(';'));
  for (const std::string_view word : words_in(text)) {
    if (found.size() >= kMostDevices) break;
    if (word == "[RO]") relaxed_ordering = true;
    const std::size_t close = word.find(']');
    if (!word.starts_with('[') || close == std::string_view::npos) continue;
    NcclDevice device;
    device.index = leading_number(word.substr(1, close - 1));
    if (device.index < 0) continue;
    const std::string_view what = word.substr(close + 1);
    const std::size_t colon = what.find(':');
    device.name = what.substr(0, colon);
    if (device.name.empty()) continue;
    if (colon != std::string_view::npos) {
      const std::vector<std::string_view> parts = split(what.substr(colon + 1), '/');
      device.port = leading_number(parts[0]);
      if (parts.size() > 1) device.layer = parts[1];
      device.sharp = std::find(parts.begin(), parts.end(), "SHARP") != parts.end();
    }
    found.push_back(std::move(device));
  }
  return found;
}

bool same(const std::vector<NcclDevice>& a, const std::vector<NcclDevice>& b) {
  // The shorter may be cut: a paste ends in the middle of a line.
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i].name != b[i].name) return false;
  }
  return true;
}

std::vector<Fact> texts(const std::vector<NcclDevice>& devices, std::int64_t line) {
  std::vector<Fact> list;
  list.reserve(devices.size());
  for (const NcclDevice& device : devices) list.push_back(Fact::of(std::string_view(device.name), line));
  return list;
}

FactRecord record_of(const NcclDevice& device, std::int64_t line) {
  FactRecord record(line);
  record.set("index", device.index);
  record.set("name", device.name);
  if (device.port >= 0) record.set("port", device.port);
  if (!device.layer.empty()) record.set("layer", device.layer);
  if (device.sharp) record.set("sharp", true);
  return record;
}

}  // namespace

NcclHosts::Host* NcclHosts::host_of(const NcclLine& line, std::int64_t number) {
  const auto found = hosts_.find(line.host);
  if (found != hosts_.end()) return &found->second;
  if (hosts_.size() >= kMost || line.host.size() > 256) return nullptr;
  Host& host = hosts_[std::string(line.host)];
  host.line = number;
  return &host;
}

void NcclHosts::see(const NcclLine& line, std::int64_t number) {
  Host* const host = host_of(line, number);
  if (host == nullptr) return;
  if (line.pid >= 0 && host->pids.size() < kMostPids && pids_ < kMostPidsOfAll && host->pids.insert(line.pid).second) {
    ++pids_;
  }
  if (line.device >= 0 && host->devices.size() < 256) host->devices.insert(line.device);
}

bool NcclHosts::take(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  const bool ib = message.starts_with("NET/IB"), socket = message.starts_with("NET/Socket");
  if (!ib && !socket) return false;
  Host* const host = host_of(line, number);
  if (host == nullptr) return true;
  if (ib && contains(message, "No device found")) {
    host->no_ib = true;
    if (host->ib_line == 0) host->ib_line = number;
    return true;
  }
  const std::optional<std::string_view> list = after(message, ": Using ");
  if (!list) return false;
  std::vector<NcclDevice> devices = devices_in(*list, relaxed_ordering_);
  std::vector<NcclDevice>& kept = ib ? host->ib : host->sockets;
  if (!kept.empty() && !same(kept, devices)) host->differs = true;
  if (devices.size() > kept.size()) {
    kept = std::move(devices);
    (ib ? host->ib_line : host->socket_line) = number;
  }
  if (const std::optional<std::string_view> oob = after(*list, "OOB "); ib && oob && host->oob.empty()) {
    host->oob = oob->substr(0, oob->find(':'));
  }
  return true;
}

void NcclHosts::finish(Reading& reading) {
  FactRecord& facts = reading.facts;
  const Host* first_ib = nullptr;
  const Host* first_socket = nullptr;
  std::size_t named = 0, processes = 0, most_devices = 0, no_ib = 0, differing = 0;
  for (const auto& [name, host] : hosts_) {
    named += name.empty() ? 0 : 1;
    processes += host.pids.size();
    most_devices = std::max(most_devices, host.devices.size());
    no_ib += host.no_ib && host.ib.empty() ? 1 : 0;
    if (!host.ib.empty() && (first_ib == nullptr || host.ib_line < first_ib->ib_line)) first_ib = &host;
    if (!host.sockets.empty() && (first_socket == nullptr || host.socket_line < first_socket->socket_line)) {
      first_socket = &host;
    }
  }
  if (named > 0) facts.set("host_count", static_cast<std::int64_t>(named));
  if (processes > 0) facts.set("process_count", static_cast<std::int64_t>(processes));
  if (most_devices > 0) facts.set("devices_per_host", static_cast<std::int64_t>(most_devices));
  if (no_ib > 0) facts.set("hosts_without_ib_device", static_cast<std::int64_t>(no_ib));
  if (first_ib != nullptr) {
    facts.set("nic_count", static_cast<std::int64_t>(first_ib->ib.size()), first_ib->ib_line);
    for (const NcclDevice& device : first_ib->ib) {
      facts.list("nics", first_ib->ib_line).push_back(Fact::of(record_of(device, first_ib->ib_line)));
    }
    facts.set("relaxed_ordering", relaxed_ordering_, first_ib->ib_line);
    if (!first_ib->oob.empty()) facts.set("oob_interface", first_ib->oob, first_ib->ib_line);
    for (const auto& [name, host] : hosts_) differing += !host.ib.empty() && !same(host.ib, first_ib->ib) ? 1 : 0;
    if (differing > 0) {
      facts.set("hosts_with_other_nics", static_cast<std::int64_t>(differing));
      reading.note(fmt::format("{} hosts use other NICs than the first", differing));
    }
  }
  if (first_socket != nullptr) {
    facts.set("socket_interfaces",
              Fact::of(texts(first_socket->sockets, first_socket->socket_line), first_socket->socket_line));
  }
  std::size_t listed = 0;
  for (const auto& [name, host] : hosts_) {
    if (name.empty() || ++listed > kHostsListed) continue;
    FactRecord& record = facts.append("hosts", host.line);
    record.set("name", name);
    record.set("process_count", static_cast<std::int64_t>(host.pids.size()));
    std::vector<Fact> devices;
    for (const int device : host.devices) devices.push_back(Fact::of(static_cast<std::int64_t>(device), host.line));
    record.set("devices", Fact::of(std::move(devices)));
    if (!host.ib.empty()) record.set("nics", Fact::of(texts(host.ib, host.ib_line), host.ib_line));
    if (host.no_ib) record.set("no_ib_device", true, host.ib_line);
    if (!host.sockets.empty()) {
      record.set("socket_interfaces", Fact::of(texts(host.sockets, host.socket_line), host.socket_line));
    }
    if (host.differs) record.set("processes_differ", true);
  }
  if (listed > kHostsListed) reading.note(fmt::format("{} of {} hosts are listed", kHostsListed, listed));
}

}  // namespace tare
