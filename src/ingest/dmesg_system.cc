#include "ingest/dmesg_system.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) { return contains(text, part); });
}

std::string_view cut(std::string_view text) { return trim(text.substr(0, 400)); }

// The first PCI address in a text ("0000:9b:00.0", "9b:00.0"); empty when there is none.
std::string_view pci_address(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
    if (dot < 5 || dot + 1 >= text.size() || !is_hex(text[dot + 1])) continue;
    std::size_t begin = dot;
    while (begin > 0 && dot - begin < 13 && (is_hex(text[begin - 1]) || text[begin - 1] == ':')) --begin;
    const std::string_view address = text.substr(begin, dot - begin + 2);
    if (address.size() >= 7 && address[address.size() - 5] == ':') return address;
  }
  return {};
}

// A number behind a marker: "pid=12", "total-vm:345kB".
std::optional<double> number_behind(std::string_view text, std::string_view marker) {
  const std::optional<std::string_view> behind = after(text, marker);
  const std::optional<Measure> measure = behind ? to_measure(behind->substr(0, 32)) : std::nullopt;
  return measure ? std::optional(measure->value) : std::nullopt;
}
void set_number(FactRecord& into, const char* name, std::optional<double> value) {
  if (value && *value >= 0 && *value < 9e15) into.set(name, static_cast<std::int64_t>(*value));
}

// "name[123]: rest": the process that a trap message begins with.
void set_process(std::string_view text, FactRecord& into) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find("]:");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  const std::optional<std::int64_t> pid = to_integer(text.substr(open + 1, close - open - 1));
  if (!pid) return;
  std::string_view name = text.substr(0, open);
  if (name.starts_with("traps: ")) name.remove_prefix(7);
  into.set("process", trim(name));
  into.set("pid", *pid);
}

// "pt_main_thread[17]: segfault at 7f79 ip 00007f7c sp 00007f7c error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]"
std::optional<KernelEvent> segfault(std::string_view text, std::int64_t line) {
  const bool fault = contains(text, ": segfault at ");
  const bool trap = contains_any(text, {" general protection fault", " general protection ip", "trap invalid opcode",
                                        "trap divide error", "trap int3"}) &&
                    contains(text, "]:");
  if (!fault && !trap) return std::nullopt;
  KernelEvent event{"segfaults", FactRecord(line)};
  set_process(text, event.facts);
  if (!fault) event.facts.set("kind", cut(text.substr(text.find("]:") + 2)).substr(0, 40));
  if (const auto address = between(text, "segfault at ", " ")) event.facts.set("address", *address);
  if (const auto ip = between(text, "ip ", " ")) event.facts.set("ip", *ip);
  set_number(event.facts, "error", number_behind(text, " error "));
  if (const auto library = between(text, " in ", "[")) event.facts.set("library", *library);
  return event;
}

// "Out of memory: Killed process 123 (python3) total-vm:4kB, anon-rss:3kB, …"
std::optional<KernelEvent> oom(std::string_view text, std::int64_t line) {
  if (!contains(text, "ill") || !contains(text, "process ")) return std::nullopt;
  if (!contains_any(text, {"Out of memory", "Memory cgroup out of memory", "Killed process "})) return std::nullopt;
  const std::optional<std::string_view> behind = after(text, "process ");
  if (!behind) return std::nullopt;
  KernelEvent event{"oom_kills", FactRecord(line)};
  event.facts.set("cgroup_limit", contains(text, "emory cgroup"));
  set_number(event.facts, "pid", number_behind(text, "process "));
  if (const auto name = between(*behind, "(", ")")) event.facts.set("process", *name);
  set_number(event.facts, "total_vm_kb", number_behind(text, "total-vm:"));
  set_number(event.facts, "anon_rss_kb", number_behind(text, "anon-rss:"));
  set_number(event.facts, "file_rss_kb", number_behind(text, "file-rss:"));
  set_number(event.facts, "shmem_rss_kb", number_behind(text, "shmem-rss:"));
  return event;
}

// "INFO: task python:1234 blocked for more than 120 seconds.", soft and hard lockups, RCU stalls.
std::optional<KernelEvent> hang(std::string_view text, std::int64_t line) {
  if (contains(text, "blocked for more than ")) {
    KernelEvent event{"hung_tasks", FactRecord(line)};
    const std::string_view task = between(text, "task ", " ").value_or("");
    const std::size_t colon = task.rfind(':');
    event.facts.set("process", task.substr(0, colon));
    if (colon != std::string_view::npos) event.facts.set_parsed("pid", task.substr(colon + 1));
    set_number(event.facts, "blocked_s", number_behind(text, "blocked for more than "));
    return event;
  }
  if (contains_any(text, {"soft lockup", "hard LOCKUP", "self-detected stall", "detected stalls on CPUs"})) {
    KernelEvent event{"lockups", FactRecord(line)};
    set_number(event.facts, "cpu", number_behind(text, "CPU#"));
    set_number(event.facts, "stuck_s", number_behind(text, "stuck for "));
    event.facts.set("text", cut(text));
    return event;
  }
  return std::nullopt;
}

std::optional<KernelEvent> panic(std::string_view text, std::int64_t line) {
  if (contains(text, "Kernel panic - not syncing") || contains(text, "BUG: unable to handle") ||
      contains(text, "BUG: kernel NULL pointer") || text.starts_with("Oops: ") || contains(text, "kernel BUG at ")) {
    KernelEvent event{"panics", FactRecord(line)};
    event.facts.set("panic", contains(text, "Kernel panic"));
    event.facts.set("text", cut(after(text, "not syncing: ").value_or(text)));
    return event;
  }
  return std::nullopt;
}

// EDAC counts ("EDAC MC0: 1 CE memory read error on CPU_SrcID#0…"), machine checks, APEI's "[Hardware Error]".
std::optional<KernelEvent> memory(std::string_view text, std::int64_t line) {
  if (text.starts_with("EDAC ") && (contains(text, " CE ") || contains(text, " UE "))) {
    KernelEvent event{"memory_errors", FactRecord(line)};
    if (const auto controller = between(text, "EDAC ", ":")) event.facts.set("controller", *controller);
    event.facts.set("corrected", contains(text, " CE "));
    set_number(event.facts, "count", number_behind(text, ": "));
    if (const auto where = between(text, " on ", "(")) event.facts.set("where", *where);
    event.facts.set("text", cut(text));
    return event;
  }
  if (contains(text, "[Hardware Error]") || text.starts_with("mce: ") || contains(text, "Machine check")) {
    if (contains_any(text,
                     {"CPU0 attached", "Using ", "banks", "CMCI", "Thermal monitoring", "Thermal LVT", "CPU supports"}))
      return std::nullopt;
    KernelEvent event{"machine_checks", FactRecord(line)};
    set_number(event.facts, "cpu", number_behind(text, "CPU "));
    set_number(event.facts, "bank", number_behind(text, "Bank "));
    event.facts.set("text", cut(text));
    return event;
  }
  return std::nullopt;
}

std::optional<KernelEvent> thermal(std::string_view text, std::int64_t line) {
  if (!contains_any(text, {"temperature above threshold", "clock throttled", "temperature/speed normal",
                           "critical temperature", "Thermal event", "thermal event", "over-temperature", "overheat",
                           "High Temperature", "high temperature"})) {
    return std::nullopt;
  }
  KernelEvent event{"thermal", FactRecord(line)};
  if (const std::string_view pci = pci_address(text); !pci.empty()) event.facts.set("pci", pci);
  event.facts.set("text", cut(text));
  return event;
}

std::optional<KernelEvent> storage(std::string_view text, std::int64_t line) {
  const bool nvme = text.starts_with("nvme ") &&
                    contains_any(text, {"timeout", "reset", "is down", "I/O Error", "failed", "Removing", "Abort"});
  const bool disk = contains_any(text, {"I/O error, dev ", "EXT4-fs error", "XFS", "Buffer I/O error",
                                        "critical medium error", "BTRFS error", "Remounting filesystem read-only"});
  if (!nvme && !disk) return std::nullopt;
  if (contains(text, "XFS") && !contains_any(text, {"error", "orruption", "hutdown", "hutting down"})) {
    return std::nullopt;
  }
  KernelEvent event{"storage_errors", FactRecord(line)};
  if (const auto device = between(text, "dev ", ",")) event.facts.set("device", device->substr(0, device->find(' ')));
  if (nvme) event.facts.set("device", words_in(text).size() > 1 ? words_in(text)[1] : std::string_view());
  event.facts.set("text", cut(text));
  return event;
}

// "63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:1c.0 (capable of 126.024 Gb/s with
// 16.0 GT/s PCIe x8 link)"
void set_link(std::string_view text, const std::string& prefix, FactRecord& into) {
  const std::size_t at = text.find(" GT/s");
  if (at == std::string_view::npos) return;
  const std::size_t begin = text.find_last_of(" (", at - 1);
  const std::optional<double> speed = to_number(text.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                                            at - (begin == std::string_view::npos ? 0 : begin + 1)));
  if (speed) into.set(prefix + "speed_gt_per_s", *speed);
  if (const auto width = after(text.substr(at), " x")) {
    if (const auto lanes = to_measure(width->substr(0, 4)))
      into.set_parsed(prefix + "width", width->substr(0, width->find(' ')));
  }
}
std::optional<KernelEvent> pcie_bandwidth(std::string_view text, std::int64_t line) {
  const std::size_t at = text.find(" Gb/s available PCIe bandwidth");
  if (at == std::string_view::npos) return std::nullopt;
  KernelEvent event{"pcie_bandwidth", FactRecord(line)};
  const std::size_t begin = text.rfind(' ', at == 0 ? 0 : at - 1);
  if (const auto rate = to_number(text.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                              at - (begin == std::string_view::npos ? 0 : begin + 1)))) {
    event.facts.set("available_gbit_per_s", *rate);
  }
  if (const std::string_view pci = pci_address(text.substr(0, at)); !pci.empty()) event.facts.set("pci", pci);
  event.facts.set("driver", text.substr(0, text.find(' ')));
  const std::string_view rest = text.substr(at);
  const std::size_t capable = rest.find("capable of ");
  set_link(rest.substr(0, capable), "", event.facts);
  const std::optional<std::string_view> by = between(rest, " link at ", " ");
  event.facts.set("limited", contains(rest, "limited by"));
  if (by) event.facts.set("limited_by", *by);
  if (capable != std::string_view::npos) {
    if (const auto rate = to_measure(rest.substr(capable + 11))) event.facts.set("capable_gbit_per_s", rate->value);
    set_link(rest.substr(capable), "capable_", event.facts);
  }
  return event;
}

std::optional<KernelEvent> pcie_link(std::string_view text, std::int64_t line) {
  const bool slot = contains_any(text, {"pciehp", "pcieport"}) &&
                    contains_any(text, {"Link Down", "Card not present", "Link Up", "Card present", "link down",
                                        "Link Training", "DPC: "});
  const bool removed = contains_any(
      text, {"device inaccessible", "Surprise removal", "can't change power state", "Unable to change power state"});
  if (!slot && !removed) return std::nullopt;
  KernelEvent event{"pcie_links", FactRecord(line)};
  if (const std::string_view pci = pci_address(text); !pci.empty()) event.facts.set("pci", pci);
  event.facts.set("down", contains_any(text, {"Down", "down", "not present", "removal", "inaccessible"}));
  event.facts.set("text", cut(text));
  return event;
}

// Network cards: what goes wrong with ports, power, firmware, and links that change.
std::optional<KernelEvent> nic(std::string_view text, std::int64_t line) {
  static constexpr std::array<std::string_view, 14> kDrivers = {
      "mlx5_core", "mlx4_core", "mlx5_ib", "mlx4_en", "bnxt_en", "bnxt_re", "ice ",
      "i40e ",     "ixgbe ",    "irdma ",  "ena ",    "efa ",    "hfi1 ",   "ib_"};
  const bool driver =
      std::any_of(kDrivers.begin(), kDrivers.end(), [text](std::string_view name) { return text.starts_with(name); });
  const bool link = contains_any(
      text, {"Link is Down", "Link is Up", "link becomes ready", ": Link down", ": Link up", "NIC Link is"});
  if (!driver && !link) return std::nullopt;
  if (contains(text, "link becomes ready")) return std::nullopt;
  if (driver && !link &&
      !contains_any(text, {"Port module event", "power", "health", "error", "Error", "ERR", "timeout", "timed out",
                           "failed", "fatal", "unplugged", "temperature", "reset", "assert", "syndrome", "Cable"})) {
    return std::nullopt;
  }
  KernelEvent event{"nic_events", FactRecord(line)};
  if (driver) event.facts.set("driver", trim(text.substr(0, text.find(' '))));
  if (const std::string_view pci = pci_address(text.substr(0, 80)); !pci.empty()) event.facts.set("pci", pci);
  if (link) event.facts.set("link_up", contains_any(text, {"Link is Up", ": Link up", "Link is up"}));
  if (const auto module = after(text, "module ")) {
    if (const auto number = to_measure(module->substr(0, 6))) {
      event.facts.set("module", static_cast<std::int64_t>(std::clamp(number->value, 0.0, 1e6)));
    }
  }
  if (contains(text, "power") && contains(text, "W)")) {
    const std::size_t open = text.rfind('(');
    const std::optional<Measure> watts = to_measure(text.substr(open == std::string_view::npos ? 0 : open + 1));
    if (watts && watts->unit.starts_with("W")) event.facts.set("power_w", watts->value);
  }
  const std::size_t colon = text.find(": ");
  event.facts.set("text", cut(driver && colon != std::string_view::npos ? text.substr(colon + 2) : text));
  return event;
}

std::optional<KernelEvent> iommu(std::string_view text, std::int64_t line) {
  if (!contains_any(text, {"DMAR: [", "IO_PAGE_FAULT", "DMAR: DRHD: handling fault"})) return std::nullopt;
  KernelEvent event{"iommu_faults", FactRecord(line)};
  if (const std::string_view pci = pci_address(text); !pci.empty()) event.facts.set("pci", pci);
  event.facts.set("text", cut(text));
  return event;
}

}  // namespace

std::optional<KernelEvent> read_kernel_event(std::string_view message, std::int64_t line) {
  for (const auto reader :
       {segfault, oom, hang, panic, pcie_bandwidth, pcie_link, memory, thermal, storage, nic, iommu}) {
    if (std::optional<KernelEvent> event = reader(message, line)) return event;
  }
  return std::nullopt;
}

std::optional<FactRecord> read_aer_error(std::string_view message, std::int64_t line) {
  const std::size_t at = message.find("PCIe Bus Error: severity=");
  if (at == std::string_view::npos) return std::nullopt;
  FactRecord error(line);
  if (const std::string_view pci = pci_address(message.substr(0, at)); !pci.empty()) error.set("pci", pci);
  error.set("driver", message.substr(0, message.find(' ')));
  const std::string_view severity = between(message, "severity=", ",").value_or("");
  error.set("severity", severity);
  error.set("corrected", severity.starts_with("Corrected") || severity.starts_with("Correctable"));
  error.set("fatal", contains(severity, "(Fatal)"));
  if (const auto type = between(message, "type=", ",")) error.set("type", *type);
  const std::size_t open = message.rfind('(');
  if (open != std::string_view::npos && message.ends_with(')') && open > message.find("type=")) {
    error.set("agent", message.substr(open + 1, message.size() - open - 2));
  }
  return error;
}

bool add_aer_detail(std::string_view message, FactRecord& error) {
  if (const auto status = between(message, "error status/mask=", "/")) {
    error.set("status", *status);
    const std::vector<std::string_view> mask = words_in(after(message, "/mask=").value_or(""));
    if (!mask.empty() && mask[0].find('/') != std::string_view::npos)
      error.set("mask", mask[0].substr(mask[0].find('/') + 1));
    if (const auto device = between(message, "device [", "]")) error.set("device", *device);
    return true;
  }
  const std::size_t open = message.find('[');
  const std::size_t close = message.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos || close - open > 4) return false;
  if (!to_integer(message.substr(open + 1, close - open - 1))) return false;
  const std::string_view before = trim(message.substr(0, open));
  if (!before.empty() && !before.ends_with(':')) return false;
  std::string_view name = trim(message.substr(close + 1));
  const bool first = name.ends_with("(First)");
  if (first) name = trim(name.substr(0, name.size() - 7));
  if (name.empty() || error.list("errors").size() >= 32) return !name.empty();
  error.list("errors").push_back(Fact::of(name));
  if (first) error.set("first_error", name);
  return true;
}

}  // namespace tare
