#include "perf/storage.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tare {
namespace {

FormulaInput given(std::string name, double value, std::string unit, std::string source) {
  return {std::move(name), value, std::move(unit), std::move(source), false};
}
FormulaInput from(const char* name, double value, const char* unit) {
  return {name, value, unit, std::string("data.") + name, false};
}

double cached_ratio(double share, bool affinity) {
  return affinity ? reshuffled_lru_hit_ratio(share) : independent_hit_ratio(share);
}

class Loading {
 public:
  Loading(const DataInput& input, const Catalog& catalog) : in_(input), catalog_(catalog) {}

  DataLoading compute() {
    volume();
    places();
    store_rate();
    metadata();
    times();
    return std::move(out_);
  }

 private:
  double value(const char* id) const { return parameter(catalog_, id).base; }
  FormulaInput param(std::string name, const char* id) const {
    const CostParameter& p = parameter(catalog_, id);
    return {std::move(name), p.base, p.unit, "parameter " + p.id, p.source.evidence == "unsourced"};
  }
  void add(const char* id, double value, const char* unit, std::string expression, std::vector<FormulaInput> inputs,
           std::string note = {}) {
    out_.formulas.push_back({id, value, unit, std::move(expression), std::move(inputs), std::move(note)});
  }
  FormulaInput dataset() const { return given("data_bytes", in_.dataset_bytes, "bytes", "job"); }
  FormulaInput nodes() const { return given("nodes", in_.nodes, "node", "cluster"); }

  void volume() {
    const FormulaInput tokens = given("tokens", in_.tokens, "token", "job");
    out_.epochs = std::max(1.0, in_.tokens * value("data_bytes_per_token") / in_.dataset_bytes);
    add("data.epochs", out_.epochs, "1", "max(1, tokens * bytes_per_token / data_bytes)",
        {tokens, param("bytes_per_token", "data_bytes_per_token"), dataset()}, "the data are read at least once");
    out_.bytes_per_step = in_.dataset_bytes * out_.epochs * std::min(1.0, in_.tokens_per_step / in_.tokens);
    add("data.bytes_per_step", out_.bytes_per_step, "bytes", "data_bytes * epochs * min(1, tokens_per_step / tokens)",
        {dataset(), from("epochs", out_.epochs, "1"), given("tokens_per_step", in_.tokens_per_step, "token", "job"),
         tokens});
  }

  // What a node reads again and again.
  double working_set() const { return in_.affinity ? in_.dataset_bytes / in_.nodes : in_.dataset_bytes; }

  void places() {
    const FormulaInput parts = given("parts", in_.affinity ? in_.nodes : 1, "1",
                                     in_.affinity ? "a part for each node" : "every node reads from all of it");
    out_.local_ratio = std::min(1.0, in_.local_bytes / working_set());
    add("data.local_ratio", out_.local_ratio, "1", "min(1, local_bytes * parts / data_bytes)",
        {{"local_bytes", in_.local_bytes, "bytes",
          in_.local_assumed ? "not stated: the node's part, which is staged" : "node type", in_.local_assumed},
         parts,
         dataset()},
        "staged on the node's own disks at the start");
    const double rest = working_set() * (1 - out_.local_ratio);
    const double share = rest > 0 ? std::min(1.0, in_.host_memory_bytes * value("page_cache_share") / rest) : 0;
    const double again = (out_.epochs - 1) / out_.epochs;
    out_.cache_hit_ratio = again * cached_ratio(share, in_.affinity);
    // ln 0 at a cache that holds everything: the limit is 1.
    const bool logarithm = in_.affinity && share > 0 && share < 1;
    add("data.cache_hit_ratio", out_.cache_hit_ratio, "1",
        logarithm ? "(epochs - 1) / epochs * (cached + (1 - cached) * log2(1 - cached) / log2(exp(1)))"
                  : "(epochs - 1) / epochs * cached",
        {from("epochs", out_.epochs, "1"),
         given("cached", share, "1", "min(1, host memory x parameter page_cache_share / what is not local)")},
        "none in the first epoch; a new order every epoch leaves little of a cache that does not hold it all");
  }

  void store_rate() {
    const double congestion = in_.storage_shares_fabric ? value("storage_congestion_ratio") : 0;
    out_.store_bytes_per_s =
        std::min(in_.nodes * value("checkpoint_node_bytes_per_s"), value("checkpoint_load_bytes_per_s")) *
        (1 - congestion);
    add("data.store_bytes_per_s", out_.store_bytes_per_s, "bytes/s",
        "min(nodes * node_bytes_per_s, store_bytes_per_s) * (1 - congestion)",
        {nodes(), param("node_bytes_per_s", "checkpoint_node_bytes_per_s"),
         param("store_bytes_per_s", "checkpoint_load_bytes_per_s"),
         in_.storage_shares_fabric ? param("congestion", "storage_congestion_ratio")
                                   : given("congestion", 0, "1", "storage has links of its own")},
        "the nodes' links or the store, whichever is less, beside the training's own traffic");
  }

  void metadata() {
    const double service_s = 1 / value("metadata_ops_per_s");
    ClosedQueue queue;
    queue.clients = std::max(1.0, in_.gpus * value("loader_workers_per_gpu"));
    queue.service_s = service_s;
    queue.think_s = std::max(0.0, value("metadata_round_trip_s") - service_s);
    out_.metadata = solve(queue);
    const double opened = in_.shards * out_.epochs * std::min(1.0, in_.tokens_per_step / in_.tokens);
    const double operations = opened * value("metadata_ops_per_shard") * (1 - out_.local_ratio);
    out_.metadata_s = operations / out_.metadata.throughput_per_s;
    add("data.metadata_s", out_.metadata_s, "s",
        "shards_opened * ops_per_shard * (1 - local_ratio) / metadata_throughput_per_s",
        {given("shards_opened", opened, "1", "shards x epochs x share of the run that a step is"),
         param("ops_per_shard", "metadata_ops_per_shard"), from("local_ratio", out_.local_ratio, "1"),
         given("metadata_throughput_per_s", out_.metadata.throughput_per_s, "1/s",
               "closed queue (perf/closed_queue.h) at parameters metadata_ops_per_s, metadata_round_trip_s, "
               "loader_workers_per_gpu")},
        "opening shards on the shared store");
  }

  double disk_rate() const {
    return in_.local_disk_bytes_per_s > 0 ? in_.local_disk_bytes_per_s : value("local_nvme_read_bytes_per_s");
  }

  void times() {
    const FormulaInput bytes = from("bytes_per_step", out_.bytes_per_step, "bytes");
    const FormulaInput local = from("local_ratio", out_.local_ratio, "1");
    const double disks = std::max(1.0, in_.local_disks);
    out_.local_s = out_.bytes_per_step * out_.local_ratio / (in_.nodes * disks * disk_rate());
    add("data.local_s", out_.local_s, "s", "bytes_per_step * local_ratio / (nodes * disks * disk_bytes_per_s)",
        {bytes, local, nodes(), given("disks", disks, "1", "node type"),
         in_.local_disk_bytes_per_s > 0 ? given("disk_bytes_per_s", in_.local_disk_bytes_per_s, "bytes/s", "node type")
                                        : param("disk_bytes_per_s", "local_nvme_read_bytes_per_s")});
    out_.store_s = out_.bytes_per_step * (1 - out_.local_ratio) * (1 - out_.cache_hit_ratio) / out_.store_bytes_per_s;
    add("data.store_s", out_.store_s, "s",
        "bytes_per_step * (1 - local_ratio) * (1 - cache_hit_ratio) / store_bytes_per_s",
        {bytes, local, from("cache_hit_ratio", out_.cache_hit_ratio, "1"),
         from("store_bytes_per_s", out_.store_bytes_per_s, "bytes/s")});
    out_.read_s = out_.local_s + out_.store_s + out_.metadata_s;
    add("data.read_s", out_.read_s, "s", "local_s + store_s + metadata_s",
        {from("local_s", out_.local_s, "s"), from("store_s", out_.store_s, "s"),
         from("metadata_s", out_.metadata_s, "s")},
        "read ahead while the step computes: only what is longer than the rest of the step stalls it");
  }

  const DataInput& in_;
  const Catalog& catalog_;
  DataLoading out_;
};

}  // namespace

double reshuffled_lru_hit_ratio(double share) {
  if (share <= 0) return 0;
  if (share >= 1) return 1;
  return share + (1 - share) * std::log(1 - share);
}

double independent_hit_ratio(double share) { return std::clamp(share, 0.0, 1.0); }

double loading_reduction(double wait_share, double before, double after) { return wait_share * (1 - after / before); }

DataInput data_input(const Job& job, const NodeType& node_type, int nodes, int gpus) {
  DataInput input;
  input.dataset_bytes = job.data.bytes.value_or(0);
  input.shards = job.data.shards.value_or(0);
  input.tokens = job.tokens;
  input.tokens_per_step = tokens_per_step(job);
  input.nodes = nodes;
  input.gpus = gpus;
  input.local_disks = node_type.local_nvme_count.value_or(0);
  input.local_assumed = !node_type.local_nvme_bytes && input.local_disks == 0;
  input.local_bytes = input.local_assumed ? input.dataset_bytes / nodes : node_type.local_nvme_bytes.value_or(0);
  input.local_disk_bytes_per_s = node_type.local_nvme_read_bytes_per_s.value_or(0);
  input.host_memory_bytes = node_type.memory_bytes.value_or(0);
  return input;
}

DataLoading load_data(const DataInput& input, const Catalog& catalog) {
  DataLoading loading = Loading(input, catalog).compute();
  loading.read_without_affinity_s = loading.read_s;
  if (input.affinity) {
    DataInput any = input;
    any.affinity = false;
    loading.read_without_affinity_s = Loading(any, catalog).compute().read_s;
  }
  if (loading.read_without_affinity_s > 0) {
    loading.affinity_saves_ratio = 1 - loading.read_s / loading.read_without_affinity_s;
  }
  return loading;
}

const std::vector<std::string>& data_parameter_ids() {
  static const std::vector<std::string> ids = {"data_bytes_per_token",        "page_cache_share",
                                               "storage_congestion_ratio",    "checkpoint_node_bytes_per_s",
                                               "checkpoint_load_bytes_per_s", "metadata_ops_per_s",
                                               "metadata_round_trip_s",       "metadata_ops_per_shard",
                                               "loader_workers_per_gpu",      "local_nvme_read_bytes_per_s"};
  return ids;
}

}  // namespace tare
