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

/// The step that a step of an expression becomes, with steps of the expression as operands. It may
/// do the work of operands that nothing else needs.
struct PlannedStep {
  Instruction instruction = Instruction::Operation;
  int operands[4] = {-1, -1, -1, -1};  ///< −1: none, or the constant
  double constant = 0.0;
};

/// k times the result of a step.
struct Term {
  double k = 1.0;
  int step = 0;
};

/// Chooses the instructions of all steps.
class Planner {
 public:
  explicit Planner(const Expression& expression) : steps_(expression.steps()) {
    uses_.assign(steps_.size(), 0);
    for (const Expression::Step& step : steps_) {
      for (int o = 0; o < operandCount(step.operation); ++o) {
        ++uses_[static_cast<std::size_t>(step.operands[o])];
      }
    }
    for (int r = 0; r < expression.results(); ++r) {
      ++uses_[static_cast<std::size_t>(expression.stepOf(r))];
    }
  }

  [[nodiscard]] PlannedStep plan(int i) const {
    const Expression::Step& step = at(i);
    switch (step.operation) {
      case Operation::Argument:
        return {Instruction::Copy, {-1, -1, -1, -1}, 0.0};
      case Operation::Constant:
        return {Instruction::Constant, {-1, -1, -1, -1}, step.constant};
      case Operation::Add:
      case Operation::Subtract:
        return sum(step);
      case Operation::Multiply:
      case Operation::Divide:
      case Operation::Negate:
        if (const Term term = scaled(i); term.step != i) {
          const bool negative = term.k == -1.0;
          return {
              negative ? Instruction::Negate : Instruction::Scale, {term.step, -1, -1, -1}, term.k};
        }
        if (step.operation == Operation::Multiply) {
          return {Instruction::Multiply, {step.operands[0], step.operands[1], -1, -1}, 0.0};
        }
        break;
      case Operation::Sin:
      case Operation::Cos:
        return {Instruction::SineOrCosine, {step.operands[0], -1, -1, -1}, 0.0};
      default:
        break;
    }
    return general(step);
  }

  [[nodiscard]] std::optional<double> constantAt(int i) const {
    return at(i).operation == Operation::Constant ? std::optional(at(i).constant) : std::nullopt;
  }
  [[nodiscard]] const Expression::Step& at(int i) const {
    return steps_[static_cast<std::size_t>(i)];
  }

 private:
  [[nodiscard]] bool usedOnce(int i) const { return uses_[static_cast<std::size_t>(i)] == 1; }

  /// Step i as a multiple of another step, through factors that nothing else needs.
  [[nodiscard]] Term scaled(int i) const {
    Term term{1.0, i};
    for (bool first = true;; first = false) {
      const Expression::Step& step = at(term.step);
      if (!first && !usedOnce(term.step)) {
        return term;
      }
      if (step.operation == Operation::Negate) {
        term = {-term.k, step.operands[0]};
        continue;
      }
      if (step.operation == Operation::Multiply) {
        const std::optional<double> a = constantAt(step.operands[0]),
                                    b = constantAt(step.operands[1]);
        if (a || b) {
          term = {term.k * (a ? *a : *b), step.operands[a ? 1 : 0]};
          continue;
        }
      } else if (step.operation == Operation::Divide) {
        const std::optional<double> divisor = constantAt(step.operands[1]);
        if (divisor && std::isnormal(1.0 / *divisor) && !constantAt(step.operands[0])) {
          term = {term.k / *divisor, step.operands[0]};
          continue;
        }
      }
      return term;
    }
  }
  /// An operand as a multiple of another step, or as itself where others need it too.
  [[nodiscard]] Term termOf(int operand) const {
    return usedOnce(operand) ? scaled(operand) : Term{1.0, operand};
  }
  [[nodiscard]] bool isProduct(int i) const {
    return at(i).operation == Operation::Multiply && usedOnce(i) &&
           !constantAt(at(i).operands[0]) && !constantAt(at(i).operands[1]);
  }

  [[nodiscard]] PlannedStep sum(const Expression::Step& step) const {
    const double sign = step.operation == Operation::Add ? 1.0 : -1.0;
    const int a = step.operands[0], b = step.operands[1];
    if (const std::optional<double> constant = constantAt(b)) {
      return {Instruction::AddConstant, {a, -1, -1, -1}, sign * *constant};
    }
    if (const std::optional<double> constant = constantAt(a)) {
      return {sign > 0 ? Instruction::AddConstant : Instruction::SubtractFrom,
              {b, -1, -1, -1},
              *constant};
    }
    Term first = termOf(a), second = termOf(b);
    second.k *= sign;
    if (std::abs(first.k) != 1.0 && std::abs(second.k) != 1.0) {
      second = {sign, b};
    }
    if (std::abs(second.k) != 1.0) {
      std::swap(first, second);
    }
    if (std::abs(first.k) != 1.0) {
      return {second.k > 0 ? Instruction::ScaleAdd : Instruction::ScaleSubtract,
              {first.step, -1, second.step, -1},
              first.k};
    }
    if (first.k < 0 && second.k < 0) {
      first = {1.0, a};
      second = {sign, b};
    }
    if (!isProduct(first.step) && isProduct(second.step)) {
      std::swap(first, second);
    }
    if (isProduct(first.step) && (first.k > 0 || second.k > 0)) {
      const Expression::Step& product = at(first.step);
      return {first.k < 0    ? Instruction::SubtractProduct
              : second.k < 0 ? Instruction::MultiplySubtract
                             : Instruction::MultiplyAdd,
              {product.operands[0], product.operands[1], second.step, -1},
              0.0};
    }
    if (first.k < 0) {
      std::swap(first, second);
    }
    return {second.k < 0 ? Instruction::Subtract : Instruction::Add,
            {first.step, second.step, -1, -1},
            0.0};
  }

  /// With the first constant among the operands as its own.
  [[nodiscard]] PlannedStep general(const Expression::Step& step) const {
    PlannedStep planned;
    bool hasConstant = false;
    for (int o = 0; o < operandCount(step.operation); ++o) {
      const std::optional<double> constant = constantAt(step.operands[o]);
      if (constant && !hasConstant) {
        hasConstant = true;
        planned.constant = *constant;
      } else {
        planned.operands[o] = step.operands[o];
      }
    }
    return planned;
  }

  const std::vector<Expression::Step>& steps_;
  std::vector<int> uses_{};
};

class ProgramCompiler {
 public:
  ProgramCompiler(const Expression& expression, int earlyArguments, int earlyResults,
                  std::vector<ProgramStep<double>>& steps)
      : expression_(expression),
        earlyResults_(earlyResults),
        source_(expression.steps()),
        steps_(steps) {
    const Planner planner(expression);
    for (std::size_t i = 0; i < source_.size(); ++i) {
      plans_.push_back(planner.plan(static_cast<int>(i)));
      if (isPower(source_[i], planner)) {
        powers_.push_back(static_cast<int>(*planner.constantAt(source_[i].operands[1])));
        plans_.back().operands[1] = -1;
      } else {
        powers_.push_back(0);
      }
    }
    findLate(earlyArguments);
    findNeeded();
  }

  ProgramParts compile() {
    registers_.assign(source_.size(), -1);
    for (std::size_t i = 0; i < source_.size(); ++i) {
      if (source_[i].operation == Operation::Argument) {
        registers_[i] = source_[i].operands[0];
      }
    }
    const std::vector<int> order = grouped();
    ProgramParts parts;
    parts.early = compilePart(order, 0, expression_.arguments(), 0, earlyResults_);
    parts.late =
        compilePart(order, 1, parts.early.registers(), earlyResults_, expression_.results());
    return parts;
  }

 private:
  /// Powers up to this are computed by multiplication, in at most ten of them.
  static constexpr double kLargestPower = 32;

  static bool isPower(const Expression::Step& step, const Planner& planner) {
    if (step.operation != Operation::Pow) {
      return false;
    }
    const std::optional<double> value = planner.constantAt(step.operands[1]);
    return value && std::abs(*value) <= kLargestPower && *value == std::floor(*value) &&
           !planner.constantAt(step.operands[0]);
  }

  /// The steps that depend on later arguments.
  void findLate(int earlyArguments) {
    late_.assign(source_.size(), 0);
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const Expression::Step& step = source_[i];
      if (step.operation == Operation::Argument) {
        late_[i] = step.operands[0] >= earlyArguments ? 1 : 0;
      }
      for (int o = 0; o < operandCount(step.operation); ++o) {
        late_[i] |= late_[static_cast<std::size_t>(step.operands[o])];
      }
    }
  }

  /// The steps of which something needs the register.
  void findNeeded() {
    needed_.assign(source_.size(), 0);
    for (int r = 0; r < expression_.results(); ++r) {
      needed_[static_cast<std::size_t>(expression_.stepOf(r))] = 1;
    }
    for (std::size_t i = source_.size(); i-- > 0;) {
      for (const int operand : plans_[i].operands) {
        if (needed_[i] != 0 && operand >= 0) {
          needed_[static_cast<std::size_t>(operand)] = 1;
        }
      }
    }
  }

  /// Steps in an order in which sines and cosines stand together that do not depend on one another:
  /// all steps before the first ones, these, all steps that need no others, and so on.
  [[nodiscard]] std::vector<int> grouped() const {
    // Even: after so many halves of groups; odd: in one.
    std::vector<int> rank(source_.size(), 0);
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const Expression::Step& step = source_[i];
      for (int o = 0; o < operandCount(step.operation); ++o) {
        rank[i] = std::max(rank[i], (rank[static_cast<std::size_t>(step.operands[o])] + 1) / 2 * 2);
      }
      rank[i] += isTrigonometric(step.operation) ? 1 : 0;
    }
    std::vector<int> order(source_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int i) { return rank[static_cast<std::size_t>(i)]; });
    return order;
  }

  ProgramEntry compilePart(const std::vector<int>& order, char late, int arguments, int firstResult,
                           int endResult) {
    entry_ = {static_cast<int>(steps_.size()), 0, arguments, endResult - firstResult};
    for (const int i : order) {
      const auto place = static_cast<std::size_t>(i);
      const Operation operation = source_[place].operation;
      if (needed_[place] != 0 && late_[place] == late && operation != Operation::Argument &&
          operation != Operation::Constant) {
        registers_[place] = powers_[place] != 0
                                ? power(registerOf(plans_[place].operands[0]), powers_[place])
                                : apply(plans_[place], operation);
      }
    }
    for (int r = firstResult; r < endResult; ++r) {
      const int step = expression_.stepOf(r);
      const Expression::Step& result = source_[static_cast<std::size_t>(step)];
      if (result.operation == Operation::Constant) {
        add({Instruction::Constant, Operation::Constant, {}, 1, 1, result.constant});
      } else {
        add({Instruction::Copy, Operation::Argument, {registerOf(step)}, 1, 1, 0.0});
      }
    }
    countTogether();
    return entry_;
  }

  int nextRegister() const { return entry_.arguments + entry_.steps; }
  int add(const ProgramStep<double>& step) {
    steps_.push_back(step);
    ++entry_.steps;
    return nextRegister() - 1;
  }
  /// The register of a step; constants get one when they first need it.
  int registerOf(int step) {
    int& place = registers_[static_cast<std::size_t>(step)];
    if (place < 0) {
      place = add({Instruction::Constant,
                   Operation::Constant,
                   {},
                   1,
                   1,
                   source_[static_cast<std::size_t>(step)].constant});
    }
    return place;
  }

  int apply(const PlannedStep& planned, Operation operation) {
    ProgramStep<double> step;
    step.instruction = planned.instruction;
    step.operation = operation;
    step.constant = planned.constant;
    for (int o = 0; o < 4; ++o) {
      step.operands[o] = planned.operands[o] >= 0 ? registerOf(planned.operands[o]) : 0;
    }
    // The constant is read from the register of the result.
    for (int o = 0; planned.instruction == Instruction::Operation && o < operandCount(operation);
         ++o) {
      if (planned.operands[o] < 0) {
        step.operands[o] = nextRegister();
      }
    }
    return add(step);
  }

  int multiply(int a, int b) {
    return add({Instruction::Multiply, Operation::Multiply, {a, b}, 1, 1, 0.0});
  }

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
    return exponent > 0 ? result
                        : add({Instruction::Operation,
                               Operation::Divide,
                               {nextRegister(), result},
                               1,
                               1,
                               1.0});
  }

  /// Groups end before a step that needs one of them.
  void countTogether() {
    const auto at = [&](int i) -> ProgramStep<double>& {
      return steps_[static_cast<std::size_t>(entry_.first + i)];
    };
    for (int i = 0; i < entry_.steps; i += at(i).together) {
      if (at(i).instruction != Instruction::SineOrCosine) {
        continue;
      }
      std::vector<int> angles;
      int next = i;
      for (; next < entry_.steps && at(next).instruction == Instruction::SineOrCosine &&
             at(next).operands[0] < entry_.arguments + i;
           ++next) {
        const int angle = at(next).operands[0];
        const auto found = std::ranges::find(angles, angle);
        if (found == angles.end() && angles.size() == kMostTogether) {
          break;
        }
        const bool sine = at(next).operation == Operation::Sin;
        at(next).operands[1] =
            static_cast<int>(found - angles.begin()) + (sine ? 0 : kMostTogether);
        if (found == angles.end()) {
          angles.push_back(angle);
        }
      }
      for (std::size_t j = 0; j < angles.size(); ++j) {
        at(i + static_cast<int>(j)).operands[2] = angles[j];
      }
      at(i).together = next - i;
      at(i).angles = static_cast<int>(angles.size());
    }
  }

  const Expression& expression_;
  int earlyResults_;
  const std::vector<Expression::Step>& source_;
  std::vector<ProgramStep<double>>& steps_;
  std::vector<PlannedStep> plans_{};
  std::vector<int> powers_{};  ///< exponents of powers that are computed by multiplication
  std::vector<char> late_{}, needed_{};
  ProgramEntry entry_{};
  std::vector<int> registers_{};
};

}  // namespace

ProgramEntry appendProgram(const Expression& expression, std::vector<ProgramStep<double>>& steps) {
  return appendProgramParts(expression, expression.arguments(), expression.results(), steps).early;
}

ProgramParts appendProgramParts(const Expression& expression, int earlyArguments, int earlyResults,
                                std::vector<ProgramStep<double>>& steps) {
  return ProgramCompiler(expression, earlyArguments, earlyResults, steps).compile();
}

}  // namespace kempe::detail
