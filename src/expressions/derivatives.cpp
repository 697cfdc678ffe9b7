#include <numeric>

#include "expressions/graph.hpp"

namespace kempe::detail {
namespace {

/// Arithmetic with nodes, of which kZero is the number 0 that no graph has to hold.
class Calculus {
 public:
  explicit Calculus(Graph& graph) : graph_(graph) {}

  [[nodiscard]] int number(double value) const { return graph_.constant(value); }
  [[nodiscard]] int sum(int a, int b) const {
    return isZero(a) ? b : (isZero(b) ? a : graph_.apply(Operation::Add, {a, b}));
  }
  [[nodiscard]] int negative(int a) const {
    return isZero(a) ? a : graph_.apply(Operation::Negate, {a});
  }
  [[nodiscard]] int difference(int a, int b) const {
    return isZero(b) ? a : (isZero(a) ? negative(b) : graph_.apply(Operation::Subtract, {a, b}));
  }
  [[nodiscard]] int product(int a, int b) const {
    return isZero(a) || isZero(b) ? Graph::kZero : graph_.apply(Operation::Multiply, {a, b});
  }
  [[nodiscard]] int quotient(int a, int b) const {
    return isZero(a) ? a : graph_.apply(Operation::Divide, {a, b});
  }
  [[nodiscard]] int of(Operation operation, int a) const { return graph_.apply(operation, {a}); }
  [[nodiscard]] int choice(Operation comparison, int a, int b, int yes, int no) const {
    return yes == no ? yes : graph_.apply(comparison, {a, b, orZero(yes), orZero(no)});
  }

 private:
  [[nodiscard]] bool isZero(int a) const { return a == Graph::kZero || graph_.isConstant(a, 0.0); }
  [[nodiscard]] int orZero(int a) const { return a == Graph::kZero ? number(0.0) : a; }

  Graph& graph_;
};

}  // namespace

/// `rates` has the derivatives of all nodes before this one.
int Graph::derivativeOf(int node, std::span<const int> rates) {
  const Expression::Step step = at(node);  // a copy: new nodes move the others
  const Calculus d(*this);
  const int count = operandCount(step.operation);
  int x[4] = {}, dx[4] = {kZero, kZero, kZero, kZero};
  bool moves = false;
  for (int i = 0; i < count; ++i) {
    x[i] = step.operands[i];
    dx[i] = rates[static_cast<std::size_t>(x[i])];
    moves = moves || dx[i] != kZero;
  }
  if (!moves) {
    return kZero;
  }
  switch (step.operation) {
    case Operation::Argument:
    case Operation::Constant:
      return kZero;
    case Operation::Add:
      return d.sum(dx[0], dx[1]);
    case Operation::Subtract:
      return d.difference(dx[0], dx[1]);
    case Operation::Multiply:
      return d.sum(d.product(dx[0], x[1]), d.product(x[0], dx[1]));
    case Operation::Divide:  // c = a/b: ċ = (ȧ − c ḃ)/b
      return d.quotient(d.difference(dx[0], d.product(node, dx[1])), x[1]);
    case Operation::Negate:
      return d.negative(dx[0]);
    case Operation::Sqrt:
      return d.quotient(d.product(d.number(0.5), dx[0]), node);
    case Operation::Sin:
      return d.product(d.of(Operation::Cos, x[0]), dx[0]);
    case Operation::Cos:
      return d.negative(d.product(d.of(Operation::Sin, x[0]), dx[0]));
    case Operation::Tan:
      return d.product(d.sum(d.number(1.0), d.product(node, node)), dx[0]);
    case Operation::Asin:
    case Operation::Acos: {
      const int root = d.of(Operation::Sqrt, d.difference(d.number(1.0), d.product(x[0], x[0])));
      const int slope = d.quotient(dx[0], root);
      return step.operation == Operation::Asin ? slope : d.negative(slope);
    }
    case Operation::Atan:
      return d.quotient(dx[0], d.sum(d.number(1.0), d.product(x[0], x[0])));
    case Operation::Atan2: {  // of y, x: (x ẏ − y ẋ)/(x² + y²)
      const int square = d.sum(d.product(x[1], x[1]), d.product(x[0], x[0]));
      return d.quotient(d.difference(d.product(x[1], dx[0]), d.product(x[0], dx[1])), square);
    }
    case Operation::Exp:
      return d.product(node, dx[0]);
    case Operation::Log:
      return d.quotient(dx[0], x[0]);
    case Operation::Pow: {  // aᵇ: b aᵇ⁻¹ ȧ + aᵇ log(a) ḃ
      const int less = apply(Operation::Pow, {x[0], d.difference(x[1], d.number(1.0))});
      const int byBase = d.product(d.product(x[1], less), dx[0]);
      if (dx[1] == kZero) {
        return byBase;
      }
      // 0ᵇ log 0 is the limit, 0, and so are its derivatives of orders below b.
      const int base = d.choice(Operation::SelectLessEqual, d.of(Operation::Abs, x[0]),
                                d.number(0.0), d.number(1.0), x[0]);
      const int byExponent = d.product(d.product(node, d.of(Operation::Log, base)), dx[1]);
      return d.sum(byBase, byExponent);
    }
    case Operation::Hypot:  // quotients first, lest products overflow where the length does not
      return d.sum(d.product(d.quotient(x[0], node), dx[0]),
                   d.product(d.quotient(x[1], node), dx[1]));
    case Operation::Abs:
      return d.choice(Operation::SelectLess, x[0], d.number(0.0), d.negative(dx[0]), dx[0]);
    case Operation::Min:  // of std::min: b < a ? b : a
      return d.choice(Operation::SelectLess, x[1], x[0], dx[1], dx[0]);
    case Operation::Max:  // of std::max: a < b ? b : a
      return d.choice(Operation::SelectLess, x[0], x[1], dx[1], dx[0]);
    case Operation::SelectLess:
    case Operation::SelectLessEqual:
      return d.choice(step.operation, x[0], x[1], dx[2], dx[3]);
  }
  return kZero;
}

std::vector<int> Graph::differentiate(std::span<const int> nodes, std::span<const int> rates) {
  const std::size_t before = nodes_.size();
  std::vector<char> needed(before, 0);
  for (const int node : nodes) {
    if (node != kZero) {
      needed[static_cast<std::size_t>(node)] = 1;
    }
  }
  for (std::size_t i = before; i-- > 0;) {
    for (int o = 0; needed[i] != 0 && o < operandCount(nodes_[i].operation); ++o) {
      needed[static_cast<std::size_t>(nodes_[i].operands[o])] = 1;
    }
  }
  std::vector<int> derivatives(before, kZero);
  for (std::size_t i = 0; i < before; ++i) {
    if (needed[i] == 0) {
      continue;
    }
    derivatives[i] = nodes_[i].operation == Operation::Argument
                         ? rates[i]
                         : derivativeOf(static_cast<int>(i), derivatives);
  }
  std::vector<int> results;
  for (const int node : nodes) {
    results.push_back(node == kZero ? kZero : derivatives[static_cast<std::size_t>(node)]);
  }
  return results;
}

namespace {

/// ∂/∂x of all values: row-major, with a column for each of the first `columns` arguments.
std::vector<int> slopesOf(Graph& graph, std::span<const int> values, std::size_t columns) {
  std::vector<int> slopes(values.size() * columns);
  for (std::size_t j = 0; j < columns; ++j) {
    std::vector<int> rates(static_cast<std::size_t>(graph.arguments()), Graph::kZero);
    rates[j] = graph.constant(1.0);
    const std::vector<int> column = graph.differentiate(values, rates);
    for (std::size_t i = 0; i < values.size(); ++i) {
      slopes[i * columns + j] = column[i];
    }
  }
  return slopes;
}

}  // namespace

Expression slopesAndSecondRate(const Expression& expression) {
  const int n = expression.arguments();
  Graph graph(2 * n);
  const std::vector<int> values = graph.insert(expression);
  std::vector<int> results = slopesOf(graph, values, static_cast<std::size_t>(n));
  std::vector<int> rates(static_cast<std::size_t>(2 * n), Graph::kZero);
  std::iota(rates.begin(), rates.begin() + n, n);
  const std::vector<int> second = graph.differentiate(graph.differentiate(values, rates), rates);
  results.insert(results.end(), second.begin(), second.end());
  return graph.extract(results);
}

Expression secondOrder(const Expression& phi) {
  const auto n = static_cast<std::size_t>(phi.arguments());
  Graph graph(3 * phi.arguments());
  const std::vector<int> values = graph.insert(phi);
  const std::size_t rows = values.size();
  std::vector<int> rates(3 * n, Graph::kZero);
  std::iota(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(2 * n), phi.arguments());
  const std::vector<int> first = graph.differentiate(values, rates);
  const std::vector<int> second = graph.differentiate(first, rates);
  const auto along = [&](const std::vector<int>& nodes, std::size_t argument) {
    std::vector<int> unit(3 * n, Graph::kZero);
    unit[argument] = graph.constant(1.0);
    return graph.differentiate(nodes, unit);
  };
  std::vector<int> results(rows * n * (n + 2));
  for (std::size_t t = 0; t < n; ++t) {
    const std::vector<int> slopeRate = along(first, t), byPosition = along(second, t),
                           slope = along(values, t);
    for (std::size_t r = 0; r < rows; ++r) {
      results[r * n + t] = slopeRate[r];
      results[(rows + r) * n + t] = byPosition[r];
    }
    for (std::size_t u = 0; u < n; ++u) {
      const std::vector<int> curvature = along(slope, u);
      for (std::size_t r = 0; r < rows; ++r) {
        results[((2 * rows + r * n) + t) * n + u] = curvature[r];
      }
    }
  }
  return graph.extract(results);
}

}  // namespace kempe::detail

namespace kempe {

using detail::Graph;

Expression Expression::derivative(int argument) const {
  if (argument < 0 || argument >= arguments_) {
    throw std::invalid_argument("derivative: there is no argument " + std::to_string(argument) +
                                "; the expression has " + std::to_string(arguments_));
  }
  Graph graph(arguments_);
  std::vector<int> rates(static_cast<std::size_t>(arguments_), Graph::kZero);
  rates[static_cast<std::size_t>(argument)] = graph.constant(1.0);
  return graph.extract(graph.differentiate(graph.insert(*this), rates));
}

Expression Expression::jacobian() const {
  Graph graph(arguments_);
  const std::vector<int> values = graph.insert(*this);
  return graph.extract(detail::slopesOf(graph, values, static_cast<std::size_t>(arguments_)));
}

Expression Expression::rate() const {
  Graph graph(2 * arguments_);
  const std::vector<int> values = graph.insert(*this);
  std::vector<int> rates(static_cast<std::size_t>(2 * arguments_), Graph::kZero);
  std::iota(rates.begin(), rates.begin() + arguments_, arguments_);
  return graph.extract(graph.differentiate(values, rates));
}

}  // namespace kempe
