#include "cli/catalog_items.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/field_list.h"
#include "cli/option_tables.h"
#include "cluster/cluster.h"

namespace tare {
namespace {

constexpr int kStaleAfterDays = 180;
constexpr auto kKeep = Importance::kEssential;
constexpr auto kMost = Importance::kImportant;
constexpr auto kSome = Importance::kUseful;
constexpr auto kFew = Importance::kExtra;

std::optional<double> maybe(std::optional<int> value) { return value ? std::optional<double>(*value) : std::nullopt; }
std::optional<double> positive(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

std::string usd(double value) { return dollars(value); }
std::string watts(double value) { return fmt::format("{:.6g} W", value); }
std::string parameters(double value) { return amount_text(value); }

CatalogItem gpu_item(const Accelerator& gpu) {
  CatalogItem item{gpu.id, {}, {gpu.source}};
  FieldList fields(item);
  fields.text("name", "name", gpu.name);
  fields.list("aliases", "also called", gpu.aliases);
  fields.text("vendor", "vendor", gpu.vendor).listed(kFew);
  fields.text("generation", "generation", std::string(name_of(gpu.generation))).listed(kSome);
  fields.text("form_factor", "form factor", gpu.form_factor);
  fields.number("memory_bytes", "memory", positive(gpu.memory_bytes), format_gib).listed(kKeep);
  fields.number("memory_bytes_per_s", "bandwidth", positive(gpu.memory_bytes_per_s), show_bytes_per_s).listed(kMost);
  fields.number("peak_fp32_flops", "fp32", gpu.peak_fp32_flops, flops_text);
  fields.number("peak_tf32_flops", "tf32", gpu.peak_tf32_flops, flops_text);
  fields.number("peak_fp16_flops", "fp16 dense", gpu.peak_fp16_flops, flops_text).listed(kSome);
  fields.number("peak_bf16_flops", "bf16 dense", gpu.peak_bf16_flops, flops_text).listed(kKeep);
  fields.number("peak_fp8_flops", "fp8 dense", gpu.peak_fp8_flops, flops_text).listed(kMost);
  fields.number("peak_fp4_flops", "fp4 dense", gpu.peak_fp4_flops, flops_text).listed(kFew);
  fields.text("link", "link", gpu.link).listed(kFew);
  fields.number("link_bytes_per_s", "link, one way", gpu.link_bytes_per_s, show_bytes_per_s).listed(kMost);
  fields.number("link_domain", "link domain", gpu.link_domain);
  fields.number("pcie_generation", "PCIe generation", positive(gpu.pcie_generation));
  fields.number("pcie_lanes", "PCIe lanes", positive(gpu.pcie_lanes));
  fields.number("tdp_w", "TDP", gpu.tdp_w, watts).listed(kSome);
  fields.number("idle_w_low", "idle, low", gpu.idle_w_low, watts);
  fields.number("idle_w_high", "idle, high", gpu.idle_w_high, watts);
  fields.number("sm_count", "SMs", maybe(gpu.sm_count));
  fields.number("l2_bytes", "L2", gpu.l2_bytes, format_gib);
  fields.number("price_low_usd", "price, low", gpu.price_low_usd, usd);
  fields.number("price_high_usd", "price, high", gpu.price_high_usd, usd);
  fields.text("launch", "launch", gpu.launch);
  return item;
}

CatalogItem nic_item(const Nic& nic) {
  CatalogItem item{nic.id, {}, {nic.source}};
  FieldList fields(item);
  fields.text("name", "name", nic.name).listed(kKeep);
  fields.number("rate_bytes_per_s", "rate, one way", positive(nic.rate_bytes_per_s), format_bits_per_s).listed(kKeep);
  fields.text("scope", "per", nic.scope).listed(kMost);
  fields.text("transport", "transport", nic.transport).listed(kMost);
  return item;
}

void add_delivery(FieldList& fields, const Delivery& delivery) {
  fields.text("host", "host", delivery.host).listed(kSome);
  fields.text("packaging", "packaging", delivery.packaging);
  fields.text("gpu_share", "GPU share", delivery.gpu_share);
  fields.text("tenancy", "tenancy", delivery.tenancy).listed(kFew);
}

CatalogItem node_item(const NodeType& node) {
  CatalogItem item{node.id, {}, {node.source}};
  FieldList fields(item);
  fields.text("provider", "provider", node.provider);
  fields.text("instance", "instance", node.instance);
  fields.text("gpu", "GPU", node.gpu).listed(kKeep);
  fields.number("gpus", "GPUs", node.gpus).listed(kKeep);
  fields.number("nvlink_domain", "link domain", maybe(node.nvlink_domain)).listed(kMost);
  fields.number("intra_node_bytes_per_s", "in the node, per GPU", node.intra_node_bytes_per_s, show_bytes_per_s);
  fields.number("pcie_generation", "PCIe generation", positive(node.pcie_generation));
  fields.number("pcie_lanes", "PCIe lanes", positive(node.pcie_lanes));
  fields.number("nics", "NICs", maybe(node.nics)).listed(kSome);
  fields.number("nic_rate_bytes_per_s", "NIC rate", node.nic_rate_bytes_per_s, format_bits_per_s).listed(kSome);
  fields.text("nic_kind", "network", node.nic_kind == "unknown" ? "" : node.nic_kind).listed(kSome);
  fields
      .number("inter_node_bytes_per_s_per_gpu", "between nodes, per GPU", node.inter_node_bytes_per_s_per_gpu,
              format_bits_per_s)
      .listed(kKeep);
  fields.truth("rail_optimized", "rails", node.rail_optimized);
  fields.number("max_cluster_nodes", "most nodes", maybe(node.max_cluster_nodes));
  fields.number("local_nvme_count", "local disks", maybe(node.local_nvme_count));
  fields.number("local_nvme_bytes", "local disks, all", node.local_nvme_bytes, format_bytes);
  fields.number("local_nvme_read_bytes_per_s", "local read", node.local_nvme_read_bytes_per_s, show_bytes_per_s);
  fields.number("local_nvme_write_bytes_per_s", "local write", node.local_nvme_write_bytes_per_s, show_bytes_per_s);
  fields.number("vcpus", "vCPUs", maybe(node.vcpus));
  fields.number("memory_bytes", "host memory", node.memory_bytes, format_gib);
  add_delivery(fields, node.delivery);
  fields.truth("multi_node", "sold as a cluster", node.multi_node);
  fields.number("node_power_w", "power", node.node_power_w, watts);
  fields.number("capex_low_usd", "capital, low", node.capex_low_usd, usd);
  fields.number("capex_base_usd", "capital", node.capex_base_usd, usd);
  fields.number("capex_high_usd", "capital, high", node.capex_high_usd, usd);
  return item;
}

CatalogItem offer_item(const Offer& offer, const Catalog& catalog, Date as_of) {
  CatalogItem item{offer.id, {}, {offer.source}};
  FieldList fields(item);
  const std::optional<double> per_gpu =
      offer.price_usd_per_h ? std::optional(price_usd_per_gpu_h(offer)) : std::nullopt;
  fields.text("provider", "provider", offer.provider);
  fields.text("instance", "instance", offer.instance);
  fields.text("region", "region", offer.region);
  fields.text("purchase", "purchase", std::string(name_of(offer.purchase)));
  fields.text("term", "term", offer.term).or_none();
  fields.text("node_type", "node type", offer.node_type);
  fields.text("gpu", "GPU", offer.gpu).listed(kKeep);
  fields.number("gpus", "GPUs", offer.gpus).listed(kKeep);
  fields.number("price_usd_per_h", "price", offer.price_usd_per_h, show_usd_per_hour).listed(kSome);
  fields.number("price_usd_per_gpu_h", "$/GPU-h", per_gpu, rate_text).listed(kKeep);
  fields.number("price_low_usd_per_h", "price, low", offer.price_low_usd_per_h, show_usd_per_hour);
  fields.number("price_high_usd_per_h", "price, high", offer.price_high_usd_per_h, show_usd_per_hour);
  fields.text("billing_period", "billed by the", offer.billing_period);
  fields.number("billing_minimum_s", "billed at least", offer.billing_minimum_s, format_duration);
  // What is owned has no price of a day: its hour is made of the node type's capital price.
  const bool priced = offer.purchase != Purchase::kOwned;
  fields.text("price_date", "price of", priced ? price_date_text(offer) : "").listed(kMost);
  if (!priced) fields.or_none();
  fields.truth("price_stale", "stale", priced && is_stale(offer, as_of, kStaleAfterDays)).listed(kSome);
  add_delivery(fields, offer.delivery);
  fields
      .number("inter_node_bytes_per_s_per_gpu", "between nodes, per GPU",
              node_type_of(catalog, offer).inter_node_bytes_per_s_per_gpu, format_bits_per_s)
      .listed(kMost);
  fields.list("certifications", "certifications", offer.certifications);
  fields.text("suspect", "suspect", offer.suspect).or_none().listed(kFew);
  for (const Offer& other : catalog.offer_history) {
    if (other.id != offer.id) continue;
    Source source = other.source;
    source.note =
        fmt::format("{} of {}{}", other.price_usd_per_h ? show_usd_per_hour(*other.price_usd_per_h) : "no price",
                    price_date_text(other), other.suspect.empty() ? "" : ", suspect: " + other.suspect);
    item.sources.push_back(std::move(source));
  }
  return item;
}

CatalogItem model_item(const ModelArchitecture& model) {
  CatalogItem item{model.id, {}, {model.source}};
  FieldList fields(item);
  const ParameterCount count = count_parameters(model);
  fields.text("name", "name", model.name);
  fields.text("family", "family", model.family).listed(kSome);
  fields.number("parameters", "parameters", count.total, parameters).listed(kKeep);
  fields.number("active_parameters", "active", count.active, parameters).listed(kMost);
  fields.number("published_params", "as published", model.published_params, parameters);
  fields.number("published_active_params", "active, as published", model.published_active_params, parameters);
  fields.number("layers", "layers", model.layers).listed(kMost);
  fields.number("hidden", "hidden", model.hidden).listed(kMost);
  fields.number("ffn_hidden", "MLP width", model.ffn_hidden).listed(kFew);
  fields.number("heads", "heads", model.heads).listed(kSome);
  fields.number("kv_heads", "key-value heads", model.kv_heads).listed(kSome);
  fields.number("head_dim", "head width", model.head_dim);
  fields.number("vocab", "vocabulary", model.vocab).listed(kFew);
  fields.number("experts", "experts", model.experts).or_none().listed(kSome);
  fields.number("top_k", "experts per token", model.top_k).or_none().listed(kFew);
  fields.number("expert_ffn_hidden", "expert width", model.expert_ffn_hidden).or_none();
  fields.number("shared_experts", "shared experts", model.shared_experts).or_none();
  fields.number("first_dense_layers", "dense layers first", model.first_dense_layers).or_none();
  fields.truth("gated_mlp", "gated MLP", model.gated_mlp);
  fields.truth("tied_embeddings", "tied embeddings", model.tied_embeddings);
  fields.number("attention_window", "attention window", model.attention_window).or_none();
  fields.number("mla_kv_rank", "MLA key-value rank", model.mla_kv_rank).or_none();
  fields.number("max_sequence_length", "longest sequence", positive(model.max_sequence_length));
  return item;
}

CatalogItem parameter_item(const CostParameter& parameter) {
  CatalogItem item{parameter.id, {}, {parameter.source}};
  FieldList fields(item);
  fields.text("group", "group", parameter.group).listed(kFew);
  fields.number("low", "low", parameter.low).listed(kMost);
  fields.number("base", "base", parameter.base).listed(kKeep);
  fields.number("high", "high", parameter.high).listed(kMost);
  fields.text("unit", "unit", parameter.unit).listed(kKeep);
  fields.text("description", "what it is", parameter.description).listed(kSome);
  fields.text("evidence", "evidence", parameter.source.evidence).listed(kMost);
  return item;
}

CatalogItem stack_item(const SoftwareStack& stack) {
  CatalogItem item{stack.id, {}, {stack.source}};
  FieldList fields(item);
  fields.text("name", "name", stack.name).listed(kMost);
  fields.text("newer", "means on Hopper and later", stack.newer);
  fields.text("family", "family", stack.family).listed(kFew);
  fields.list("framework_globs", "frameworks", stack.framework_globs);
  fields.text("recompute", "recompute", stack.recompute).listed(kKeep);
  fields
      .number("recompute_full_above_params", "full recompute above", positive(stack.recompute_full_above_params),
              parameters)
      .or_none();
  fields.text("attention", "attention", stack.attention).listed(kKeep);
  fields.number("zero_stage", "ZeRO", stack.zero_stage).listed(kMost);
  fields.truth("sequence_parallel", "sequence parallel", stack.sequence_parallel).listed(kSome);
  fields.truth("tp_overlap", "TP overlap", stack.tp_overlap).listed(kSome);
  fields.truth("dp_overlap", "DP overlap", stack.dp_overlap).listed(kSome);
  fields.truth("fused_elementwise", "fused elementwise", stack.fused_elementwise);
  fields.truth("cuda_graphs", "CUDA graphs", stack.cuda_graphs);
  fields.number("gradient_bytes", "bytes per gradient", stack.gradient_bytes);
  fields.truth("fp8_gather", "weights gathered in 8 bit", stack.fp8_gather);
  fields.text("default_precision", "precision", stack.default_precision);
  fields.truth("fused_cross_entropy", "fused cross-entropy", stack.fused_cross_entropy);
  fields.number("fixed_memory_bytes", "fixed memory", stack.fixed_memory_bytes, format_gib);
  fields.number("fragmentation_ratio", "fragmentation", stack.fragmentation_ratio, percent);
  return item;
}

template <typename Entry, typename Make>
std::vector<CatalogItem> items_of(const std::vector<Entry>& entries, const Make& make) {
  std::vector<CatalogItem> items;
  items.reserve(entries.size());
  for (const Entry& entry : entries) items.push_back(make(entry));
  return items;
}

}  // namespace

const std::vector<std::string>& catalog_kinds() {
  static const std::vector<std::string> kKinds = {"gpus", "nodes", "offers", "models", "parameters", "stacks", "nics"};
  return kKinds;
}

std::vector<CatalogItem> catalog_items(const Catalog& catalog, std::string_view kind, Date as_of) {
  if (kind == "gpus") return items_of(catalog.accelerators, gpu_item);
  if (kind == "nodes") return items_of(catalog.node_types, node_item);
  if (kind == "offers") {
    return items_of(catalog.offers, [&](const Offer& offer) { return offer_item(offer, catalog, as_of); });
  }
  if (kind == "models") return items_of(catalog.models, model_item);
  if (kind == "parameters") return items_of(catalog.parameters, parameter_item);
  if (kind == "stacks") return items_of(catalog.stacks, stack_item);
  return items_of(catalog.nics, nic_item);
}

}  // namespace tare
