// Findings as SARIF 2.1.0 (OASIS), for code-scanning viewers and CI.
//
// Severity: high and medium are "error" and "warning", low and info are "note". A finding without a line points at its
// file. What SARIF has no field for stands in `properties`. Pure function.
#pragma once

#include "audit/audit.h"
#include "base/json_fwd.h"

namespace tare {

Json to_sarif(const AuditReport& report, const std::string& version);

}  // namespace tare
