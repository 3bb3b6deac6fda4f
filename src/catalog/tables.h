// The readers of the catalog's tables, one file each: CSV text -> the rows, every error at its cell.
//
// Each takes what its rows may refer to. What is wrong goes to `diagnostics`; the row is returned all the same, so that
// one error is not followed by one for each row that refers to it.
// Columns are read by name; data/catalog/README.md describes them.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/table_reader.h"

namespace tare {

std::vector<Accelerator> read_accelerators(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics);
std::vector<Nic> read_nics(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics);
std::vector<NodeType> read_node_types(const CsvTable& table, const std::string& file, const Catalog& known,
                                      DiagnosticList& diagnostics);
std::vector<ModelArchitecture> read_models(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics);
std::vector<CostParameter> read_parameters(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics);
std::vector<SoftwareStack> read_stacks(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics);
std::vector<StepError> read_step_errors(const CsvTable& table, const std::string& file, DiagnosticList& diagnostics);

// Reports "unknown-gpu" at `column` and returns empty when the catalog has no such accelerator; else its id.
std::string read_gpu(TableReader& row, std::string_view column, const Catalog& known);

// The columns host, packaging, gpu_share and tenancy.
Delivery read_delivery(TableReader& row);

// Reports "unordered-range" unless low <= base <= high, as far as they are stated.
void check_range(TableReader& row, std::string_view low_column, std::optional<double> low, std::optional<double> base,
                 std::optional<double> high);

}  // namespace tare
