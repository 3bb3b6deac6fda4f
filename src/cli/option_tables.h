// The tables that show one choice: its step, memory, run, bill and waterfall. 'plan' and 'estimate' share them.
#pragma once

#include <string>

#include "plan/plan.h"
#include "report/document.h"
#include "report/svg.h"
#include "report/table.h"

namespace tare {

Table step_table(const Step& step);
Table memory_table(const Memory& memory, double capacity_bytes);
Table run_table(const PlanOption& option, const Job& job);
Table bill_table(const Bill& bill);
Table waterfall_table(const Bill& bill);

// What to doubt of it: a suspect or stale price, an assumed network.
void add_doubts(Document& document, const PlanOption& option);

// Bill lines and waterfall, or why there are none.
void add_bill(Document& document, const Bill& bill);

// "64 × H100-SXM5-80GB (8 nodes), tp4 pp2 dp8, 71.3 of 79.6 GiB, $3.29/GPU-h of 2026-05-24"
std::string describe(const PlanOption& option);

// "64 (8×8)"
std::string size_text(const PlanOption& option);

// "$3.29", a stale one with a star behind it; "unknown" where no price is known.
std::string price_text(const PlanOption& option);

BarChart waterfall_chart(const PlanOption& option);

// Numbers for people.
std::string amount_text(double count);       // "20B": tokens and parameters, with B for a thousand million
std::string flops_text(double flops_per_s);  // "989 TFLOP/s"
std::string percent(double ratio);           // "45.1 %"
std::string wall_text(const Run& run);       // "61.2 h", "does not finish"
std::string dollars(double usd);             // "$18,432"; cents below $100; "unknown" when not finite
std::string rate_text(double usd);           // three significant digits: "$0.921"

}  // namespace tare
