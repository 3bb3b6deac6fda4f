#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audit/collective_expectation.h"
#include "audit/collective_rules.h"
#include "audit/loss.h"
#include "ingest/scan.h"
#include "perf/machine.h"

namespace tare {
namespace {

// A GPU below this share of the others' median has a link of its own that is bad.
constexpr double kOddCopy = 0.7;
// Copies reach 0.95 and more of what pcie_bytes_per_s() gives; half is the next lower generation.
constexpr double kSlowCopy = 0.6;
// Copies between two GPUs on NVSwitch reach 0.85 to 0.9 of the link.
constexpr double kSlowPeer = 0.5;

struct Cell {
  std::size_t row = 0, column = 0;
  double value = 0;
  std::int64_t line = 0;
};

std::vector<Cell> cells_of(const FactRecord& test) {
  std::vector<Cell> cells;
  const std::vector<const FactRecord*> rows = records_of(test, "matrix");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<Fact>* const values = rows[r]->find_list("values");
    for (std::size_t c = 0; values != nullptr && c < values->size(); ++c) {
      const std::optional<double> value = (*values)[c].number();
      if (value && *value > 0) cells.push_back({r, c, *value, rows[r]->line});
    }
  }
  return cells;
}

double median_of(const std::vector<Cell>& cells) {
  std::vector<double> values;
  values.reserve(cells.size());
  for (const Cell& cell : cells) values.push_back(cell.value);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct CopySeen {
  const Seen* seen = nullptr;
  const Accelerator* gpu = nullptr;
};

std::vector<CopySeen> copies(const Observed& observed) {
  std::vector<CopySeen> all;
  for (const char* const format : {"nvbandwidth", "nvbandwidth -j"}) {
    for (const Seen& seen : observed.of_format(format)) {
      CopySeen one{&seen, nullptr};
      for (const FactRecord* const device : records_of(*seen.facts, "devices")) {
        if (one.gpu == nullptr) one.gpu = accelerator_named(observed.catalog(), device->text("gpu"));
      }
      if (one.gpu == nullptr) one.gpu = observed.accelerator_beside(seen);
      all.push_back(one);
    }
  }
  return all;
}

bool is_bandwidth(const FactRecord& test) {
  return test.text("unit") == "gb_per_s" && !contains(test.text("name"), "bidirectional");
}

// One way between host and one GPU at a time.
bool is_host_copy(const FactRecord& test) {
  const std::string_view name = test.text("name");
  return is_bandwidth(test) && (name == "host_to_device_memcpy_ce" || name == "device_to_host_memcpy_ce" ||
                                name == "host_to_device_memcpy_sm" || name == "device_to_host_memcpy_sm");
}

bool is_peer_copy(const FactRecord& test) {
  return is_bandwidth(test) && test.text("name").starts_with("device_to_device_memcpy_");
}

Finding host_finding(const Rule& rule, const CopySeen& copy, const FactRecord& test, const std::vector<Cell>& slow,
                     std::size_t of, double usual, double able) {
  const bool all = slow.size() == of;
  const bool far = !all && slow.size() * 3 >= of;  // as many as hang on another socket
  std::vector<std::string> names;
  names.reserve(slow.size());
  for (const Cell& cell : slow) names.push_back(fmt::format("GPU{}", cell.column));
  const Cell& worst =
      *std::min_element(slow.begin(), slow.end(), [](const Cell& a, const Cell& b) { return a.value < b.value; });
  const double wanted = all ? able : usual;
  Finding finding = make_finding(
      rule, all || far ? FindingSeverity::kLow : FindingSeverity::kMedium,
      all ? Subject{"node", copy.seen->node, copy.seen->node} : Subject{"gpu", list_names(names), copy.seen->node},
      fmt::format("{}: {:.1f} GB/s for {}, {:.1f} {}", test.text("name"), worst.value,
                  all ? "all GPUs" : list_names(names), wanted,
                  all ? "would be PCIe of these GPUs" : "for the others"));
  if (all && copy.seen->node.empty()) finding.subject = {"node", "the machine", ""};
  finding.cause = all ? "The host, a switch or a riser has an older PCIe, or copies come from the far NUMA node."
                      : "That card's PCIe link is narrower or slower than the others': seating, riser, slot, errors.";
  if (far)
    finding.cause = "So many of them may hang on the other socket: copies came from far memory. Else their links.";
  finding.expected = fmt::format("{:.1f} GB/s", wanted);
  finding.measured = fmt::format("{:.1f} GB/s", worst.value);
  finding.confidence = all ? 0.6 : 0.85;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, slow.size()); ++i) {
    finding.evidence.push_back(
        evidence_of(*copy.seen, slow[i].line, fmt::format("GPU{}: {:.2f} GB/s", slow[i].column, slow[i].value)));
  }
  finding.fix = {"nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.width.current --format=csv under load",
                 "lspci -vv: LnkCap and LnkSta from the GPU up to the root port; reseat, swap slots",
                 "numactl -N <node of the GPU> nvbandwidth"};
  finding.loss_unknown = "how much a job copies between host and GPU is not known";
  return finding;
}

void host_copy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const CopySeen& copy : copies(observed)) {
    for (const FactRecord* const test : records_of(*copy.seen->facts, "tests")) {
      if (!is_host_copy(*test)) continue;
      const std::vector<Cell> cells = cells_of(*test);
      if (cells.empty()) continue;
      const double usual = median_of(cells);
      const double able =
          copy.gpu == nullptr ? 0 : pcie_bytes_per_s(copy.gpu->pcie_generation, copy.gpu->pcie_lanes) / 1e9;
      std::vector<Cell> slow;
      for (const Cell& cell : cells) {
        if (cell.value < kOddCopy * usual) slow.push_back(cell);
      }
      if (slow.empty() && able > 0 && usual < kSlowCopy * able) slow = cells;
      if (slow.empty()) continue;
      findings.push_back(host_finding(rule, copy, *test, slow, cells.size(), usual, able));
      break;  // both directions of one link are one finding
    }
  }
}

void peer_copy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const CopySeen& copy : copies(observed)) {
    for (const FactRecord* const test : records_of(*copy.seen->facts, "tests")) {
      if (!is_peer_copy(*test)) continue;
      const std::vector<Cell> cells = cells_of(*test);
      if (cells.size() < 2) continue;
      const double usual = median_of(cells);
      const bool switched = copy.gpu != nullptr && copy.gpu->link_domain >= 8 && copy.gpu->vendor == "nvidia" &&
                            copy.gpu->generation != GpuGeneration::kVolta;
      const double link = switched ? copy.gpu->link_bytes_per_s.value_or(0) / 1e9 : 0;
      std::vector<Cell> slow;
      std::map<std::size_t, std::size_t> touched;
      for (const Cell& cell : cells) {
        if (!switched || cell.value >= kOddCopy * usual) continue;
        slow.push_back(cell);
        ++touched[cell.row];
        ++touched[cell.column];
      }
      // A board of four has a third of the links between two GPUs.
      const bool all = slow.empty() && link > 0 && usual < kSlowPeer * link / (cells.size() < 30 ? 3 : 1);
      if (slow.empty() && !all) continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", copy.seen->node, copy.seen->node}, "");
      if (copy.seen->node.empty()) finding.subject = {"node", "the machine", ""};
      if (all) {
        finding.title = fmt::format("GPUs exchange {:.1f} GB/s, {} has {:g}", usual, copy.gpu->link, link);
        finding.cause =
            "Copies go over PCIe or the host: NVLinks down, fabric manager not running, or P2P not allowed.";
        finding.expected = fmt::format("{:.0f} GB/s", 0.85 * link);
        finding.measured = fmt::format("{:.1f} GB/s", usual);
        finding.evidence.push_back(evidence_of(*copy.seen, cells.front().line, std::string(test->text("name"))));
        finding.consequences = {"collective.slow"};
      } else {
        const auto most = std::max_element(touched.begin(), touched.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        const bool one_gpu = most->second == slow.size();
        const Cell& worst =
            *std::min_element(slow.begin(), slow.end(), [](const Cell& a, const Cell& b) { return a.value < b.value; });
        finding.subject = one_gpu && slow.size() > 1
                              ? Subject{"gpu", fmt::format("GPU{}", most->first), copy.seen->node}
                              : Subject{"link", fmt::format("GPU{} - GPU{}", worst.row, worst.column), copy.seen->node};
        finding.title = fmt::format("{}: {:.1f} GB/s in {} of {} pairs, {:.1f} in the others", finding.subject.name,
                                    worst.value, slow.size(), cells.size(), usual);
        finding.cause = "Pairs behind NVSwitch are alike: some of that GPU's links are down or retrain.";
        finding.expected = fmt::format("{:.1f} GB/s", usual);
        finding.measured = fmt::format("{:.1f} GB/s", worst.value);
        finding.evidence.push_back(evidence_of(
            *copy.seen, worst.line, fmt::format("GPU{} to GPU{}: {:.2f} GB/s", worst.row, worst.column, worst.value)));
        finding.consequences = {"collective.slow"};
      }
      finding.confidence = 0.85;
      finding.fix = {
          "nvidia-smi nvlink -s; nvidia-smi nvlink -e; dmesg | grep -i -e xid -e nvlink",
          "systemctl status nvidia-fabricmanager; reset the GPUs of the node (nvidia-smi -r), then swap the GPU"};
      const std::optional<double> gpus = observed.gpus_beside(*copy.seen);
      const double able = all ? 0.85 * link : usual;
      const double has = all ? usual : (*std::min_element(slow.begin(), slow.end(), [](const Cell& a, const Cell& b) {
                                         return a.value < b.value;
                                       })).value;
      if (gpus) {
        finding.loss = slower_communication(observed.setting().intra_node_comm_share, able / has,
                                            "expected over measured copy", *gpus, "GPUs of the node");
      } else {
        finding.loss_unknown = "how many GPUs the node has is not known";
      }
      findings.push_back(std::move(finding));
      break;
    }
  }
}

void failed_copy(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const CopySeen& copy : copies(observed)) {
    for (const FactRecord* const test : records_of(*copy.seen->facts, "tests")) {
      const std::string_view error = test->text("error");
      if (error.empty() && test->text("status") != "Error" && test->text("status") != "Failed") continue;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"node", copy.seen->node, copy.seen->node},
                                     fmt::format("{} failed: {}", test->text("name"), error));
      if (copy.seen->node.empty()) finding.subject = {"node", "the machine", ""};
      finding.cause = "A copy between these memories returns an error: no job that uses them will run.";
      finding.confidence = 0.85;
      finding.evidence.push_back(evidence_of(*copy.seen, test->line, std::string(error)));
      finding.fix = {"dmesg | grep -i xid; dcgmi diag -r 2; on NVL72: nvidia-imex-ctl -N"};
      finding.loss_unknown = "whether jobs fail is not known";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

// Point to point between two hosts by OSU, against the ports of the node where a listing has them.
void osu_below(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  constexpr double kWell = 0.6;  // of one port or of all of them: which ones MPI uses is not known
  for (const Seen& seen : observed.of_format("OSU micro-benchmarks")) {
    for (const FactRecord* const test : records_of(*seen.facts, "tests")) {
      const std::string_view name = test->text("test");
      if (!contains(name, "Bandwidth") || contains(name, "Bi-Directional") || contains(name, "Multi")) continue;
      double most = 0, bytes = 0;
      std::int64_t line = 0;
      for (const FactRecord* const row : records_of(*test, "rows")) {
        const double value = row->number("bandwidth_mb_per_s").value_or(0);
        bytes = std::max(bytes, row->number("bytes").value_or(0));
        if (value <= most) continue;
        most = value;
        line = row->line;
      }
      const std::optional<NodeNetwork> network = network_beside(observed, seen);
      double port = 0;
      for (const Seen& other : observed.of_kind_beside("infiniband", seen)) {
        const FactRecord* const rates = other.facts->find_record("active_rates");
        if (rates == nullptr) continue;
        for (const auto& [rate, count] : rates->members()) port = std::max(port, to_number(rate).value_or(0) / 8);
      }
      if (!network || port <= 0 || most <= 0 || bytes < 1e6 || most / 1e3 >= kWell * port) continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", seen.node, seen.node},
                                     fmt::format("{}: {:.1f} GB/s, a port has {:g}", name, most / 1e3, port));
      if (seen.node.empty()) finding.subject = {"node", "the machine", ""};
      finding.cause = "MPI does not use RDMA, or stages GPU buffers through the host (no GPUDirect, UCX without CUDA).";
      finding.expected = fmt::format("{:.1f} GB/s", 0.9 * port);
      finding.measured = fmt::format("{:.1f} GB/s", most / 1e3);
      finding.confidence = 0.7;
      finding.evidence.push_back(evidence_of(seen, line, fmt::format("{:.0f} MB/s", most)));
      finding.fix = {"ucx_info -d | grep -e Transport -e cuda; UCX_TLS=rc,cuda_copy,gdr_copy; UCX_NET_DEVICES=mlx5_0:1",
                     "compare with ib_write_bw on the same port"};
      finding.loss_unknown = "what jobs send over MPI is not known";
      findings.push_back(std::move(finding));
    }
  }
}

constexpr Rule kRules[] = {
    {"collective.host-copy", "Copies between host and GPU are slow",
     "nvbandwidth's host copies against the other GPUs and against PCIe of the GPU.", "NVIDIA/nvbandwidth", host_copy},
    {"collective.peer-copy", "Copies between GPUs are slow",
     "nvbandwidth's matrix of pairs: behind NVSwitch all are alike and near the link's rate.", "NVIDIA/nvbandwidth",
     peer_copy},
    {"collective.copy-failed", "A copy that fails", "A test of nvbandwidth that returns an error.",
     "NVIDIA/nvbandwidth", failed_copy},
    {"collective.mpi-below", "MPI below the rate of the port", "osu_bw against the ports of the same node.",
     "mvapich.cse.ohio-state.edu/benchmarks", osu_below},
};

}  // namespace

std::span<const Rule> collective_copy_rules() { return kRules; }

}  // namespace tare
