#pragma once

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/frames.hpp"

namespace kempe::test {

template <typename S>
S dotOf(const Triple<S>& a, const Triple<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Two unit vectors that span the plane across an axis.
inline std::array<Vector3, 2> planeAcross(const Vector3& axis) {
  const Vector3 u = unit(axis);
  const Vector3 helper = std::abs(u.x) < 0.7 ? Vector3{1, 0, 0} : Vector3{0, 1, 0};
  const Vector3 first = unit(cross(u, helper));
  return {first, cross(u, first)};
}

/// Rows of a loop joint as functions of the successor's frame seen from the predecessor's.
template <typename S>
std::vector<S> loopRows(const LoopJoint& loop, const Frame<S>& relative) {
  std::vector<S> rows;
  const auto [n1, n2] = planeAcross(loop.axis);
  const Triple<S> a = tripleOf<S>(unit(loop.axis));
  const Triple<S> x = tripleOf<S>(n1), y = tripleOf<S>(n2);
  const Triple<S> turnedAxis = relative.rotate(a);
  const auto noShift = [&](const Triple<S>& direction) {
    rows.push_back(dotOf(direction, relative.p));
  };
  const auto noTilt = [&] {
    rows.push_back(dotOf(x, turnedAxis));
    rows.push_back(dotOf(y, turnedAxis));
  };
  const auto noTwist = [&] { rows.push_back(dotOf(y, relative.rotate(x))); };
  const bool point = loop.type == LoopType::Revolute || loop.type == LoopType::Universal ||
                     loop.type == LoopType::Spherical || loop.type == LoopType::Fixed;
  if (point || loop.type == LoopType::Prismatic || loop.type == LoopType::Cylindrical) {
    noShift(x);
    noShift(y);
  }
  if (point || loop.type == LoopType::Planar) {
    noShift(a);
  }
  if (loop.type == LoopType::Universal) {
    const Triple<S> second = relative.rotate(tripleOf<S>(unit(loop.axis2)));
    rows.push_back(dotOf(a, second) - S(dot(unit(loop.axis), unit(loop.axis2))));
  } else if (loop.type != LoopType::Spherical) {
    noTilt();
  }
  if (loop.type == LoopType::Prismatic || loop.type == LoopType::Fixed) {
    noTwist();
  }
  return rows;
}

/// A function's rows; this knows the operations that robots of the tests use.
template <typename T>
std::vector<T> rowsOf(const Expression& expression, const std::vector<T>& x) {
  using std::cos, std::sin, std::sqrt;
  std::vector<T> values;
  for (const Expression::Step& step : expression.steps()) {
    const auto operand = [&](int i) -> const T& {
      return values[static_cast<std::size_t>(step.operands[i])];
    };
    const auto next = [&]() -> T {
      switch (step.operation) {
        case Operation::Argument:
          return x[static_cast<std::size_t>(step.operands[0])];
        case Operation::Constant:
          return T(step.constant);
        case Operation::Add:
          return operand(0) + operand(1);
        case Operation::Subtract:
          return operand(0) - operand(1);
        case Operation::Multiply:
          return operand(0) * operand(1);
        case Operation::Divide:
          return operand(0) / operand(1);
        case Operation::Negate:
          return -operand(0);
        case Operation::Sin:
          return sin(operand(0));
        case Operation::Cos:
          return cos(operand(0));
        case Operation::Sqrt:
          return sqrt(operand(0));
        default:
          throw std::logic_error("an operation that the oracle does not know");
      }
    };
    values.push_back(next());
  }
  std::vector<T> results;
  for (int i = 0; i < expression.results(); ++i) {
    results.push_back(values[static_cast<std::size_t>(expression.stepOf(i))]);
  }
  return results;
}

}  // namespace kempe::test
