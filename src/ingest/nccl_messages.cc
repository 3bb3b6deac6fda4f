#include "ingest/nccl_messages.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ingest/nccl_comms.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kMostSettings = 400;
constexpr std::size_t kLongestText = 500;

// Numbers as #, so that a message that names ranks, ports and addresses is one message.
std::string without_numbers(std::string_view text) {
  std::string key;
  bool in_number = false;
  for (const char c : text.substr(0, kLongestText)) {
    const bool digit = c >= '0' && c <= '9';
    const bool hex = in_number && ((c >= 'a' && c <= 'f') || c == 'x');
    if (digit || hex) {
      if (!in_number) key += '#';
      in_number = true;
    } else {
      in_number = false;
      key += c;
    }
  }
  return key;
}

constexpr std::array<std::string_view, 14> kCollectives = {
    "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "Send",      "Recv",
    "AlltoAll",  "AllToAll",  "Gather",        "Scatter",   "Bcast",  "AllToAllv", "SendRecv"};

}  // namespace

void CountedTexts::add(std::string_view text, const NcclLine* from, std::int64_t line) {
  std::string key = exact_ ? std::string(text.substr(0, kLongestText)) : without_numbers(text);
  const auto found = texts_.find(key);
  if (found == texts_.end() && texts_.size() >= kMost) {
    ++left_out_;
    return;
  }
  One& one = found != texts_.end() ? found->second : texts_[std::move(key)];
  if (one.count++ == 0) {
    one.line = line;
    one.text = text.substr(0, kLongestText);
    if (from != nullptr) {
      one.host = from->host.substr(0, 200);
      one.place = from->place.substr(0, 200);
      one.device = from->device;
    }
  }
  if (from != nullptr && !from->host.empty() && one.hosts.size() < 64) one.hosts.emplace(from->host.substr(0, 200));
}

std::vector<const CountedTexts::One*> CountedTexts::in_order() const {
  std::vector<const One*> order;
  for (const auto& [key, one] : texts_) order.push_back(&one);
  std::sort(order.begin(), order.end(), [](const One* a, const One* b) { return a->line < b->line; });
  return order;
}

void CountedTexts::put_counts(FactRecord& facts, std::string_view name) const {
  if (texts_.empty()) return;
  FactRecord& record = facts.record(name, first_line());
  for (const One* const one : in_order()) record.add(one->text, Fact::of(one->count, one->line));
}

void CountedTexts::put_list(FactRecord& facts, std::string_view name, std::string_view text_name) const {
  for (const One* const one : in_order()) {
    FactRecord& record = facts.append(name, one->line);
    record.set(text_name, one->text);
    record.set("count", one->count);
    if (!one->place.empty()) record.set("place", one->place);
    if (!one->host.empty()) record.set("host", one->host);
    if (one->device >= 0) record.set("device", one->device);
    if (one->hosts.size() > 1) record.set("host_count", static_cast<std::int64_t>(one->hosts.size()));
  }
  if (left_out_ > 0) facts.set(std::string(name) + "_left_out", left_out_);
}

std::string_view CountedTexts::first() const { return texts_.empty() ? std::string_view() : in_order().front()->text; }
std::int64_t CountedTexts::first_line() const { return texts_.empty() ? 0 : in_order().front()->line; }

void NcclMessages::take_version(std::string_view version, std::int64_t line) { versions_.add(version, nullptr, line); }

// "NCCL_SOCKET_IFNAME set by environment to ib0", "NCCL_IB_HCA set to mlx5", "NCCL_ALGO set by /etc/nccl.conf to Ring".
bool NcclMessages::take_environment(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  const std::size_t set = message.find(" set ");
  if (set > 80 || !(message.starts_with("NCCL_") || message.starts_with("RCCL_"))) {
    return false;
  }
  const std::size_t to = message.find("to ", set);
  if (to == std::string_view::npos || contains(message.substr(0, set), " ")) return false;
  std::string_view value = trim(message.substr(to + 3));
  while (value.ends_with('.')) value.remove_suffix(1);
  const std::string_view name = message.substr(0, set);
  const auto found = environment_.find(name);
  if (found == environment_.end() && environment_.size() >= kMostSettings) return true;
  Setting& setting = found != environment_.end() ? found->second : environment_[std::string(name)];
  if (setting.line == 0) {
    setting.line = number;
    setting.value = value.substr(0, kLongestText);
  } else if (setting.value != value.substr(0, kLongestText) && setting.others.size() < 16) {
    setting.others.emplace(value.substr(0, kLongestText));
  }
  return true;
}

bool NcclMessages::take_plugin(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  if (const std::optional<std::string_view> network = after(message, "Using network ")) {
    networks_.add(*network, &line, number);
    return true;
  }
  if (message.starts_with("Assigned NET plugin ")) {
    const std::string_view name = message.substr(20);
    networks_.add(name.substr(0, name.find(" to comm")), &line, number);
    return true;
  }
  static constexpr std::array<std::string_view, 16> kStarts = {
      "NET/Plugin",      "Plugin Path",     "P2P plugin",  "TUNER/Plugin",
      "PROFILER/Plugin", "ENV/Plugin",      "COLL/Plugin", "CollNet",
      "NET/OFI",         "NET/FasTrak",     "NET/gIB",     "NET/FastSocket",
      "GIN/Plugin",      "Successfully lo", "Initialized", "Using non-device net plugin"};
  if (!std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view one) { return message.starts_with(one); })) {
    return false;
  }
  plugins_.add(message, &line, number);
  return true;
}

// "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'", "GPU Direct RDMA Disabled for GPU 3 / HCA 1 (distance 7 > 4)".
bool NcclMessages::take_gpu_direct(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  if (contains(message, "DMA-BUF is available")) {
    ++dma_buf_;
    if (dma_buf_line_ == 0) dma_buf_line_ = number;
    return true;
  }
  if (!contains(message, "GPU Direct RDMA") && !contains(message, "GPUDirect RDMA")) return false;
  ++(contains(message, "isabled") ? gdr_disabled_ : gdr_enabled_);
  if (gdr_line_ == 0) gdr_line_ = number;
  return true;
}

// "AllReduce: opCount 2f sendbuff …", "AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}".
bool NcclMessages::take_collective(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  const std::size_t colon = message.find(':');
  if (colon > 20) return false;
  const std::string_view name = message.substr(0, colon);
  if (std::find(kCollectives.begin(), kCollectives.end(), name) == kCollectives.end()) return false;
  const std::size_t algo = message.find("Algo ");
  const auto count = [](auto& map, std::string_view key) {
    const auto found = map.find(key);
    if (found != map.end()) {
      ++found->second;
    } else if (map.size() < 256) {
      map.emplace(key, 1);
    }
  };
  if (algo == std::string_view::npos) {
    count(collectives_, name);
    if (collectives_line_ == 0) collectives_line_ = number;
    return true;
  }
  const std::string_view proto = nccl_value(message.substr(algo), "proto");
  const std::string_view kind = nccl_value(message.substr(algo), "Algo");
  count(algorithms_, std::string(name) + "/" + std::string(kind) + "/" + std::string(proto));
  if (algorithms_line_ == 0) algorithms_line_ = number;
  return true;
}

// "misc/socket.cc:503 -> 3": the way an error took, with its ncclResult.
bool NcclMessages::take_trace(const NcclLine& line, std::int64_t number) {
  const std::size_t arrow = line.message.find(" -> ");
  const std::size_t colon = line.message.find(':');
  if (arrow == std::string_view::npos || colon == std::string_view::npos || colon > arrow || colon == 0) return false;
  const std::string_view file = line.message.substr(0, colon);
  const int code = leading_number(line.message.substr(arrow + 4));
  if (contains(file, " ") || !contains(file, ".") || code < 0 ||
      !to_integer(line.message.substr(colon + 1, arrow - colon - 1))) {
    return false;
  }
  static constexpr std::array<std::string_view, 9> kResults = {
      "ncclSuccess",      "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclInvalidArgument",
      "ncclInvalidUsage", "ncclRemoteError",        "ncclInProgress",  "ncclTimeout"};
  codes_.add(code < static_cast<int>(kResults.size()) ? kResults[static_cast<std::size_t>(code)] : "other", &line,
             number);
  return true;
}

// "NET/IB : Got completion from peer 10.0.0.1<51> with status=12 opcode=0 len=0 vendor err 129 (Recv) … hca mlx5_0",
// newer "status=IBV_WC_RETRY_EXC_ERR(12) … vendor_err=129 req_type=Send".
void NcclMessages::take_completion(const NcclLine& line, std::int64_t number) {
  const std::string_view message = line.message;
  if (!contains(message, "ompletion from peer") || !contains(message, "status=") || !completions_.wants_next()) return;
  FactRecord row(number);
  if (!line.host.empty()) row.set("host", line.host);
  if (line.device >= 0) row.set("device", line.device);
  if (const auto peer = between(message, "from peer ", " ")) row.set("peer", *peer);
  const std::string_view status = between(message, "status=", " ").value_or("");
  const std::size_t open = status.find('(');
  if (open == std::string_view::npos) {
    row.set_parsed("status", status);
  } else {
    row.set("status_name", status.substr(0, open));
    row.set_parsed("status", between(status, "(", ")").value_or(""));
  }
  for (const std::string_view marker : {"vendor err ", "vendor_err="}) {
    if (const auto error = between(message, marker, " ")) row.set_parsed("vendor_error", *error);
  }
  if (const auto hca = after(message, " hca ")) row.set("hca", hca->substr(0, hca->find(' ')));
  completions_.add(std::move(row));
}

bool NcclMessages::take(const NcclLine& line, std::int64_t number) {
  if (line.level == NcclLevel::kWarn) {
    ++warning_count_;
    take_completion(line, number);
    warnings_.add(line.message, &line, number);
    return true;
  }
  if (line.message.starts_with("cudaDriverVersion ")) {
    if (cuda_line_ == 0) {
      cuda_driver_ = leading_number(line.message.substr(18));
      cuda_line_ = number;
    }
    return true;
  }
  return take_environment(line, number) || take_plugin(line, number) || take_gpu_direct(line, number) ||
         take_collective(line, number) || take_trace(line, number);
}

void NcclMessages::finish(Reading& reading) {
  FactRecord& facts = reading.facts;
  if (!versions_.empty()) {
    facts.set("nccl_version", versions_.first(), versions_.first_line());
    FactRecord distinct;
    versions_.put_counts(distinct, "v");
    if (distinct.find_record("v")->members().size() > 1) versions_.put_counts(facts, "nccl_versions");
  }
  if (cuda_driver_ >= 0) facts.set("cuda_driver_version", cuda_driver_, cuda_line_);
  if (!networks_.empty()) {
    facts.set("network", networks_.first(), networks_.first_line());
    networks_.put_counts(facts, "networks");
  }
  plugins_.put_list(facts, "plugins", "message");
  if (!environment_.empty()) {
    FactRecord& record = facts.record("env");
    for (const auto& [name, setting] : environment_) record.add(name, Fact::of(setting.value, setting.line));
    for (const auto& [name, setting] : environment_) {
      if (setting.others.empty()) continue;
      FactRecord& differs = facts.append("env_differs", setting.line);
      differs.set("name", name);
      differs.set("value", setting.value);
      for (const std::string& other : setting.others) differs.list("others").push_back(Fact::of(other, setting.line));
    }
  }
  if (gdr_enabled_ + gdr_disabled_ > 0) {
    facts.set("gpu_direct_rdma_enabled_lines", gdr_enabled_, gdr_line_);
    facts.set("gpu_direct_rdma_disabled_lines", gdr_disabled_, gdr_line_);
  }
  if (dma_buf_ > 0) facts.set("dma_buf_available_lines", dma_buf_, dma_buf_line_);
  const auto put = [&facts](std::string_view name, const std::map<std::string, std::int64_t, std::less<>>& counts,
                            std::int64_t line) {
    if (counts.empty()) return;
    FactRecord& record = facts.record(name, line);
    for (const auto& [text, count] : counts) record.add(text, Fact::of(count, line));
  };
  put("collectives", collectives_, collectives_line_);
  put("algorithms", algorithms_, algorithms_line_);
  facts.set("warning_count", warning_count_);
  warnings_.put_list(facts, "warnings", "message");
  codes_.put_list(facts, "errors", "result");
  if (completions_.seen() > 0) {
    facts.set("completion_error_count", completions_.seen());
    completions_.give(facts, "completion_errors", reading);
  }
}

}  // namespace tare
