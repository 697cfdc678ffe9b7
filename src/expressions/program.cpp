#include "expressions/program.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace kempe::detail {
namespace {

bool isTrigonometric(Operation operation) {
  return operation == Operation::Sin || operation == Operation::Cos;
}

/// Steps in an order in which sines and cosines stand together that do not depend on one another:
/// all steps before the first ones, these, all steps that need no others, and so on.
std::vector<int> grouped(const std::vector<Expression::Step>& steps) {
  // Even: after so many halves of groups; odd: in one.
  std::vector<int> rank(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (int o = 0; o < operandCount(steps[i].operation); ++o) {
      rank[i] =
          std::max(rank[i], (rank[static_cast<std::size_t>(steps[i].operands[o])] + 1) / 2 * 2);
    }
    rank[i] += isTrigonometric(steps[i].operation) ? 1 : 0;
  }
  std::vector<int> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int i) { return rank[static_cast<std::size_t>(i)]; });
  return order;
}

class ProgramCompiler {
 public:
  ProgramCompiler(const Expression& expression, std::vector<ProgramStep<double>>& steps)
      : expression_(expression), source_(expression.steps()), steps_(steps) {
    entry_.first = static_cast<int>(steps.size());
    entry_.arguments = expression.arguments();
    entry_.results = expression.results();
  }

  ProgramEntry compile() {
    registers_.assign(source_.size(), -1);
    for (const int i : grouped(source_)) {
      const Expression::Step& step = source_[static_cast<std::size_t>(i)];
      if (step.operation == Operation::Argument) {
        registers_[static_cast<std::size_t>(i)] = step.operands[0];
      } else if (step.operation == Operation::Pow && isSmallInteger(constantOf(step, 1))) {
        registers_[static_cast<std::size_t>(i)] =
            power(registerOf(step.operands[0]), static_cast<int>(*constantOf(step, 1)));
      } else if (step.operation != Operation::Constant) {
        registers_[static_cast<std::size_t>(i)] = apply(step);
      }
    }
    for (int r = 0; r < expression_.results(); ++r) {
      const int step = expression_.stepOf(r);
      const Expression::Step& result = source_[static_cast<std::size_t>(step)];
      if (result.operation == Operation::Constant) {
        add({Operation::Constant, {}, 1, result.constant});
      } else {
        add({Operation::Argument, {registerOf(step)}, 1, 0.0});
      }
    }
    countTogether();
    return entry_;
  }

 private:
  /// Powers up to this are computed by multiplication, in at most ten of them.
  static constexpr double kLargestPower = 32;

  [[nodiscard]] std::optional<double> constantOf(const Expression::Step& step, int operand) const {
    const Expression::Step& source = source_[static_cast<std::size_t>(step.operands[operand])];
    return source.operation == Operation::Constant ? std::optional(source.constant) : std::nullopt;
  }
  static bool isSmallInteger(std::optional<double> value) {
    return value && std::abs(*value) <= kLargestPower && *value == std::floor(*value);
  }

  int nextRegister() const { return entry_.arguments + entry_.steps; }
  int add(const ProgramStep<double>& step) {
    steps_.push_back(step);
    ++entry_.steps;
    return nextRegister() - 1;
  }
  /// The register of a step that is not an immediate constant.
  int registerOf(int step) {
    int& place = registers_[static_cast<std::size_t>(step)];
    if (place < 0) {  // a constant that needs a register
      place = add({Operation::Constant, {}, 1, source_[static_cast<std::size_t>(step)].constant});
    }
    return place;
  }

  int apply(const Expression::Step& source) {
    ProgramStep<double> step;
    step.operation = source.operation;
    int immediate = -1;
    for (int o = 0; o < operandCount(source.operation); ++o) {
      const std::optional<double> constant = constantOf(source, o);
      if (constant && immediate < 0) {
        immediate = o;
        step.constant = *constant;
      } else {
        step.operands[o] = registerOf(source.operands[o]);
      }
    }
    if (immediate >= 0) {
      step.operands[immediate] = nextRegister();
    }
    return add(step);
  }

  int multiply(int a, int b) { return add({Operation::Multiply, {a, b}, 1, 0.0}); }

  /// xⁿ by squaring.
  int power(int base, int exponent) {
    int result = -1, square = base;
    for (int left = std::abs(exponent); left > 0; left /= 2) {
      if (left % 2 == 1) {
        result = result < 0 ? square : multiply(result, square);
      }
      if (left > 1) {
        square = multiply(square, square);
      }
    }
    return exponent > 0 ? result : add({Operation::Divide, {nextRegister(), result}, 1, 1.0});
  }

  /// Groups end before a step that needs one of them.
  void countTogether() {
    const auto at = [&](int i) -> ProgramStep<double>& {
      return steps_[static_cast<std::size_t>(entry_.first + i)];
    };
    for (int i = 0; i < entry_.steps; i += at(i).together) {
      const auto joins = [&](int next) {
        return next < entry_.steps && next < i + kMostTogether &&
               isTrigonometric(at(next).operation) && at(next).operands[0] < entry_.arguments + i;
      };
      while (isTrigonometric(at(i).operation) && joins(i + at(i).together)) {
        ++at(i).together;
      }
    }
  }

  const Expression& expression_;
  const std::vector<Expression::Step>& source_;
  std::vector<ProgramStep<double>>& steps_;
  ProgramEntry entry_{};
  std::vector<int> registers_{};
};

}  // namespace

ProgramEntry appendProgram(const Expression& expression, std::vector<ProgramStep<double>>& steps) {
  return ProgramCompiler(expression, steps).compile();
}

}  // namespace kempe::detail
