// A square of devices and what joins each two, as nvidia-smi topo -m and its look-alikes draw it:
//
//         GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA ID
//   GPU0   X      NV12    PIX     0-31,64-95      0               N/A
//
// Pasted matrices are damaged in every way: columns moved, blanks lost between cells, lines wrapped by a narrow
// terminal, rows or the header missing, the end cut. The words decide, not the columns they stand in.
// Thread safety: plain values and pure functions; a builder belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

// What stands behind the devices in the header, and behind the links in a row.
enum class Affinity { kCpu, kNuma, kGpuNuma, kMemory, kOther };

struct DeviceRow {
  std::string name;
  std::int64_t line = 0;
  std::vector<std::string> cells;  // at most as many as the matrix has columns, when those are known
  std::vector<std::string> rest;   // affinities, as printed
};

struct DeviceMatrix {
  std::int64_t line = 0;
  std::string title;                 // "Link Type between two GPUs"; empty for most
  std::vector<std::string> columns;  // empty: the header is missing
  std::vector<Affinity> affinities;
  std::vector<DeviceRow> rows;

  std::size_t column_of(std::string_view name) const;  // columns.size() when there is none
};

// "GPU12", "NPU0", "DCU3", "GPU1/0": its number. nullopt for anything else, also for NICs.
std::optional<int> accelerator_index(std::string_view word);
// "GPU" of "GPU12"; empty for what is no accelerator.
std::string_view accelerator_prefix(std::string_view word);
// "NIC3", "mlx5_0", "NVME1": devices that rows and columns name beside the accelerators.
bool is_device_name(std::string_view word);
// Whether a link class can be written so: "NV18", "SYS", "HCCS_SW", "OK".
bool is_link_class(std::string_view word);
// The classes of nvidia-smi's matrices, of all its versions, and of those that copy it.
bool is_known_link_class(std::string_view word);

// The words of a line with what is glued taken apart: "GPU0GPU1", "XNV12NV12SYS0-31", "GPU0|X|NV12".
std::vector<std::string_view> matrix_words(std::string_view text);

enum class MatrixLine { kNone, kHeader, kRow, kContinued };

// What a line would be without knowing those before it; for telling formats.
MatrixLine matrix_line(std::string_view text);

// Takes the lines of one matrix, one after the other.
class MatrixBuilder {
 public:
  static constexpr std::size_t kMostColumns = 1200;
  static constexpr std::size_t kMostRows = 4096;

  // kHeader: the line begins another matrix and `done` has the one before, if there was any.
  MatrixLine take(std::string_view text, std::int64_t line, std::string_view title, std::optional<DeviceMatrix>& done);
  // Ends the matrix, if there is one with rows or columns.
  std::optional<DeviceMatrix> finish();
  bool empty() const { return matrix_.columns.empty() && matrix_.rows.empty(); }

 private:
  bool take_header(const std::vector<std::string_view>& words, std::size_t first, std::int64_t line);
  bool take_row(const std::vector<std::string_view>& words, std::size_t first, std::int64_t line);
  bool continue_header(const std::vector<std::string_view>& words, std::int64_t line);
  bool continue_row(const std::vector<std::string_view>& words, std::int64_t line);
  void add_cells(DeviceRow& row, const std::vector<std::string_view>& words, std::size_t from);

  DeviceMatrix matrix_;
  std::string tail_;  // of the header, without blanks: "CPUAffinityNUMAAffinity"
  std::int64_t last_line_ = 0;
};

}  // namespace tare
