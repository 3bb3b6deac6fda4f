// Bills over the round catalog: 8 nodes of 8 GPUs, and helpers to read them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "cost/bill.h"
#include "run/round_catalog.h"

namespace tare::test {

struct BillCase {
  Catalog catalog = round_catalog();
  Offer offer;
  NodeType node_type;
  BillInput input;

  explicit BillCase(Purchase purchase) {
    offer.id = "lab/hgx/us-1/any";
    offer.provider = "lab";
    offer.region = "us-1";
    offer.purchase = purchase;
    offer.gpus = 8;
    if (purchase != Purchase::kOwned) offer.price_usd_per_h = 16;
    offer.billing_period = "second";
    node_type.id = "lab/hgx";
    node_type.gpu = "H100";
    node_type.gpus = 8;
    node_type.node_power_w = 10000;
    node_type.capex_base_usd = 192000;
    input.nodes = 8;
    input.gpus = 64;
    input.gpus_used = 64;
    input.tokens = 1e10;
    input.step_time_s = 10;
    RunInput run = round_run();
    run.purchase = purchase;
    run.node_power_w = node_type.node_power_w;
    input.run = estimate_run(run, catalog);
  }

  // The pointers are set last, so that a case may be copied and changed before.
  Bill bill() {
    input.offer = &offer;
    input.node_type = &node_type;
    return make_bill(input, catalog);
  }
};

inline const BillLine* find_line(const Bill& bill, const std::string& id) {
  for (const BillLine& line : bill.lines) {
    if (line.id == id) return &line;
  }
  return nullptr;
}

inline const WaterfallBar* find_bar(const Bill& bill, const std::string& id) {
  for (const WaterfallBar& bar : bill.waterfall) {
    if (bar.id == id) return &bar;
  }
  return nullptr;
}

inline double line_usd(const Bill& bill, const std::string& id) {
  const BillLine* const line = find_line(bill, id);
  return line == nullptr ? NAN : line->amount.usd;
}

inline std::int64_t cents(double usd) { return std::llround(usd * 100); }

}  // namespace tare::test
