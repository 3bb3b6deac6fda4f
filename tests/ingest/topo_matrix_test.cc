#include "ingest/topo_matrix.h"

#include <gtest/gtest.h>

#include "ingest/device_matrix.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, std::string_view list, std::size_t index) {
  return *facts.find_list(list)->at(index).as_record();
}

std::vector<std::string> texts(const FactRecord& facts, std::string_view list) {
  std::vector<std::string> found;
  for (const Fact& one : *facts.find_list(list)) found.emplace_back(one.text());
  return found;
}

TEST(DeviceMatrix, GluedWordsComeApart) {
  const auto words = [](std::string_view text) {
    std::vector<std::string> list;
    for (const std::string_view word : matrix_words(text)) list.emplace_back(word);
    return list;
  };
  EXPECT_EQ(words("GPU0GPU1NIC0CPU Affinity"), (std::vector<std::string>{"GPU0", "GPU1", "NIC0", "CPU", "Affinity"}));
  EXPECT_EQ(words("GPU0 XNV12SYS0-31"), (std::vector<std::string>{"GPU0", "X", "NV12", "SYS", "0-31"}));
  EXPECT_EQ(words("GPU0XNV40-31"), (std::vector<std::string>{"GPU0", "X", "NV4", "0-31"}));
  EXPECT_EQ(words("| GPU0 | X | PIX |"), (std::vector<std::string>{"GPU0", "X", "PIX"}));
  EXPECT_EQ(words("[1,3]<stdout>:GPU0 X"), (std::vector<std::string>{"[1,3]<stdout>:", "GPU0", "X"}));
  EXPECT_EQ(words("mlx5_bond_0 rocep12s0f1"), (std::vector<std::string>{"mlx5_bond_0", "rocep12s0f1"}));
}

constexpr const char* kTwoGpus =
    "$ nvidia-smi topo -m\n"
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\r\n"
    "GPU0\t X \tNV6\tPIX\tSYS\t0-7,16-23\t0\t\tN/A\r\n"
    "GPU1\tNV6\t X \tSYS\tNODE\t8-15,24-31\t1\t\tN/A\r\n"
    "NIC0\tPIX\tSYS\t X \tSYS\t\t\t\r\n"
    "NIC1\tSYS\tNODE\tSYS\t X \t\t\t\r\n"
    "\n"
    "Legend:\n\n"
    "  X    = Self\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n\n"
    "NIC Legend:\n\n"
    "  NIC0: mlx5_2\n"
    "  NIC1: mlx5_bond_0\n";

TEST(TopoMatrix, DevicesLinksAndAffinities) {
  const FileFacts file = read_text(kTwoGpus);
  EXPECT_EQ(kind_of(file), "topo");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("vendor"), "NVIDIA");
  EXPECT_EQ(facts.text("option"), "-m");
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.integer("nic_count"), 2);
  EXPECT_EQ(facts.text("link_gpu0_gpu1"), "NV6");
  EXPECT_EQ(facts.find("link_gpu0_gpu1")->line, 3);
  EXPECT_EQ(facts.integer("logical_cpus"), 32);
  EXPECT_EQ(texts(facts, "nic_names"), (std::vector<std::string>{"mlx5_2", "mlx5_bond_0"}));
  const FactRecord& gpu = item(facts, "gpus", 1);
  EXPECT_EQ(gpu.line, 4);
  EXPECT_EQ(gpu.text("cpu_affinity"), "8-15,24-31");
  EXPECT_EQ(gpu.integer("numa_affinity"), 1);
  EXPECT_TRUE(gpu.find("gpu_numa_id")->is_unknown());
  EXPECT_EQ(gpu.text("nearest_nic_link"), "NODE");
  EXPECT_EQ(texts(gpu, "nearest_nics"), (std::vector<std::string>{"NIC1"}));
  EXPECT_EQ(gpu.find_record("links")->text("NIC0"), "SYS");
  EXPECT_EQ(item(facts, "nics", 0).text("device"), "mlx5_2");
  EXPECT_EQ(item(facts, "numa_nodes", 1).number("cpus_per_gpu"), 16.0);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 0);
  EXPECT_EQ(file.unused_lines, 0);
}

TEST(TopoMatrix, WhatIsCutIsUnknown) {
  const FileFacts file = read_text(
      "        GPU0    GPU1    GPU2    mlx5_0  CPU Affinity    NUMA Affinity\n"
      "GPU0     X      NV2     SYS     PIX     0-11,24-35      0\n"
      "GPU1    NV2      X      SYS     PIX     0-11,2\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_columns"), 3);
  EXPECT_EQ(facts.integer("gpu_rows_visible"), 2);
  EXPECT_TRUE(item(facts, "gpus", 1).find("cpu_affinity")->is_unknown());
  EXPECT_EQ(item(facts, "gpus", 1).text("cpu_affinity_cut"), "0-11,2");
  // A row that is missing is read from the other side.
  EXPECT_EQ(item(facts, "gpus", 2).find_record("links")->text("GPU0"), "SYS");
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(TopoMatrix, WrappedRowsAndHeader) {
  const FileFacts file = read_text(
      "        GPU0    GPU1    NIC0    NIC1\n"
      "    CPU Affinity    NUMA Affinity\n"
      "GPU0     X      NV18    NODE    PI\n"
      "GPU1    NV18     X      NODE    NODE\n"
      "    48-95   1\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 2);
  EXPECT_EQ(facts.integer("nic_count"), 2);
  EXPECT_EQ(item(facts, "gpus", 1).text("cpu_affinity"), "48-95");
  EXPECT_EQ(item(facts, "gpus", 1).integer("numa_affinity"), 1);
}

TEST(TopoMatrix, WithoutAHeaderTheRowsNameTheColumns) {
  const FileFacts file = read_text(
      "GPU0     X      PIX     SYS     0-15\n"
      "GPU1    PIX      X      SYS     0-15\n"
      "GPU2    SYS     SYS      X      16-31\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("gpu_count"), 3);
  EXPECT_EQ(item(facts, "gpus", 2).find_record("links")->text("GPU1"), "SYS");
  EXPECT_EQ(item(facts, "gpus", 2).text("cpu_affinity"), "16-31");
}

TEST(TopoMatrix, PciOnlySaysNothingOfNvlink) {
  const FileFacts file =
      read_text("> nvidia-smi topo -mp\n\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNODE\t0,2,4\nGPU1\tNODE\t X \t0,2,4\n");
  EXPECT_TRUE(facts_of(file).find("nvlink")->is_unknown());
  EXPECT_EQ(item(facts_of(file), "gpus", 0).integer("cpu_count"), 3);
}

TEST(TopoMatrix, AbilitiesOfPeers) {
  const FileFacts file = read_text(
      "$ nvidia-smi topo -p2p r\n \tGPU0\tGPU1\tGPU2\n GPU0\tX\tOK\tCNS\n GPU1\tOK\tX\tCNS\n GPU2\tCNS\tCNS\tX\n\n"
      "Legend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("option"), "-p2p r");
  EXPECT_EQ(facts.find_record("link_counts")->integer("CNS"), 2);
  EXPECT_FALSE(std::get<bool>(facts.find("p2p_everywhere")->value));
  EXPECT_EQ(facts.find("nvlink"), nullptr);
}

TEST(TopoMatrix, TwoHostsInterleaved) {
  const FileFacts file = read_text(
      "n1:    GPU0  GPU1  CPU Affinity\nn2:    GPU0  GPU1  CPU Affinity\n"
      "n1: GPU0  X  NV4  0-7\nn2: GPU0  X  PHB  0-3\nn1: GPU1  NV4  X  0-7\nn2: GPU1  PHB  X  0-3\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.integer("topology_count"), 2);
  EXPECT_EQ(facts.text("source"), "n1");
  EXPECT_EQ(item(facts, "topologies", 1).text("source"), "n2");
  EXPECT_EQ(item(facts, "topologies", 1).text("all_gpu_pairs"), "PHB");
}

TEST(TopoMatrix, Ascend) {
  const FileFacts file = read_text(
      "     NPU0       NPU1       CPU Affinity\nNPU0       X          HCCS       24-47\n"
      "NPU1       HCCS       X          0-23\n");
  EXPECT_EQ(facts_of(file).text("vendor"), "Huawei Ascend");
  EXPECT_EQ(facts_of(file).text("link_npu0_npu1"), "HCCS");
}

TEST(TopoMatrix, Rocm) {
  const FileFacts file = read_text(
      "============ ROCm System Management Interface ============\n"
      "========== Weight between two GPUs ==========\n       GPU0    GPU1\nGPU0   0       15\nGPU1   15      0\n"
      "========== Hops between two GPUs ==========\n       GPU0    GPU1\nGPU0   0       1\nGPU1   1       0\n"
      "========== Link Type between two GPUs ==========\n       GPU0    GPU1\nGPU0   0       XGMI\nGPU1   XGMI    0\n"
      "========== Numa Nodes ==========\nGPU[0]\t\t: (Topology) Numa Node: 0\n"
      "GPU[0]\t\t: (Topology) Numa Affinity: 0\nGPU[1]\t\t: (Topology) Numa Node: 1\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("vendor"), "AMD");
  EXPECT_EQ(facts.text("link_gpu0_gpu1"), "XGMI");
  EXPECT_EQ(facts.find_record("numa")->integer("GPU1"), 1);
  EXPECT_EQ(item(facts, "gpus", 0).find_record("weights")->integer("GPU1"), 15);
  EXPECT_EQ(item(facts, "gpus", 0).find_record("hops")->integer("GPU1"), 1);
}

TEST(TopoMatrix, OthersAreNotMine) {
  for (const char* const text :
       {"step 1 loss 2.5 GPU0 mem 70GB\nstep 2 loss 2.4 GPU1 mem 70GB\n", "GPU0: 45 C\nGPU1: 46 C\n",
        "| GPU  Name        Persistence-M| Bus-Id        Disp.A |\n|   0  NVIDIA L4  Off |\n"}) {
    EXPECT_EQ(recognise_topo_matrix({text, "", true}), confidence::kNone) << text;
  }
}

}  // namespace
}  // namespace tare
