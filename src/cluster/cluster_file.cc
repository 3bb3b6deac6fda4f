// parse_cluster: the TOML of docs/cluster-file.md -> Cluster.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "base/toml_checks.h"
#include "cluster/node_type_file.h"
#include "cluster/price_file.h"

namespace tare {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostTables = 10'000;  // [[node]], [[domain]] and leaves
// After so many tables with wrong names the rest is not looked at: each may stand for 100,000 names.
constexpr int kMostBadTables = 10;

// Nodes by name, for leaves and domains; and who holds each already.
struct NodeIndex {
  std::unordered_map<std::string, int> by_name;
  std::vector<std::string> names;  // in order

  void add(const std::string& name) {
    by_name.emplace(name, static_cast<int>(names.size()));
    names.push_back(name);
  }
};

std::vector<TomlTable> read_tables(TomlTable& table, std::string_view key) {
  std::vector<TomlTable> tables = table.tables(key);
  if (tables.size() <= kMostTables) return tables;
  table.error(key, "out-of-range",
              fmt::format("expected at most {} of '{}', found {}", kMostTables, key, tables.size()));
  return {};
}

// The names that a string or an array of strings with ranges stands for; reports a malformed one.
std::vector<std::string> read_names(TomlTable& table, std::string_view key) {
  std::vector<std::string> names;
  const auto texts = table.strings(key);
  if (!texts && !table.has(key)) table.require_string(key);
  for (const std::string& text : texts.value_or(std::vector<std::string>())) {
    std::vector<std::string> expanded = expand_range(text, kMostNodes);
    if (expanded.empty() || expanded.size() + names.size() > kMostNodes) {
      table.error(key, "bad-range",
                  fmt::format("expected names or ranges of at most {} nodes, found {}", kMostNodes, in_quotes(text)),
                  "such as \"n[1-8]\" or \"a1, a2\"");
      return {};
    }
    names.insert(names.end(), std::make_move_iterator(expanded.begin()), std::make_move_iterator(expanded.end()));
  }
  return names;
}

// The nodes that `key` names, each known and not in `owner` yet; sets their owner to `number`. Empty when one is not.
std::vector<int> read_members(TomlTable& table, std::string_view key, const NodeIndex& index, std::string_view kind,
                              std::vector<int>& owner, int number) {
  std::vector<int> members;
  for (const std::string& name : read_names(table, key)) {
    const auto found = index.by_name.find(name);
    if (found == index.by_name.end()) {
      table.error(key, "unknown-node", fmt::format("unknown node {}", in_quotes(name)),
                  index.names.empty() ? "[[node]] names the nodes"
                                      : fmt::format("the {} nodes are \"{}\" to \"{}\"", index.names.size(),
                                                    index.names.front(), index.names.back()));
      return {};
    }
    int& held_by = owner[static_cast<std::size_t>(found->second)];
    if (held_by >= 0) {
      table.error(key, fmt::format("node-in-two-{}", kind),
                  held_by == number ? fmt::format("node {} stands here twice", in_quotes(name))
                                    : fmt::format("node {} is in another of the {} already", in_quotes(name), kind),
                  "a node has one place");
      return {};
    }
    held_by = number;
    members.push_back(found->second);
  }
  return members;
}

Delivery read_delivery(TomlTable& table) {
  Delivery delivery;
  if (auto inner = table.table("delivery")) {
    delivery.host = inner->one_of("host", host_names()).value_or(delivery.host);
    delivery.packaging = inner->one_of("packaging", packaging_names()).value_or(delivery.packaging);
    delivery.gpu_share = inner->one_of("gpu_share", gpu_share_names()).value_or(delivery.gpu_share);
    delivery.tenancy = inner->one_of("tenancy", tenancy_names()).value_or(delivery.tenancy);
  }
  return delivery;
}

void read_node_types(TomlTable& root, const Catalog& catalog, Cluster& cluster) {
  auto types = root.table("node_type");
  if (!types) return;
  for (const std::string& name : types->keys()) {
    if (auto table = types->table(name)) cluster.node_types.push_back(read_node_type(*table, name, catalog));
  }
}

// The index of the node type a [[node]] names: one of the file, or one of the catalog, which is taken over.
std::optional<int> find_type(TomlTable& table, const Catalog& catalog, Cluster& cluster) {
  const auto name = table.require_string("type");
  if (!name) return std::nullopt;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < cluster.node_types.size(); ++i) {
    if (cluster.node_types[i].type.id == *name) return static_cast<int>(i);
    known.push_back(cluster.node_types[i].type.id);
  }
  if (const NodeType* shipped = find_node_type(catalog, *name)) {
    cluster.node_types.push_back({*shipped, {}});
    return static_cast<int>(cluster.node_types.size()) - 1;
  }
  Diagnostic unknown = unknown_node_type(catalog, *name);
  const std::string near = did_you_mean(*name, known);
  table.error("type", std::move(unknown.rule), std::move(unknown.text),
              near.empty() ? std::move(unknown.help) : fmt::format("did you mean \"{}\"?", near));
  return std::nullopt;
}

NodeIndex read_nodes(TomlTable& root, const Catalog& catalog, Cluster& cluster) {
  NodeIndex index;
  std::vector<TomlTable> tables = read_tables(root, "node");
  if (tables.empty() && !root.has("node")) {
    root.error("node", "missing-key", "expected nodes, found no [[node]]", "add [[node]] with names and type");
  }
  int bad = 0;
  for (TomlTable& table : tables) {
    const std::vector<std::string> names = read_names(table, "names");
    if (names.empty() && ++bad > kMostBadTables) return index;
    const int type = find_type(table, catalog, cluster).value_or(0);
    for (const std::string& name : names) {
      if (index.by_name.count(name) > 0) {
        table.error("names", "duplicate-name", fmt::format("a second node named {}", in_quotes(name)),
                    "a node stands in one [[node]]");
        break;
      }
      if (cluster.nodes.size() >= kMostNodes) {
        table.error("names", "out-of-range", fmt::format("expected at most {} nodes in all", kMostNodes));
        return index;
      }
      index.add(name);
      cluster.nodes.push_back({name, type, -1});
    }
  }
  return index;
}

// GPUs of a domain, when all its nodes are of one part.
std::optional<int> gpus_of_domain(const Cluster& cluster, const std::vector<int>& nodes) {
  int gpus = 0;
  const std::string* gpu = nullptr;
  for (const int node : nodes) {
    const auto type_index = static_cast<std::size_t>(cluster.nodes[static_cast<std::size_t>(node)].type);
    if (type_index >= cluster.node_types.size()) return std::nullopt;
    const NodeType& type = cluster.node_types[type_index].type;
    if (gpu != nullptr && *gpu != type.gpu) return std::nullopt;
    gpu = &type.gpu;
    gpus += type.gpus;
  }
  return gpus;
}

void check_domain(TomlTable& table, const Catalog& catalog, Cluster& cluster, const std::vector<int>& nodes) {
  if (nodes.empty() || cluster.node_types.empty()) return;  // reported
  const auto gpus = gpus_of_domain(cluster, nodes);
  if (!gpus) {
    table.error("nodes", "mixed-domain", "expected nodes with one kind of GPU, found several",
                "an NVLink domain joins equal GPUs");
    return;
  }
  NodeType& type =
      cluster.node_types[static_cast<std::size_t>(cluster.nodes[static_cast<std::size_t>(nodes[0])].type)].type;
  const Accelerator* accelerator = find_accelerator(catalog, type.gpu);
  if (accelerator == nullptr) return;
  const int largest = largest_link_domain(*accelerator);
  if (*gpus > largest) {
    table.error("nodes", "impossible-physics",
                fmt::format("expected at most {} GPUs in a domain of {}, found {}", largest, accelerator->id, *gpus),
                "GPUs of other nodes are reached through the NICs");
    return;
  }
  type.nvlink_domain = std::max(type.nvlink_domain.value_or(1), *gpus);
  if (!type.intra_node_bytes_per_s) type.intra_node_bytes_per_s = accelerator->link_bytes_per_s;
}

void read_domains(TomlTable& root, const Catalog& catalog, const NodeIndex& index, Cluster& cluster) {
  std::vector<int> owner(cluster.nodes.size(), -1);
  std::vector<TomlTable> tables = read_tables(root, "domain");
  int bad = 0;
  for (TomlTable& table : tables) {
    const int number = static_cast<int>(cluster.nvlink_domains.size());
    std::vector<int> nodes = read_members(table, "nodes", index, "domains", owner, number);
    if (nodes.empty() && ++bad > kMostBadTables) return;
    check_domain(table, catalog, cluster, nodes);
    for (const int node : nodes) cluster.nodes[static_cast<std::size_t>(node)].nvlink_domain = number;
    cluster.nvlink_domains.push_back(std::move(nodes));
  }
}

// A node type whose link domain is larger than the node needs [[domain]] to say which nodes share one.
void check_domains_named(TomlTable& root, const Cluster& cluster) {
  for (const ClusterNode& node : cluster.nodes) {
    const auto type_index = static_cast<std::size_t>(node.type);
    if (type_index >= cluster.node_types.size()) continue;
    const NodeType& type = cluster.node_types[type_index].type;
    if (!type.nvlink_domain || type.gpus < 1) continue;  // not stated, or an error of its own
    if (*type.nvlink_domain <= type.gpus || node.nvlink_domain >= 0) continue;
    root.error("node", "missing-domain",
               fmt::format("expected [[domain]] with node {}: its link domain of {} GPUs spans nodes of {}",
                           in_quotes(node.name), *type.nvlink_domain, type.gpus),
               "name the nodes of each domain: [[domain]] nodes = \"n[1-18]\"");
    return;
  }
}

void read_leaves(TomlTable& fabric, const NodeIndex& index, Cluster& cluster) {
  std::vector<int> owner(cluster.nodes.size(), -1);
  std::vector<TomlTable> tables = read_tables(fabric, "leaves");
  int bad = 0;
  for (TomlTable& table : tables) {
    const int number = static_cast<int>(cluster.leaves.size());
    Leaf leaf;
    leaf.name = table.require_string("name").value_or("");
    const bool repeated = std::any_of(cluster.leaves.begin(), cluster.leaves.end(),
                                      [&](const Leaf& other) { return other.name == leaf.name && !leaf.name.empty(); });
    if (repeated) table.error("name", "duplicate-name", fmt::format("a second leaf named {}", in_quotes(leaf.name)));
    leaf.nodes = read_members(table, "nodes", index, "leaves", owner, number);
    if (leaf.nodes.empty() && ++bad > kMostBadTables) return;
    leaf.uplink_bytes_per_s = read_positive(table, "uplink", Dimension::kBandwidth);
    cluster.leaves.push_back(std::move(leaf));
  }
  if (cluster.leaves.empty() || bad > 0) return;
  const auto free = std::find(owner.begin(), owner.end(), -1);
  if (free == owner.end()) return;
  const auto node = static_cast<std::size_t>(free - owner.begin());
  fabric.error("leaves", "node-without-leaf",
               fmt::format("expected every node below a leaf, found {} below none", in_quotes(index.names[node])));
}

void read_fabric(TomlTable& root, const NodeIndex& index, Cluster& cluster) {
  if (auto fabric = root.table("fabric")) {
    cluster.fabric_kind = fabric->one_of("kind", {"fat_tree", "single_switch"}).value_or(cluster.fabric_kind);
    read_leaves(*fabric, index, cluster);
  }
  if (!cluster.leaves.empty() || cluster.nodes.empty()) return;
  Leaf all{"leaf1", {}, std::nullopt};
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) all.nodes.push_back(static_cast<int>(i));
  cluster.leaves.push_back(std::move(all));
}

void read_version(TomlTable& root) {
  const auto version = root.string("format_version");
  if (version && *version != "1" && !version->starts_with("1.")) {
    root.error("format_version", "unsupported-version",
               fmt::format("expected format_version \"1.0\", found {}", in_quotes(*version)));
  }
}

// What leaves the cluster usable but is likely not meant.
void warn(TomlTable& root, const Cluster& cluster) {
  if (!cluster.offer) {
    root.warning(
        "cluster", "unknown-price", "no price: the bill of this cluster is unknown",
        "add price = { usd_per_gpu_h = 2.95, date = \"2026-11-01\" }, an offer id, or owned = { capex_usd = 300000 }");
  }
  const bool in_one_domain =
      cluster.nvlink_domains.size() == 1 && cluster.nvlink_domains[0].size() == cluster.nodes.size();
  if (cluster.nodes.size() < 2 || in_one_domain) return;
  for (const ClusterNodeType& node : cluster.node_types) {
    if (has_known_fabric(node.type)) continue;
    root.warning(
        "node_type", "no-network",
        fmt::format("node type {} has no NICs: no job across its nodes can be planned", in_quotes(node.type.id)));
  }
}

void read_cluster(TomlTable& root, const Catalog& catalog, Cluster& cluster) {
  read_version(root);
  read_node_types(root, catalog, cluster);
  const NodeIndex index = read_nodes(root, catalog, cluster);
  read_domains(root, catalog, index, cluster);
  check_domains_named(root, cluster);
  read_fabric(root, index, cluster);
  auto table = root.table("cluster");
  if (!table) {
    if (!root.has("cluster"))
      root.error("cluster", "missing-key", "missing table [cluster]", "add [cluster] with name = \"…\"");
    return;
  }
  cluster.name = table->require_string("name").value_or("");
  const bool has_delivery = table->has("delivery");
  cluster.delivery = read_delivery(*table);
  read_price(*table, catalog, cluster);
  // Silent, it is delivered as the offer it is bought as.
  if (!has_delivery && cluster.offer) cluster.delivery = cluster.offer->delivery;
  if (cluster.offer) cluster.offer->delivery = cluster.delivery;
  for (ClusterNodeType& node : cluster.node_types) node.type.delivery = cluster.delivery;
}

}  // namespace

Result<Cluster> parse_cluster(std::string text, const std::string& file, const Catalog& catalog) {
  const auto document = TomlDocument::parse(std::move(text), file);
  if (!document) return tl::unexpected(document.error());
  TomlTable root = document->root();
  Cluster cluster;
  read_cluster(root, catalog, cluster);
  root.finish();
  if (!has_error(document->diagnostics())) warn(root, cluster);
  if (has_error(document->diagnostics())) return tl::unexpected(document->diagnostics());
  cluster.warnings = document->diagnostics();
  return cluster;
}

}  // namespace tare
