// Bills and price lists as tables: AWS CUR, Azure and GCP exports, FOCUS, invoices, SkyPilot catalogs, price lists.
#pragma once

#include "ingest/format.h"

namespace tare {

Format bill_csv_format();

}  // namespace tare
