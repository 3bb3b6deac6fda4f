// The fields of a line and the plain numbers in them, many bytes at a time: the hot path of telemetry.
//
// Bytes become bit masks (64 at once), masks positions, and up to 8 characters a number with three multiplications: no
// branch depends on how long a field is. On x86-64 the same code is built twice, for every processor and for those
// with AVX2 and BMI (field_kernel.inc), and chosen when it runs; elsewhere plain loops do.
// Lines must have LineStream::kPadding bytes behind them that may be read.
// Thread safety: a FieldScan belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tare {

class FieldScan {
 public:
  static constexpr std::size_t kFields = 320;
  static constexpr std::size_t kBytes = 4096;  // longer lines are left to others
  static constexpr std::size_t kUnit = 8;
  static constexpr std::uint8_t kNoValue = 0xFF;

  struct Column {
    std::uint8_t unit_size = 0;  // of a unit that stands behind its numbers, with its blank: " MiB"; kNoValue: a text
    std::array<char, kUnit> unit{};
  };

  // Reads a line of exactly `count` fields, `separator` between them (' ': runs of blanks, tabs and commas). Where a
  // column is a value and its field a plain number, it goes to `values`; the others are in `odd`. False: another
  // count, a line too long, or quotes in it.
  bool read(std::string_view line, char separator, const Column* columns, std::size_t count, double* values);

  std::string_view field(std::string_view line, std::size_t column) const {
    return line.substr(begin_[column], static_cast<std::size_t>(end_[column] - begin_[column]));
  }
  std::size_t odd_count() const { return odd_count_; }
  std::size_t odd(std::size_t i) const { return odd_[i]; }

 private:
  using Positions = std::array<std::uint16_t, kFields + 8>;  // with room for what is written too much
  friend struct FieldKernel;
  Positions begin_, end_, dots_, odd_;
  std::size_t odd_count_ = 0;
};

}  // namespace tare
