#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/spatial/host_device.hpp"
#include "kempe/spatial/select.hpp"

/// Formulas as data: functions of numbers that the library can evaluate in any scalar type,
/// differentiate to any order, print and parse.
namespace kempe {

enum class Operation : std::uint8_t {
  Argument,
  Constant,
  Add,
  Subtract,
  Multiply,
  Divide,
  Negate,
  Sqrt,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Atan2,  ///< of y and x
  Exp,
  Log,  ///< natural
  Pow,
  Hypot,
  Abs,
  Min,
  Max,
  SelectLess,      ///< operand 0 < operand 1 ? operand 2 : operand 3
  SelectLessEqual  ///< operand 0 <= operand 1 ? operand 2 : operand 3
};

/// Returns the number of operands of an operation.
KEMPE_HD constexpr int operandCount(Operation operation) {
  switch (operation) {
    case Operation::Argument:
    case Operation::Constant:
      return 0;
    case Operation::Add:
    case Operation::Subtract:
    case Operation::Multiply:
    case Operation::Divide:
    case Operation::Atan2:
    case Operation::Pow:
    case Operation::Hypot:
    case Operation::Min:
    case Operation::Max:
      return 2;
    case Operation::SelectLess:
    case Operation::SelectLessEqual:
      return 4;
    default:
      return 1;
  }
}

class Symbol;

namespace detail {

class Graph;

/// An operation on numbers; `x(i)` returns operand i.
template <typename T, typename Operands>
KEMPE_HD T applied(Operation operation, const Operands& x) {
  using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::exp, std::hypot;
  using std::log, std::pow, std::sin, std::sqrt, std::tan;
  switch (operation) {
    case Operation::Add:
      return x(0) + x(1);
    case Operation::Subtract:
      return x(0) - x(1);
    case Operation::Multiply:
      return x(0) * x(1);
    case Operation::Divide:
      return x(0) / x(1);
    case Operation::Negate:
      return -x(0);
    case Operation::Sqrt:
      return sqrt(x(0));
    case Operation::Sin:
      return sin(x(0));
    case Operation::Cos:
      return cos(x(0));
    case Operation::Tan:
      return tan(x(0));
    case Operation::Asin:
      return asin(x(0));
    case Operation::Acos:
      return acos(x(0));
    case Operation::Atan:
      return atan(x(0));
    case Operation::Atan2:
      return atan2(x(0), x(1));
    case Operation::Exp:
      return exp(x(0));
    case Operation::Log:
      return log(x(0));
    case Operation::Pow:
      return pow(x(0), x(1));
    case Operation::Hypot:
      return hypot(x(0), x(1));
    case Operation::Abs:
      return abs(x(0));
    case Operation::Min:
      return select(x(1) < x(0), x(1), x(0));
    case Operation::Max:
      return select(x(0) < x(1), x(1), x(0));
    case Operation::SelectLess:
      return select(x(0) < x(1), x(2), x(3));
    case Operation::SelectLessEqual:
      return select(x(0) <= x(1), x(2), x(3));
    case Operation::Argument:
    case Operation::Constant:
      break;
  }
  return T(0);
}

}  // namespace detail

/// A straight-line program: results computed from arguments, each step from earlier ones. Equal
/// subexpressions are computed once, and operations on constants beforehand.
///
/// An expression is a value: it can be copied and compared, and threads can share it.
class Expression {
 public:
  struct Step {
    Operation operation = Operation::Constant;
    int operands[4] = {-1, -1, -1, -1};  ///< earlier steps; of Argument: its index
    double constant = 0.0;               ///< of Constant
    friend bool operator==(const Step&, const Step&) = default;
  };

  /// No arguments and no results.
  Expression() = default;
  /// Computes `results` from `arguments`, which Symbol::arguments() returned. Throws TracingError
  /// if a result is not finite or depends on other symbols.
  KEMPE_API Expression(std::span<const Symbol> arguments, std::span<const Symbol> results);

  [[nodiscard]] int arguments() const { return arguments_; }
  [[nodiscard]] int results() const { return static_cast<int>(results_.size()); }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// Returns the step that computes a result.
  [[nodiscard]] int stepOf(int result) const { return results_[static_cast<std::size_t>(result)]; }

  /// Computes the results in any type with arithmetic and the functions of `<cmath>`, for example
  /// float or Jet. Allocates nothing.
  /// @param values   scratch, one number for each of steps()
  template <typename T>
  void evaluate(std::span<const T> arguments, std::span<T> values, std::span<T> results) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      switch (step.operation) {
        case Operation::Argument:
          values[i] = arguments[static_cast<std::size_t>(step.operands[0])];
          break;
        case Operation::Constant:
          values[i] = static_cast<T>(step.constant);
          break;
        default:
          values[i] = detail::applied<T>(step.operation, [&](int operand) -> const T& {
            return values[static_cast<std::size_t>(step.operands[operand])];
          });
      }
    }
    for (std::size_t r = 0; r < results_.size(); ++r) {
      results[r] = values[static_cast<std::size_t>(results_[r])];
    }
  }
  /// The same for numbers, with memory of its own.
  [[nodiscard]] KEMPE_API std::vector<double> operator()(std::span<const double> arguments) const;

  /// Returns the derivatives of all results with respect to one argument.
  [[nodiscard]] KEMPE_API Expression derivative(int argument) const;
  /// Returns the derivatives of all results with respect to all arguments: results() × arguments(),
  /// row-major.
  [[nodiscard]] KEMPE_API Expression jacobian() const;
  /// Returns the rates of all results, Σ ∂f/∂xᵢ ẋᵢ. Its arguments are all x, then all ẋ.
  [[nodiscard]] KEMPE_API Expression rate() const;

  /// Returns the formula as text that parse() reads back as an equal expression: results separated
  /// by commas, after definitions `name = formula;` of subexpressions that occur more than once.
  /// @param names   of the arguments; letters, digits and underscores
  [[nodiscard]] KEMPE_API std::string text(std::span<const std::string> names) const;
  /// With names x0, x1, …
  [[nodiscard]] KEMPE_API std::string text() const;

  /// Reads a formula, for example `s = sin(a); 2 * s - b^2, select(a < b, s, pi)`. Throws
  /// std::invalid_argument with the column if it is not well formed, or is longer or nested more
  /// deeply than a hand-written formula would be.
  /// @param names   of the arguments
  [[nodiscard]] KEMPE_API static Expression parse(std::string_view formula,
                                                  std::span<const std::string> names);

  friend bool operator==(const Expression&, const Expression&) = default;

 private:
  friend class detail::Graph;

  int arguments_ = 0;
  std::vector<Step> steps_{};
  std::vector<int> results_{};
};

/// A function cannot be traced: it branches on the value of an argument, or uses a number that is
/// not finite.
class KEMPE_API TracingError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A number that records the operations that produce it. Functions of symbols are traced into
/// expressions; see trace().
class Symbol {
 public:
  Symbol() = default;
  Symbol(double constant) : constant_(constant) {}  // NOLINT: constants mix freely with symbols

  /// Symbols that stand for the arguments of an expression.
  KEMPE_API static std::vector<Symbol> arguments(int count);
  /// The result of an operation.
  KEMPE_API static Symbol of(Operation operation, std::initializer_list<Symbol> operands);

  Symbol& operator+=(const Symbol& b) { return *this = *this + b; }
  Symbol& operator-=(const Symbol& b) { return *this = *this - b; }
  Symbol& operator*=(const Symbol& b) { return *this = *this * b; }
  Symbol& operator/=(const Symbol& b) { return *this = *this / b; }

  friend Symbol operator+(const Symbol& a) { return a; }
  friend Symbol operator-(const Symbol& a) { return of(Operation::Negate, {a}); }
  friend Symbol operator+(const Symbol& a, const Symbol& b) { return of(Operation::Add, {a, b}); }
  friend Symbol operator-(const Symbol& a, const Symbol& b) {
    return of(Operation::Subtract, {a, b});
  }
  friend Symbol operator*(const Symbol& a, const Symbol& b) {
    return of(Operation::Multiply, {a, b});
  }
  friend Symbol operator/(const Symbol& a, const Symbol& b) {
    return of(Operation::Divide, {a, b});
  }

  friend Symbol sqrt(const Symbol& a) { return of(Operation::Sqrt, {a}); }
  friend Symbol sin(const Symbol& a) { return of(Operation::Sin, {a}); }
  friend Symbol cos(const Symbol& a) { return of(Operation::Cos, {a}); }
  friend Symbol tan(const Symbol& a) { return of(Operation::Tan, {a}); }
  friend Symbol asin(const Symbol& a) { return of(Operation::Asin, {a}); }
  friend Symbol acos(const Symbol& a) { return of(Operation::Acos, {a}); }
  friend Symbol atan(const Symbol& a) { return of(Operation::Atan, {a}); }
  friend Symbol atan2(const Symbol& y, const Symbol& x) { return of(Operation::Atan2, {y, x}); }
  friend Symbol exp(const Symbol& a) { return of(Operation::Exp, {a}); }
  friend Symbol log(const Symbol& a) { return of(Operation::Log, {a}); }
  friend Symbol pow(const Symbol& a, const Symbol& p) { return of(Operation::Pow, {a, p}); }
  friend Symbol hypot(const Symbol& a, const Symbol& b) { return of(Operation::Hypot, {a, b}); }
  friend Symbol abs(const Symbol& a) { return of(Operation::Abs, {a}); }
  friend Symbol fabs(const Symbol& a) { return of(Operation::Abs, {a}); }
  friend Symbol min(const Symbol& a, const Symbol& b) { return of(Operation::Min, {a, b}); }
  friend Symbol max(const Symbol& a, const Symbol& b) { return of(Operation::Max, {a, b}); }

 private:
  friend class detail::Graph;

  std::shared_ptr<detail::Graph> graph_{};  ///< null: a constant
  int node_ = -1;
  double constant_ = 0.0;
};

/// A comparison of symbols, for select(). Whether it holds is not known while a function is traced,
/// so a branch on it throws TracingError, unless both sides are constants.
struct Condition {
  Symbol a, b;
  bool strict = true;  ///< a < b; otherwise a <= b

  KEMPE_API explicit operator bool() const;
};

inline Condition operator<(const Symbol& a, const Symbol& b) {
  return {a, b, true};
}
inline Condition operator<=(const Symbol& a, const Symbol& b) {
  return {a, b, false};
}
inline Condition operator>(const Symbol& a, const Symbol& b) {
  return {b, a, true};
}
inline Condition operator>=(const Symbol& a, const Symbol& b) {
  return {b, a, false};
}
/// Throws TracingError unless both are constants: equality has no use but in branches.
KEMPE_API bool operator==(const Symbol& a, const Symbol& b);

inline Symbol select(const Condition& condition, const Symbol& yes, const Symbol& no) {
  return Symbol::of(condition.strict ? Operation::SelectLess : Operation::SelectLessEqual,
                    {condition.a, condition.b, yes, no});
}

/// Traces a function into an expression by calling it once with symbols:
/// `f(std::span<const Symbol> arguments, std::span<Symbol> results)`.
///
/// Numbers that the function reads from elsewhere become constants. Throws TracingError if it
/// branches on values; use select(), min(), max() and abs() instead.
template <typename F>
Expression trace(int arguments, int results, const F& f) {
  const std::vector<Symbol> x = Symbol::arguments(arguments);
  std::vector<Symbol> y(static_cast<std::size_t>(results));
  const std::span<const Symbol> in(x);
  std::span<Symbol> out(y);
  f(in, out);
  return {in, out};
}

}  // namespace kempe
