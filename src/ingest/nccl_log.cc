#include "ingest/nccl_log.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/nccl_comms.h"
#include "ingest/nccl_graph.h"
#include "ingest/nccl_hosts.h"
#include "ingest/nccl_line.h"
#include "ingest/nccl_links.h"
#include "ingest/nccl_messages.h"
#include "ingest/nccl_topo_lines.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} * 1024;

// "#  Rank  0 Group  0 Pid 103631 on   node01 device  0 [0x01] NVIDIA H100 80GB HBM3", which nccl-tests print.
std::string_view gpu_of_rank(std::string_view text) {
  const std::size_t device = text.find(" device ");
  if (device == std::string_view::npos || !contains(text.substr(0, device), "Rank ")) return {};
  const std::size_t close = text.find(']', device);
  if (close == std::string_view::npos) return {};
  return trim(text.substr(close + 1)).substr(0, 80);
}

class NcclLogReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading& reading) override {
    const std::string_view text = line.text.substr(0, kLongestLine);
    const std::optional<NcclLine> nccl = parse_nccl_line(text);
    if (!nccl) return take_other(text, line.number);
    ++lines_;
    if (first_line_ == 0) first_line_ = line.number;
    hosts_.see(*nccl, line.number);
    highest_prefix_ = std::max(highest_prefix_, nccl->rank);
    if (const std::optional<std::string_view> version = nccl_version_in(nccl->message)) {
      messages_.take_version(*version, line.number);
      return true;
    }
    // A line that the end of the file cuts off is taken as far as it goes; one without a message is of no use.
    if (nccl->message.empty()) {
      reading.cannot_use(line.number, text, "no message");
      return true;
    }
    if (nccl->level != NcclLevel::kWarn &&
        (links_.take(nccl->message, line.number) || graph_.take(nccl->message, line.number) ||
         hosts_.take(*nccl, line.number) || comms_.take(*nccl, line.number) ||
         take_bootstrap(nccl->message, line.number))) {
      return true;
    }
    if (messages_.take(*nccl, line.number)) return true;
    topology_.take(nccl->raw, nccl->host, line.number);
    return true;
  }

  void finish(Reading& reading) override {
    if (lines_ == 0 && versions_ == 0) return;
    FactRecord& facts = reading.facts;
    messages_.finish(reading);
    hosts_.finish(reading);
    comms_.finish(reading);
    add_ranks(facts);
    add_network(reading);
    if (!bootstrap_.empty()) facts.set("bootstrap_interface", bootstrap_, bootstrap_line_);
    if (!gpus_.empty()) {
      FactRecord& record = facts.record("gpus", gpus_line_);
      for (const auto& [name, count] : gpus_) record.add(name, Fact::of(count, gpus_line_));
    }
    if (!shell_.empty()) facts.set("shell_env", Fact::of(std::move(shell_)));
    job_errors_.put_list(facts, "job_errors", "message");
    links_.finish(reading);
    graph_.finish(reading);
    topology_.finish(reading);
    facts.set("nccl_line_count", lines_);
  }

 private:
  bool take_other(std::string_view text, std::int64_t line) {
    if (contains(text, "CCL version")) {
      if (const std::optional<std::string_view> version = nccl_version_in(text)) {
        messages_.take_version(*version, line);
        ++versions_;
        return true;
      }
    }
    const std::string_view gpu = gpu_of_rank(text);
    if (gpu.empty()) return take_job(text, line);
    if (gpus_line_ == 0) gpus_line_ = line;
    if (gpus_.size() < 64 || gpus_.contains(gpu)) ++gpus_[std::string(gpu)];
    ++gpu_ranks_;
    return true;
  }

  // What the job around says of NCCL: its settings in commands, its errors in tracebacks.
  bool take_job(std::string_view text, std::int64_t line) {
    bool taken = false;
    for (std::size_t at = 0; (at = text.find("NCCL_", at)) != std::string_view::npos; at += 5) {
      const std::string_view word = text.substr(at, text.find_first_of(" \t;'\"\\", at) - at);
      const std::size_t equals = word.find('=');
      const bool begins =
          at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\'' || text[at - 1] == '"';
      if (!begins || equals == std::string_view::npos || equals > 60 || word.size() > 400) continue;
      taken = true;
      if (shell_.members().size() < 200) shell_.set(word.substr(0, equals), word.substr(equals + 1), line);
    }
    for (const std::string_view error :
         {"ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclInvalidUsage", "ncclInvalidArgument",
          "ncclRemoteError", "Watchdog caught collective operation timeout", "Last error:"}) {
      if (!contains(text, error)) continue;
      job_errors_.add(text.substr(0, 400), nullptr, line);
      return true;
    }
    return taken;
  }

  // "Bootstrap : Using ib0:10.0.0.1<0>".
  bool take_bootstrap(std::string_view message, std::int64_t line) {
    if (!message.starts_with("Bootstrap")) return false;
    const std::optional<std::string_view> name = after(message, "Using ");
    if (bootstrap_line_ == 0 && name) {
      std::string_view interface = *name;
      if (interface.starts_with("[") && contains(interface, "]")) interface.remove_prefix(interface.find(']') + 1);
      bootstrap_ = trim(interface.substr(0, interface.find(':')));
      bootstrap_line_ = line;
    }
    return true;
  }

  // Ranks as a communicator says, else as rings, links, the list of devices or the launcher's prefix let see.
  void add_ranks(FactRecord& facts) const {
    if (comms_.most_ranks() > 0) {
      facts.set("rank_count", comms_.most_ranks(), comms_.ranks_line());
      facts.set("rank_count_from", "nranks");
      return;
    }
    const int planned = std::max(links_.highest_rank(), graph_.highest_rank());
    if (planned >= 0) {
      facts.set("rank_count", planned + 1);
      facts.set("rank_count_from", "the highest rank in links and rings");
    } else if (gpu_ranks_ > 0) {
      facts.set("rank_count", gpu_ranks_);
      facts.set("rank_count_from", "the list of devices");
    } else if (highest_prefix_ >= 0) {
      facts.set("rank_count", highest_prefix_ + 1);
      facts.set("rank_count_from", "the highest rank before a line");
    }
  }

  // Without a "Using network" the devices say which it is.
  void add_network(Reading& reading) const {
    FactRecord& facts = reading.facts;
    if (messages_.network_known()) return;
    const bool ib = facts.has("nics"), socket = facts.has("socket_interfaces");
    if (ib) {
      facts.set("network", "IB", facts.find("nics")->line);
    } else if (socket) {
      facts.set("network", "Socket", facts.find("socket_interfaces")->line);
    } else if (facts.has("hosts_without_ib_device")) {
      facts.set("network", "Socket");
    } else {
      return;
    }
    facts.set("network_inferred", true);
    reading.note(fmt::format("no line says \"Using network\": {} is taken from the devices that are listed",
                             facts.text("network")));
  }

  NcclMessages messages_;
  NcclHosts hosts_;
  NcclComms comms_;
  NcclLinks links_;
  NcclGraph graph_;
  NcclTopoLines topology_;
  std::map<std::string, std::int64_t, std::less<>> gpus_;
  FactRecord shell_;
  CountedTexts job_errors_;
  std::string bootstrap_;
  std::int64_t bootstrap_line_ = 0, gpus_line_ = 0, gpu_ranks_ = 0, lines_ = 0, versions_ = 0, first_line_ = 0;
  int highest_prefix_ = -1;
};

}  // namespace

int recognise_nccl_log(const Head& head) {
  if (!contains(head.text, "NCCL ")) return confidence::kNone;
  int own = 0, lines = 0, results = 0;
  std::string_view text = head.text;
  while (!text.empty()) {
    const std::string_view line = next_line(text).substr(0, 2000);
    if (trim(line).empty()) continue;
    ++lines;
    own += parse_nccl_line(line) ? 1 : 0;
    results += contains(line, "# Avg bus bandwidth") || contains(line, "# Out of bounds values") ? 1 : 0;
  }
  if (own == 0) return confidence::kNone;
  // A benchmark that was run with NCCL_DEBUG is of its own kind, unless the log is nearly all there is.
  if (results > 0) return own >= 100 && own * 10 >= lines * 8 ? confidence::kSure + 2 : confidence::kPossible + 20;
  if (own * 10 >= lines * 4) return confidence::kSure;
  return own * 10 >= lines ? confidence::kPossible + 20 : confidence::kPossible;
}

std::unique_ptr<LineReader> open_nccl_log() { return std::make_unique<NcclLogReader>(); }

}  // namespace tare
