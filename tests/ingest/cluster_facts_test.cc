#include "ingest/cluster_facts.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "ingest/read_text.h"

namespace tare {
namespace {

using testing::HasSubstr;

const Catalog& catalog() {
  static const Catalog shipped = *load_catalog();
  return shipped;
}

const Format* format_of(std::string_view kind) {
  static const std::array<Format, 5> list = {{{"nvidia-smi", "by hand", nullptr},
                                              {"topo", "by hand", nullptr},
                                              {"infiniband", "by hand", nullptr},
                                              {"hw-inventory", "by hand", nullptr},
                                              {"fio", "by hand", nullptr}}};
  for (const Format& format : list) {
    if (format.kind == kind) return &format;
  }
  return nullptr;
}

FileFacts file_of(const std::string& path, std::string_view kind, FactRecord facts) {
  FileFacts file;
  file.path = path;
  file.readings.push_back({format_of(kind), 90, {}});
  file.readings.back().reading.facts = std::move(facts);
  return file;
}

FactRecord smi(const std::string& model, int count, double memory_mib) {
  FactRecord facts;
  for (int i = 0; i < count; ++i) {
    FactRecord& gpu = facts.append("gpus", i + 1);
    gpu.set("index", i);
    gpu.set("name", model);
    gpu.set("mem_total_mib", memory_mib);
    gpu.set("pcie_gen_max", 5);
    gpu.set("pcie_lanes_max", 16);
  }
  facts.set("gpu_count", count);
  return facts;
}

FactRecord topo(int gpus, std::vector<int> islands, bool nvlink) {
  FactRecord facts;
  facts.set("gpu_count", gpus);
  facts.set("nic_count", 4);
  facts.set("nvlink", nvlink);
  facts.set("partial", false);
  int next = 0;
  for (const int size : islands) {
    std::vector<Fact> names;
    for (int i = 0; i < size; ++i) names.push_back(Fact::of(static_cast<std::int64_t>(next++)));
    facts.list("nvlink_islands").push_back(Fact::of(std::move(names)));
  }
  return facts;
}

FactRecord ports(int fast, int slow, int down) {
  FactRecord facts;
  for (int i = 0; i < fast + slow + down; ++i) {
    FactRecord& device = facts.append("devices", i + 1);
    device.set("ca_type", i < fast || i >= fast + slow ? "MT4129" : "MT4125");
    FactRecord& port = device.append("ports", i + 1);
    port.set("state", i < fast + slow ? "Active" : "Down");
    port.set("rate_gbit_per_s", i < fast ? 400 : i < fast + slow ? 100 : 10);
    port.set("link_layer", i < fast ? "InfiniBand" : "Ethernet");
  }
  return facts;
}

TEST(ClusterFacts, OneNodeFromAllItsFiles) {
  FactRecord disks;
  FactRecord& disk = disks.append("disks", 1);
  disk.set("name", "nvme2n1");
  disk.set("type", "disk");
  disk.set("size_bytes", 3.84e12);
  disks.set("logical_cpus", 192);
  FactRecord fio;
  fio.record("global_options").set("filename", "/dev/nvme2n1");
  FactRecord& job = fio.append("jobs", 1);
  job.record("read").set("bw_bytes_per_s", 6.5e9);
  job.record("read").set("iops", 800000);
  job.record("write").set("bw_bytes_per_s", 3.75e9);

  const std::vector<FileFacts> files = {
      file_of("in/smi.txt", "nvidia-smi", smi("NVIDIA H100 80GB HBM3", 8, 81559)),
      file_of("in/topo.txt", "topo", topo(8, {8}, true)), file_of("in/ib.txt", "infiniband", ports(8, 2, 1)),
      file_of("in/lsblk.json", "hw-inventory", disks), file_of("in/fio.json", "fio", fio)};
  const ClusterDraft cluster = cluster_of(nodes_of(files), catalog(), "lab");
  EXPECT_TRUE(cluster.loads) << cluster.toml << testing::PrintToString(cluster.to_fill_in);
  EXPECT_TRUE(cluster.to_fill_in.empty());
  EXPECT_THAT(cluster.toml, HasSubstr("gpus = { model = \"H100-SXM5-80GB\", count = 8, nvlink_domain = 8, "
                                      "pcie = \"5.0 x16\" }\n"));
  EXPECT_THAT(cluster.toml, HasSubstr("nics = { model = \"ConnectX-7 NDR\", count = 8, rate = \"400Gb/s\", "
                                      "transport = \"ib\" }\n"));
  EXPECT_THAT(cluster.toml, HasSubstr("# left out: 2 active ports of 100 Gb/s ConnectX-6 Dx"));
  EXPECT_THAT(cluster.toml, HasSubstr("# 1 further ports of that kind are down"));
  EXPECT_THAT(cluster.toml, HasSubstr("{ name = \"nvme2n1\", read_iops = 800000, read = \"6.500GB/s\", "
                                      "write = \"3.750GB/s\", bytes = \"3840000000000B\" }"));
  EXPECT_THAT(cluster.toml, HasSubstr("vcpus = 192\n"));
  const Result<Cluster> read = parse_cluster(cluster.toml, "lab.toml", catalog());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node_types.front().type.gpus, 8);
}

TEST(ClusterFacts, NodesOfOneKindShareAType) {
  const std::vector<FileFacts> files = {file_of("in/a/smi.txt", "nvidia-smi", smi("NVIDIA L40S", 4, 46068)),
                                        file_of("in/b/smi.txt", "nvidia-smi", smi("NVIDIA L40S", 4, 46068)),
                                        file_of("in/c[1]/smi.txt", "nvidia-smi", smi("NVIDIA L40S", 2, 46068))};
  const ClusterDraft cluster = cluster_of(nodes_of(files), catalog(), "three");
  EXPECT_TRUE(cluster.loads) << cluster.toml << testing::PrintToString(cluster.to_fill_in);
  EXPECT_THAT(cluster.toml, HasSubstr("names = [\"a\", \"b\"]\ntype = \"l40s-x4\"\n"));
  EXPECT_THAT(cluster.toml, HasSubstr("names = [\"c-1-\"]\ntype = \"l40s-x2\"\n"));
  EXPECT_THAT(cluster.toml, HasSubstr("# a: NICs: no file gives their rate"));
  EXPECT_THAT(cluster.toml, HasSubstr("# [fabric]"));
}

TEST(ClusterFacts, WhatIsMissingIsSaid) {
  const std::vector<FileFacts> files = {file_of("topo.txt", "topo", topo(4, {2, 2}, true))};
  const ClusterDraft cluster = cluster_of(nodes_of(files), catalog(), "half");
  EXPECT_FALSE(cluster.loads);
  EXPECT_EQ(cluster.nodes.front().nvlink_domain, 2);
  EXPECT_EQ(cluster.to_fill_in.front(), "node1: the model of the GPUs");
  EXPECT_THAT(cluster.toml, HasSubstr("# gpus = { model = \"?\", count = 4 }"));
  EXPECT_THAT(cluster.toml, HasSubstr("# topo.txt shows 4 NICs and not their rate"));
}

TEST(ClusterFacts, DisagreementAndDoubtAreSaid) {
  const std::vector<FileFacts> files = {file_of("n/smi.txt", "nvidia-smi", smi("NVIDIA RTX 9999", 1, 1000)),
                                        file_of("n/topo.txt", "topo", topo(2, {}, false))};
  const NodeDraft draft = draft_of(nodes_of(files).front(), catalog());
  EXPECT_EQ(draft.gpus, 2);
  EXPECT_EQ(draft.nvlink_domain, 1);
  EXPECT_TRUE(draft.gpu.empty());
  EXPECT_THAT(draft.remarks, testing::Contains(HasSubstr("the catalog has no GPU 'NVIDIA RTX 9999'")));
  EXPECT_THAT(draft.remarks, testing::Contains(HasSubstr("topo.txt shows 2 GPUs, other files 1")));
}

TEST(ClusterFacts, NothingAtAll) {
  const ClusterDraft cluster = cluster_of({}, catalog(), "none");
  EXPECT_FALSE(cluster.loads);
  EXPECT_EQ(cluster.to_fill_in.front(), "no file tells of a node");
}

}  // namespace
}  // namespace tare
