#include "run/run_json.h"

#include "base/json.h"

namespace tare {
namespace {

Json number_or_null(double value, bool known) { return known ? Json(value) : Json(nullptr); }

}  // namespace

Json to_json(const Run& run) {
  Json json;
  json["finishes"] = run.finishes;
  json["steps"] = run.steps;
  json["wall_s"] = number_or_null(run.wall_s, run.finishes);
  if (run.wall_low_s) json["wall_low_s"] = *run.wall_low_s;
  if (run.wall_high_s) json["wall_high_s"] = *run.wall_high_s;
  json["productive_s"] = run.productive_s;
  json["startup_s"] = run.startup_s;
  json["checkpoint_stall_s"] = run.checkpoint_stall_s;
  json["failure_lost_s"] = number_or_null(run.failure_lost_s, run.finishes);
  json["maintenance_s"] = number_or_null(run.maintenance_s, run.finishes);
  json["gpu_hours"] = number_or_null(run.gpu_hours, run.finishes);
  json["goodput_ratio"] = run.goodput_ratio;
  json["failures"] = number_or_null(run.failures, run.finishes);
  json["hardware_failures"] = number_or_null(run.hardware_failures, run.finishes);
  json["planned_interruptions"] = number_or_null(run.planned_interruptions, run.finishes);
  json["mtti_s"] = run.mtti_s;
  json["restart_s"] = run.restart_s;
  json["loss_per_failure_s"] = run.loss_per_failure_s;
  json["checkpoint"] = Json{{"interval_s", run.checkpoint_interval_s},
                            {"bytes", run.checkpoint_bytes},
                            {"count", run.checkpoints},
                            {"block_s", run.checkpoint_block_s},
                            {"durable_s", run.checkpoint_durable_s}};
  if (run.it_energy_j > 0) json["it_energy_j"] = run.it_energy_j;
  return json;
}

}  // namespace tare
