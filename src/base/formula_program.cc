#include "base/formula_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/formula_parser.h"

namespace tare {
namespace {

using Value = FormulaGraph::Value;
using Node = FormulaGraph::Node;

// Nodes of a graph in the place of numbers.
struct GraphAlgebra {
  using Value = FormulaGraph::Value;
  FormulaGraph& graph;
  const std::function<Value(const FormulaInput&)>& bind;

  Value constant(double value) { return graph.constant(value); }
  Value input(const FormulaInput& input) { return bind(input); }
  Value apply(FormulaOp op, Value a) { return graph.apply(op, a); }
  Value apply(FormulaOp op, Value a, Value b) { return graph.apply(op, a, b); }
};

}  // namespace

Value FormulaGraph::intern(const Node& node) {
  const auto key =
      std::make_tuple(node.kind, node.op, node.a, node.b, node.external, std::bit_cast<std::uint64_t>(node.value));
  const auto [place, is_new] = known_.emplace(key, static_cast<Value>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return place->second;
}

Value FormulaGraph::constant(double value) {
  Node node;
  node.value = value;
  return intern(node);
}

Value FormulaGraph::external(int id) { return external(id, -1); }

Value FormulaGraph::external(int id, Value argument) {
  Node node;
  node.kind = Node::Kind::kExternal;
  node.a = argument;
  node.external = id;
  return intern(node);
}

Value FormulaGraph::apply(FormulaOp op, Value a) {
  if (is_constant(a)) return constant(tare::apply(op, node(a).value, 0));
  Node made;
  made.kind = Node::Kind::kUnary;
  made.op = op;
  made.a = a;
  return intern(made);
}

// Constant factors last, and as one: what differs by a factor alone is one node times a number.
Value FormulaGraph::multiply(Value a, Value b) {
  const auto has_factor = [&](Value v) {
    return node(v).kind == Node::Kind::kBinary && node(v).op == FormulaOp::kMultiply && is_constant(node(v).b);
  };
  if (has_factor(a)) {
    const Node inner = node(a);
    if (is_constant(b)) return apply(FormulaOp::kMultiply, inner.a, constant(node(inner.b).value * node(b).value));
    return apply(FormulaOp::kMultiply, apply(FormulaOp::kMultiply, inner.a, b), inner.b);
  }
  if (has_factor(b)) {
    const Node inner = node(b);
    return apply(FormulaOp::kMultiply, apply(FormulaOp::kMultiply, a, inner.a), inner.b);
  }
  Node made;
  made.kind = Node::Kind::kBinary;
  made.op = FormulaOp::kMultiply;
  made.a = is_constant(b) ? a : std::min(a, b);
  made.b = is_constant(b) ? b : std::max(a, b);
  return intern(made);
}

Value FormulaGraph::apply(FormulaOp op, Value a, Value b) {
  if (is_constant(a) && is_constant(b)) return constant(tare::apply(op, node(a).value, node(b).value));
  const auto is = [&](Value v, double number) { return is_constant(v) && node(v).value == number; };
  switch (op) {
    case FormulaOp::kAdd:
      if (is(a, 0)) return b;
      [[fallthrough]];
    case FormulaOp::kSubtract:
      if (is(b, 0)) return a;
      break;
    case FormulaOp::kMultiply:
      if (is(a, 0) || is(b, 0)) return constant(0);
      if (is(a, 1)) return b;
      if (is(b, 1)) return a;
      if (is_constant(a)) std::swap(a, b);
      return multiply(a, b);
    case FormulaOp::kDivide:
      if (is(b, 1)) return a;
      break;
    case FormulaOp::kPow:
      if (is(b, 1)) return a;
      if (is(b, 2)) return apply(FormulaOp::kMultiply, a, a);
      if (is_constant(a) && node(a).value > 0) {
        return apply(FormulaOp::kExp, apply(FormulaOp::kMultiply, b, constant(std::log(node(a).value))));
      }
      break;
    default:
      break;
  }
  if (op == FormulaOp::kAdd && a > b) std::swap(a, b);
  Node made;
  made.kind = Node::Kind::kBinary;
  made.op = op;
  made.a = a;
  made.b = b;
  return intern(made);
}

Result<Value> FormulaGraph::add(const Formula& formula, const std::function<Value(const FormulaInput&)>& bind) {
  GraphAlgebra algebra{*this, bind};
  return FormulaParser<GraphAlgebra>(formula, algebra).run();
}

// Depth first from the outputs, so that a value is made just before it is used; a register is free again after its
// last use.
class FormulaProgram::Compiler {
 public:
  Compiler(const FormulaGraph& graph, FormulaProgram& program)
      : graph_(graph), program_(program), registers_(graph.size(), -1), uses_(graph.size(), 0) {}

  void compile(const std::vector<Value>& outputs) {
    for (const Value output : outputs) count_uses(output);
    for (std::size_t i = 0; i < outputs.size(); ++i) store(outputs[i], static_cast<int>(i));
  }

 private:
  using Kind = Instruction::Kind;

  static std::size_t place(Value value) { return static_cast<std::size_t>(value); }

  void count_uses(Value value) {
    if (value < 0 || graph_.is_constant(value)) return;
    if (uses_[place(value)]++ > 0) return;
    count_uses(graph_.node(value).a);
    count_uses(graph_.node(value).b);
  }

  void store(Value value, int output) {
    Instruction instruction;
    instruction.out = output;
    if (graph_.is_constant(value)) {
      instruction.kind = Kind::kStoreNumber;
      instruction.number = graph_.node(value).value;
    } else {
      make(value);
      instruction.a = use(value);
    }
    program_.instructions_.push_back(instruction);
  }

  // The value in a register; nothing for a constant.
  void make(Value value) {
    if (value < 0 || graph_.is_constant(value) || registers_[place(value)] >= 0) return;
    const Node& node = graph_.node(value);
    make(node.a);
    make(node.b);
    Instruction instruction;
    instruction.op = node.op;
    instruction.kind = node.kind == Node::Kind::kExternal ? Kind::kExternal
                       : node.kind == Node::Kind::kUnary  ? Kind::kUnary
                       : graph_.is_constant(node.b)       ? Kind::kNumberLast
                       : graph_.is_constant(node.a)       ? Kind::kNumberFirst
                                                          : Kind::kBlocks;
    instruction.external = node.external;
    if (instruction.kind == Kind::kNumberLast) instruction.number = graph_.node(node.b).value;
    if (instruction.kind == Kind::kNumberFirst) instruction.number = graph_.node(node.a).value;
    if (instruction.kind == Kind::kExternal && node.a >= 0) {
      // Its argument is read while the values are written: it keeps a register of its own.
      instruction.out = take();
      instruction.a = argument(node.a);
    } else {
      instruction.a = use(node.a);
      instruction.b = use(node.b);
      instruction.out = take();
    }
    registers_[place(value)] = instruction.out;
    program_.instructions_.push_back(instruction);
  }

  // An argument may be a constant: it gets a register that is filled each time.
  int argument(Value value) {
    if (!graph_.is_constant(value)) return use(value);
    const int scratch = take();
    free_.push_back(scratch);
    Instruction fill;
    fill.kind = Kind::kFillNumber;
    fill.out = scratch;
    fill.number = graph_.node(value).value;
    program_.instructions_.push_back(fill);
    return scratch;
  }

  // The register that holds the value, given back after its last use.
  int use(Value value) {
    if (value < 0 || graph_.is_constant(value)) return -1;
    const int found = registers_[place(value)];
    if (--uses_[place(value)] == 0) free_.push_back(found);
    return found;
  }

  int take() {
    if (free_.empty()) return static_cast<int>(program_.registers_++);
    const int taken = free_.back();
    free_.pop_back();
    return taken;
  }

  const FormulaGraph& graph_;
  FormulaProgram& program_;
  std::vector<int> registers_;
  std::vector<int> uses_;
  std::vector<int> free_;
};

FormulaProgram::FormulaProgram(const FormulaGraph& graph, const std::vector<Value>& outputs) {
  Compiler(graph, *this).compile(outputs);
}

void FormulaProgram::run(Workspace& workspace, FormulaExternals& externals, double* const* outputs) const {
  DrawBlock* const registers = workspace.data();
  for (const Instruction& i : instructions_) {
    switch (i.kind) {
      case Instruction::Kind::kExternal:
        externals.fill(i.external, i.a >= 0 ? &registers[i.a] : nullptr, registers[i.out]);
        break;
      case Instruction::Kind::kUnary:
        apply(i.op, registers[i.out], registers[i.a]);
        break;
      case Instruction::Kind::kBlocks:
        apply(i.op, registers[i.out], registers[i.a], registers[i.b]);
        break;
      case Instruction::Kind::kNumberLast:
        apply(i.op, registers[i.out], registers[i.a], i.number);
        break;
      case Instruction::Kind::kNumberFirst:
        apply(i.op, registers[i.out], i.number, registers[i.b]);
        break;
      case Instruction::Kind::kStore:
        std::memcpy(outputs[i.out], registers[i.a].at, sizeof(DrawBlock::at));
        break;
      case Instruction::Kind::kStoreNumber:
        std::fill_n(outputs[i.out], kBlock, i.number);
        break;
      case Instruction::Kind::kFillNumber:
        std::fill_n(registers[i.out].at, kBlock, i.number);
        break;
    }
  }
}

}  // namespace tare
