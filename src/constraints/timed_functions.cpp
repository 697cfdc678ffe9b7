#include <numeric>

#include "constraints/constraint_rows.hpp"
#include "expressions/graph.hpp"
#include "spatial/joint_motion.hpp"

namespace kempe {

Expression TimedFunction::traced() const {
  // Time is one more coordinate.
  Function function;
  function.coordinates = coordinates;
  function.coordinates.emplace_back("time");
  function.rows = rows;
  function.expression = expression;
  if (symbolic) {
    function.symbolic = [this](std::span<const Symbol> x, std::span<Symbol> phi) {
      symbolic(x.first(x.size() - 1), x.back(), phi);
    };
  }
  if (value) {
    function.value = [this](std::span<const double> x, std::span<double> phi) {
      value(x.first(x.size() - 1), x.back(), phi);
    };
  }
  return function.traced();
}

namespace detail {
namespace {

/// φ, φ̇, φ̈ and ∂φ/∂q of φ(q, t), from q, t, q̇ and q̈.
Expression withDerivatives(const Expression& phi) {
  const int n = phi.arguments() - 1;
  Graph graph(3 * n + 1);
  std::vector<int> rates(static_cast<std::size_t>(3 * n + 1), Graph::kZero);
  const auto first = rates.begin();
  std::iota(first, first + n, n + 1);                      // q moves with q̇
  rates[static_cast<std::size_t>(n)] = graph.constant(1);  // t with 1
  std::iota(first + n + 1, first + 2 * n + 1, 2 * n + 1);  // q̇ with q̈
  const std::vector<int> value = graph.insert(phi);
  const std::vector<int> rate = graph.differentiate(value, rates);
  const std::vector<int> secondRate = graph.differentiate(rate, rates);
  std::vector<int> results = value;
  results.insert(results.end(), rate.begin(), rate.end());
  results.insert(results.end(), secondRate.begin(), secondRate.end());
  std::vector<std::vector<int>> columns;
  for (int t = 0; t < n; ++t) {
    std::vector<int> unit(rates.size(), Graph::kZero);
    unit[static_cast<std::size_t>(t)] = graph.constant(1);
    columns.push_back(graph.differentiate(value, unit));
  }
  for (std::size_t r = 0; r < value.size(); ++r) {
    for (const std::vector<int>& column : columns) {
      results.push_back(column[r]);
    }
  }
  return graph.extract(results);
}

}  // namespace

void setFunction(TimedFunction function, ConstraintEntry& entry) {
  entry.form.kind = RowKind::Function;
  entry.rows = function.rows;
  try {
    function.expression = function.traced();
    entry.program = appendProgram(withDerivatives(function.expression), entry.programSteps);
  } catch (const TracingError&) {
    // The callbacks compute it.
  }
  entry.function = std::move(function);
}

void setFunction(const Function& function, ConstraintEntry& entry) {
  TimedFunction timed;
  timed.name = function.name;
  timed.coordinates = function.coordinates;
  timed.rows = function.rows;
  if (function.expression.results() > 0) {
    Graph graph(function.expression.arguments() + 1);
    timed.expression = graph.extract(graph.insert(function.expression));
  }
  timed.jet = [jet = function.jet](std::span<const Jet> q, const Jet&, std::span<Jet> phi) {
    jet(q, phi);
  };
  setFunction(std::move(timed), entry);
}

void callFunction(const ConstraintEntry& entry, double time, const FunctionScratch& scratch) {
  const int terms = static_cast<int>(entry.terms.size()), rows = entry.rows;
  const std::span<Jet> q(scratch.jetQ, static_cast<std::size_t>(terms));
  const std::span<Jet> phi(scratch.jetPhi, static_cast<std::size_t>(rows));
  for (int t = 0; t < terms; ++t) {
    q[t] = Jet(scratch.q[t]);
  }
  for (int t = 0; t < terms; ++t) {
    q[t].first = 1.0;
    entry.function.jet(q, Jet(time), phi);
    q[t].first = 0.0;
    for (int r = 0; r < rows; ++r) {
      scratch.phi[3 * rows + r * terms + t] = phi[r].first;
    }
  }
  for (int t = 0; t < terms; ++t) {
    q[t].first = scratch.q[terms + t];
    q[t].second = scratch.q[2 * terms + t];
  }
  entry.function.jet(q, Jet(time, 1.0, 0.0), phi);
  for (int r = 0; r < rows; ++r) {
    scratch.phi[r] = phi[r].value;
    scratch.phi[rows + r] = phi[r].first;
    scratch.phi[2 * rows + r] = phi[r].second;
  }
}

PrescribedMotion motionAt(const ConstraintEntry& entry, double time) {
  return entry.motion(time);
}

void lockErrors(const ConstraintEntry& entry, const double* positions, double* errors) {
  jointDifference(entry.jointType, entry.reference.data(), positions, errors);
}

}  // namespace detail
}  // namespace kempe
