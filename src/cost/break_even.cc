#include "cost/break_even.h"

namespace tare {

Formula break_even_gpus(const BreakEvenInput& in) {
  Formula f;
  f.id = "price.break_even_gpus";
  f.value = in.node_rent_per_month / (in.card_rent_per_h * in.hours_per_month) * in.card_mfu_ratio / in.node_mfu_ratio;
  f.unit = "GPU";
  f.expression = "node_rent_per_month / (card_rent_per_h * hours_per_month) * card_mfu_ratio / node_mfu_ratio";
  f.inputs = {{"node_rent_per_month", in.node_rent_per_month, "currency/month", "offer", false},
              {"card_rent_per_h", in.card_rent_per_h, "currency/GPU-h", "offer", false},
              {"hours_per_month", in.hours_per_month, "h", "in which a card is in use", false},
              {"card_mfu_ratio", in.card_mfu_ratio, "1", "given", false},
              {"node_mfu_ratio", in.node_mfu_ratio, "1", "given", false}};
  f.note =
      f.value > in.node_gpus ? "more than the node has: it never pays" : "with more GPUs in use the node is cheaper";
  return f;
}

bool node_can_pay(const BreakEvenInput& input) { return break_even_gpus(input).value <= input.node_gpus; }

}  // namespace tare
