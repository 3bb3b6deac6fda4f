#include "rank_recordings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tare {
namespace {

std::string ranks_text(const MadeJob& job) {
  std::string text;
  for (int r = 0; r < job.ranks; ++r) text += fmt::format("{}{}", r > 0 ? ", " : "", job.first_rank + r);
  return "[" + text + "]";
}

double lateness_us(const MadeJob& job, int rank, int k) {
  const int late = job.late_rank == -2 ? (k * 7 + 3) % job.ranks : job.late_rank;
  const bool now = job.once < 0 || job.once == k;
  return (rank == late && now ? job.late_us : 0) + (rank * 13 + k * 29) % 40;  // a little noise
}

std::string trace_of(const MadeJob& job, int rank) {
  const double clock = rank * 2 >= job.ranks ? job.clock_us : 0;
  const int device = job.ranks_per_node > 0 ? rank % job.ranks_per_node : rank;
  std::string text = fmt::format(
      "{{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1750000000000000000,\n"
      "\"deviceProperties\": [{{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\"}}],\n"
      "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n\"traceEvents\": [\n",
      job.first_rank + rank, job.world > 0 ? job.world : job.ranks);
  double begin = 1000;
  const int skipped = rank + 1 == job.ranks ? job.first_seen : 0;
  for (int k = 0; k < job.collectives; ++k) {
    double last = 0;
    for (int r = 0; r < job.ranks; ++r) last = std::max(last, begin + job.period_us + lateness_us(job, r, k));
    const double mine = begin + job.period_us + lateness_us(job, rank, k), end = last + job.transfer_us;
    const double computing = (job.computes_longer ? mine : begin + job.period_us) - begin - 500;
    if (k >= skipped) {
      text += fmt::format(
          "{{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#{}\", \"ts\": {:.3f}, \"dur\": "
          "{:.3f}}},\n",
          k, begin + clock, end - begin);
      text += fmt::format(
          "{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": "
          "{{\"device\": {}, \"stream\": 7}}}},\n",
          begin + clock, computing, device);
      text += fmt::format(
          "{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(p)\", \"ts\": "
          "{:.3f}, \"dur\": {:.3f}, \"args\": {{\"device\": {}, \"stream\": 20, \"Collective name\": \"allreduce\", "
          "\"In msg nelems\": {}, \"dtype\": \"BFloat16\", \"Group size\": {}, \"Process Group Name\": \"{}\", "
          "\"Process Group Ranks\": \"{}\"{}}}}}{}\n",
          mine + clock, end - mine, device, job.numbered ? 777 : 1000 + k % 3, job.ranks, job.group, ranks_text(job),
          job.numbered ? fmt::format(", \"Seq\": {}", 40 + k) : "", k + 1 < job.collectives ? "," : "");
    }
    begin = end;
  }
  return text + "]}\n";
}

}  // namespace

std::vector<CaseFile> traces_of(const MadeJob& job) {
  static std::vector<std::string> names;  // a case holds a pointer
  names.reserve(4096);
  std::vector<CaseFile> files;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const int number = job.first_rank + rank;
    names.push_back(job.folder + (job.ranks_per_node > 0 ? fmt::format("gpu-a{}_{}.17.pt.trace.json",
                                                                       number / job.ranks_per_node, 4000 + number)
                                                         : fmt::format("rank{}.json", number)));
    files.push_back({names.back().c_str(), trace_of(job, rank)});
  }
  return files;
}

std::vector<CaseFile> dumps_of(const std::vector<MadeDump>& dumps, const std::string& members) {
  static std::vector<std::string> names;
  names.reserve(4096);
  std::vector<CaseFile> files;
  for (const MadeDump& dump : dumps) {
    std::string text = fmt::format(
        "{{\"version\": \"2.5\",\n\"pg_config\": {{\"0\": {{\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": "
        "\"{}\"}}}},\n\"pg_status\": {{\"0\": {{\"last_enqueued_collective\": \"{}\", \"last_started_collective\": "
        "\"{}\", \"last_completed_collective\": \"{}\"}}}},\n\"entries\": [\n",
        members, dump.entered, dump.state == "started" ? dump.entered : dump.done, dump.done);
    for (int k = std::max(1, dump.entered - 3); k <= dump.entered; ++k) {
      const bool last = k == dump.entered;
      text += fmt::format(
          "{{\"record_id\": {}, \"pg_id\": 0, \"process_group\": [\"0\", \"default_pg\"], \"collective_seq_id\": {}, "
          "\"profiling_name\": \"{}\", \"input_sizes\": [[{}]], \"state\": \"{}\", \"timeout_ms\": 600000, \"is_p2p\": "
          "false, \"frames\": [{{\"name\": \"backward\", \"filename\": \"loop.py\", \"line\": 31}}]}}{}\n",
          k, k, last ? dump.last_operation : "nccl:all_reduce", last ? dump.last_elements : 4096,
          k <= dump.done ? "completed" : dump.state, last ? "" : ",");
    }
    names.push_back(fmt::format("nccl_trace_rank_{}", dump.rank));
    files.push_back({names.back().c_str(), text + "]}\n"});
  }
  return files;
}

}  // namespace tare
