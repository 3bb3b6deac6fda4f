// Bills as one formula program: every option, every line and bar, over shared causes. cost/uncertainty.h says what is
// drawn.
//
// How an input of a formula is bound, the first that holds:
//   its source (or name) is another formula of the bill or its run   that formula's value
//   its source is "step model" and its unit s                        the value times the step's error
//   it has a low or a high                                           drawn; the cause is its source
//   its source is "parameter ID", at the catalog's base              drawn over the catalog's range
//   else                                                             its value
// Three formulas of the run are not what they say: run.failures is the drawn count, run.wall_s moves with it,
// run.hardware_failures is its share of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/formula_program.h"
#include "cost/draw_kernels.h"
#include "cost/uncertainty.h"

namespace tare {

inline constexpr const char* kFailuresCause = "failures";

// What one uniform number of a draw moves.
struct Cause {
  std::string key;   // of its random numbers, and for people: "parameter wacc"
  std::string name;  // of the first input it moves
  std::string unit;
  double low = 0, base = 0, high = 0;
  bool assumed = false;
  std::uint64_t stream = 0;
};

// A number of the program that is drawn: the graph's external of that place.
struct DrawnNumber {
  enum class Kind : std::uint8_t { kTriangle, kLogTriangle, kNormal, kPoisson } kind = Kind::kTriangle;
  std::size_t cause = 0;
  double low = 0, base = 0, high = 0;
};

// A figure as a column of draws times a number. No column: the number.
struct FigurePlace {
  int column = -1;
  double factor = 0;
};

struct BillPlaces {
  FigurePlace total, wall_s, goodput_ratio, failures;
  std::optional<FigurePlace> it_energy_j;
  std::vector<FigurePlace> lines, bars, figures;  // figures: of bill.formulas
};

struct BillProgram {
  std::vector<Cause> causes;
  std::vector<DrawnNumber> numbers;
  std::vector<BillPlaces> bills;
  int columns = 0;
  std::optional<FormulaProgram> program;  // its outputs are the columns
};

// Beyond this a draw is one in which the run never ends.
inline constexpr double kNeverEnds = 1e200;

// What a draw of each number is: the same whoever asks, in whatever order. One for each thread.
class DrawSource : public FormulaExternals {
 public:
  DrawSource(const BillProgram& program, std::uint64_t seed) : program_(program), seed_(seed) {}

  void next(std::uint32_t block) { block_ = block; }  // of kBlock draws
  void fill(int id, const DrawBlock* argument, DrawBlock& values) override;

 private:
  const BillProgram& program_;
  std::uint64_t seed_;
  std::uint32_t block_ = 0;
};

Result<BillProgram> make_bill_program(std::span<const BillToDraw> bills, const Catalog& catalog,
                                      const DrawOptions& options);

}  // namespace tare
