// How the accuracy of the model is shown.
#pragma once

#include "report/document.h"
#include "report/svg.h"
#include "validation/validate.h"

namespace tare {

Document validation_document(const ValidationReport& report, bool every_row);

// id,measured_tokens_per_s_per_gpu,predicted_tokens_per_s_per_gpu,error_ratio,assumed
Table predictions_table(const std::vector<RowPrediction>& predictions);

// One row: measured and predicted step, part by part; with the formulas behind them if asked for.
void add_row(Document& document, const RowExplanation& explanation, bool formulas);

// Predicted against measured, one series a GPU.
ScatterChart accuracy_chart(const ValidationReport& report);

}  // namespace tare
