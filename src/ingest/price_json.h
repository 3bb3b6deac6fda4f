// Prices and costs as JSON: GCP Cloud Billing SKUs, the price lists of OCI, Azure (retail prices) and AWS (spot
// history, GetProducts), AWS Cost Explorer answers, and collections of offers by whoever wrote them.
#pragma once

#include "ingest/format.h"

namespace tare {

Format price_json_format();

}  // namespace tare
