#include "ingest/kube_text.h"

#include <gtest/gtest.h>

#include "ingest/kube_facts.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  static const FactRecord none;
  const std::vector<Fact>* const items = facts.find_list(list);
  if (items == nullptr || index >= items->size() || (*items)[index].as_record() == nullptr) return none;
  return *(*items)[index].as_record();
}

TEST(KubeText, WhatIsFreeIsAllocatableLessWhatIsRequested) {
  const FileFacts file = read_text(
      "Name:               gpu-7\n"
      "Roles:              worker\n"
      "Labels:             nvidia.com/gpu.count=8\n"
      "                    nvidia.com/gpu.product=NVIDIA-H200\n"
      "Taints:             nvidia.com/gpu:NoSchedule\n"
      "Capacity:\n"
      "  cpu:             192\n"
      "  nvidia.com/gpu:  8\n"
      "Allocatable:\n"
      "  cpu:             191450m\n"
      "  nvidia.com/gpu:  7\n"
      "Allocated resources:\n"
      "  (Total limits may be over 100 percent, i.e., overcommitted.)\n"
      "  Resource        Requests      Limits\n"
      "  --------        --------      ------\n"
      "  cpu             1200m (0%)    0 (0%)\n"
      "  nvidia.com/gpu  4             4\n"
      "Events:\n"
      "  Type     Reason         Age  From     Message\n"
      "  ----     ------         ---- ----     -------\n"
      "  Warning  NodeNotReady   3m   kubelet  the node is not ready\n");
  EXPECT_EQ(kind_of(file), "kubernetes");
  const FactRecord& node = item(facts_of(file), "nodes", 0);
  EXPECT_EQ(node.text("name"), "gpu-7");
  EXPECT_EQ(node.integer("gpu_capacity"), 8);
  EXPECT_EQ(node.integer("gpu_unhealthy"), 1);
  EXPECT_EQ(node.integer("gpu_free"), 3);
  EXPECT_EQ(node.find_record("allocatable")->text("cpu"), "191450m");
  EXPECT_EQ(node.find_record("allocatable")->find("nvidia.com/gpu")->line, 11);
  EXPECT_EQ(node.text("gpu_product"), "NVIDIA-H200");
  EXPECT_EQ(item(facts_of(file), "events", 0).text("message"), "the node is not ready");
}

TEST(KubeText, PodsOfTheSameAnswerUseTheirNode) {
  const FactRecord facts =
      facts_of(read_text("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n"
                         "{\"kind\": \"Node\", \"metadata\": {\"name\": \"n1\"}, \"status\": {\"allocatable\": "
                         "{\"nvidia.com/gpu\": \"8\"}}},\n"
                         "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}, \"spec\": {\"nodeName\": \"n1\", "
                         "\"containers\": [{\"resources\":\n"
                         " {\"limits\": {\"nvidia.com/gpu\": \"2\"}}}]}, \"status\": {\"phase\": \"Running\"}}]}\n"));
  EXPECT_EQ(facts.integer("gpu_requested"), 2);
  EXPECT_EQ(facts.integer("gpu_free"), 6);
  EXPECT_EQ(facts.find_record("pods_by_phase")->integer("Running"), 1);
}

TEST(KubeText, AJobOfAnOperator) {
  const FactRecord facts =
      facts_of(read_text("apiVersion: kubeflow.org/v1\n"
                         "kind: PyTorchJob\n"
                         "metadata:\n"
                         "  name: llm\n"
                         "spec:\n"
                         "  pytorchReplicaSpecs:\n"
                         "    Master:\n"
                         "      replicas: 1\n"
                         "      template: {spec: {containers: [{name: m, resources: {limits: {nvidia.com/gpu: 8}}}]}}\n"
                         "    Worker:\n"
                         "      replicas: 3\n"
                         "      template:\n"
                         "        spec:\n"
                         "          containers:\n"
                         "          - name: w\n"
                         "            resources:\n"
                         "              limits:\n"
                         "                nvidia.com/gpu: \"8\"\n"));
  const FactRecord& job = item(facts, "workloads", 0);
  EXPECT_EQ(job.text("kind"), "PyTorchJob");
  EXPECT_EQ(job.integer("gpus"), 32);
  EXPECT_EQ(job.integer("workers"), 3);
  EXPECT_EQ(job.integer("gpus_per_worker"), 8);
}

TEST(KubeText, WhatAContainerHasAtDevShm) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n"
      "  - name: a\n    volumeMounts:\n    - {name: s, mountPath: /dev/shm}\n"
      "  - name: b\n  volumes:\n  - name: s\n    emptyDir: {medium: Memory}\n";
  const FileFacts file = read_text(pod);
  const FactRecord* const first = facts_of(file).find_list("pods")->front().as_record();
  const std::vector<Fact>& containers = *first->find_list("containers");
  EXPECT_EQ(containers[0].as_record()->text("shm"), "memory");
  EXPECT_EQ(containers[1].as_record()->text("shm"), "default");
}

TEST(KubeText, SchedulingFailuresInParts) {
  FactRecord event(1);
  explain_scheduling(
      event,
      "0/12 nodes are available: 1 node(s) had untolerated taint {a: b, c}, 9 Insufficient nvidia.com/gpu. "
      "preemption: 0/12 nodes are available: 12 No preemption victims found for incoming pod.",
      1);
  EXPECT_EQ(event.integer("nodes_total"), 12);
  EXPECT_EQ(event.integer("insufficient_gpu"), 9);
  ASSERT_EQ(event.find_list("shortfalls")->size(), 2u);
  EXPECT_EQ(item(event, "shortfalls", 0).text("reason"), "node(s) had untolerated taint {a: b, c}");
}

TEST(KubeText, ADevicePluginLosesAGpu) {
  const FactRecord facts =
      facts_of(read_text("I0203 04:05:06.000001       1 health.go:100] XidCriticalError: Xid=79 on "
                         "Device=GPU-0a1b2c3d-0000-1111-2222-333344445555; marking device as unhealthy.\n"
                         "I0203 04:05:06.000002       1 server.go:200] 'nvidia.com/gpu' device marked unhealthy: "
                         "GPU-0a1b2c3d-0000-1111-2222-333344445555\n"));
  EXPECT_EQ(facts.integer("gpus_unhealthy"), 1);
  EXPECT_EQ(item(facts, "log", 0).integer("xid"), 79);
}

TEST(KubeText, PiecesCutAtBothEnds) {
  const FileFacts file = read_text(
      "      nvidia.com/gpu.memory: \"143771\"\n"
      "      nvidia.com/gpu.product: NVIDIA-H200\n"
      "    name: w-3\n"
      "  status:\n"
      "    allocatable:\n"
      "      nvidia.com/gpu: \"0\"\n"
      "    capacity:\n"
      "      nvidia.com/gpu: \"8\"\n"
      "      po");
  EXPECT_EQ(kind_of(file), "kubernetes");
  EXPECT_EQ(facts_of(file).integer("gpu_unhealthy"), 8);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(KubeText, TablesOfGet) {
  const FactRecord facts =
      facts_of(read_text("$ kubectl get pods -o wide\n"
                         "NAME        READY   STATUS             RESTARTS      AGE   IP         NODE\n"
                         "train-0     1/1     Running            0             3d    10.1.1.1   n1\n"
                         "train-1     0/1     CrashLoopBackOff   7 (2m ago)    3d    <none>     n2\n"));
  EXPECT_EQ(facts.integer("pod_count"), 2);
  EXPECT_EQ(item(facts, "pods", 1).text("phase"), "CrashLoopBackOff");
  EXPECT_EQ(item(facts, "pods", 1).text("restarts"), "7 (2m ago)");
  EXPECT_TRUE(item(facts, "pods", 1).find("ip")->is_unknown());
}

TEST(KubeText, NotIts) {
  EXPECT_NE(kind_of(read_text("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nx up 1:00 1 idle a1\n")),
            "kubernetes");
}

TEST(ClusterTrace, SharesOfGpus) {
  const FileFacts file = read_text(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,pod_phase\n"
      "a,1000,2000,1,250,Running\n"
      "b,1000,2000,4,1000,Failed\n"
      "c,1000\n");
  EXPECT_EQ(kind_of(file), "kubernetes");
  EXPECT_EQ(facts_of(file).integer("gpus_total"), 5);
  EXPECT_EQ(facts_of(file).integer("shared_gpu_rows"), 1);
  EXPECT_EQ(facts_of(file).number("gpu_share_total"), 4.25);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(TopographModel, BlocksUnderTheirSwitches) {
  const FactRecord facts =
      facts_of(read_text("# a small one\n"
                         "switches:\n"
                         "  top:\n"
                         "    switches: [leaf1, leaf2]\n"
                         "blocks:\n"
                         "- switch: leaf1\n"
                         "  nodes: [\"n[1-4]\", \"n9\"]\n"
                         "  annotations:\n"
                         "    accelerator.topology.test/domain: nvl1\n"
                         "- switch: leaf2\n"
                         "  nodes:\n"
                         "  - n[5-8]\n"));
  EXPECT_EQ(facts.integer("node_count"), 9);
  EXPECT_EQ(facts.integer("switch_levels"), 2);
  EXPECT_EQ(item(facts, "blocks", 0).text("domain"), "nvl1");
}

}  // namespace
}  // namespace tare
