#include "ingest/dmesg.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ingest/dmesg_nvidia.h"
#include "ingest/dmesg_system.h"
#include "ingest/line_prefix.h"
#include "ingest/log_line.h"
#include "ingest/scan.h"
#include "ingest/thinned.h"

namespace tare {
namespace {

constexpr std::size_t kEventsKept = 500;
constexpr std::size_t kNamesKept = 4096;

struct Events {
  Thinned<FactRecord> kept{kEventsKept};
};

// How often the same thing was said, and when first and last.
struct Tally {
  FactRecord what;
  std::int64_t count = 0;
  std::int64_t first_line = 0;
  std::int64_t last_line = 0;
  std::string first_time, last_time;
  std::optional<double> first_boot_s, last_boot_s;

  void add(const LogLine& log, std::int64_t line) {
    if (count++ == 0) {
      first_line = line;
      first_time = std::string(log.time);
      first_boot_s = log.boot_s;
    }
    last_line = line;
    last_time = std::string(log.time);
    last_boot_s = log.boot_s;
  }
  FactRecord facts() const {
    FactRecord record = what;
    record.line = first_line;
    record.set("count", count);
    record.set("last_line", last_line);
    if (!first_time.empty()) record.set("first_time", first_time);
    if (!last_time.empty() && count > 1) record.set("last_time", last_time);
    if (first_boot_s) record.set("first_boot_s", *first_boot_s);
    if (last_boot_s && count > 1) record.set("last_boot_s", *last_boot_s);
    return record;
  }
};

void add_when(FactRecord& event, const LogLine& log) {
  if (log.boot_s) event.set("boot_s", *log.boot_s);
  if (!log.time.empty()) event.set("time", log.time);
  if (!log.host.empty()) event.set("host", log.host);
}

// "GPU 0000:c3:00.0: …", "GPU at PCI:0000:c3:00: …", "The NVIDIA GPU 0000:c3:00.0 (PCI ID: …".
void set_gpu(std::string_view text, FactRecord& event) {
  const std::vector<std::string_view> words = words_in(after(text, "GPU ").value_or("").substr(0, 64));
  for (std::string_view word : words) {
    if (word.starts_with("PCI:")) word.remove_prefix(4);
    if (word.ends_with(':')) word.remove_suffix(1);
    if (word.size() < 7 || word.size() > 16 ||
        word.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos)
      continue;
    event.set("pci", word);
    return;
  }
}

// "dmesg-erst-7530486857247752194:", "Panic#1 Part2", "Oops#1 Part1".
std::string_view crash_dump_head(std::string_view text) {
  text = trim(text);
  if (text.starts_with("dmesg-erst-") || text.starts_with("dmesg-efi-") || text.starts_with("dmesg-ramoops-")) {
    return text.starts_with("dmesg-erst-") ? "pstore/ERST dump of a previous crash" : "pstore dump of a previous crash";
  }
  if ((text.starts_with("Panic#") || text.starts_with("Oops#")) && contains(text, " Part")) {
    return "pstore dump of a previous crash";
  }
  return {};
}

class DmesgReader : public LineReader {
 public:
  bool on_line(const Line& line, Reading&) override {
    if (line.text.size() > 16'384) return false;
    const std::string_view text = without_line_tags(line.text);
    if (const std::string_view source = crash_dump_head(text); !source.empty()) {
      if (source_.empty() || contains(source, "ERST")) source_ = std::string(source);
      ++parts_;
      return true;
    }
    const LogLine log = read_log_line(text);
    const bool event = on_message(log, line.number);
    if (!log.stamped && !event) return continues(text);
    ++lines_;
    note_time(log, line.number);
    return true;
  }

  void finish(Reading& reading) override {
    end_aer();
    FactRecord& facts = reading.facts;
    if (lines_ == 0) return;
    add_head(facts);
    add_counts(facts);
    add_tallies(facts, "xid_summary", xids_);
    add_tallies(facts, "previous_xids", causes_);
    add_tallies(facts, "aer_summary", aer_);
    for (auto& [name, list] : events_) {
      if (list.kept.every() > 1) {
        reading.note("'" + name + "' has " + std::to_string(list.kept.seen()) + " entries, of which every " +
                     std::to_string(list.kept.every()) + ". is listed");
      }
      for (FactRecord& event : list.kept.kept()) facts.list(name).push_back(Fact::of(std::move(event)));
    }
    add_gpus(facts);
    note_consequences(reading);
  }

 private:
  using Tallies = std::map<std::string, Tally>;

  void note_time(const LogLine& log, std::int64_t line) {
    if (!log.host.empty() && hosts_.size() < kNamesKept) hosts_.insert(std::string(log.host));
    if (!log.time.empty()) {
      if (first_time_.empty()) first_time_ = std::string(log.time), first_time_line_ = line;
      last_time_ = std::string(log.time), last_time_line_ = line;
    }
    if (log.boot_s) {
      if (!first_boot_s_) first_boot_s_ = log.boot_s;
      if (last_boot_s_ && *log.boot_s + 1 < *last_boot_s_) ++steps_back_;
      last_boot_s_ = log.boot_s;
    }
    if (!log.level.empty() && levels_.size() < 32) ++levels_[std::string(log.level)];
  }

  // Second lines of fabric manager messages.
  bool continues(std::string_view text) const { return fabric_ && trim(text).starts_with("Message payload details"); }

  void keep(std::string_view list, FactRecord event, const LogLine& log) {
    add_when(event, log);
    events_[std::string(list)].kept.add(std::move(event));
  }

  bool on_message(const LogLine& log, std::int64_t line) {
    const std::string_view text = log.message;
    if (on_aer(text, log, line) || on_nvidia(text, log, line)) return true;
    end_aer();
    if (std::optional<KernelEvent> event = read_kernel_event(text, line)) {
      // Words such as "error" in other programs' logs are no kernel events.
      if (!log.kernel && !log.source.empty() && log.source != "kernel") return false;
      keep(event->list, std::move(event->facts), log);
      return true;
    }
    return on_machine(text, line);
  }

  bool on_aer(std::string_view text, const LogLine& log, std::int64_t line) {
    if (std::optional<FactRecord> error = read_aer_error(text, line)) {
      end_aer();
      add_when(*error, log);
      aer_error_ = std::move(error);
      aer_log_ = LogLine();
      aer_log_.boot_s = log.boot_s;
      aer_time_ = std::string(log.time);
      return true;
    }
    if (aer_error_ && add_aer_detail(text, *aer_error_)) return true;
    if (contains(text, "AER: ") && contains(text, "rror") && contains(text, "received")) {
      ++aer_messages_;
      return true;
    }
    return false;
  }
  void end_aer() {
    if (!aer_error_) return;
    std::string error;
    if (const std::vector<Fact>* const errors = aer_error_->find_list("errors"); errors && !errors->empty()) {
      error = std::string(errors->front().text());
    }
    const std::string key =
        std::string(aer_error_->text("pci")) + "|" + std::string(aer_error_->text("severity")) + "|" + error;
    if (aer_.size() < kNamesKept || aer_.contains(key)) {
      Tally& tally = aer_[key];
      if (tally.count == 0) {
        for (const char* const name : {"pci", "severity", "corrected", "fatal", "type"}) {
          if (const Fact* const fact = aer_error_->find(name)) tally.what.set(name, *fact);
        }
        if (!error.empty()) tally.what.set("error", error);
      }
      aer_log_.time = aer_time_;
      tally.add(aer_log_, aer_error_->line);
    }
    events_["aer_errors"].kept.add(std::move(*aer_error_));
    aer_error_.reset();
  }

  bool on_nvidia(std::string_view text, const LogLine& log, std::int64_t line) {
    if (contains(text, "Xid (")) {
      if (std::optional<FactRecord> sxid = read_sxid(text, line)) {
        keep("sxids", std::move(*sxid), log);
        return true;
      }
      if (std::optional<FactRecord> xid = read_xid(text, line)) return on_xid(std::move(*xid), log, line);
    }
    if (std::optional<FactRecord> error = read_fabric_manager_error(text, line)) {
      keep("nvswitch_errors", std::move(*error), log);
      return true;
    }
    if (log.source == "nv-fabricmanager" || contains(log.source, "fabricmanager")) {
      fabric_ = true;
      if (log.level == "ERROR" || log.level == "CRITICAL" || log.level == "WARNING") {
        FactRecord event(line);
        event.set("level", log.level);
        event.set("text", trim(text.substr(0, 400)));
        keep("fabric_manager", std::move(event), log);
      }
      return true;
    }
    if (contains(text, "fallen off the bus")) {
      FactRecord event(line);
      event.set("text", trim(text.substr(0, 400)));
      set_gpu(text, event);
      keep("gpus_off_the_bus", std::move(event), log);
      return true;
    }
    if (text.starts_with("nvidia: probe of ") || contains(text, "nvidia-peermem ")) {
      const bool probe = text.starts_with("nvidia: probe of ");
      if (!contains(text, probe ? "failed" : "ERROR")) return false;
      FactRecord event(line);
      if (probe) event.set("pci", words_in(text.substr(17)).empty() ? "" : words_in(text.substr(17)).front());
      event.set("text", trim(text.substr(0, 400)));
      keep(probe ? "init_failures" : "driver_messages", std::move(event), log);
      return true;
    }
    return contains(text, "NVRM: ") && on_nvrm(trim(text.substr(text.find("NVRM: ") + 6)), log, line);
  }

  bool on_xid(FactRecord xid, const LogLine& log, std::int64_t line) {
    const std::int64_t number = xid.integer("xid").value_or(0);
    const std::string pci(xid.text("pci"));
    const auto count = [&](Tallies& into, std::int64_t code) {
      const std::string key = pci + "|" + std::to_string(code);
      if (into.size() >= kNamesKept && !into.contains(key)) return;
      Tally& tally = into[key];
      if (tally.count == 0) {
        tally.what.set("xid", code);
        tally.what.set("pci", pci);
        if (code == number) {
          for (const char* const name : {"mnemonic", "meaning", "action", "action_in_words", "investigate"}) {
            if (const Fact* const fact = xid.find(name)) tally.what.set(name, *fact);
          }
        }
      }
      if (code == number && tally.count > 0 && tally.what.text("action") != xid.text("action")) {
        add_further_action(tally.what, xid.text("action"));
      }
      tally.add(log, line);
    };
    count(xids_, number);
    if (const auto cause = xid.integer("caused_by_xid")) count(causes_, *cause);
    keep("xids", std::move(xid), log);
    return true;
  }

  // Xid 144 to 150 ask for different things by their registers.
  static void add_further_action(FactRecord& what, std::string_view action) {
    std::vector<Fact>& further = what.list("further_actions");
    const bool known =
        std::any_of(further.begin(), further.end(), [&](const Fact& one) { return one.text() == action; });
    if (!known && further.size() < 16 && !action.empty()) further.push_back(Fact::of(action));
  }

  // Lines of the driver without an Xid.
  bool on_nvrm(std::string_view text, const LogLine& log, std::int64_t line) {
    if (text.starts_with("GPU at PCI:")) {
      const std::optional<std::string_view> pci = between(text, "GPU at PCI:", ": ");
      const std::optional<std::string_view> uuid = after(text, ": ");
      if (pci && gpus_.size() < kNamesKept) {
        last_gpu_ = std::string(*pci);
        FactRecord& gpu = gpus_.try_emplace(last_gpu_, FactRecord(line)).first->second;
        gpu.set("pci", *pci);
        if (uuid && uuid->starts_with("GPU-")) gpu.set("uuid", *uuid);
      }
      return true;
    }
    if (text.starts_with("GPU Board Serial Number:")) {
      if (const auto found = gpus_.find(last_gpu_); found != gpus_.end()) {
        found->second.set("board_serial", trim(text.substr(24)), line);
      }
      return true;
    }
    if (contains(text, "loading NVIDIA UNIX")) {
      const std::vector<std::string_view> words = words_in(after(text, "Kernel Module").value_or(""));
      for (const std::string_view word : words) {
        if (word.find('.') == std::string_view::npos || word[0] < '0' || word[0] > '9') continue;
        machine_.set("driver", word, line);
        break;
      }
      return true;
    }
    // The history that follows a GSP timeout is a table, no event a line.
    if (contains(text, "0x0000000000000000") || contains(text, "entry function") || contains(text, "RPC ")) return true;
    if (contains(text, "RmInitAdapter failed") || contains(text, "rm_init_adapter failed") ||
        contains(text, "assigned to your NVIDIA device is invalid") || contains(text, "None of the NVIDIA")) {
      FactRecord event(line);
      set_gpu(text, event);
      event.set("text", trim(text.substr(0, 400)));
      keep("init_failures", std::move(event), log);
      return true;
    }
    const bool wrong = contains(text, "rror") || contains(text, "fail") || contains(text, "mismatch") ||
                       contains(text, "Fail") || contains(text, "imeout") || contains(text, "assert");
    if (wrong) {
      FactRecord event(line);
      event.set("text", trim(text.substr(0, 400)));
      keep("driver_messages", std::move(event), log);
    }
    return true;
  }

  // Which machine and kernel this is.
  bool on_machine(std::string_view text, std::int64_t line) {
    if (text.starts_with("Linux version ")) {
      machine_.set_once("kernel",
                        Fact::of(words_in(text.substr(14)).empty() ? "" : words_in(text.substr(14))[0], line));
      return true;
    }
    if (text.starts_with("Command line: ")) {
      machine_.set_once("kernel_command_line", Fact::of(text.substr(14, 1000), line));
      return true;
    }
    if (text.starts_with("Hardware name: ")) {
      machine_.set_once("hardware", Fact::of(text.substr(15, 200), line));
      return true;
    }
    if (text.starts_with("DMI: ")) {
      machine_.set_once("hardware", Fact::of(text.substr(5, 200), line));
      return true;
    }
    if (text.starts_with("CPU: ") && contains(text, " Comm: ")) {
      const std::vector<std::string_view> words = words_in(text);
      for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (words[i + 1].starts_with('#')) machine_.set_once("kernel", Fact::of(words[i], line));
      }
      return true;
    }
    return false;
  }

  void add_head(FactRecord& facts) {
    facts.set("log_lines", lines_);
    if (!source_.empty()) {
      facts.set("source", source_);
      facts.set("crash_dump_heads", parts_);
    } else if (fabric_ && first_boot_s_ == std::nullopt) {
      facts.set("source", "fabric manager log");
    }
    for (const auto& [name, value] : machine_.members()) facts.set(name, value);
    if (!first_time_.empty()) {
      facts.set("first_time", first_time_, first_time_line_);
      facts.set("last_time", last_time_, last_time_line_);
      const std::optional<double> first = log_seconds(first_time_);
      const std::optional<double> last = log_seconds(last_time_);
      if (first && last && *last >= *first) facts.set("span_s", *last - *first);
    }
    if (first_boot_s_) {
      facts.set("first_boot_s", *first_boot_s_);
      facts.set("last_boot_s", *last_boot_s_);
      if (steps_back_ > 0) facts.set("times_time_went_back", steps_back_);
    }
    for (const std::string& host : hosts_) facts.list("hosts").push_back(Fact::of(std::string_view(host)));
    if (!levels_.empty()) {
      FactRecord& levels = facts.record("levels");
      for (const auto& [level, count] : levels_) levels.set(level, count);
    }
  }

  void add_counts(FactRecord& facts) {
    FactRecord counts;
    for (const auto& [name, list] : events_) counts.set(name, list.kept.seen());
    if (aer_messages_ > 0) counts.set("aer_messages", aer_messages_);
    facts.set("counts", Fact::of(std::move(counts)));
  }

  static void add_tallies(FactRecord& facts, const char* name, const Tallies& tallies) {
    std::vector<const Tally*> sorted;
    for (const auto& [key, tally] : tallies) sorted.push_back(&tally);
    std::sort(sorted.begin(), sorted.end(),
              [](const Tally* a, const Tally* b) { return a->first_line < b->first_line; });
    for (const Tally* const tally : sorted) facts.list(name).push_back(Fact::of(tally->facts()));
  }

  void add_gpus(FactRecord& facts) {
    for (auto& [pci, gpu] : gpus_) facts.list("gpus").push_back(Fact::of(std::move(gpu)));
  }

  void note_consequences(Reading& reading) {
    if (!source_.empty()) {
      reading.note("parts of a crash dump may stand in the file last part first: go by the times, not by the lines");
    }
    std::string causes;
    for (const auto& [key, tally] : causes_) {
      if (causes.size() > 200) break;
      causes += (causes.empty() ? "" : ", ") + std::to_string(tally.what.integer("xid").value_or(0)) + " on " +
                std::string(tally.what.text("pci"));
    }
    if (!causes.empty()) {
      reading.note("lines name earlier Xids as their cause: " + causes +
                   "; those come first, the lines follow from them");
    }
  }

  std::map<std::string, Events> events_;
  Tallies xids_, causes_, aer_;
  std::map<std::string, FactRecord> gpus_;
  std::string last_gpu_;
  std::optional<FactRecord> aer_error_;
  LogLine aer_log_;
  std::string aer_time_;
  std::int64_t aer_messages_ = 0;
  FactRecord machine_;
  std::string source_;
  std::int64_t parts_ = 0, lines_ = 0, steps_back_ = 0;
  std::set<std::string> hosts_;
  std::map<std::string, std::int64_t> levels_;
  std::string first_time_, last_time_;
  std::int64_t first_time_line_ = 0, last_time_line_ = 0;
  std::optional<double> first_boot_s_, last_boot_s_;
  bool fabric_ = false;
};

}  // namespace

int recognise_dmesg(const Head& head) {
  std::int64_t lines = 0, kernel = 0, sure = 0;
  for (std::string_view text = head.text; !text.empty() && lines < 4000;) {
    const std::string_view line = without_line_tags(next_line(text));
    if (trim(line).empty() || line.size() > 16'384) continue;
    ++lines;
    if ((contains(line, "NVRM: ") && !contains(line, "NVRM version")) || contains(line, "Xid (PCI:") ||
        contains(line, ": segfault at ") || contains(line, "NVSwitch fatal error") ||
        contains(line, "NVSwitch non-fatal error") || contains(line, "PCIe Bus Error: severity=") ||
        !crash_dump_head(line).empty()) {
      ++sure;
      ++kernel;
      continue;
    }
    const LogLine log = read_log_line(line);
    const bool fabric = log.source == "nv-fabricmanager" && contains(line, "[tid ");
    if (log.kernel || fabric) ++kernel;
    if (fabric) ++sure;
    if (!log.kernel && !log.stamped) {
      // A line without a head, as people paste it.
      if (contains(line, "Out of memory: ") || contains(line, "blocked for more than") ||
          contains(line, "available PCIe bandwidth") || contains(line, "Kernel panic - not syncing")) {
        ++sure, ++kernel;
      }
    }
  }
  if (lines == 0 || (kernel == 0 && sure == 0)) return confidence::kNone;
  if (kernel * 2 >= lines) return 94;
  if (kernel * 5 >= lines) return 65;
  return sure > 0 || kernel * 20 >= lines ? 40 : confidence::kNone;
}

std::unique_ptr<LineReader> open_dmesg() { return std::make_unique<DmesgReader>(); }

}  // namespace tare
