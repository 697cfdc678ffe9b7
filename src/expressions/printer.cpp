#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include "expressions/grammar.hpp"
#include "text/decimals.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace detail {

std::optional<Operation> functionOf(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctionNames, name, &FunctionName::name);
  if (found == std::ranges::end(kFunctionNames)) {
    return std::nullopt;
  }
  return found->operation;
}

std::string_view nameOf(Operation operation) {
  return std::ranges::find(kFunctionNames, operation, &FunctionName::operation)->name;
}

void checkNames(std::span<const std::string> names) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    const bool wellFormed =
        !name.empty() && isNameStart(name.front()) &&
        std::ranges::all_of(name, [](char c) { return isNameStart(c) || isDigit(c); });
    if (!wellFormed) {
      throw std::invalid_argument(kempe::quoted(asUtf8(name)) +
                                  " cannot name an argument of a formula. Use letters, digits and "
                                  "underscores, beginning with a letter.");
    }
    if (functionOf(name) || name == kSelect || name == kPi) {
      throw std::invalid_argument(kempe::quoted(name) +
                                  " cannot name an argument of a formula: it has a meaning in "
                                  "formulas already. Choose another name.");
    }
    if (!seen.insert(name).second) {
      throw std::invalid_argument("two arguments of a formula have the name " +
                                  kempe::quoted(name) + ". Choose another name for one of them.");
    }
  }
}

namespace {

/// The shortest text that reads back as the same number.
std::string numberText(double value) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

/// Text of a step.
struct Piece {
  std::string text{};
  Binding binding = Binding::Primary;
  int depth = 0;  ///< of nested parentheses, signs and powers
};

class Printer {
 public:
  Printer(const Expression& expression, std::span<const std::string> names)
      : expression_(expression), names_(names), uses_(expression.steps().size(), 0) {
    for (const Expression::Step& step : expression.steps()) {
      for (int i = 0; i < operandCount(step.operation); ++i) {
        ++uses_[static_cast<std::size_t>(step.operands[i])];
      }
    }
    for (int r = 0; r < expression.results(); ++r) {
      ++uses_[static_cast<std::size_t>(expression.stepOf(r))];
    }
    while (std::ranges::any_of(names, [&](const auto& n) { return n.starts_with(prefix_); })) {
      prefix_ += '_';
    }
  }

  std::string print() {
    // Half of what the parser accepts, since a definition adds a level.
    constexpr int kDeepest = kDeepestFormula / 2;
    const auto& steps = expression_.steps();
    pieces_.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Piece piece = pieceOf(steps[i]);
      const bool named = steps[i].operation != Operation::Argument &&
                         steps[i].operation != Operation::Constant &&
                         (uses_[i] > 1 || piece.depth >= kDeepest);
      if (named) {
        const std::string name = prefix_ + std::to_string(++definitions_);
        text_ += name + " = " + piece.text + "; ";
        piece = {name, Binding::Primary, 0};
      }
      pieces_[i] = std::move(piece);
    }
    for (int r = 0; r < expression_.results(); ++r) {
      text_ += (r == 0 ? "" : ", ") + pieces_[static_cast<std::size_t>(expression_.stepOf(r))].text;
    }
    return std::move(text_);
  }

 private:
  /// An operand; moved where no other step uses it, since copies of long sums add up.
  Piece operand(const Expression::Step& step, int i) {
    const auto place = static_cast<std::size_t>(step.operands[i]);
    return uses_[place] > 1 ? pieces_[place] : std::move(pieces_[place]);
  }
  /// The same, in parentheses unless it binds at least as tightly.
  Piece operand(const Expression::Step& step, int i, Binding least) {
    Piece piece = operand(step, i);
    if (piece.binding < least) {
      return {"(" + piece.text + ")", Binding::Primary, piece.depth + 1};
    }
    return piece;
  }

  Piece infix(const Expression::Step& step, std::string_view sign, Binding binding, Binding left,
              Binding right) {
    Piece result = operand(step, 0, left);
    const Piece second = operand(step, 1, right);
    result.text += sign;
    result.text += second.text;
    // The parser follows a chain of equal operators to the right without nesting.
    return {std::move(result.text), binding, std::max(result.depth, second.depth + 1)};
  }

  Piece call(const Expression::Step& step, std::string_view name) {
    Piece result{std::string(name) + "(", Binding::Primary, 0};
    for (int i = 0; i < operandCount(step.operation); ++i) {
      const Piece argument = operand(step, i);
      result.text += (i == 0 ? "" : ", ") + argument.text;
      result.depth = std::max(result.depth, argument.depth + 1);
    }
    result.text += ")";
    return result;
  }

  Piece choice(const Expression::Step& step, std::string_view comparison) {
    Piece result{std::string(kSelect) + "(", Binding::Primary, 0};
    const std::string_view separators[] = {"", comparison, ", ", ", "};
    for (int i = 0; i < 4; ++i) {
      const Piece argument = operand(step, i);
      result.text += separators[i];
      result.text += argument.text;
      result.depth = std::max(result.depth, argument.depth + 1);
    }
    result.text += ")";
    return result;
  }

  Piece pieceOf(const Expression::Step& step) {
    switch (step.operation) {
      case Operation::Argument:
        return {names_[static_cast<std::size_t>(step.operands[0])], Binding::Primary, 0};
      case Operation::Constant:
        return {numberText(step.constant), step.constant < 0.0 ? Binding::Sign : Binding::Primary,
                0};
      case Operation::Add:
        return infix(step, " + ", Binding::Sum, Binding::Sum, Binding::Product);
      case Operation::Subtract:
        return infix(step, " - ", Binding::Sum, Binding::Sum, Binding::Product);
      case Operation::Multiply:
        return infix(step, " * ", Binding::Product, Binding::Product, Binding::Sign);
      case Operation::Divide:
        return infix(step, " / ", Binding::Product, Binding::Product, Binding::Sign);
      case Operation::Pow:
        return infix(step, "^", Binding::Power, Binding::Primary, Binding::Sign);
      case Operation::Negate: {
        const Piece piece = operand(step, 0, Binding::Sign);
        return {"-" + piece.text, Binding::Sign, piece.depth + 1};
      }
      case Operation::SelectLess:
        return choice(step, " < ");
      case Operation::SelectLessEqual:
        return choice(step, " <= ");
      default:
        return call(step, nameOf(step.operation));
    }
  }

  const Expression& expression_;
  std::span<const std::string> names_;
  std::vector<int> uses_;
  std::vector<Piece> pieces_{};
  std::string prefix_ = "t";
  int definitions_ = 0;
  std::string text_{};
};

}  // namespace
}  // namespace detail

std::string Expression::text(std::span<const std::string> names) const {
  if (names.size() != static_cast<std::size_t>(arguments_)) {
    throw std::invalid_argument("an expression of " + counted(arguments_, "argument", "arguments") +
                                " was given " + counted(names.size(), "name", "names"));
  }
  detail::checkNames(names);
  return detail::Printer(*this, names).print();
}

std::string Expression::text() const {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(arguments_));
  for (int i = 0; i < arguments_; ++i) {
    names.push_back("x" + std::to_string(i));
  }
  return text(names);
}

}  // namespace kempe
