#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kempe/expression.hpp"

namespace kempe::detail {

/// Limits that keep hostile formulas and runaway traces from taking all memory. Formulas of
/// mechanisms have some ten to some hundred steps.
inline constexpr std::size_t kMostSteps = 1'000'000;

/// The operations of an expression that is being built. A node is the index of an operation, whose
/// operands have smaller indices. Equal nodes are one; operations on constants are constants, and
/// operations that return one of their operands are that operand (x + 0, x · 1, −(−x)).
class Graph {
 public:
  explicit Graph(int arguments);

  [[nodiscard]] int arguments() const { return arguments_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const Expression::Step& at(int node) const {
    return nodes_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] bool isConstant(int node) const {
    return at(node).operation == Operation::Constant;
  }
  [[nodiscard]] bool isConstant(int node, double value) const {
    return isConstant(node) && at(node).constant == value;
  }

  int argument(int index) const { return index; }
  /// Throws TracingError if the number is not finite.
  int constant(double value);
  int apply(Operation operation, std::span<const int> operands);
  int apply(Operation operation, std::initializer_list<int> operands) {
    return apply(operation, std::span<const int>(operands.begin(), operands.size()));
  }

  /// Adds the steps of an expression, whose arguments are the given nodes. Returns its results.
  std::vector<int> insert(const Expression& expression, std::span<const int> arguments);
  /// All arguments as they are.
  std::vector<int> insert(const Expression& expression);

  /// Returns the derivatives of nodes while argument i changes at the rate of node rates[i], or
  /// not at all where that is kZero. The result is kZero where a node does not depend on those.
  static constexpr int kZero = -1;
  std::vector<int> differentiate(std::span<const int> nodes, std::span<const int> rates);

  /// The expression that computes nodes, kZero among them, with its steps in the order in which
  /// its results need them: equal graphs give equal expressions.
  Expression extract(std::span<const int> results);

  // Symbols, which keep the graph alive.
  static std::vector<Symbol> symbolsOfArguments(int count);
  static Symbol applySymbols(Operation operation, std::initializer_list<Symbol> operands);
  static Expression extract(std::span<const Symbol> arguments, std::span<const Symbol> results);
  /// The numbers that two symbols are, if both are constants.
  static std::optional<std::pair<double, double>> constants(const Symbol& a, const Symbol& b);

 private:
  struct Hash {
    std::size_t operator()(const Expression::Step& step) const;
  };

  int insertNode(const Expression::Step& step);
  int nodeOf(const Symbol& symbol);
  /// The node that an operation reduces to, or −1.
  int reduced(Operation operation, std::span<const int> x);
  int derivativeOf(int node, std::span<const int> rates);

  int arguments_;
  std::vector<Expression::Step> nodes_{};
  std::unordered_map<Expression::Step, int, Hash> known_{};
};

/// The results of jacobian(), then the second time derivatives of all results while the arguments
/// change at constant rates. Its arguments are all x, then all ẋ.
Expression slopesAndSecondRate(const Expression& expression);

/// What derivatives of dynamics need of φ(x), from x, ẋ, ẍ: d/dt ∂φ/∂x and ∂φ̈/∂x, results ×
/// arguments each, then ∂²φ/∂x², results × arguments × arguments.
Expression secondOrder(const Expression& phi);

}  // namespace kempe::detail
