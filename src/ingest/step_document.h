// Steps in one JSON document: Hugging Face's trainer_state.json (log_history), an array of steps, an object of columns,
// or the results of a run (train_results.json).
#pragma once

#include <string_view>

#include "ingest/format.h"

namespace tare {

int recognise_trainer_state(const Head& head);
int recognise_step_document(const Head& head);
void read_step_document(std::string_view text, Reading& reading);

}  // namespace tare
