// Programs that log training, told apart by words of their lines.
//
// Their lines are read alike (step_scan.h); what differs is who wrote them and, for some, what a short name means
// (torchtitan's tps is of one GPU). Adding a program is adding a row to the table in the .cc.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tare {

struct TrainingDialect {
  std::string_view name;                  // "Megatron-LM"
  std::array<std::string_view, 3> words;  // all of them stand in a step's line; empty ones do not count
  bool tokens_per_gpu = false;            // tokens per second are of one GPU
  bool tokens_of_job = false;             // … of the whole job
};

std::span<const TrainingDialect> training_dialects();
// Index of the first that fits a step's line; kUnknownDialect when none does.
constexpr std::uint8_t kUnknownDialect = 0;
std::uint8_t dialect_of_line(std::string_view line);
std::uint8_t dialect_named(std::string_view name);

// A program that lines other than steps tell of ("Unsloth - 2x faster"), or an empty text.
std::string_view framework_hint(std::string_view line);

}  // namespace tare
