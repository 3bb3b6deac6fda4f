// Formulas read once and evaluated for many inputs: the same arithmetic as evaluate(), a block of numbers at a time.
//
//   FormulaGraph graph;                     // what depends on what; equal subexpressions are one node
//   auto x = graph.external(0);             // a number that varies: filled by the caller, block by block
//   auto y = graph.add(formula, bind);      // bind: what each input is, a node made before
//   FormulaProgram program(graph, {*y});    // what the outputs need, in order, in few registers
//   program.run(workspace, externals, outputs);
//
// Constants are folded with the arithmetic of evaluate(). A program's results equal evaluate()'s to 1e-12 of their size
// (powers of a constant are exponentials, constant factors of a product are gathered; everything else is the same
// operation). A result that is not finite is no
// error here. Nothing is allocated while a program runs.
//
// Thread safety: a program is only read by run(); each thread has its own workspace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "base/block_math.h"
#include "base/formula.h"

namespace tare {

class FormulaGraph {
 public:
  using Value = std::int32_t;  // of a node; 0 is the constant zero

  FormulaGraph() { constant(0); }

  Value constant(double value);
  // A number that the caller fills in: `id` is his own. With an argument it may depend on a value.
  Value external(int id);
  Value external(int id, Value argument);
  Value apply(FormulaOp op, Value a);
  Value apply(FormulaOp op, Value a, Value b);
  // The formula's expression. Errors: syntax, an unknown name, as evaluate() has them.
  Result<Value> add(const Formula& formula, const std::function<Value(const FormulaInput&)>& bind);

  struct Node {
    enum class Kind : std::uint8_t { kConstant, kExternal, kUnary, kBinary } kind = Kind::kConstant;
    FormulaOp op = FormulaOp::kAdd;
    Value a = -1, b = -1;  // operands; of an external its argument, -1: none
    int external = -1;
    double value = 0;  // of a constant
  };
  const Node& node(Value value) const { return nodes_[static_cast<std::size_t>(value)]; }
  std::size_t size() const { return nodes_.size(); }
  bool is_constant(Value value) const { return node(value).kind == Node::Kind::kConstant; }

 private:
  Value intern(const Node& node);
  Value multiply(Value a, Value b);

  std::vector<Node> nodes_;
  std::map<std::tuple<Node::Kind, FormulaOp, Value, Value, int, std::uint64_t>, Value> known_;
};

// Fills in what a graph calls external. `argument` is null where it has none.
class FormulaExternals {
 public:
  virtual ~FormulaExternals() = default;
  virtual void fill(int id, const DrawBlock* argument, DrawBlock& values) = 0;
};

class FormulaProgram {
 public:
  FormulaProgram(const FormulaGraph& graph, const std::vector<FormulaGraph::Value>& outputs);

  using Workspace = std::vector<DrawBlock>;
  Workspace workspace() const { return Workspace(registers_); }

  // One block of every output: outputs[k] points to kBlock numbers.
  void run(Workspace& workspace, FormulaExternals& externals, double* const* outputs) const;

  std::size_t instructions() const { return instructions_.size(); }

 private:
  struct Instruction {
    enum class Kind : std::uint8_t {
      kExternal,
      kUnary,
      kBlocks,
      kNumberLast,
      kNumberFirst,
      kFillNumber,
      kStore,
      kStoreNumber
    };
    Kind kind = Kind::kStore;
    FormulaOp op = FormulaOp::kAdd;
    int out = 0;  // a register; of a store the output
    int a = -1, b = -1;
    double number = 0;
    int external = -1;
  };
  class Compiler;

  std::vector<Instruction> instructions_;
  std::size_t registers_ = 0;
};

}  // namespace tare
