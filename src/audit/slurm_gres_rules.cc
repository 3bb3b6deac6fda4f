#include <algorithm>
#include <set>

#include "audit/gpu_seen.h"
#include "audit/loss.h"
#include "audit/slurm_hosts.h"
#include "audit/slurm_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

#include <fmt/format.h>

namespace tare {
namespace {

// A node all of whose CPUs are sockets of one core: below this it may well be a virtual machine that shows itself so.
constexpr double kFlatCpus = 16;
// Memory that jobs have taken to the last 2 %: no further job that asks for any will fit.
constexpr double kMemoryFull = 0.98;

bool covers(std::string_view hostlist, const std::string& host) {
  const std::vector<std::string> hosts = expand_range(hostlist, 20'000);
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

bool is_gpu_line(const FactRecord& line) { return line.text("name") == "gpu" && line.number("gpus").value_or(0) > 0; }

// GPUs of the lines of gres.conf that are about the host, or about all of the file's; nullopt where none is.
std::optional<double> gres_conf_gpus(const Seen& seen, const std::string& host) {
  std::optional<double> gpus;
  for (const FactRecord* const line : records_of(*seen.facts, "gres_conf")) {
    if (!is_gpu_line(*line)) continue;
    const std::string_view of = line->text("nodes").empty() ? line->text("node_name") : line->text("nodes");
    if (!of.empty() && !covers(of, host)) continue;
    gpus = gpus.value_or(0) + *line->number("gpus");
  }
  return gpus;
}

// Why the node should have GPUs though it registers none; empty where nothing says so.
std::string why_gpus(const Observed& observed, const Seen& seen, const FactRecord& node, const std::string& name) {
  if (const auto gpus = gres_conf_gpus(seen, name)) return fmt::format("gres.conf lists {:.0f} GPUs", *gpus);
  if (const auto gpus = seen.facts->number("gpus_detected"); gpus && *gpus > 0)
    return fmt::format("slurmd detects {:.0f} GPUs", *gpus);
  if (contains(to_lower(node.text("gres_note")), "gpu")) return "the file says it should have some";
  for (const Seen& other : observed.of_kind("nvidia-smi")) {
    if (other.node != name) continue;
    if (const std::size_t gpus = records_of(*other.facts, "gpus").size(); gpus > 0)
      return fmt::format("nvidia-smi lists {} GPUs", gpus);
  }
  return {};
}

void no_gres(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const bool none = node->has("gres") && !node->has("gpus") && !node->has("cfg_gpus");
      if (!is_live_node(*node) || !none) continue;
      const std::string name(node->text("name"));
      const std::string why = why_gpus(observed, seen, *node, name);
      if (why.empty()) continue;
      Finding finding = make_finding(rule, FindingSeverity::kHigh, {"node", name, name},
                                     fmt::format("{} registers no Gres, yet {}", name, why));
      finding.confidence = why.ends_with("some") ? 0.7 : 0.95;
      finding.cause =
          "GPUs in gres.conf count only where the node's own line has them too: a NodeName line, or the "
          "--conf of a dynamic node, without Gres=gpu:… registers none, and no job can ask for them.";
      finding.evidence.push_back(evidence_of(seen, line_of(*node, "gres"), "Gres=(null)"));
      finding.expected = why;
      finding.measured = "no Gres";
      finding.fix = {
          "GresTypes=gpu and Gres=gpu:TYPE:COUNT in the NodeName line; a dynamic node: slurmd -Z --conf "
          "\"Gres=gpu:TYPE:COUNT\"",
          "restart slurmctld and slurmd, then scontrol show node " + name + " | grep Gres"};
      finding.loss_unknown = "how many GPUs the node has is not told";
      if (const auto gpus = gres_conf_gpus(seen, name)) finding.loss = whole_gpus_lost(*gpus, "gres.conf");
      add_once(findings, std::move(finding));
    }
  }
}

void autodetect_ignored(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::vector<const FactRecord*> ignored;
    double used = 0;
    for (const FactRecord* const gpu : records_of(*seen.facts, "gres_detected")) {
      if (gpu->text("name") != "gpu") continue;
      if (is_true(*gpu, "ignored")) ignored.push_back(gpu);
      if (!is_true(*gpu, "ignored")) used += gpu->number("count").value_or(1);
    }
    if (ignored.empty()) continue;
    double lost = 0;
    for (const FactRecord* const gpu : ignored) lost += gpu->number("count").value_or(1);
    const auto severity = used > 0 ? FindingSeverity::kMedium : FindingSeverity::kHigh;
    Finding finding = make_finding(rule, severity, subject_of_output(seen, "node", seen.node),
                                   fmt::format("slurmd finds {:.0f} GPUs and ignores them", lost));
    finding.cause =
        "AutoDetect found GPUs for which the node's line in slurm.conf has no matching Gres=: Slurm gives "
        "them to nobody.";
    finding.evidence.push_back(
        evidence_of(seen, ignored.front()->line,
                    fmt::format("ignored: {} {}", ignored.front()->text("type"), ignored.front()->text("file"))));
    finding.expected = fmt::format("Gres=gpu:{}:{:.0f}", ignored.front()->text("type"), lost);
    finding.fix = {"add " + finding.expected + " to the NodeName line of slurm.conf (or to --conf of a dynamic node)",
                   "the type must be part of what slurmd prints: slurmd -G", "restart slurmctld, then slurmd"};
    finding.loss = whole_gpus_lost(lost, "GPUs that slurmd lists as ignored");
    finding.gpu = accelerator_id(observed, ignored.front()->text("type"));
    finding.consequences = {"slurm.no-gres"};
    add_once(findings, std::move(finding));
  }
}

struct CoreRange {
  double last = -1, count = 0;
};
CoreRange range_of_cores(std::string_view text) {
  CoreRange range;
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> ends = split(trim(part), '-');
    const auto from = Fact::parsed(ends.front()).number();
    const auto to = Fact::parsed(ends.back()).number();
    if (!from || !to) return {};
    range.last = std::max(range.last, *to);
    range.count += *to - *from + 1;
  }
  return range;
}

// Cores of the node that the same file describes with sockets and cores; nullopt where none does.
std::optional<double> cores_told(const Seen& seen) {
  std::optional<double> cores;
  for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
    const auto sockets = node->has("sockets") ? node->number("sockets") : node->number("sockets_per_board");
    const auto per_socket = node->number("cores_per_socket");
    if (sockets && per_socket)
      cores = std::max(cores.value_or(0), *sockets * *per_socket * node->number("boards").value_or(1));
  }
  return cores;
}

const char* const kCoresCause =
    "Cores= (and the older CPUs=) of gres.conf takes cores as Slurm counts them, not hardware threads. Numbers past "
    "the last core are refused, the GPU loses its cores, and tasks run on the wrong socket.";
std::vector<std::string> cores_fix() {
  return {"lstopo or slurmd -C: cores are numbered 0 to sockets * cores per socket - 1; leave the second thread out",
          "or leave Cores= away and let AutoDetect=nvml (or nvidia, rsmi) fill it in: slurmd -G shows what it finds",
          "scontrol reconfigure and restart slurmd"};
}

void gres_cores(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    std::set<std::string> nodes;
    for (const FactRecord* const event : records_of(*seen.facts, "events")) {
      if (event->text("event") != "invalid_gres_cores" || !nodes.insert(std::string(event->text("node"))).second)
        continue;
      const std::string node(event->text("node"));
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", node, node},
                                     fmt::format("{}: cores {} of gres.conf are refused", node, event->text("cores")));
      finding.cause = kCoresCause;
      finding.evidence.push_back(evidence_of(seen, event->line, std::string(event->text("message"))));
      finding.fix = cores_fix();
      finding.loss_unknown = "what a wrong binding costs depends on the job";
      add_once(findings, std::move(finding));
    }
    const std::optional<double> cores = cores_told(seen);
    if (!nodes.empty() || !cores) continue;
    for (const FactRecord* const line : records_of(*seen.facts, "gres_conf")) {
      const char* const member = line->has("cores") ? "cores" : "cpus";
      const CoreRange range = range_of_cores(line->text(member));
      if (range.last < *cores) continue;
      Finding finding = make_finding(rule, FindingSeverity::kMedium, subject_of_output(seen, "node", seen.node),
                                     fmt::format("gres.conf names core {:.0f} of {:.0f}", range.last, *cores));
      finding.cause = kCoresCause;
      finding.evidence.push_back(evidence_of(seen, line->line, fmt::format("{}: {}", member, line->text(member))));
      finding.expected = fmt::format("cores 0 to {:.0f}", *cores - 1);
      finding.measured = std::string(line->text(member));
      finding.fix = cores_fix();
      finding.loss_unknown = "what a wrong binding costs depends on the job";
      add_once(findings, std::move(finding));
      break;
    }
  }
}

bool detects(const FactRecord& record) {
  const std::string how = to_lower(record.text("auto_detect"));
  return !how.empty() && how != "off" && how != "none";
}

void gres_no_cores(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    if (detects(*seen.facts)) continue;
    const FactRecord* first = nullptr;
    double gpus = 0;
    bool bound = false;
    for (const FactRecord* const line : records_of(*seen.facts, "gres_conf")) {
      bound = bound || detects(*line) || line->has("cores") || line->has("cpus");
      if (!is_gpu_line(*line) || !line->has("file")) continue;
      if (first == nullptr) first = line;
      gpus += *line->number("gpus");
    }
    if (first == nullptr || bound || gpus < 2) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, subject_of_output(seen, "node", seen.node),
                                   fmt::format("gres.conf says of {:.0f} GPUs neither Cores nor AutoDetect", gpus));
    finding.cause =
        "Slurm does not know which cores are near which GPU: it cannot bind tasks there, nor prefer GPUs "
        "that have links to each other.";
    finding.evidence.push_back(evidence_of(seen, first->line, fmt::format("File={}", first->text("file"))));
    finding.fix = {"AutoDetect=nvml (nvidia from 24.11, rsmi for AMD) in gres.conf, and see slurmd -G",
                   "or Cores= per GPU by the CPU affinity of nvidia-smi topo -m"};
    finding.loss_unknown = "what a missing binding costs depends on the job";
    add_once(findings, std::move(finding));
  }
}

void gres_conf_differs(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    const std::vector<const FactRecord*> lines = records_of(*seen.facts, "gres_conf");
    const bool found_by_itself =
        detects(*seen.facts) ||
        std::any_of(lines.begin(), lines.end(), [](const FactRecord* line) { return detects(*line); });
    if (lines.empty() || found_by_itself) continue;
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const auto configured = node->number("gpus");
      if (node->text("source") != "slurm.conf" || !configured) continue;
      for (const std::string& host : expand_range(node->text("name"), 2000)) {
        const auto listed = gres_conf_gpus(seen, host);
        if (!listed || *listed == *configured) continue;
        const bool fewer = *listed < *configured;
        Finding finding =
            make_finding(rule, fewer ? FindingSeverity::kHigh : FindingSeverity::kMedium, {"node", host, host},
                         fmt::format("{}: gres.conf lists {:.0f} GPUs, slurm.conf {:.0f}", host, *listed, *configured));
        finding.confidence = 0.8;
        finding.cause = fewer ? "The node reports fewer GPUs than slurm.conf promises and is drained for it."
                              : "GPUs that slurm.conf does not promise are given to nobody.";
        finding.evidence.push_back(
            evidence_of(seen, line_of(*node, "gres"), fmt::format("Gres={}", node->text("gres"))));
        finding.fix = {"make Gres= of the NodeName line and the lines of gres.conf count the same",
                       "restart slurmctld and slurmd, then scontrol show node " + host};
        finding.loss = whole_gpus_lost(fewer ? *configured : *listed - *configured, "gres.conf against slurm.conf");
        finding.gpu = accelerator_id(observed, node->text("gpu_type"));
        add_once(findings, std::move(finding));
        break;  // one of a NodeName line stands for all
      }
    }
  }
}

void autodetect_broken(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const event : records_of(*seen.facts, "events")) {
      const std::string_view name = event->text("event");
      const bool file = name == "gres_file_missing";
      if (!file && name != "autodetect_library_missing" && name != "nvml_failed") continue;
      const std::string node = event->text("node").empty() ? seen.node : std::string(event->text("node"));
      Finding finding = make_finding(
          rule, FindingSeverity::kHigh, {"node", node, node},
          file ? "a GPU's device file in gres.conf is not there" : "AutoDetect cannot ask the driver for GPUs");
      finding.cause = file ? "slurmd cannot open the device: the driver is not loaded yet, or a GPU is gone."
                           : "slurmd was built without the vendor's library, does not find it, or the driver does not "
                             "answer: it registers no GPU, and the node is drained or has none to give.";
      finding.evidence.push_back(evidence_of(seen, event->line, std::string(event->text("message"))));
      finding.fix = {
          "nvidia-smi -L on the node; ls -l /dev/nvidia*; run nvidia-persistenced before slurmd (After= in its unit)",
          "ldd of gpu_nvml.so in the plugin folder; else build Slurm with --with-nvml, or AutoDetect=nvidia (24.11)",
          "list the GPUs by File= until then"};
      finding.loss_unknown = "how many GPUs the node has is not told";
      finding.consequences = {"slurm.gres-count", "slurm.no-gres"};
      add_once(findings, std::move(finding));
    }
  }
}

void gpus_stranded(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const auto gpus = node->has("cfg_gpus") ? node->number("cfg_gpus") : node->number("gpus");
      const auto used = node->has("alloc_gpus") ? node->number("alloc_gpus") : node->number("used_gpus");
      if (!is_live_node(*node) || !gpus || *gpus <= 0 || host_use(*node) != HostUse::kUsable) continue;
      const auto cpus = node->has("cpus_effective") ? node->number("cpus_effective") : node->number("cpus");
      const auto cpus_used = node->number("cpus_allocated");
      const auto memory = node->number("real_memory_mb"), memory_used = node->number("alloc_memory_mb");
      // TRES of a node with jobs names GPUs as soon as one is given away.
      const double free = *gpus - used.value_or(node->text("alloc_tres").empty() ? *gpus : 0);
      const bool no_cpus = cpus && cpus_used && *cpus > 0 && *cpus_used >= *cpus;
      const bool no_memory = memory && memory_used && *memory > 1 && *memory_used >= kMemoryFull * *memory;
      if (free <= 0 || (!no_cpus && !no_memory)) continue;
      const std::string name(node->text("name"));
      Finding finding = make_finding(rule, FindingSeverity::kMedium, {"node", name, name},
                                     fmt::format("{}: {:.0f} of {:.0f} GPUs are free, but no {} is left", name, free,
                                                 *gpus, no_cpus ? "CPU" : "memory"));
      finding.cause = "Jobs took all CPUs or memory and leave GPUs that no further job can use.";
      const char* const member = no_cpus ? "cpus_allocated" : "alloc_memory_mb";
      finding.evidence.push_back(evidence_of(seen, line_of(*node, member), fact_in_words(*node, member)));
      finding.fix = {"DefCpuPerGPU and DefMemPerGPU in the partition, MaxCPUsPerNode for jobs without GPUs",
                     "or keep cores for GPUs: RestrictedCoresPerGPU (24.05)",
                     "squeue -w " + name + " -O jobid,username,numcpus,tres-alloc: who holds them"};
      finding.loss = whole_gpus_lost(free, "GPUs configured less those allocated");
      finding.gpu = accelerator_id(observed, node->text("gpu_type"));
      add_once(findings, std::move(finding));
    }
  }
}

void memory_unset(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      if (!is_live_node(*node) || node->number("real_memory_mb").value_or(0) != 1) continue;
      const std::string name(node->text("name"));
      Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", name, name},
                                     name + ": RealMemory=1, the default of a line that says none");
      finding.cause =
          "Slurm thinks the node has 1 MB: jobs that ask for memory do not fit, or memory is not shared "
          "out at all and jobs kill each other.";
      finding.evidence.push_back(evidence_of(seen, line_of(*node, "real_memory_mb"), "RealMemory=1"));
      finding.fix = {"RealMemory= of slurmd -C, less 1 to 2 GB, into the NodeName line",
                     "SelectTypeParameters=CR_Core_Memory"};
      add_once(findings, std::move(finding));
    }
  }
}

void cores_flat(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_kind("slurm")) {
    for (const FactRecord* const node : records_of(*seen.facts, "nodes")) {
      const auto sockets = node->has("sockets") ? node->number("sockets") : node->number("sockets_per_board");
      const auto per_socket = node->number("cores_per_socket"), cpus = node->number("cpus");
      const bool live = is_live_node(*node) || node->text("source") == "slurm.conf";
      if (!live || !sockets || !cpus || *sockets < kFlatCpus || *sockets != *cpus || per_socket.value_or(1) != 1)
        continue;
      const std::string name(node->text("name"));
      Finding finding = make_finding(rule, FindingSeverity::kLow, {"node", name, name},
                                     fmt::format("{}: {:.0f} sockets of one core each", name, *sockets));
      finding.confidence = 0.8;
      finding.cause =
          "The NodeName line gives CPUs= alone, so Slurm takes each for a socket: it cannot keep a job's "
          "tasks on the socket of its GPUs, nor tell threads from cores.";
      finding.evidence.push_back(
          evidence_of(seen, node->line, fmt::format("{:.0f} CPUs, {:.0f} sockets", *cpus, *sockets)));
      finding.fix = {"Sockets, CoresPerSocket and ThreadsPerCore of slurmd -C into the NodeName line",
                     "restart slurmctld and slurmd"};
      finding.loss_unknown = "what a wrong binding costs depends on the job";
      add_once(findings, std::move(finding));
    }
  }
}

}  // namespace

std::span<const Rule> slurm_gres_rules() {
  static const std::vector<Rule> rules = {
      {"slurm.no-gres", "A node with GPUs registers none", "no job can ask for its GPUs", "slurm.schedmd.com/gres.html",
       no_gres},
      {"slurm.autodetect-ignored", "slurmd ignores GPUs that it found", "no job can ask for them",
       "slurm.schedmd.com/gres.conf.html", autodetect_ignored},
      {"slurm.autodetect-broken", "slurmd cannot find its GPUs", "the node is drained or has none to give",
       "slurm.schedmd.com/gres.conf.html", autodetect_broken},
      {"slurm.gres-cores", "Core numbers of gres.conf are refused", "tasks run far from their GPUs", "deepops#1195",
       gres_cores},
      {"slurm.gres-no-cores", "gres.conf binds no cores to GPUs", "tasks may run far from their GPUs",
       "slurm.schedmd.com/gres.conf.html", gres_no_cores},
      {"slurm.gres-conf-differs", "gres.conf and slurm.conf count GPUs differently",
       "the node is drained, or GPUs are given to nobody", "slurm.schedmd.com/gres.html", gres_conf_differs},
      {"slurm.gpus-stranded", "Free GPUs without a CPU or memory for them", "they do nothing until the job ends",
       "slurm.schedmd.com/slurm.conf.html", gpus_stranded},
      {"slurm.memory-unset", "RealMemory is the default of 1 MB", "memory is not shared out",
       "slurm.schedmd.com/slurm.conf.html", memory_unset},
      {"slurm.cores-flat", "Every CPU is a socket to Slurm", "no binding near GPUs", "aws-parallelcluster#5797",
       cores_flat},
  };
  return rules;
}

}  // namespace tare
