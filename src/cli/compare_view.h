// Choices side by side: every number of the first, and how each other one differs from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "cost/delivery_compare.h"
#include "plan/plan.h"
#include "report/document.h"
#include "report/table.h"

namespace tare {

// Precondition of all: at least two options, each with a known bill or marked unknown in it.
Document compare_document(const std::vector<PlanOption>& options, const Job& job);

// "B costs less than A in 93 % of the draws", and how sure the order is.
void add_chances(Document& document, const std::vector<PlanOption>& options, const Uncertainty& uncertainty);

// Which inputs move the difference to the first most. `tornados`: of each option but the first.
void add_tornados(Document& document, const std::vector<PlanOption>& options, const std::vector<Tornado>& tornados);

// Bare metal, container and VM on the same nodes: what each adds to a step and to the bill.
void add_deliveries(Document& document, const std::vector<DeliveryRow>& rows);
Json deliveries_json(const std::vector<DeliveryRow>& rows);

// Where one of two options is a whole node by the month and the other the same GPUs by the hour: from how many GPUs in
// use the node is cheaper.
void add_break_even(Document& document, const std::vector<PlanOption>& options);

// The money by cause of each, and below it what moves the differences.
std::string compare_svg(const std::vector<PlanOption>& options, const std::vector<Tornado>& tornados);

// section,id,offer,value,difference: one row per number and option.
Table compare_csv(const std::vector<PlanOption>& options);

// {format_version, job, options[], differences[] {offer, against, step[], run[], bill {total, lines[], waterfall[]}}}
Json compare_json(const std::vector<PlanOption>& options, const Job& job);

// "+$743 ($0 → $743)"; "=" when nothing differs.
std::string difference_text(double from, double to, const std::function<std::string(double)>& show);

}  // namespace tare
