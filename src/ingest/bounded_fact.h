// A part of a foreign document, copied whole but not without end: what a person's labels or a vendor's notes hold.
// Thread safety: pure functions.
#pragma once

#include "ingest/fact.h"

namespace tare {

// Members and items beyond some hundreds, and what is nested deeper than a few levels, are left out; a record says so
// in "left_out".
Fact bounded(const Fact& fact);
FactRecord bounded(const FactRecord& record);

}  // namespace tare
