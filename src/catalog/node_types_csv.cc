// node_types.csv -> NodeType.
#include <fmt/format.h>

#include "catalog/tables.h"

namespace tare {
namespace {

constexpr int kMostGpusPerNode = 64;

std::optional<double> bits_to_bytes(std::optional<double> bits) {
  return bits ? std::optional<double>(*bits / 8) : std::nullopt;
}

NodeType read_row(TableReader& row, const Catalog& known) {
  NodeType n;
  n.id = row.require_id("id");
  n.provider = row.text("provider");
  n.instance = row.text("instance");
  n.gpu = read_gpu(row, "gpu", known);
  n.gpus = row.require_count("gpus");
  n.nvlink_domain = row.count("nvlink_domain");
  n.intra_node_bytes_per_s = row.number("intra_node_bytes_per_s");
  n.pcie_generation = row.count("pcie_generation").value_or(0);
  n.pcie_lanes = row.count("pcie_lanes").value_or(0);
  n.nics = row.count("nics");
  n.nic_rate_bytes_per_s = bits_to_bytes(row.number("nic_rate_bits_per_s"));
  n.nic_kind = row.text("nic_kind").empty() ? "unknown" : row.text("nic_kind");
  n.inter_node_bytes_per_s_per_gpu = bits_to_bytes(row.number("inter_node_bits_per_s_per_gpu"));
  n.rail_optimized = row.flag("rail_optimized");
  n.max_cluster_nodes = row.count("max_cluster_nodes");
  n.local_nvme_count = row.count("local_nvme_count");
  n.local_nvme_bytes = row.number("local_nvme_bytes");
  n.local_nvme_read_bytes_per_s = row.number("local_nvme_read_bytes_per_s");
  n.local_nvme_write_bytes_per_s = row.number("local_nvme_write_bytes_per_s");
  n.vcpus = row.count("vcpus");
  n.memory_bytes = row.number("memory_bytes");
  n.delivery = read_delivery(row);
  n.multi_node = row.flag("multi_node");
  n.node_power_w = row.number("node_power_w");
  n.capex_low_usd = row.number("capex_low_usd");
  n.capex_base_usd = row.number("capex_base_usd");
  n.capex_high_usd = row.number("capex_high_usd");
  n.source = row.source();
  return n;
}

void check(TableReader& row, const NodeType& n) {
  if (n.gpus > kMostGpusPerNode) {
    row.error("gpus", "out-of-range",
              fmt::format("expected at most {} GPUs in a node, found {}", kMostGpusPerNode, n.gpus));
  }
  check_range(row, "capex_low_usd", n.capex_low_usd, n.capex_base_usd, n.capex_high_usd);
  // What leaves a node cannot be more than its NICs carry (1 % for rounded figures).
  if (n.nics && n.nic_rate_bytes_per_s && n.inter_node_bytes_per_s_per_gpu && n.gpus > 0) {
    const double all_nics = *n.nics * *n.nic_rate_bytes_per_s;
    const double all_gpus = *n.inter_node_bytes_per_s_per_gpu * n.gpus;
    if (*n.nics > 0 && all_gpus > all_nics * 1.01) {
      row.error("inter_node_bits_per_s_per_gpu", "impossible-physics",
                fmt::format("{} GPUs at {:g} Gb/s each leave the node, its NICs carry {:g} Gb/s", n.gpus,
                            *n.inter_node_bytes_per_s_per_gpu * 8e-9, all_nics * 8e-9));
    }
  }
}

}  // namespace

std::vector<NodeType> read_node_types(const CsvTable& table, const std::string& file, const Catalog& known,
                                      DiagnosticList& diagnostics) {
  std::vector<NodeType> rows;
  TableReader row(table, file, diagnostics, {"id", "gpu", "gpus"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    NodeType node_type = read_row(row, known);
    check(row, node_type);
    rows.push_back(std::move(node_type));
  }
  return rows;
}

}  // namespace tare
