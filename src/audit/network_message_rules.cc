#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "audit/loss.h"
#include "audit/nccl_job.h"
#include "audit/network_rules.h"
#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

constexpr double kSlowInitS = 60;  // a communicator of thousands of ranks takes some 20 s (NCCL 2.20 and later)

// A warning or error in NCCL's words, and what it means. The first one that a message has is the one.
struct Known {
  const char* rule_id;
  const char* words;
  const char* title;
};

constexpr Known kKnown[] = {
    {"nccl.port-event", "Got async event", "the NIC reports an event of its port"},
    {"nccl.port-event", "Got async fatal event", "the NIC reports an event of its port"},
    {"nccl.memlock", "ibv_reg_mr", "memory cannot be registered with the NIC"},
    {"nccl.memlock", "ibv_create_cq failed", "the NIC gives no queues"},
    {"nccl.memlock", "ibv_create_qp failed", "the NIC gives no queues"},
    {"nccl.shm-space", "shared memory segment", "no room in /dev/shm"},
    {"nccl.shm-space", "Error while creating shared memory", "no room in /dev/shm"},
    {"nccl.shm-space", "No space left on device", "no room in /dev/shm"},
    {"nccl.duplicate-gpu", "Duplicate GPU detected", "two ranks use the same GPU"},
    {"nccl.mismatch", "message truncated", "ranks disagree on the size of a message"},
    {"nccl.mismatch", "Message truncated", "ranks disagree on the size of a message"},
    {"nccl.mismatch", "Mismatched collective", "ranks call different collectives"},
    {"nccl.nvls-failure", "NVLS", "NVLink SHARP fails"},
    {"nccl.nvls-failure", "ulticast", "NVLink SHARP fails"},
    {"nccl.connection", "no socket interface found", "NCCL finds no interface to start over"},
    {"nccl.connection", "No socket interface found", "NCCL finds no interface to start over"},
    {"nccl.connection", "onnection refused", "a rank cannot be reached"},
    {"nccl.connection", "onnection timed out", "a rank cannot be reached"},
    {"nccl.connection", "No route to host", "a rank cannot be reached"},
    {"nccl.connection", "Network is unreachable", "a rank cannot be reached"},
    {"nccl.connection", "Too many open files", "the limit of open files is reached"},
    {"nccl.peer-gone", "onnection closed by remote", "another rank went away"},
    {"nccl.peer-gone", "onnection reset by peer", "another rank went away"},
    {"nccl.peer-gone", "Broken pipe", "another rank went away"},
    {"nccl.gpu-error", "Cuda failure", "CUDA reports an error"},
    {"nccl.gpu-error", "CUDA failure", "CUDA reports an error"},
    {"nccl.gpu-error", "HIP failure", "HIP reports an error"},
    {"nccl.system-setting", "iommu=pt", "the IOMMU is not in passthrough"},
    {"nccl.system-setting", "NUMA auto balancing", "NUMA balancing moves pages"},
};

const Known* known_message(std::string_view message) {
  for (const Known& known : kKnown) {
    if (contains(message, known.words)) return &known;
  }
  return nullptr;
}

bool is_completion_error(std::string_view message) { return contains(message, "ompletion from peer"); }

// What a rule of known messages adds to what the log says.
struct Advice {
  FindingSeverity severity;
  const char* cause;
  std::array<const char*, 2> fix;
  std::array<const char*, 3> explains;
};

Advice advice_of(std::string_view rule_id, std::string_view message) {
  if (rule_id == "nccl.port-event") {
    return {FindingSeverity::kHigh,
            "The port went down, or the adapter failed, while the job ran.",
            {"ibstat and dmesg -T | grep mlx5 on that host: link, temperature, power of the module",
             "replace cable or transceiver; take the node out until it is done"},
            {"nccl.completion-error", "nccl.peer-gone", "nccl.timeout"}};
  }
  if (rule_id == "nccl.memlock") {
    return {FindingSeverity::kHigh,
            "RDMA pins memory: the limit of locked memory is too low, IPC_LOCK is missing, or peermem is broken.",
            {"ulimit -l must say unlimited in the job: limits.conf, the service's LimitMEMLOCK, --ulimit memlock=-1",
             "containers: --cap-add=IPC_LOCK; with GPU memory: modprobe nvidia-peermem of the driver's version"},
            {"nccl.peer-gone", nullptr, nullptr}};
  }
  if (rule_id == "nccl.shm-space") {
    return {FindingSeverity::kHigh,
            "Docker gives 64 MB of /dev/shm; NCCL needs some 30 MB a GPU, loaders more.",
            {"docker run --shm-size=16g or --ipc=host; Kubernetes: an emptyDir of medium Memory on /dev/shm",
             "df -h /dev/shm; remove what dead jobs left: rm /dev/shm/nccl-*"},
            {"nccl.peer-gone", nullptr, nullptr}};
  }
  if (rule_id == "nccl.duplicate-gpu") {
    return {FindingSeverity::kHigh,
            "NCCL wants one GPU a rank; both ranks were given the same one.",
            {"torch.cuda.set_device(local_rank) before init_process_group; check CUDA_VISIBLE_DEVICES of each rank",
             "Slurm: --gpus-per-task and --gpu-bind shows each task one GPU, then the local index is 0"},
            {}};
  }
  if (rule_id == "nccl.mismatch") {
    return {FindingSeverity::kHigh,
            "Ranks run different code paths, batch shapes or versions: the job hangs or is wrong.",
            {"TORCH_NCCL_DESYNC_DEBUG=1 or NCCL_DEBUG_SUBSYS=COLL: which rank is off",
             "same image, same arguments and same number of steps on all ranks"},
            {"nccl.timeout", "nccl.peer-gone", nullptr}};
  }
  if (rule_id == "nccl.nvls-failure") {
    return {
        FindingSeverity::kMedium,
        "Multicast memory of the NVSwitches cannot be had: fabric manager, IMEX, a container without the device, or "
        "all multicast groups in use.",
        {"systemctl status nvidia-fabricmanager (nvidia-imex on NVL72); nvidia-smi -q | grep -A3 Fabric",
         "to run meanwhile: NCCL_NVLS_ENABLE=0"},
        {}};
  }
  if (rule_id == "nccl.connection") {
    const bool files = contains(message, "open files");
    return {FindingSeverity::kHigh,
            files
                ? "Every rank opens sockets to many others; 1024 files are too few."
                : "Another rank does not listen where NCCL looks: a firewall, the wrong interface, or it died before.",
            {files ? "ulimit -n 1048576 in the job"
                   : "NCCL_SOCKET_IFNAME=<interface of the cluster's network> on all nodes",
             files ? "service files: LimitNOFILE=1048576"
                   : "open all ports between the nodes; look for the rank that "
                     "failed first"},
            {"nccl.peer-gone", "nccl.init-incomplete", "nccl.timeout"}};
  }
  if (rule_id == "nccl.peer-gone") {
    return {FindingSeverity::kLow,
            "This rank lost another one: the reason stands in that one's log.",
            {"look for the rank whose messages stop first, and for its Python traceback, OOM or Xid",
             "sort all logs by time: the first error is the cause"},
            {}};
  }
  if (rule_id == "nccl.gpu-error") {
    const bool memory = contains(message, "out of memory");
    const bool driver = contains(message, "insufficient") || contains(message, "forward compat");
    return {FindingSeverity::kHigh,
            memory   ? "No GPU memory is left for NCCL's buffers (some hundred MB a communicator)."
            : driver ? "The driver is older than the CUDA version that NCCL was built for."
                     : "NCCL shows the error of whatever ran before it on the GPU: a bad kernel, or a GPU that failed.",
            {memory   ? "a smaller batch, or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; fewer communicators"
             : driver ? "update the driver or take an image for its CUDA version"
                      : "dmesg | grep -i xid on that host at that time",
             memory ? "nvidia-smi: does another process hold memory?" : "CUDA_LAUNCH_BLOCKING=1 names the kernel"},
            {"nccl.peer-gone", "nccl.timeout", nullptr}};
  }
  return {FindingSeverity::kLow,
          "RCCL and AMD ask for it: without, transfers between GPUs are slower and may hang.",
          {"kernel command line: iommu=pt (amd_iommu=on)", "sysctl kernel.numa_balancing=0"},
          {}};
}

std::string host_of_message(const FactRecord& message, const Seen& seen) {
  const std::string_view host = message.text("host");
  return host.empty() ? seen.node : std::string(host);
}

// Warnings of one meaning in one log are one finding.
void known_messages(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    std::vector<const FactRecord*> meant;
    const Known* known = nullptr;
    double count = 0, hosts = 1;
    for (const FactRecord* const warning : records_of(*seen.facts, "warnings")) {
      const Known* const one =
          is_completion_error(warning->text("message")) ? nullptr : known_message(warning->text("message"));
      if (one == nullptr || rule.id != one->rule_id) continue;
      if (known == nullptr) known = one;
      meant.push_back(warning);
      count += warning->number("count").value_or(1);
      hosts = std::max(hosts, warning->number("host_count").value_or(1));
    }
    if (known == nullptr) continue;
    const std::string_view text = meant.front()->text("message");
    const Advice advice = advice_of(rule.id, text);
    const std::string host = host_of_message(*meant.front(), seen);
    // The end of a job shows it to every rank that is late.
    const bool closing = contains(text, "shutting down");
    Finding finding =
        make_finding(rule, closing ? FindingSeverity::kLow : advice.severity,
                     hosts > 1 || host.empty() ? job_of(seen) : Subject{"node", host, host},
                     fmt::format("{}{}{}: {}", known->title, hosts > 1 || host.empty() ? "" : " on " + host,
                                 count > 1 ? fmt::format(" ({:g} times)", count) : "", text.substr(0, 120)));
    finding.cause = advice.cause;
    finding.confidence = 0.85;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, meant.size()); ++i) {
      finding.evidence.push_back(evidence_of(seen, meant[i]->line, std::string(meant[i]->text("message"))));
    }
    for (const char* const step : advice.fix) finding.fix.emplace_back(step);
    for (const char* const explained : advice.explains) {
      if (explained != nullptr) finding.consequences.emplace_back(explained);
    }
    if (finding.severity == FindingSeverity::kHigh) {
      if (const std::optional<double> gpus = gpus_of_job(observed, seen)) {
        finding.loss = whole_gpus_lost(*gpus, "ranks of the job, while it does not run");
      } else {
        finding.loss_unknown = "how many GPUs the job has is not known";
      }
    }
    findings.push_back(std::move(finding));
  }
}

void other_warnings(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    std::vector<const FactRecord*> others;
    for (const FactRecord* const warning : records_of(*seen.facts, "warnings")) {
      const std::string_view message = warning->text("message");
      if (!is_completion_error(message) && known_message(message) == nullptr) others.push_back(warning);
    }
    if (others.empty()) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kLow, job_of(seen),
                     fmt::format("NCCL warns: {}{}", others.front()->text("message").substr(0, 120),
                                 others.size() > 1 ? fmt::format(" and {} others", others.size() - 1) : ""));
    finding.cause = "NCCL prints WARN where something failed or is not as it should be.";
    finding.confidence = 0.5;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, others.size()); ++i) {
      finding.evidence.push_back(evidence_of(seen, others[i]->line, std::string(others[i]->text("message"))));
    }
    finding.fix = {"read the lines before it in the log of the same rank; NCCL_DEBUG=INFO shows more"};
    findings.push_back(std::move(finding));
  }
}

const char* meaning_of_status(std::int64_t status) {
  switch (status) {
    case 4:
      return "local protection error: memory is not registered";
    case 5:
      return "flushed: another request failed first";
    case 10:
      return "remote access error: the peer's memory is not registered";
    case 12:
      return "retries exceeded: the peer does not answer";
    case 13:
      return "receiver not ready: the peer posts no receives";
    default:
      return "a work request failed";
  }
}

void completion_errors(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const std::vector<const FactRecord*> errors = records_of(*seen.facts, "completion_errors");
    if (errors.empty()) continue;
    // What was flushed is the consequence of what failed.
    const auto real = std::find_if(errors.begin(), errors.end(),
                                   [](const FactRecord* error) { return error->integer("status") != 5; });
    const FactRecord& first = real == errors.end() ? *errors.front() : **real;
    std::map<std::string, int> nics;
    std::set<std::string> hosts;
    for (const FactRecord* const error : errors) {
      if (error->integer("status") == 5) continue;
      const std::string host(error->text("host"));
      hosts.insert(host);
      if (!error->text("hca").empty()) ++nics[std::string(error->text("hca"))];
    }
    const std::string host = host_of_message(first, seen);
    const std::string hca(first.text("hca"));
    const std::int64_t status = first.integer("status").value_or(0);
    Subject subject = job_of(seen);
    if (hosts.size() <= 1 && !host.empty()) subject = {"node", host, host};
    if (hosts.size() <= 1 && nics.size() == 1) subject = {"nic", hca, host};
    Finding finding = make_finding(rule, FindingSeverity::kHigh, subject,
                                   fmt::format("RDMA to {} failed with status {} ({}){}",
                                               first.text("peer").empty() ? "a peer" : first.text("peer"), status,
                                               meaning_of_status(status), host.empty() ? "" : " on " + host));
    finding.cause =
        status == 12
            ? "Packets got no answer for some 20 s: a link that is down, a peer that died, RoCE without the right "
              "GID or with a closed firewall, nodes on different partitions or subnets."
            : "The adapter gave a request up; NCCL cannot go on after that.";
    finding.confidence = 0.9;
    finding.evidence.push_back(evidence_of(
        seen, first.line,
        fmt::format("status={} vendor_error={} hca {}", status, first.integer("vendor_error").value_or(0), hca)));
    finding.fix = {"ib_write_bw between the two hosts on these devices; ibstat on both; ibqueryerrors",
                   "RoCE: NCCL_IB_GID_INDEX of a RoCE v2 address on both (show_gids), PFC, same VLAN",
                   "a link that flaps: NCCL_IB_TIMEOUT=22 NCCL_IB_RETRY_CNT=13 live longer"};
    finding.consequences = {"nccl.peer-gone", "nccl.timeout"};
    if (const std::optional<double> gpus = gpus_of_job(observed, seen)) {
      finding.loss = whole_gpus_lost(*gpus, "ranks of the job, while it does not run");
    } else {
      finding.loss_unknown = "how many GPUs the job has is not known";
    }
    findings.push_back(std::move(finding));
  }
}

void timeouts(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    for (const FactRecord* const error : records_of(*seen.facts, "job_errors")) {
      const std::string_view message = error->text("message");
      if (!contains(message, "Watchdog caught collective operation timeout")) continue;
      const std::string_view operation = between(message, "OpType=", ",").value_or("");
      Finding finding =
          make_finding(rule, FindingSeverity::kHigh, job_of(seen),
                       fmt::format("{} timed out ({:g} ranks say so)", operation.empty() ? "a collective" : operation,
                                   error->number("count").value_or(1)));
      finding.cause =
          "A rank did not come: it died, hangs, waits for data, or runs another path. The others wait for it.";
      finding.confidence = 0.9;
      finding.evidence.push_back(evidence_of(seen, error->line, std::string(message.substr(0, 300))));
      finding.fix = {
          "find the rank that did not enter: TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and the flight recorder's dump",
          "on its host: dmesg for Xid, py-spy dump; a loader that stalls shows in its last log line"};
      finding.consequences = {"nccl.peer-gone"};
      if (const std::optional<double> gpus = gpus_of_job(observed, seen)) {
        finding.loss = whole_gpus_lost(*gpus, "ranks of the job, while it does not run");
      } else {
        finding.loss_unknown = "how many GPUs the job has is not known";
      }
      findings.push_back(std::move(finding));
      break;
    }
  }
}

void version_mismatch(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord* const versions = seen.facts->find_record("nccl_versions");
    if (versions == nullptr || versions->members().size() < 2) continue;
    std::set<std::string> bases;  // "2.21.5" of "2.21.5+cuda12.4"
    for (const auto& [name, count] : versions->members()) bases.insert(name.substr(0, name.find('+')));
    if (bases.size() < 2) continue;
    std::vector<std::string> names;
    Finding finding = make_finding(rule, FindingSeverity::kMedium, job_of(seen), "");
    for (const auto& [name, count] : versions->members()) {
      names.push_back(name);
      if (names.size() <= 4) finding.evidence.push_back(evidence_of(seen, count.line, "NCCL version " + name));
    }
    finding.title = fmt::format("ranks run different versions of NCCL: {}", list_names(names));
    finding.cause =
        "Images or libraries differ between nodes, or a process loads two. Versions do not talk to each other.";
    finding.expected = "one version";
    finding.measured = list_names(names);
    finding.confidence = 0.8;
    finding.fix = {"one image on all nodes; ldd and LD_LIBRARY_PATH: which libnccl.so does each rank load?",
                   "several jobs in one log are no mismatch: split it"};
    finding.consequences = {"nccl.init-incomplete", "nccl.mismatch"};
    finding.loss_unknown = "whether the job runs is not known";
    findings.push_back(std::move(finding));
  }
}

void init_incomplete(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const FactRecord& facts = *seen.facts;
    const double started = facts.number("inits_started").value_or(0),
                 complete = facts.number("inits_complete").value_or(0);
    // An excerpt may end while NCCL starts: only a log that goes on after it, or that has errors, shows a hang.
    const bool goes_on = facts.has("collectives") || facts.has("errors") || facts.has("job_errors") ||
                         facts.number("warning_count").value_or(0) > 0 || facts.has("aborts");
    if (started < 2 || complete >= started || (complete == 0 && !goes_on)) continue;
    if (!goes_on) continue;
    Finding finding =
        make_finding(rule, FindingSeverity::kMedium, job_of(seen),
                     fmt::format("{:g} of {:g} ranks never finished to initialise", started - complete, started));
    finding.cause = "They wait for ranks that did not come, cannot be reached or failed.";
    finding.expected = fmt::format("{:g} Init COMPLETE", started);
    finding.measured = fmt::format("{:g}", complete);
    finding.confidence = 0.6;
    finding.evidence.push_back(evidence_of(seen, line_of_fact(facts, "inits_started"),
                                           fmt::format("{:g} Init START, {:g} Init COMPLETE", started, complete)));
    finding.fix = {"which ranks are missing: grep 'Init COMPLETE' and sort by rank",
                   "on their hosts: same world size, same MASTER_ADDR, open ports"};
    finding.loss_unknown = "whether the log is whole is not known";
    findings.push_back(std::move(finding));
  }
}

void init_slow(const Rule& rule, const Observed& observed, std::vector<Finding>& findings) {
  for (const Seen& seen : observed.of_format("NCCL_DEBUG log")) {
    const std::optional<double> most = seen.facts->number("init_time_most_s");
    if (!most || *most < kSlowInitS) continue;
    Finding finding = make_finding(rule, FindingSeverity::kLow, job_of(seen),
                                   fmt::format("a communicator took {:.0f} s to initialise", *most));
    finding.cause = "Ranks came late, or the start goes over a slow path (DNS, file system, thousands of sockets).";
    finding.expected = "a few seconds; some 20 s for thousands of ranks";
    finding.measured = fmt::format("{:.0f} s", *most);
    finding.confidence = 0.7;
    finding.evidence.push_back(evidence_of(seen, line_of_fact(*seen.facts, "init_time_most_s"), "Init timings"));
    finding.fix = {"the line's parts say where: bootstrap means late ranks, kernels means loading of modules",
                   "NCCL 2.20 and later start faster; NCCL_OOB_NET_ENABLE=1 takes the fast network for it"};
    finding.loss_unknown = "how often the job starts is not known";
    findings.push_back(std::move(finding));
  }
}

constexpr const char* kTroubleshooting = "docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html";

constexpr Rule kRules[] = {
    {"nccl.completion-error", "A work request of the NIC failed",
     "Got completion with status 12 and the like: the job stops. The status says who did not answer.", kTroubleshooting,
     completion_errors},
    {"nccl.timeout", "A collective timed out", "One rank that is missing stops all.", kTroubleshooting, timeouts},
    {"nccl.version-mismatch", "Ranks with different NCCL", "Two versions of NCCL in one job hang or fail.",
     kTroubleshooting, version_mismatch},
    {"nccl.init-incomplete", "Ranks that never finished to initialise", "A communicator waits for its last rank.",
     kTroubleshooting, init_incomplete},
    {"nccl.init-slow", "A slow start", "Minutes of a whole job at every start and every restart.", kTroubleshooting,
     init_slow},
    {"nccl.port-event", "An event of the port during the job", "The adapter says that its port or itself failed.",
     kTroubleshooting, known_messages},
    {"nccl.memlock", "Memory cannot be registered", "RDMA needs locked memory.", kTroubleshooting, known_messages},
    {"nccl.shm-space", "/dev/shm is too small", "Docker's 64 MB do not hold NCCL's segments.", kTroubleshooting,
     known_messages},
    {"nccl.duplicate-gpu", "Two ranks on one GPU", "NCCL refuses to start.", kTroubleshooting, known_messages},
    {"nccl.mismatch", "Ranks that disagree", "Different sizes or collectives: a hang or wrong results.",
     kTroubleshooting, known_messages},
    {"nccl.nvls-failure", "NVLink SHARP fails", "Multicast of the NVSwitches is broken or used up.", kTroubleshooting,
     known_messages},
    {"nccl.connection", "A rank cannot be reached", "Refused, timed out, no route, no interface.", kTroubleshooting,
     known_messages},
    {"nccl.gpu-error", "A GPU error that NCCL shows", "The first CUDA call that notices is often NCCL's.",
     kTroubleshooting, known_messages},
    {"nccl.peer-gone", "A connection that the other side closed", "A consequence: the cause is in another rank's log.",
     kTroubleshooting, known_messages},
    {"nccl.system-setting", "A setting of the system that RCCL asks for", "iommu=pt and NUMA balancing.",
     "rocm.docs.amd.com/en/latest/how-to/system-optimization", known_messages},
    {"nccl.warning", "Other warnings of NCCL", "WARN lines that no other rule knows.", kTroubleshooting,
     other_warnings},
};

}  // namespace

std::span<const Rule> network_message_rules() { return kRules; }

}  // namespace tare
