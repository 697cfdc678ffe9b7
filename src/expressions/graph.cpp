#include "expressions/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kempe::detail {

Graph::Graph(int arguments) : arguments_(arguments) {
  nodes_.resize(static_cast<std::size_t>(arguments));
  for (int i = 0; i < arguments; ++i) {
    nodes_[static_cast<std::size_t>(i)] = {Operation::Argument, {i, -1, -1, -1}, 0.0};
  }
}

std::size_t Graph::Hash::operator()(const Expression::Step& step) const {
  std::uint64_t hash = static_cast<std::uint64_t>(step.operation);
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;  // Knuth's multiplicative hashing
    hash ^= hash >> 29;
  };
  for (const int operand : step.operands) {
    mix(static_cast<std::uint64_t>(operand));
  }
  // 0 and −0 are equal, so their hashes have to be.
  mix(std::bit_cast<std::uint64_t>(step.constant == 0.0 ? 0.0 : step.constant));
  return hash;
}

int Graph::insertNode(const Expression::Step& step) {
  if (nodes_.size() >= kMostSteps) {
    throw TracingError("an expression has more than " + std::to_string(kMostSteps) +
                       " operations. Check that its function ends.");
  }
  const auto [found, isNew] = known_.try_emplace(step, static_cast<int>(nodes_.size()));
  if (isNew) {
    nodes_.push_back(step);
  }
  return found->second;
}

int Graph::constant(double value) {
  if (!std::isfinite(value)) {
    throw TracingError("an expression has a constant that is not finite. Check its numbers.");
  }
  // −0 would not survive being compared and printed; nothing that is continuous depends on it.
  return insertNode({Operation::Constant, {-1, -1, -1, -1}, value == 0.0 ? 0.0 : value});
}

int Graph::reduced(Operation operation, std::span<const int> x) {
  const auto constantOf = [&](std::size_t i) { return at(x[i]).constant; };
  if (std::ranges::all_of(x, [&](int node) { return isConstant(node); })) {
    const double value =
        applied<double>(operation, [&](int i) { return constantOf(static_cast<std::size_t>(i)); });
    // log(−1) stays as it is: it shows where it is evaluated, as it did in the function.
    return std::isfinite(value) ? constant(value) : -1;
  }
  switch (operation) {
    case Operation::Add:
      if (isConstant(x[0], 0.0)) return x[1];
      if (isConstant(x[1], 0.0)) return x[0];
      // One form for x + (−2) and x − 2, the one that is printed.
      if (isConstant(x[1]) && constantOf(1) < 0.0) {
        return apply(Operation::Subtract, {x[0], constant(-constantOf(1))});
      }
      break;
    case Operation::Subtract:
      if (isConstant(x[1], 0.0)) return x[0];
      if (isConstant(x[0], 0.0)) return apply(Operation::Negate, {x[1]});
      if (isConstant(x[1]) && constantOf(1) < 0.0) {
        return apply(Operation::Add, {x[0], constant(-constantOf(1))});
      }
      break;
    case Operation::Multiply:
      if (isConstant(x[0], 1.0)) return x[1];
      if (isConstant(x[1], 1.0)) return x[0];
      if (isConstant(x[0], -1.0)) return apply(Operation::Negate, {x[1]});
      if (isConstant(x[1], -1.0)) return apply(Operation::Negate, {x[0]});
      break;
    case Operation::Divide:
      if (isConstant(x[1], 1.0)) return x[0];
      if (isConstant(x[1], -1.0)) return apply(Operation::Negate, {x[0]});
      break;
    case Operation::Negate:
      if (at(x[0]).operation == Operation::Negate) return at(x[0]).operands[0];
      break;
    case Operation::Pow:
      if (isConstant(x[1], 0.0)) return constant(1.0);
      if (isConstant(x[1], 1.0)) return x[0];
      break;
    case Operation::Min:
    case Operation::Max:
      if (x[0] == x[1]) return x[0];
      break;
    case Operation::SelectLess:
    case Operation::SelectLessEqual:
      if (x[2] == x[3]) return x[2];
      if (isConstant(x[0]) && isConstant(x[1])) {
        const bool holds = operation == Operation::SelectLess ? constantOf(0) < constantOf(1)
                                                              : constantOf(0) <= constantOf(1);
        return holds ? x[2] : x[3];
      }
      break;
    default:
      break;
  }
  return -1;
}

int Graph::apply(Operation operation, std::span<const int> operands) {
  if (const int simpler = reduced(operation, operands); simpler >= 0) {
    return simpler;
  }
  Expression::Step step{operation, {-1, -1, -1, -1}, 0.0};
  std::ranges::copy(operands, step.operands);
  if (operation == Operation::Add || operation == Operation::Multiply) {  // a + b is b + a
    Expression::Step swapped = step;
    std::swap(swapped.operands[0], swapped.operands[1]);
    if (const auto found = known_.find(swapped); found != known_.end()) {
      return found->second;
    }
  }
  return insertNode(step);
}

std::vector<int> Graph::insert(const Expression& expression, std::span<const int> arguments) {
  std::vector<int> nodes;
  nodes.reserve(expression.steps().size());
  for (const Expression::Step& step : expression.steps()) {
    switch (step.operation) {
      case Operation::Argument:
        nodes.push_back(arguments[static_cast<std::size_t>(step.operands[0])]);
        break;
      case Operation::Constant:
        nodes.push_back(constant(step.constant));
        break;
      default: {
        int operands[4];
        const int count = operandCount(step.operation);
        for (int i = 0; i < count; ++i) {
          operands[i] = nodes[static_cast<std::size_t>(step.operands[i])];
        }
        nodes.push_back(
            apply(step.operation, std::span<const int>(operands, static_cast<std::size_t>(count))));
      }
    }
  }
  std::vector<int> results;
  results.reserve(static_cast<std::size_t>(expression.results()));
  for (int r = 0; r < expression.results(); ++r) {
    results.push_back(nodes[static_cast<std::size_t>(expression.stepOf(r))]);
  }
  return results;
}

std::vector<int> Graph::insert(const Expression& expression) {
  std::vector<int> all(static_cast<std::size_t>(expression.arguments()));
  std::iota(all.begin(), all.end(), 0);
  return insert(expression, all);
}

Expression Graph::extract(std::span<const int> results) {
  Expression expression;
  expression.arguments_ = arguments_;
  std::vector<int> nodes(results.begin(), results.end());
  std::ranges::replace(nodes, kZero,
                       std::ranges::find(nodes, kZero) == nodes.end() ? kZero : constant(0));
  // Depth first, with a stack of nodes to write after their operands: expressions can be deeper
  // than the program's own stack.
  std::vector<int> places(nodes_.size(), -1), stack;
  for (const int result : nodes) {
    stack.push_back(result);
    while (!stack.empty()) {
      const int node = stack.back();
      int& place = places[static_cast<std::size_t>(node)];
      if (place >= 0) {
        stack.pop_back();
        continue;
      }
      Expression::Step step = at(node);
      const int count = operandCount(step.operation);
      bool ready = true;
      for (int i = count - 1; i >= 0; --i) {
        if (places[static_cast<std::size_t>(step.operands[i])] < 0) {
          stack.push_back(step.operands[i]);
          ready = false;
        }
      }
      if (!ready) {
        continue;
      }
      for (int i = 0; i < count; ++i) {
        step.operands[i] = places[static_cast<std::size_t>(step.operands[i])];
      }
      place = static_cast<int>(expression.steps_.size());
      expression.steps_.push_back(step);
      stack.pop_back();
    }
    expression.results_.push_back(places[static_cast<std::size_t>(result)]);
  }
  return expression;
}

// --- symbols -----------------------------------------------------------------------------------

std::vector<Symbol> Graph::symbolsOfArguments(int count) {
  const auto graph = std::make_shared<Graph>(count);
  std::vector<Symbol> symbols(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    symbols[static_cast<std::size_t>(i)].graph_ = graph;
    symbols[static_cast<std::size_t>(i)].node_ = i;
  }
  return symbols;
}

int Graph::nodeOf(const Symbol& symbol) {
  if (symbol.graph_ == nullptr) {
    return constant(symbol.constant_);
  }
  if (symbol.graph_.get() != this) {
    throw TracingError(
        "symbols of two traces are mixed. Compute with the arguments of the function only.");
  }
  return symbol.node_;
}

Symbol Graph::applySymbols(Operation operation, std::initializer_list<Symbol> operands) {
  std::shared_ptr<Graph> graph;
  for (const Symbol& operand : operands) {
    if (operand.graph_ != nullptr) {
      graph = operand.graph_;
      break;
    }
  }
  if (graph == nullptr) {
    return {applied<double>(operation, [&](int i) { return operands.begin()[i].constant_; })};
  }
  int nodes[4];
  std::ranges::transform(operands, nodes, [&](const Symbol& s) { return graph->nodeOf(s); });
  const int node = graph->apply(operation, std::span<const int>(nodes, operands.size()));
  if (graph->isConstant(node)) {
    return {graph->at(node).constant};
  }
  Symbol result;
  result.node_ = node;
  result.graph_ = std::move(graph);
  return result;
}

std::optional<std::pair<double, double>> Graph::constants(const Symbol& a, const Symbol& b) {
  if (a.graph_ != nullptr || b.graph_ != nullptr) {
    return std::nullopt;
  }
  return std::pair(a.constant_, b.constant_);
}

Expression Graph::extract(std::span<const Symbol> arguments, std::span<const Symbol> results) {
  // Functions without arguments have constants only.
  const std::shared_ptr<Graph> graph =
      arguments.empty() ? std::make_shared<Graph>(0) : arguments.front().graph_;
  std::vector<int> nodes;
  for (const Symbol& result : results) {
    nodes.push_back(graph->nodeOf(result));
  }
  return graph->extract(nodes);
}

}  // namespace kempe::detail
