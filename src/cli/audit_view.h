// How findings are shown.
#pragma once

#include <optional>

#include "audit/audit.h"
#include "report/document.h"

namespace tare {

// Each finding with its lines, cost and fix; what another one explains stands under it.
Document audit_document(const AuditReport& report, const std::optional<AuditDifference>& difference, bool explain);
// severity,rule_id,node,subject,title,file,line,usd_per_day: one row a finding.
Table audit_csv(const AuditReport& report);
Json audit_json(const AuditReport& report, const std::optional<AuditDifference>& difference);

}  // namespace tare
