#include "rule_case.h"

namespace tare {
namespace {

constexpr auto kInfo = FindingSeverity::kInfo;
constexpr auto kLow = FindingSeverity::kLow;
constexpr auto kMedium = FindingSeverity::kMedium;
constexpr auto kHigh = FindingSeverity::kHigh;

// A node of "scontrol show node".
std::string node(const std::string& name, const std::string& state, const std::string& gres, const std::string& reason,
                 const std::string& more = "") {
  std::string text = "NodeName=" + name + " Arch=x86_64 CoresPerSocket=24\n   CPUAlloc=0 CPUEfctv=96 CPUTot=96\n" +
                     "   Gres=" + gres + "\n   NodeAddr=" + name + " NodeHostName=" + name +
                     "\n   RealMemory=700000 AllocMem=0 FreeMem=690000 Sockets=2 Boards=1\n   State=" + state +
                     " ThreadsPerCore=2\n   Partitions=train\n" + more;
  if (!reason.empty()) text += "   Reason=" + reason + " [slurm@2025-03-02T08:11:00]\n";
  return text + "\n";
}

std::string drained(const std::string& reason) { return node("b7", "IDLE+DRAIN", "gpu:h100:4", reason); }

const char* const kWell = "b7";
std::string well() { return node(kWell, "MIXED", "gpu:h100:4", "", "   CfgTRES=cpu=96,mem=700000M,gres/gpu=4\n"); }

const char* const kSilentLog =
    "[2025-04-01T07:00:00.100] error: Nodes b7 not responding, setting DOWN\n"
    "[2025-04-01T07:00:05.100] sched: Allocate JobId=31 NodeList=b8 #CPUs=4 Partition=train\n";
const char* const kBackAgainLog =
    "[2025-04-01T07:00:00.100] error: Nodes b7 not responding\n"
    "[2025-04-01T07:03:00.100] Node b7 now responding\n";

const char* const kDrainedPartition =
    "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
    "a100-big     up 3-00:00:00      5  drain q[01-05]\n"
    "a100-big     up 3-00:00:00      3   idle q[06-08]\n";
const char* const kOneSpareOut =
    "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
    "a100-big     up 3-00:00:00      1   down q01\n"
    "a100-big     up 3-00:00:00     39  alloc q[02-40]\n";
const char* const kCloudAsleep =
    "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
    "gpu*         up 3-00:00:00     16  idle~ q[01-16]\n";

std::vector<RuleCase> node_cases() {
  return {
      {"slurm.gres-count",
       "OneOfFourGone",
       {{"node.txt", drained("gres/gpu count reported lower than configured (3 < 4)")}},
       true,
       kHigh,
       "b7",
       "4 GPUs"},
      {"slurm.gres-count",
       "InTheLog",
       {{"ctld.log",
         "[2025-04-01T07:00:00.100] error: Setting node b7 state to INVAL with reason:gres/gpu count reported lower "
         "than "
         "configured (7 < 8)\n"}},
       true,
       kHigh,
       "b7",
       "7 of 8"},
      {"slurm.gres-count",
       "LeftByGrep",
       {{"node.txt",
         "NodeName=b6 CoresPerSocket=48\n   Gres=gpu:h200:8\n   CfgTRES=cpu=192,gres/gpu=8\n"
         "   Reason=gres/gpu count reported lower than configured (6 < 8) [slurm@2026-01-02T03:04:05]\n"}},
       true,
       kHigh,
       "b6",
       "8 GPUs"},
      {"slurm.gres-count", "OtherReason", {{"node.txt", drained("Kill task failed")}}, false},
      {"slurm.real-memory", "Drained", {{"node.txt", drained("Low RealMemory")}}, true, kHigh, "b7", "less memory"},
      {"slurm.real-memory",
       "InTheLog",
       {{"ctld.log", "[2025-04-01T07:00:00.100] error: Node b7 has low real_memory size (515000 < 515500)\n"}},
       true,
       kHigh,
       "b7",
       "515000 of 515500 MB"},
      {"slurm.real-memory", "Well", {{"node.txt", well()}}, false},
      {"slurm.hardware-differs",
       "FlatInSlurmConf",
       {{"slurmd.log",
         "slurmd: error: Node configuration differs from hardware: CPUs=64:64(hw) Boards=1:1(hw) "
         "SocketsPerBoard=64:2(hw) CoresPerSocket=1:16(hw) ThreadsPerCore=1:2(hw)\n"}},
       true,
       kMedium,
       "",
       "otherwise"},
      {"slurm.hardware-differs", "Well", {{"node.txt", well()}}, false},
      {"slurm.kill-task",
       "Drained",
       {{"node.txt", drained("Kill task failed")}},
       true,
       kHigh,
       "b7",
       "could not be killed"},
      {"slurm.kill-task", "Well", {{"node.txt", well()}}, false},
      {"slurm.prolog", "Drained", {{"node.txt", drained("Prolog error")}}, true, kHigh, "b7", "prolog"},
      {"slurm.prolog", "Well", {{"node.txt", well()}}, false},
      {"slurm.gpu-reason", "Xid", {{"node.txt", drained("Xid 79 on GPU 2")}}, true, kHigh, "b7", "Xid 79"},
      {"slurm.gpu-reason", "WorkOnGpus", {{"node.txt", drained("GPU firmware upgrade")}}, false},
      {"slurm.rebooted", "Down", {{"node.txt", drained("Node unexpectedly rebooted")}}, true, kHigh, "b7", "rebooted"},
      {"slurm.rebooted", "Well", {{"node.txt", well()}}, false},
      {"slurm.not-responding", "InTheLog", {{"ctld.log", kSilentLog}}, true, kMedium, "b7", "does not respond"},
      {"slurm.not-responding", "BackAgain", {{"ctld.log", kBackAgainLog}}, false},
      {"slurm.node-out",
       "NoGpus",
       {{"node.txt", node("c3", "DOWN", "(null)", "waits for a disk")}},
       true,
       kLow,
       "c3",
       "disk"},
      {"slurm.node-out", "FourGpus", {{"node.txt", drained("cannot mount scratch")}}, true, kHigh, "b7", "out of use"},
      {"slurm.node-out", "Planned", {{"node.txt", drained("maintenance window")}}, true, kLow, "b7", "for work on it"},
      {"slurm.node-out",
       "Draining",
       {{"node.txt", node("b7", "MIXED+DRAIN", "gpu:h100:4", "swap a cable")}},
       true,
       kLow,
       "b7",
       "draining"},
      {"slurm.node-out",
       "StateOfSlurmConf",
       {{"slurm.conf", "NodeName=b[1-4] CPUs=96 RealMemory=700000 Gres=gpu:h100:4 State=UNKNOWN\n"}},
       false},
      {"slurm.node-out", "Well", {{"node.txt", well()}}, false},
      {"slurm.idle-with-drain",
       "Drained",
       {{"node.txt", drained("cannot mount scratch")}},
       true,
       kInfo,
       "b7",
       "IDLE+DRAIN"},
      {"slurm.idle-with-drain", "IdleInACloud", {{"node.txt", node("b7", "IDLE+CLOUD", "gpu:h100:4", "")}}, false},
      {"slurm.nodes-unavailable", "FiveOfEight", {{"sinfo.txt", kDrainedPartition}}, true, kHigh, "a100-big", "5 of 8"},
      {"slurm.nodes-unavailable", "OneOfForty", {{"sinfo.txt", kOneSpareOut}}, true, kLow, "a100-big", "1 of 40"},
      {"slurm.nodes-unavailable", "CloudNodesAsleep", {{"sinfo.txt", kCloudAsleep}}, false},
  };
}

const char* const kNoGresNode =
    "Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-23\n\n"
    "NodeName=b9 Arch=x86_64 CoresPerSocket=24\n   CPUAlloc=0 CPUEfctv=96 CPUTot=96\n   Gres=(null)\n"
    "   NodeAddr=b9 NodeHostName=b9\n   State=IDLE ThreadsPerCore=2\n";
const char* const kIgnored =
    "[2025-05-01T01:02:03] warning: The following autodetected GPUs are being ignored:\n"
    "[2025-05-01T01:02:03]     GRES[gpu] Type:nvidia_l40s Count:1 Cores(64):0-31 Links:(null) Flags:HAS_FILE "
    "File:/dev/nvidia0\n"
    "[2025-05-01T01:02:03]     GRES[gpu] Type:nvidia_l40s Count:1 Cores(64):32-63 Links:(null) Flags:HAS_FILE "
    "File:/dev/nvidia1\n";
const char* const kDetected =
    "slurmd: GRES[gpu] Type:nvidia_l40s Count:1 Cores(64):0-31 Links:(null) Flags:HAS_FILE File:/dev/nvidia0\n";
const char* const kThreads =
    "NodeName=b1 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=512000\n"
    "Name=gpu Type=a30 File=/dev/nvidia0 Cores=0-15,32-47\n"
    "Name=gpu Type=a30 File=/dev/nvidia1 Cores=16-31,48-63\n";
const char* const kCores =
    "NodeName=b1 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=512000\n"
    "Name=gpu Type=a30 File=/dev/nvidia0 Cores=0-15\n"
    "Name=gpu Type=a30 File=/dev/nvidia1 Cores=16-31\n";
const char* const kUnbound =
    "Name=gpu Type=l4 File=/dev/nvidia0\n"
    "Name=gpu Type=l4 File=/dev/nvidia1\n";
const char* const kDetects = "AutoDetect=nvml\nName=gpu Type=l4 File=/dev/nvidia[0-1]\n";
const char* const kCountsDiffer =
    "NodeName=x[1-2] CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=512000 Gres=gpu:a100:8 "
    "State=UNKNOWN\n"
    "Name=gpu Type=a100 File=/dev/nvidia[0-5] Cores=0-31\n";
const char* const kCountsAgree =
    "NodeName=x[1-2] CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=512000 Gres=gpu:a100:8 "
    "State=UNKNOWN\n"
    "Name=gpu Type=a100 File=/dev/nvidia[0-7] Cores=0-31\n";

std::string busy(int cpus, int gpus) {
  return "NodeName=b5 Arch=x86_64 CoresPerSocket=32\n   CPUAlloc=" + std::to_string(cpus) +
         " CPUEfctv=64 CPUTot=64 CPULoad=60.1\n   Gres=gpu:a100:8\n   NodeAddr=b5 NodeHostName=b5\n"
         "   RealMemory=1000000 AllocMem=400000 FreeMem=500000 Sockets=2 Boards=1\n   State=MIXED ThreadsPerCore=1\n"
         "   CfgTRES=cpu=64,mem=1000000M,gres/gpu=8\n   AllocTRES=cpu=" +
         std::to_string(cpus) + ",mem=400000M,gres/gpu=" + std::to_string(gpus) + "\n";
}

const char* const kNoMemorySet =
    "NodeName=v1 Arch=x86_64 CoresPerSocket=8\n   CPUAlloc=0 CPUEfctv=16 CPUTot=16\n   Gres=gpu:t4:1\n   NodeAddr=v1\n"
    "   RealMemory=1 AllocMem=0 FreeMem=30000 Sockets=1 Boards=1\n   State=IDLE ThreadsPerCore=2\n";
const char* const kFlat =
    "NodeName=v2 Arch=x86_64 CoresPerSocket=1\n   CPUAlloc=0 CPUEfctv=96 CPUTot=96\n   Gres=gpu:a10g:4\n   "
    "NodeAddr=v2\n"
    "   RealMemory=370000 AllocMem=0 FreeMem=360000 Sockets=96 Boards=1\n   State=IDLE ThreadsPerCore=1\n";

std::vector<RuleCase> gres_cases() {
  return {
      {"slurm.no-gres", "GresConfListsFour", {{"all.txt", kNoGresNode}}, true, kHigh, "b9", "4 GPUs"},
      {"slurm.no-gres", "CpuNode", {{"node.txt", node("c1", "IDLE", "(null)", "")}}, false},
      {"slurm.autodetect-ignored", "Both", {{"slurmd.log", kIgnored}}, true, kHigh, "", "2 GPUs"},
      {"slurm.autodetect-ignored", "Used", {{"slurmd.log", kDetected}}, false},
      {"slurm.autodetect-broken",
       "DeviceGone",
       {{"slurmd.log",
         "[2025-05-01T01:02:03] fatal: can't stat gres.conf file /dev/nvidia3: No such file or directory\n"}},
       true,
       kHigh,
       "",
       "not there"},
      {"slurm.autodetect-broken", "Finds", {{"slurmd.log", kDetected}}, false},
      {"slurm.gres-cores", "SecondThreads", {{"conf.txt", kThreads}}, true, kMedium, "", "47 of 32"},
      {"slurm.gres-cores", "CoresOnly", {{"conf.txt", kCores}}, false},
      {"slurm.gres-no-cores", "FilesOnly", {{"gres.conf", kUnbound}}, true, kLow, "", "2 GPUs"},
      {"slurm.gres-no-cores", "AutoDetect", {{"gres.conf", kDetects}}, false},
      {"slurm.gres-no-cores", "Cores", {{"conf.txt", kCores}}, false},
      {"slurm.gres-conf-differs",
       "SixOfEight",
       {{"conf.txt", kCountsDiffer}},
       true,
       kHigh,
       "x1",
       "6 GPUs, slurm.conf 8"},
      {"slurm.gres-conf-differs", "Agree", {{"conf.txt", kCountsAgree}}, false},
      {"slurm.gpus-stranded", "NoCpuLeft", {{"node.txt", busy(64, 5)}}, true, kMedium, "b5", "3 of 8 GPUs"},
      {"slurm.gpus-stranded", "CpusLeft", {{"node.txt", busy(40, 5)}}, false},
      {"slurm.gpus-stranded", "AllGiven", {{"node.txt", busy(64, 8)}}, false},
      {"slurm.memory-unset", "OneMegabyte", {{"node.txt", kNoMemorySet}}, true, kLow, "v1", "RealMemory=1"},
      {"slurm.memory-unset", "Set", {{"node.txt", kFlat}}, false},
      {"slurm.cores-flat", "NinetySixSockets", {{"node.txt", kFlat}}, true, kLow, "v2", "96 sockets"},
      {"slurm.cores-flat", "OneSocket", {{"node.txt", kNoMemorySet}}, false},
  };
}

const char* const kOpenDevices = "ClusterName=big\nGresTypes=gpu\nConstrainDevices=no\nConstrainCores=yes\n";
const char* const kClosedDevices =
    "ClusterName=big\nGresTypes=gpu\nConstrainDevices=yes\nSelectType=select/cons_tres\n"
    "TaskPlugin=task/cgroup,task/affinity\nAccountingStorageTRES=gres/gpu,gres/gpu:h100\n";
const char* const kOldConf =
    "ClusterName=big\nGresTypes=gpu\nSelectType=select/linear\nTaskPlugin=task/none\nAccountingStorageTRES=license/x\n";
const char* const kShortBlock = "BlockName=r1 Nodes=n[001-018]\nBlockName=r2 Nodes=n[101-112]\nBlockSizes=16,32\n";
const char* const kWholeBlocks = "BlockName=r1 Nodes=n[001-018]\nBlockName=r2 Nodes=n[101-116]\nBlockSizes=16,32\n";
const char* const kTwoRoots =
    "SwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8]\nSwitchName=leaf3 Nodes=n[9-12]\n"
    "SwitchName=spine Switches=leaf[1-2]\n";
const char* const kOneRoot =
    "SwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8]\nSwitchName=spine Switches=leaf[1-2]\n";
const char* const kEightGpuNodes =
    "$ sinfo -N -o '%N %P %T %G'\n"
    "NODELIST PARTITION STATE GRES\n"
    "n1 train idle gpu:h100:8\n"
    "n2 train idle gpu:h100:8\n"
    "n40 train idle gpu:h100:8\n";
const char* const kListedNodes =
    "$ sinfo -N -o '%N %P %T %G'\n"
    "NODELIST PARTITION STATE GRES\n"
    "n1 train idle gpu:h100:8\n"
    "n2 train idle gpu:h100:8\n";

std::vector<RuleCase> config_cases() {
  return {
      {"slurm.devices-open", "No", {{"conf.txt", kOpenDevices}}, true, kMedium, "big", "ConstrainDevices=no"},
      {"slurm.devices-open", "Yes", {{"conf.txt", kClosedDevices}}, false},
      {"slurm.gpus-unaccounted", "OtherTres", {{"conf.txt", kOldConf}}, true, kLow, "big", "gres/gpu"},
      {"slurm.gpus-unaccounted", "Accounted", {{"conf.txt", kClosedDevices}}, false},
      {"slurm.select-linear", "Linear", {{"conf.txt", kOldConf}}, true, kLow, "big", "select/linear"},
      {"slurm.select-linear", "ConsTres", {{"conf.txt", kClosedDevices}}, false},
      {"slurm.no-binding", "None", {{"conf.txt", kOldConf}}, true, kLow, "big", "TaskPlugin"},
      {"slurm.no-binding", "Cgroup", {{"conf.txt", kClosedDevices}}, false},
      {"slurm.block-small", "TwelveOfSixteen", {{"topology.conf", kShortBlock}}, true, kMedium, "r2", "12 nodes"},
      {"slurm.block-small", "Whole", {{"topology.conf", kWholeBlocks}}, false},
      {"slurm.tree-apart", "LeafAlone", {{"topology.conf", kTwoRoots}}, true, kLow, "", "2 switches"},
      {"slurm.tree-apart", "OneSpine", {{"topology.conf", kOneRoot}}, false},
      {"slurm.topology-lacks",
       "OneNode",
       {{"topology.conf", kOneRoot}, {"sinfo.txt", kEightGpuNodes}},
       true,
       kMedium,
       "n40",
       "1 GPU nodes"},
      {"slurm.topology-lacks", "AllThere", {{"topology.conf", kOneRoot}, {"sinfo.txt", kListedNodes}}, false},
  };
}

std::string sacct(const std::string& rows) { return "JobID|User|State|Elapsed|Start|End|AllocTRES\n" + rows; }
const char* const kTwoDays =
    "40|eva|COMPLETED|1-00:00:00|2025-02-01T00:00:00|2025-02-02T00:00:00|cpu=32,gres/gpu=4,gres/gpu:a100=4\n";
const char* const kFailed = "41|udo|FAILED|12:00:00|2025-02-02T12:00:00|2025-02-03T00:00:00|cpu=32,gres/gpu=4\n";
const char* const kTimeout = "42|udo|TIMEOUT|12:00:00|2025-02-02T12:00:00|2025-02-03T00:00:00|cpu=32,gres/gpu=4\n";
const char* const kCancelled =
    "43|udo|CANCELLED by 1001|12:00:00|2025-02-02T12:00:00|2025-02-03T00:00:00|cpu=32,gres/gpu=4\n";
const char* const kNodeFail = "44|udo|NODE_FAIL|06:00:00|2025-02-02T12:00:00|2025-02-02T18:00:00|cpu=32,gres/gpu=4\n";
const char* const kOom = "45|udo|OUT_OF_MEMORY|00:20:00|2025-02-02T12:00:00|2025-02-02T12:20:00|cpu=32,gres/gpu=4\n";
const char* const kFourHours = "47|eva|COMPLETED|04:00:00|2025-02-02T12:00:00|2025-02-02T16:00:00|cpu=8,gres/gpu=1\n";
const char* const kShortFail = "46|udo|FAILED|00:05:00|2025-02-02T12:00:00|2025-02-02T12:05:00|cpu=32,gres/gpu=4\n";

std::string job(const std::string& restarts, const std::string& state, const std::string& reason, int cpus = 64) {
  return "JobId=812 JobName=pretrain\n   UserId=eva(1001) GroupId=eva(1001)\n   JobState=" + state +
         " Reason=" + reason + " Dependency=(null)\n   Requeue=1 Restarts=" + restarts +
         " BatchFlag=1\n   RunTime=00:00:00 TimeLimit=2-00:00:00\n   NumNodes=1 NumCPUs=" + std::to_string(cpus) +
         " NumTasks=8\n   TRES=cpu=" + std::to_string(cpus) +
         ",mem=500G,node=1,gres/gpu=8\n   TresPerNode=gpu:h100:8\n";
}

const char* const kShortJobs =
    "JobID|State|Elapsed|Timelimit|AllocTRES\n"
    "1|COMPLETED|00:30:00|2-00:00:00|gres/gpu=1\n2|COMPLETED|00:20:00|2-00:00:00|gres/gpu=1\n"
    "3|COMPLETED|01:30:00|2-00:00:00|gres/gpu=1\n4|COMPLETED|00:31:00|2-00:00:00|gres/gpu=1\n"
    "5|COMPLETED|02:30:00|2-00:00:00|gres/gpu=1\n6|COMPLETED|1-20:30:00|2-00:00:00|gres/gpu=1\n";
const char* const kFittingJobs =
    "JobID|State|Elapsed|Timelimit|AllocTRES\n"
    "1|COMPLETED|1-10:30:00|2-00:00:00|gres/gpu=1\n2|COMPLETED|00:20:00|00:30:00|gres/gpu=1\n"
    "3|COMPLETED|01:30:00|04:00:00|gres/gpu=1\n4|COMPLETED|00:31:00|01:00:00|gres/gpu=1\n"
    "5|COMPLETED|02:30:00|06:00:00|gres/gpu=1\n";
const char* const kAsleep =
    "JobID|State|Elapsed|TotalCPU|AllocTRES\n"
    "77|COMPLETED|08:00:00|00:01:10|cpu=16,gres/gpu=2\n";
const char* const kAwake =
    "JobID|State|Elapsed|TotalCPU|AllocTRES\n"
    "77|COMPLETED|08:00:00|20:01:10|cpu=16,gres/gpu=2\n";

std::vector<RuleCase> job_cases() {
  const std::string two_days = kTwoDays;
  return {
      {"slurm.node-failed-jobs",
       "One",
       {{"sacct.txt", sacct(two_days + kNodeFail)}},
       true,
       kMedium,
       "job 44",
       "the node"},
      {"slurm.node-failed-jobs", "OwnFault", {{"sacct.txt", sacct(two_days + kFailed)}}, false},
      {"slurm.failed-hours",
       "OneOfTwoJobs",
       {{"sacct.txt", sacct(two_days + kFailed)}},
       true,
       kLow,
       "job 41",
       "48 of 144"},
      {"slurm.failed-hours",
       "AThirdOfSixJobs",
       {{"sacct.txt", sacct(two_days + kFailed + kFourHours + kFourHours + kFourHours + kFourHours)}},
       true,
       kMedium,
       "job 41",
       "48 of 160"},
      {"slurm.failed-hours", "FiveMinutes", {{"sacct.txt", sacct(two_days + kShortFail)}}, false},
      {"slurm.timeout-hours",
       "AThird",
       {{"sacct.txt", sacct(two_days + kTimeout)}},
       true,
       kLow,
       "job 42",
       "time limit"},
      {"slurm.timeout-hours", "None", {{"sacct.txt", sacct(two_days)}}, false},
      {"slurm.cancelled-hours",
       "AThird",
       {{"sacct.txt", sacct(two_days + kCancelled)}},
       true,
       kLow,
       "job 43",
       "cancelled"},
      {"slurm.cancelled-hours", "None", {{"sacct.txt", sacct(two_days)}}, false},
      {"slurm.out-of-memory", "One", {{"sacct.txt", sacct(two_days + kOom)}}, true, kLow, "job 45", "host memory"},
      {"slurm.out-of-memory", "None", {{"sacct.txt", sacct(two_days)}}, false},
      {"slurm.requeued", "SevenTimes", {{"job.txt", job("7", "RUNNING", "None")}}, true, kMedium, "job 812", "7 times"},
      {"slurm.requeued", "Once", {{"job.txt", job("1", "RUNNING", "None")}}, false},
      {"slurm.never-starts",
       "NoSuchNode",
       {{"job.txt", job("0", "PENDING", "BadConstraints")}},
       true,
       kMedium,
       "job 812",
       "no node has"},
      {"slurm.never-starts", "InLine", {{"job.txt", job("0", "PENDING", "Priority")}}, false},
      {"slurm.request-impossible",
       "EightOfFour",
       {{"all.txt", job("0", "PENDING", "Resources") + "\n" + well()}},
       true,
       kMedium,
       "job 812",
       "the 4 of any"},
      {"slurm.request-impossible", "NodesNotTold", {{"job.txt", job("0", "PENDING", "Resources")}}, false},
      {"slurm.few-cpus",
       "OneEach",
       {{"job.txt", job("0", "RUNNING", "None", 8)}},
       true,
       kLow,
       "job 812",
       "fewer than 2"},
      {"slurm.few-cpus", "EightEach", {{"job.txt", job("0", "RUNNING", "None", 64)}}, false},
      {"slurm.limits-long", "FiveOfSix", {{"sacct.txt", kShortJobs}}, true, kLow, "", "5 of 6"},
      {"slurm.limits-long", "Fitting", {{"sacct.txt", kFittingJobs}}, false},
      {"slurm.held-idle", "Asleep", {{"sacct.txt", kAsleep}}, true, kMedium, "job 77", "nearly nothing"},
      {"slurm.held-idle", "Awake", {{"sacct.txt", kAwake}}, false},
  };
}

const char* const kSteps =
    "JobID|State|AllocTRES\n"
    "9|COMPLETED|cpu=8,gres/gpu:l40s=2,gres/gpu=2\n9.batch|COMPLETED|cpu=8,gres/gpu:l40s=2,gres/gpu=2\n";
const char* const kNoSteps = "JobID|State|AllocTRES\n9|COMPLETED|cpu=8,gres/gpu=2\n";
const char* const kSqueue =
    "$ squeue -o '%i %T %b'\nJOBID STATE TRES_PER_NODE\n31 RUNNING N/A\n32 RUNNING gres/gpu:4\n";
const char* const kSqueueTold = "$ squeue -o '%i %T %b'\nJOBID STATE TRES_PER_NODE\n32 RUNNING gres/gpu:4\n";
const char* const kTwoPartitions =
    "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
    "long         up 3-00:00:00      4   idle z[1-4]\n"
    "short        up 0-04:00:00      6   idle z[1-6]\n";
const char* const kOnePartition =
    "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
    "long         up 3-00:00:00      4   idle z[1-4]\n";
const char* const kShards = "$ sinfo -N -o '%N %T %G'\nNODELIST STATE GRES\ny1 idle gpu:l4:2,shard:16\n";
const char* const kGpusOnly = "$ sinfo -N -o '%N %T %G'\nNODELIST STATE GRES\ny1 idle gpu:l4:2\n";
const char* const kCutJson =
    "{\"jobs\": [{\"job_id\": 12, \"association\": {\"user\": \"a\"}, \"allocation_nodes\": 1, \"state\": "
    "{\"current\": \"RUNNING\"";
const char* const kWholeJson =
    "{\"jobs\": [{\"job_id\": 12, \"association\": {\"user\": \"a\"}, \"allocation_nodes\": 1, \"state\": "
    "{\"current\": "
    "\"RUNNING\"}}]}";

std::vector<RuleCase> reading_cases() {
  return {
      {"slurm.count-once", "TypedAndBatch", {{"sacct.txt", kSteps}}, true, kInfo, "", "more than once"},
      {"slurm.count-once", "OneRow", {{"sacct.txt", kNoSteps}}, false},
      {"slurm.gres-hidden", "Na", {{"squeue.txt", kSqueue}}, true, kInfo, "", "N/A"},
      {"slurm.gres-hidden", "Told", {{"squeue.txt", kSqueueTold}}, false},
      {"slurm.nodes-repeat", "FourOfSix", {{"sinfo.txt", kTwoPartitions}}, true, kInfo, "", "4 of 6 nodes"},
      {"slurm.nodes-repeat", "OnePartition", {{"sinfo.txt", kOnePartition}}, false},
      {"slurm.other-gres", "Shards", {{"sinfo.txt", kShards}}, true, kInfo, "", "shard"},
      {"slurm.other-gres", "GpusOnly", {{"sinfo.txt", kGpusOnly}}, false},
      {"slurm.input-cut", "InAnObject", {{"sacct.json", kCutJson}}, true, kLow, "", "cut off"},
      {"slurm.input-cut", "Whole", {{"sacct.json", kWholeJson}}, false},
  };
}

}  // namespace

std::span<const RuleCase> slurm_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> all;
    for (const auto part : {node_cases, gres_cases, config_cases, job_cases, reading_cases}) {
      const std::vector<RuleCase> some = part();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return cases;
}

}  // namespace tare
