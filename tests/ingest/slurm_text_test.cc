#include "ingest/slurm_text.h"

#include <gtest/gtest.h>

#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  static const FactRecord none;
  const std::vector<Fact>* const items = facts.find_list(list);
  if (items == nullptr || index >= items->size() || (*items)[index].as_record() == nullptr) return none;
  return *(*items)[index].as_record();
}

std::size_t size(const FactRecord& facts, std::string_view list) {
  const std::vector<Fact>* const items = facts.find_list(list);
  return items == nullptr ? 0 : items->size();
}

TEST(SlurmText, KeepsWhatAReportWritesBehindGres) {
  const FileFacts file = read_text(
      "NodeName=k1 Arch=x86_64 CoresPerSocket=16\n"
      "   CPUAlloc=0 CPUEfctv=64 CPUTot=64\n"
      "   Gres=(null) <--- four GPUs are missing here\n"
      "   NodeAddr=k1 State=IDLE\n");
  const FactRecord& node = item(facts_of(file), "nodes", 0);
  EXPECT_TRUE(node.find("gres")->is_unknown());
  EXPECT_EQ(node.text("gres_note"), "four GPUs are missing here");
}

TEST(SlurmText, NodesOfSeveralPartitionsAreCountedOnce) {
  const FileFacts file = read_text(
      "[ops@head ~]$ sinfo\n"
      "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
      "train*       up 3-00:00:00      4  alloc g[01-04]\n"
      "train*       up 3-00:00:00      1 drain* g05\n"
      "all          up   infinite      5  alloc g[01-04],c1\n");
  EXPECT_EQ(kind_of(file), "slurm");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("node_count"), 6);
  EXPECT_EQ(facts.find_record("nodes_by_state")->integer("allocated"), 5);
  EXPECT_EQ(facts.find_record("nodes_by_state")->integer("drained"), 1);
  const FactRecord& drained = item(facts, "groups", 1);
  EXPECT_EQ(drained.line, 4);
  EXPECT_EQ(drained.text("state"), "drain*");
  EXPECT_EQ(drained.find_list("state_flags")->front().text(), "not responding");
  EXPECT_EQ(item(facts, "partitions", 0).text("name"), "train");
  EXPECT_EQ(item(facts, "partitions", 0).integer("time_limit_s"), 259200);
  EXPECT_FALSE(item(facts, "partitions", 1).has("time_limit_s"));
}

TEST(SlurmText, ReasonsWithBlanksStandInTheirColumn) {
  const FactRecord facts =
      facts_of(read_text("REASON               USER      TIMESTAMP           NODELIST\n"
                         "NVLink errors seen   root      2026-02-03T04:05:06 g[07-08]\n"
                         "Not responding       slurm     2026-02-04T04:05:06 g11\n"));
  EXPECT_EQ(item(facts, "groups", 0).text("reason"), "NVLink errors seen");
  EXPECT_EQ(item(facts, "groups", 0).text("reason_user"), "root");
  EXPECT_EQ(item(facts, "groups", 1).text("node_list"), "g11");
  EXPECT_EQ(facts.integer("node_count"), 3);
}

TEST(SlurmText, EmptyCellsOfSacctByItsDashes) {
  const FactRecord facts =
      facts_of(read_text("JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
                         "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
                         "71              pretrain      train                    96 OUT_OF_ME+    0:125 \n"
                         "71.batch          batch                 lab-a         96 OUT_OF_ME+    0:125 \n"));
  const FactRecord& job = item(facts, "jobs", 0);
  EXPECT_EQ(facts.integer("job_count"), 1);
  EXPECT_EQ(facts.integer("step_count"), 1);
  EXPECT_EQ(job.integer("job_id"), 71);
  EXPECT_TRUE(job.find("account")->is_unknown());
  EXPECT_EQ(job.integer("cpus"), 96);
  EXPECT_EQ(job.text("state"), "OUT_OF_ME+");
}

TEST(SlurmText, GpusOfAnAllocationAreCountedOnce) {
  const FactRecord facts =
      facts_of(read_text("JobID|Elapsed|State|AllocTRES|\n"
                         "500|02:00:00|COMPLETED|cpu=16,gres/gpu:h100=8,gres/gpu=8,mem=1T,node=1|\n"
                         "500.batch|02:00:00|COMPLETED|cpu=16,gres/gpu:h100=8,gres/gpu=8|\n"
                         "501_[3-9%2]|00:00:00|PENDING||\n"));
  EXPECT_EQ(facts.find_record("gpus_by_job_state")->integer("COMPLETED"), 8);
  EXPECT_EQ(facts.number("gpu_h"), 16);
  EXPECT_EQ(item(facts, "jobs", 0).text("gpu_type"), "h100");
  EXPECT_EQ(item(facts, "jobs", 1).text("job_id"), "501_[3-9%2]");
  EXPECT_FALSE(item(facts, "jobs", 1).has("gpus"));
}

TEST(SlurmText, WithoutHeadingsTheCommandNamesTheColumns) {
  const FactRecord facts =
      facts_of(read_text("$ squeue -h -o '%A|%T|%D|%b|%R'\n"
                         "90|RUNNING|2|gres:gpu:a100:4|g[01-02]\n"
                         "91|PENDING|1|N/A|(Resources)\n"));
  EXPECT_EQ(item(facts, "jobs", 0).integer("per_node_gpus"), 4);
  EXPECT_EQ(item(facts, "jobs", 0).text("node_list"), "g[01-02]");
  EXPECT_EQ(item(facts, "jobs", 1).text("reason"), "Resources");
  EXPECT_TRUE(item(facts, "jobs", 1).find("tres_per_node")->is_unknown());
}

TEST(SlurmText, ANodeThatReportsFewerGpus) {
  const FileFacts file = read_text(
      "NodeName=g9 Arch=x86_64 CoresPerSocket=48\n"
      "   CPUAlloc=0 CPUTot=192 CPULoad=0.10\n"
      "   Gres=gpu:h200:8(S:0-1),tmp:900G\n"
      "   NodeAddr=g9 Version=23.11.4\n"
      "   OS=Linux 6.1.0 #1 SMP x=y\n"
      "   State=IDLE+DRAIN ThreadsPerCore=2\n"
      "   CfgTRES=cpu=192,mem=2000000M,gres/gpu=8\n"
      "\n"
      "   Reason=gres/gpu count reported lower than configured (6 < 8) [slurm@2026-01-02T03:04:05]\n");
  const FactRecord& facts = facts_of(file);
  const FactRecord& node = item(facts, "nodes", 0);
  EXPECT_EQ(facts.text("slurm_version"), "23.11.4");
  EXPECT_EQ(node.integer("gpus"), 8);
  EXPECT_EQ(node.text("gpu_type"), "h200");
  EXPECT_EQ(node.text("state_name"), "idle+drain");
  EXPECT_EQ(node.text("os"), "Linux 6.1.0 #1 SMP x=y");
  EXPECT_EQ(node.integer("reason_reported"), 6);
  EXPECT_EQ(node.integer("reason_configured"), 8);
  EXPECT_EQ(node.text("reason_user"), "slurm");
  EXPECT_EQ(node.find("reason")->line, 9);
}

TEST(SlurmText, ConfigurationFiles) {
  const FactRecord facts =
      facts_of(read_text("ClusterName=west\n"
                         "GresTypes=gpu # and nothing else\n"
                         "SelectType=select/cons_tres\n"
                         "NodeName=g[01-16] Gres=gpu:b200:8 CPUs=224 \\\n"
                         "  RealMemory=2000000 State=UNKNOWN\n"
                         "PartitionName=train Nodes=g[01-16] Default=YES MaxTime=7-00:00:00\n"
                         "Name=gpu Type=b200 File=/dev/nvidia[0-7] Cores=0-55\n"
                         "AutoDetect=nvml\n"
                         "SwitchName=leaf1 Nodes=g[01-08]\n"
                         "SwitchName=leaf2 Nodes=g[09-16]\n"
                         "SwitchName=top Switches=leaf[1-2]\n"));
  EXPECT_EQ(facts.find_record("config")->text("cluster_name"), "west");
  EXPECT_EQ(facts.find_record("config")->text("gres_types"), "gpu");
  EXPECT_EQ(item(facts, "nodes", 0).integer("real_memory_mb"), 2000000);
  EXPECT_EQ(item(facts, "nodes", 0).integer("node_count"), 16);
  EXPECT_EQ(item(facts, "nodes", 0).text("source"), "slurm.conf");
  EXPECT_EQ(item(facts, "partitions", 0).integer("node_count"), 16);
  EXPECT_EQ(facts.integer("gres_conf_gpus"), 8);
  EXPECT_TRUE(std::get<bool>(facts.find("gres_conf_has_cores")->value));
  EXPECT_EQ(facts.text("auto_detect"), "nvml");
  EXPECT_EQ(facts.text("topology"), "tree");
  EXPECT_EQ(facts.integer("topology_nodes"), 16);
}

TEST(SlurmText, LogsSayWhatHappenedToWhichNode) {
  const FactRecord facts = facts_of(read_text(
      "Mar 03 01:02:03 head slurmctld[77]: slurmctld: error: Node g3 has low real_memory size (1900 < 2000)\n"
      "[2026-03-03T01:02:04.000] error: Setting node g3 state to DRAIN\n"
      "[2026-03-03T01:02:05.000] gres/gpu: Count changed on node g4 (8 != 7)\n"
      "[2026-03-03T01:02:06.000]     GRES[gpu] Type:h100 Count:1 Cores(96):0-47  Links:-1,0 File:/dev/nvidia0\n"
      "[2026-03-03T01:02:07.000] sched: Allocate JobId=88 NodeList=g5 #CPUs=8 Partition=train\n"));
  EXPECT_EQ(facts.integer("log_lines"), 5);
  const FactRecord& low = item(facts, "events", 0);
  EXPECT_EQ(low.text("event"), "low_real_memory");
  EXPECT_EQ(low.text("node"), "g3");
  EXPECT_EQ(low.integer("reported"), 1900);
  EXPECT_EQ(low.integer("configured"), 2000);
  EXPECT_EQ(item(facts, "events", 1).text("state"), "DRAIN");
  EXPECT_EQ(item(facts, "events", 2).integer("configured"), 8);
  EXPECT_EQ(item(facts, "events", 2).integer("reported"), 7);
  EXPECT_EQ(item(facts, "events", 3).integer("job_id"), 88);
  EXPECT_EQ(item(facts, "gres_detected", 0).text("cores"), "0-47");
}

TEST(SlurmText, WhatIsDamagedIsSaid) {
  const FileFacts file = read_text(
      "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
      "train        up 3-00:00:00      4  alloc g[01-04]\n"
      "...\n"
      "train        up 3-00:00:00      x  idle g9\n"
      "train        up 3-0");
  ASSERT_FALSE(file.readings.empty());
  EXPECT_EQ(file.readings.front().reading.unread_count(), 3);
  EXPECT_EQ(file.readings.front().reading.unread().front().reason, "rows were left out here");
  EXPECT_EQ(facts_of(file).integer("node_count"), 4);
}

TEST(SlurmText, OtherTablesAreNotIts) {
  EXPECT_NE(kind_of(read_text("NAME    STATUS   ROLES    AGE   VERSION\nn1      Ready    worker   4d    v1.29.1\n")),
            "slurm");
  EXPECT_NE(kind_of(read_text("step 10 loss 3.2\nstep 20 loss 3.1\nstep 30 loss 3.0\n")), "slurm");
}

TEST(SlurmJson, JobsOfBothShapes) {
  const FactRecord facts = facts_of(read_text(
      "{\"meta\": {\"slurm\": {\"release\": \"24.05.1\"}}, \"jobs\": [\n"
      "{\"job_id\": 5, \"association\": {}, \"state\": {\"current\": [\"RUNNING\"], \"reason\": \"None\"},\n"
      " \"time\": {\"elapsed\": 7200, \"end\": 0, \"limit\": {\"set\": true, \"infinite\": false, \"number\": 60}},\n"
      " \"tres\": {\"allocated\": [{\"type\": \"gres\", \"name\": \"gpu\", \"id\": 1001, \"count\": 4}]}},\n"
      "{\"job_id\": 6, \"state\": {\"current\": \"FAILED\"}, \"time\": {\"limit\": 90}}]}"));
  EXPECT_EQ(facts.text("slurm_version"), "24.05.1");
  const FactRecord& job = item(facts, "jobs", 0);
  EXPECT_EQ(job.text("state"), "RUNNING");
  EXPECT_EQ(job.integer("time_limit_min"), 60);
  EXPECT_EQ(job.integer("gpus"), 4);
  EXPECT_FALSE(std::get<bool>(job.find("ended")->value));
  EXPECT_EQ(facts.number("gpu_h"), 8);
  EXPECT_EQ(item(facts, "jobs", 1).integer("time_limit_min"), 90);
}

TEST(SlurmJson, ATruncatedAnswerKeepsItsJobsAndSaysWhereItEnds) {
  const FileFacts file = read_text(
      "{\"jobs\": [{\"job_id\": 5, \"allocation_nodes\": 2, \"derived_exit_code\": {}},\n"
      "{\"job_id\": 6, \"allocation_nodes\": 3, \"time\": {\"elap");
  EXPECT_EQ(facts_of(file).integer("job_count"), 2);
  EXPECT_EQ(facts_of(file).text("fault"), "the input ends inside a string");
  EXPECT_EQ(item(facts_of(file), "jobs", 1).integer("node_count"), 3);
}

TEST(SlurmJson, TopologyYaml) {
  const FileFacts file = read_text(
      "- topology: fabric\n"
      "  cluster_default: true\n"
      "  block:\n"
      "    block_sizes: [4, 8]\n"
      "    blocks:\n"
      "      - block: b1\n"
      "        nodes: g[01-04]\n"
      "      - block: b2\n"
      "        nodes: g[05-08]\n");
  EXPECT_EQ(kind_of(file), "slurm");
  EXPECT_EQ(facts_of(file).integer("block_count"), 2);
  EXPECT_EQ(facts_of(file).integer("topology_nodes"), 8);
  EXPECT_EQ(size(facts_of(file), "block_sizes"), 2u);
  EXPECT_EQ(item(facts_of(file), "blocks", 1).line, 8);
}

}  // namespace
}  // namespace tare
