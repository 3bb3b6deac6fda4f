#include "audit/gpu_use.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace tare {
namespace {

std::string owner_of(const FactRecord& row) {
  if (const std::string_view job = row.text("job"); !job.empty()) return "job " + std::string(job);
  if (const std::optional<std::int64_t> job = row.integer("job")) return "job " + std::to_string(*job);
  const std::string_view pod = row.text("pod"), space = row.text("namespace");
  if (pod.empty()) return {};
  return space.empty() ? std::string(pod) : std::string(space) + '/' + std::string(pod);
}

void add(UseSum& sum, const FactRecord& row) {
  const double hours = row.number("hours").value_or(0);
  const double idle = std::min(hours, row.number("idle_hours").value_or(0));
  const double used = hours * row.number("mean_util_pct").value_or(0) / 100;
  sum.gpus.insert(std::string(row.text("node")) + '/' + std::string(row.text("gpu")) + '/' +
                  std::string(row.text("mig")));
  sum.gpu_h += hours;
  sum.idle_gpu_h += idle;
  sum.low_gpu_h += row.number("low_hours").value_or(0);
  sum.used_gpu_h += used;
  sum.spare_gpu_h += std::max(0.0, hours - idle - used / kWellUsed);
  if (const std::optional<double> power = row.number("mean_power_w")) {
    sum.power_wh += *power * hours;
    sum.power_gpu_h += hours;
  }
  if (const std::optional<double> memory = row.number("max_mem_used_mib")) {
    sum.max_memory_mib = std::max(sum.max_memory_mib.value_or(0), *memory);
  }
  if (sum.model.empty()) sum.model = row.text("model");
  if (sum.user.empty()) sum.user = row.text("user");
  if (sum.node.empty()) sum.node = row.text("node");
}

std::vector<UseSum> sorted(std::map<std::string, UseSum>&& sums) {
  std::vector<UseSum> list;
  list.reserve(sums.size());
  for (auto& [name, sum] : sums) {
    sum.name = name;
    list.push_back(std::move(sum));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const UseSum& a, const UseSum& b) { return a.idle_gpu_h > b.idle_gpu_h; });
  return list;
}

Json json_of(const UseSum& sum) {
  return {{"name", sum.name.empty() ? Json(nullptr) : Json(as_text(sum.name))},
          {"gpus", sum.gpus.size()},
          {"gpu_h", sum.gpu_h},
          {"idle_gpu_h", sum.idle_gpu_h},
          {"low_gpu_h", sum.low_gpu_h},
          {"spare_gpu_h", sum.spare_gpu_h},
          {"mean_use_ratio", sum.mean_use()}};
}

Json json_of(const std::vector<UseSum>& sums) {
  Json list = Json::array();
  for (const UseSum& sum : sums) list.push_back(json_of(sum));
  return list;
}

}  // namespace

GpuUse gpu_use_of(const FactRecord& facts) {
  GpuUse use;
  use.days = facts.number("days").value_or(0);
  use.step_s = facts.number("step_s").value_or(0);
  std::map<std::string, UseSum> jobs, users, nodes;
  for (const FactRecord* const row : records_of(facts, "use")) {
    const std::string owner = owner_of(*row);
    use.has_owners = use.has_owners || !owner.empty();
    add(use.all, *row);
    add(jobs[owner], *row);
    add(nodes[std::string(row->text("node"))], *row);
    if (const std::string_view user = row->text("user"); !user.empty()) add(users[std::string(user)], *row);
  }
  use.jobs = sorted(std::move(jobs));
  use.users = sorted(std::move(users));
  use.nodes = sorted(std::move(nodes));
  return use;
}

Json to_json(const GpuUse& use) {
  return {{"days", use.days},           {"step_s", use.step_s},      {"has_owners", use.has_owners},
          {"all", json_of(use.all)},    {"jobs", json_of(use.jobs)}, {"users", json_of(use.users)},
          {"nodes", json_of(use.nodes)}};
}

}  // namespace tare
