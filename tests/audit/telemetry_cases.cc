#include <cstdio>

#include "rule_case.h"

namespace tare {
namespace {

using enum FindingSeverity;

struct Row {
  int watts = 80, limit = 400, used_mib = 0, util = 0, temp = 40;
};
std::string table(const std::vector<Row>& rows, const char* name = "NVIDIA H100 80GB HBM3") {
  std::string text =
      "+---------------------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n"
      "|-----------------------------------------+----------------------+----------------------+\n"
      "| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |\n"
      "|                                         |                      |               MIG M. |\n"
      "|=========================================+======================+======================|\n";
  int index = 0;
  for (const Row& row : rows) {
    char line[512];
    std::snprintf(line, sizeof line,
                  "| %3d  %-24s %7s | 00000000:%02X:00.0 Off | %20s |\n"
                  "| N/A %4dC    P0 %12dW / %4dW | %6dMiB / %6dMiB | %6d%%      Default |\n"
                  "|                                         |                      | %20s |\n"
                  "+-----------------------------------------+----------------------+----------------------+\n",
                  index, name, "On", 16 + index, "0", row.temp, row.watts, row.limit, row.used_mib, 81920, row.util,
                  "Disabled");
    text += line;
    ++index;
  }
  return text;
}

struct Sample {
  int watts, sm, mem;
};
// nvidia-smi dmon: `rounds` times the same for each GPU.
std::string monitor(const std::vector<Sample>& gpus, int rounds) {
  std::string text =
      "# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk\n# Idx     W     C     C     %     %     %     %   "
      "MHz   MHz\n";
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      char line[128];
      std::snprintf(line, sizeof line, "%5zu %6d    51     - %5d %5d     0     0  1593  1410\n", gpu, gpus[gpu].watts,
                    gpus[gpu].sm, gpus[gpu].mem);
      text += line;
    }
  }
  return text;
}

// A table of utilisation over `hours`, a sample each six minutes: of each GPU every how many samples it works, and how
// much then.
struct Course {
  int every = 1, pct = 90;
  const char* pod = "";
};
std::string course(const std::vector<Course>& gpus, int hours, bool with_pod = false) {
  std::string text = std::string("timestamp,hostname,gpu,gpu_util_pct,power_w") + (with_pod ? ",pod\n" : "\n");
  for (int at = 0; at <= hours * 10; ++at) {
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      const bool works = gpus[gpu].every > 0 && at % gpus[gpu].every == 0;
      text += std::to_string(1750000000 + at * 360) + ",n4," + std::to_string(gpu) + "," +
              std::to_string(works ? gpus[gpu].pct : 0) + "," + std::to_string(works ? 320 : 70) +
              (with_pod ? std::string(",") + gpus[gpu].pod : "") + "\n";
    }
  }
  return text;
}

// What Prometheus answers to query_range for a GPU of a pod.
std::string answer(const char* pod, const char* value, int hours) {
  std::string values;
  for (int at = 0; at <= hours * 4; ++at) {
    values += (at == 0 ? "[" : ",[") + std::to_string(1750000000 + at * 900) + ",\"" + value + "\"]";
  }
  return R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"2",)"
         R"("Hostname":"n4","UUID":"GPU-22222222-0000-0000-0000-000000000000","exported_namespace":"ml","exported_pod":")" +
         std::string(pod) + "\"},\"values\":[" + values + "]}]}}\n";
}

std::string metric(const char* name, const char* labels, const char* value) {
  return std::string(name) + "{gpu=\"0\",UUID=\"GPU-33333333-0000-0000-0000-000000000000\",device=\"nvidia0\"" +
         labels + ",Hostname=\"n4\"} " + value + "\n";
}

std::string profile(const char* engine, const char* tensor, const char* dram) {
  return metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "", engine) + metric("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "", tensor) +
         metric("DCGM_FI_PROF_DRAM_ACTIVE", "", dram);
}

std::string pcie(int rx) {
  return "# gpu rxpci txpci\n# Idx  MB/s  MB/s\n    0  1210   640\n    0  " + std::to_string(rx) +
         "   710\n    0   980   655\n";
}

RuleCase speaks(const char* rule, const char* what, std::string text, FindingSeverity severity, const char* subject,
                const char* title) {
  return {rule, what, {{"out.txt", std::move(text)}}, true, severity, subject, title};
}
RuleCase silent(const char* rule, const char* what, std::string text) {
  return {rule, what, {{"out.txt", std::move(text)}}, false};
}

void add_load_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  const Row waits{.watts = 121, .limit = 400, .used_mib = 60000, .util = 100, .temp = 45};
  const Row works{.watts = 352, .limit = 400, .used_mib = 60000, .util = 99, .temp = 60};
  add(speaks("telemetry.part-stalled", "OneOfFour", table({works, works, waits, works}), kMedium, "GPU2",
             "waits at 121 W while 3"));
  add(silent("telemetry.part-stalled", "AllWork", table({works, works, works, works})));
  add(silent("telemetry.part-stalled", "AnIdleOneBesideThem",
             table({works, works, {.watts = 70, .used_mib = 0, .util = 0}, works})));
  add(speaks("telemetry.busy-low-power", "AllFour", table({waits, waits, waits, waits}), kMedium, "all 4 GPUs",
             "small share"));
  add(speaks("telemetry.busy-low-power", "OneIsLow", table({waits}), kLow, "GPU0", "small share"));
  add(speaks("telemetry.busy-low-power", "OverTime",
             monitor({{140, 100, 1}, {140, 99, 2}, {150, 100, 0}, {139, 100, 3}}, 4), kMedium, "GPU0, GPU1, GPU2, GPU3",
             "16 of 16 samples"));
  add(silent("telemetry.busy-low-power", "TheMemoryWorks", monitor({{140, 100, 41}, {140, 99, 38}}, 6)));
  add(silent("telemetry.busy-low-power", "AtWork", table({works, works})));
  add(speaks("telemetry.bound-by", "TensorPipe", profile("0.98", "0.71", "0.44"), kInfo, "GPU0", "compute"));
  add(speaks("telemetry.bound-by", "Memory", profile("0.98", "0.05", "0.82"), kInfo, "GPU0", "memory"));
  add(silent("telemetry.bound-by", "HalfIdle", profile("0.41", "0.12", "0.10")));
  add(speaks("telemetry.busy-without-work", "ItSpins", profile("0.99", "0.001", "0.004"), kMedium, "GPU0",
             "without doing"));
  add(silent("telemetry.busy-without-work", "ItDecodes", profile("0.99", "0.02", "0.78")));
  add(speaks("telemetry.memory-full", "NinetyNine", table({{.used_mib = 81200, .util = 90}}), kInfo, "GPU0", "memory"));
  add(silent("telemetry.memory-full", "Half", table({{.used_mib = 41000, .util = 90}})));
  const Row cool{.watts = 300, .limit = 400, .used_mib = 60000, .util = 99, .temp = 55};
  Row hot = cool;
  hot.temp = 74;
  add(speaks("telemetry.uneven-heat", "OneOfFour", table({cool, hot, cool, cool}), kLow, "GPU1", "19 °C hotter"));
  Row busy = hot;
  busy.watts = 395;
  add(silent("telemetry.uneven-heat", "ItDrawsMore", table({cool, busy, cool, cool})));
}

void add_waste_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("telemetry.idle", "HalfOfTheSamples", course({{2, 90}, {1, 90}}, 24), kMedium, "n4", "idle GPU-hours"));
  add(silent("telemetry.idle", "AShortGap", course({{1, 90}, {1, 90}}, 24)));
  add(silent("telemetry.idle", "SomeMinutes", monitor({{90, 0, 0}, {350, 98, 40}}, 5)));
  add(speaks("telemetry.idle-owner", "APodOfPrometheus", answer("notebook-7", "0", 30), kMedium, "pod ml/notebook-7",
             "30.0 GPU-hours"));
  add(speaks("telemetry.idle-owner", "APodInATable", course({{1, 90, "train-a"}, {0, 0, "devbox"}}, 10, true), kMedium,
             "pod devbox", "100 % idle"));
  add(silent("telemetry.idle-owner", "ItWorks", answer("train-3", "88", 30)));
  add(speaks("telemetry.low-use", "FifteenPercent", course({{1, 15}, {1, 17}}, 12), kMedium, "n4", "% busy"));
  add(silent("telemetry.low-use", "Full", course({{1, 93}, {1, 95}}, 12)));
  add(speaks("telemetry.low-use-now", "OnAnH100", table({{.watts = 140, .limit = 700, .used_mib = 30000, .util = 18}}),
             kLow, "GPU0", "hardly busy"));
  add(silent("telemetry.low-use-now", "ASmallGpu",
             table({{.watts = 40, .limit = 72, .used_mib = 9000, .util = 18}}, "NVIDIA L4")));
  add(speaks("telemetry.held-idle", "MemoryInUse", table({{.used_mib = 30000, .util = 0}, {.used_mib = 3, .util = 0}}),
             kLow, "GPU0", "nothing runs"));
  add(silent("telemetry.held-idle", "Free", table({{.used_mib = 3, .util = 0}})));
}

void add_data_cases(std::vector<RuleCase>& cases) {
  const auto add = [&](RuleCase one) { cases.push_back(std::move(one)); };
  add(speaks("telemetry.pcie-glitch", "ATerabyteASecond", pcie(1400000), kLow, "out.txt", "1400 GB/s"));
  add(silent("telemetry.pcie-glitch", "FastButPossible", pcie(51000)));
  add(speaks("telemetry.no-data", "EmptyMatrix", R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
             kMedium, "out.txt", "not 0 %"));
  add(silent("telemetry.no-data", "OneSeries", answer("train-3", "0", 2)));
  add(speaks("telemetry.query-failed", "BadData",
             R"({"status":"error","errorType":"bad_data","error":"parse error: unexpected end of input","data":null})",
             kLow, "out.txt", "parse error"));
  add(silent("telemetry.query-failed", "OneSeries", answer("train-3", "0", 2)));
  add(speaks(
      "telemetry.metric-missing", "ProfilingOfDmon",
      "#Entity   SMACT   TENSO\nID\nGPU 0   N/A   N/A\nGPU 1   N/A   N/A\nGPU 0   N/A   N/A\nGPU 1   N/A   N/A\n",
      kMedium, "out.txt", "not measured"));
  add(silent("telemetry.metric-missing", "MeasuredOfDmon",
             "#Entity   SMACT   TENSO\nID\nGPU 0   0.91   0.52\nGPU 1   0.93   0.55\nGPU 0   0.92   0.51\nGPU 1   0.90 "
             "  0.50\n"));
  add(silent("telemetry.metric-missing", "Measured", profile("0.98", "0.71", "0.44")));
  add(speaks("telemetry.blank-values", "NineQuintillion",
             metric("DCGM_FI_DEV_FB_USED", "", "9223372036854775794") + metric("DCGM_FI_DEV_SM_CLOCK", "", "1410"),
             kLow, "n4", "blank"));
  add(silent("telemetry.blank-values", "Numbers", metric("DCGM_FI_DEV_SM_CLOCK", "", "1410")));
  const std::string instance = ",GPU_I_PROFILE=\"1g.10gb\",GPU_I_ID=\"";
  add(speaks("telemetry.mig-sums", "TwoInstances",
             metric("DCGM_FI_DEV_POWER_USAGE", (instance + "7\"").c_str(), "91.2") +
                 metric("DCGM_FI_DEV_POWER_USAGE", (instance + "8\"").c_str(), "91.2"),
             kInfo, "GPU0", "never sum"));
  add(silent("telemetry.mig-sums", "Whole", metric("DCGM_FI_DEV_POWER_USAGE", "", "91.2")));
}

}  // namespace

std::span<const RuleCase> telemetry_cases() {
  static const std::vector<RuleCase> cases = [] {
    std::vector<RuleCase> list;
    add_load_cases(list);
    add_waste_cases(list);
    add_data_cases(list);
    return list;
  }();
  return cases;
}

}  // namespace tare
