// How long a step's data takes to come: from the nodes' own disks, from their page caches, from the shared store.
//
//   epochs        E = max(1, tokens · bytes per token ÷ dataset bytes)   the data are read at least once
//   bytes a step  b = dataset bytes · E · min(1, tokens per step ÷ tokens)
//   working set   w = dataset bytes ÷ nodes: with shard affinity a node reads its own part only, epoch after epoch;
//                     without, any part, and w is the whole dataset
//   local share   f = min(1, local disk bytes ÷ w): staged at the start and kept (startup_s has the staging)
//   hit ratio     h of the rest in the page cache of c = cache ÷ ((1 − f) · w), from the second epoch on: (E − 1)/E ·
//                     (c + (1 − c)·ln(1 − c)) for a part that is reshuffled every epoch, or (E − 1)/E · c without
//                     affinity, whose reads are as good as independent
//   store rate    B = min(nodes · node link, store) · (1 − congestion): storage traffic over TCP shares the leaf
//                     switch with the training's
//   metadata      shards opened a step · operations · (1 − f) ÷ X, X of the closed queue of all loaders
//   read_s        = b·f ÷ (nodes · disks · rate of one) + b·(1 − f)·(1 − h) ÷ B + metadata
// Prefetch reads while the step computes, so a step stalls for max(0, read_s − all else) (perf/step.h).
//
// At the start every rank looks up every shard: GPUs · shards · operations ÷ the servers' rate, no thinking between
// them (run/run.h adds it to startup_s). What the page cache serves costs no time here.
//
// The LRU form: in epochs of independent random order an item at place x of one and y of the next has the items after x
// and those before y between its reads, a share 1 − x(1 − y) of all; it is still there when that is under c, so with u,
// v uniform P(uv > 1 − c) = c + (1 − c)·ln(1 − c). A cache of half the data keeps 15 %, one that reads in the same
// order each time keeps none. Worked example: 120 GB on 8 nodes are 15 GB each: from the second epoch all in memory.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/formula.h"
#include "catalog/catalog.h"
#include "perf/closed_queue.h"
#include "workload/job.h"

namespace tare {

// Share of an epoch's reads that a cache of `share` of the data serves.
double reshuffled_lru_hit_ratio(double share);  // another random order every epoch, least recently used goes
double independent_hit_ratio(double share);     // any policy, when every read is as likely as any other

// By how much loading gets shorter when waiting, `wait_share` of it, falls from `before` to `after`:
// wait_share · (1 − after ÷ before).
double loading_reduction(double wait_share, double before, double after);

struct DataInput {
  double dataset_bytes = 0;  // > 0
  double shards = 0;         // 0 = not known: no metadata time
  double tokens = 0, tokens_per_step = 0;
  int nodes = 1;
  int gpus = 1;
  double local_disks = 0;             // of a node
  double local_bytes = 0;             // all disks of a node together; 0 = none
  bool local_assumed = false;         // local_bytes is not stated: taken to hold the node's part, which is staged
  double local_disk_bytes_per_s = 0;  // of one disk; 0 = not known, a parameter stands in
  double host_memory_bytes = 0;       // of a node; 0 = not known, no page cache counts
  bool affinity = true;               // every node keeps to its own part
  bool storage_shares_fabric = true;  // the store is reached over the leaf switches that carry the training
};

// What a job says of its data and a node type of its disks.
DataInput data_input(const Job& job, const NodeType& node_type, int nodes, int gpus);

struct DataLoading {
  double epochs = 1;
  double bytes_per_step = 0;
  double local_ratio = 0;      // f
  double cache_hit_ratio = 0;  // h
  double store_bytes_per_s = 0;
  double local_s = 0, store_s = 0, metadata_s = 0;  // of one step
  double read_s = 0;                                // their sum
  QueueState metadata;                              // of the loaders' queue at the servers
  double read_without_affinity_s = 0;               // the same when any node reads any part
  double affinity_saves_ratio = 0;                  // 1 − read_s ÷ read_without_affinity_s
  std::vector<Formula> formulas;                    // data.epochs … data.read_s
};

// Preconditions: dataset_bytes, tokens, tokens_per_step > 0, nodes ≥ 1.
DataLoading load_data(const DataInput& input, const Catalog& catalog);

// The catalog parameters it may ask for: a test checks that the shipped catalog has them all.
const std::vector<std::string>& data_parameter_ids();

}  // namespace tare
