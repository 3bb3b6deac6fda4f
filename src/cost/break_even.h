// From how many GPUs in use a whole node by the month is cheaper than single cards by the hour.
//
//   n* = node rent ÷ (card rent per hour · hours a month) · (MFU of a card ÷ MFU of the node)
// Below n* cards in use the cards are cheaper, above it the node is; n* > GPUs of the node: it never pays. Cards that
// work only part of the month are paid for that part: fewer hours raise n*. Worked example: 7,920 a month for eight
// cards against 1,341 a card and month: 5.91 cards at equal MFU, 4.86 at 0.85 on metal and 0.70 in containers.
// Thread safety: pure functions.
#pragma once

#include "base/formula.h"

namespace tare {

struct BreakEvenInput {
  double node_rent_per_month = 0;
  double node_gpus = 8;
  double card_rent_per_h = 0;
  double hours_per_month = 730;  // in which a card works, and is paid
  double node_mfu_ratio = 1;     // only their ratio counts
  double card_mfu_ratio = 1;
};

// "price.break_even_gpus", in GPUs in use. Precondition: rents, hours and MFUs > 0.
Formula break_even_gpus(const BreakEvenInput& input);

// Whether a whole node can pay at all: n* is not above its GPUs.
bool node_can_pay(const BreakEvenInput& input);

}  // namespace tare
