// nics.csv -> Nic.
#include "catalog/tables.h"

namespace tare {

std::vector<Nic> read_nics(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics) {
  static const std::vector<std::string> kScopes = {"port", "node"};
  static const std::vector<std::string> kTransports = {"ib", "roce", "efa", "tcp", "ethernet"};
  std::vector<Nic> rows;
  TableReader row(table, file, diagnostics, {"id", "rate_bits_per_s"});
  if (!row.complete()) return rows;
  for (std::size_t i = 0; i < row.rows(); ++i) {
    row.select(i);
    Nic nic;
    nic.id = row.require_id("id");
    nic.name = row.text("name");
    nic.rate_bytes_per_s = row.require_positive("rate_bits_per_s") / 8;
    nic.scope = row.word("scope", kScopes, "port");
    nic.transport = row.word("transport", kTransports, "");
    nic.source = row.source();
    rows.push_back(std::move(nic));
  }
  return rows;
}

}  // namespace tare
