#include <array>
#include <utility>

#include "cost/data_lines.h"
#include "cost/lines.h"

namespace tare {
namespace {

LineDraft rent(const BillInput& input, const HeldHours& held) {
  const Offer& offer = *input.offer;
  const std::string source = "offer " + offer.id + ", " + price_date_text(offer);
  RangedInput price = fixed_input("price_usd_per_gpu_h", price_usd_per_gpu_h(offer), "USD/GPU-h", source);
  price.cause = "offer.price";
  if (offer.price_low_usd_per_h) price.low = *offer.price_low_usd_per_h / offer.gpus;
  if (offer.price_high_usd_per_h) price.high = *offer.price_high_usd_per_h / offer.gpus;

  LineDraft line;
  line.id = "rent";
  line.gpu_time = true;
  line.expression = "price_usd_per_gpu_h * gpus * (" + held.hours_expression + ")";
  line.inputs = held.inputs;
  line.inputs.push_back(std::move(price));
  line.inputs.push_back(fixed_input("gpus", input.gpus, "GPU", "cluster"));
  line.note = pays_for_idle(offer.purchase)
                  ? "a reservation is paid whether it is used or not: held hours / utilisation"
                  : "whole nodes, in whole billing periods";
  return line;
}

LineDraft storage(const BillInput& input, const Catalog& catalog) {
  LineDraft line;
  line.id = "storage";
  line.expression =
      "(min(checkpoints, checkpoints_kept) * checkpoint_bytes + data_bytes)"
      " * storage_usd_per_byte_month * wall_s / (730 * 3600)";
  line.inputs = {fixed_input("checkpoints", input.run.checkpoints, "1", "run.checkpoints"),
                 parameter_range("checkpoints_kept", parameter(catalog, "checkpoints_kept")),
                 fixed_input("checkpoint_bytes", input.run.checkpoint_bytes, "bytes", "run"),
                 fixed_input("data_bytes", input.run.data_bytes, "bytes", "job"),
                 parameter_range("storage_usd_per_byte_month", parameter(catalog, "file_storage_usd_per_byte_month")),
                 wall_input(input.run)};
  line.note = "checkpoints and data on shared storage while the run lasts, months of 730 h";
  return line;
}

LineDraft egress(const BillInput& input, const Catalog& catalog) {
  LineDraft line;
  line.id = "egress";
  line.expression = "checkpoint_bytes * egress_usd_per_byte";
  line.inputs = {fixed_input("checkpoint_bytes", input.run.checkpoint_bytes, "bytes", "run"),
                 parameter_range("egress_usd_per_byte", parameter(catalog, egress_parameter(input.offer->provider)))};
  line.note = "the last checkpoint is taken out once; data coming in is free";
  return line;
}

LineDraft operations(const BillInput& input, const Catalog& catalog) {
  LineDraft line;
  line.id = "operations";
  line.expression = "incidents * hands_on_s / 3600 * people * engineer_usd_per_h";
  line.inputs = {fixed_input("incidents", input.run.hardware_failures, "1", "run.hardware_failures"),
                 parameter_range("hands_on_s", parameter(catalog, "mttr")),
                 parameter_range("people", parameter(catalog, "incident_people")),
                 parameter_range("engineer_usd_per_h", parameter(catalog, "eng_rate"))};
  line.note = "the customer's own: the provider's staff is in the rent; a spot reclaim restarts by itself";
  return line;
}

}  // namespace

Lines rented_lines(const BillInput& input, const HeldHours& held, const Catalog& catalog) {
  Lines lines;
  if (!input.offer->price_usd_per_h || input.offer->gpus <= 0) {
    lines.priced = false;
    lines.unknown.push_back("rent: offer " + input.offer->id + " has no price");
    return lines;
  }
  lines.drafts = {rent(input, held), storage(input, catalog), egress(input, catalog), operations(input, catalog),
                  compliance_line(input, held, catalog)};
  if (auto line = data_transfer_line(input, catalog)) lines.drafts.push_back(std::move(*line));
  return lines;
}

}  // namespace tare
