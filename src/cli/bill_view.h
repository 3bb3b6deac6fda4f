// How bills are shown: for each choice the ledger, the same money by cause, energy, and the chances.
#pragma once

#include <vector>

#include "base/formula.h"
#include "base/json_fwd.h"
#include "plan/plan.h"
#include "report/document.h"

namespace tare {

Document bill_document(const std::vector<PlanOption>& options, const Job& job);
// section,id,offer,usd,p10_usd,p50_usd,p90_usd,gpu_hours: a row for each line and bar.
Table bill_csv(const std::vector<PlanOption>& options);
// {format_version, job, offer, …, total, lines[], waterfall[], energy_kwh, co2e_kg, goodput_ratio, …} of the first, and
// with several of them bills[], all of them
Json bill_answer_json(const std::vector<PlanOption>& options, const Job& job);
// Of run and bill; an id stands after the option it belongs to when there are several.
std::vector<Formula> bill_formulas(const std::vector<PlanOption>& options);

}  // namespace tare
