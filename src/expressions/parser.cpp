#include <algorithm>
#include <charconv>
#include <limits>
#include <numbers>
#include <string>
#include <unordered_map>

#include "expressions/grammar.hpp"
#include "expressions/graph.hpp"
#include "text/decimals.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace detail {
namespace {

/// Recursive descent along the grammar of grammar.hpp; each function reads one of its rules and
/// returns a node.
class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string> names)
      : text_(text), graph_(static_cast<int>(names.size())) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      named_.emplace(names[i], static_cast<int>(i));
    }
  }

  Expression program() {
    if (text_.size() > kLongestFormula) {
      fail(0, "the formula has more than " + std::to_string(kLongestFormula) +
                  " characters. Check that it is one.");
    }
    try {
      return definitionsAndResults();
    } catch (const TracingError& error) {
      fail(place_, error.what());
    }
  }

 private:
  Expression definitionsAndResults() {
    while (definition()) {
    }
    std::vector<int> results{sum()};
    while (accept(",")) {
      results.push_back(sum());
    }
    skipBlanks();
    if (place_ < text_.size()) {
      fail(place_, "expected an operator, a comma or the end, found " + found() + ".");
    }
    return graph_.extract(results);
  }

  bool definition() {
    skipBlanks();
    const std::size_t start = place_;
    const std::string_view name = readName();
    if (name.empty() || !accept("=")) {
      place_ = start;
      return false;
    }
    if (isReserved(name) || named_.contains(name)) {
      fail(start,
           kempe::quoted(name) + " has a meaning already. Choose another name for the definition.");
    }
    const int node = sum();
    if (!accept(";")) {
      fail(place_, "expected \";\" after the definition of " + kempe::quoted(name) + ", found " +
                       found() + ".");
    }
    named_.emplace(name, node);
    return true;
  }

  int sum() {
    int left = product();
    while (true) {
      if (accept("+")) {
        left = graph_.apply(Operation::Add, {left, product()});
      } else if (accept("-")) {
        left = graph_.apply(Operation::Subtract, {left, product()});
      } else {
        return left;
      }
    }
  }

  int product() {
    int left = withSign();
    while (true) {
      if (accept("*")) {
        left = graph_.apply(Operation::Multiply, {left, withSign()});
      } else if (accept("/")) {
        left = graph_.apply(Operation::Divide, {left, withSign()});
      } else {
        return left;
      }
    }
  }

  int withSign() {
    const Level level(*this);
    if (accept("-")) {
      return graph_.apply(Operation::Negate, {withSign()});
    }
    return accept("+") ? withSign() : power();
  }

  int power() {
    const int base = primary();
    return accept("^") ? graph_.apply(Operation::Pow, {base, withSign()}) : base;
  }

  int primary() {
    skipBlanks();
    const std::size_t start = place_;
    if (accept("(")) {
      const int node = sum();
      close();
      return node;
    }
    if (start < text_.size() && (isDigit(text_[start]) || text_[start] == '.')) {
      return graph_.constant(number());
    }
    const std::string_view name = readName();
    if (name.empty()) {
      fail(start, "expected a number, a name or \"(\", found " + found() + ".");
    }
    if (name == kPi) {
      return graph_.constant(std::numbers::pi);
    }
    if (name == kSelect) {
      return selection();
    }
    if (const auto function = functionOf(name)) {
      return call(name, *function);
    }
    const auto known = named_.find(name);
    if (known == named_.end()) {
      fail(start, "unknown name " + kempe::quoted(name) + ". Known are" + knownNames() + ".");
    }
    return known->second;
  }

  int call(std::string_view name, Operation function) {
    open(name);
    int operands[2] = {};
    const int count = operandCount(function);
    for (int i = 0; i < count; ++i) {
      if (i > 0 && !accept(",")) {
        fail(place_, std::string(name) + " takes " + std::to_string(count) +
                         " numbers; expected \",\", found " + found() + ".");
      }
      operands[i] = sum();
    }
    close();
    return graph_.apply(function, std::span<const int>(operands, static_cast<std::size_t>(count)));
  }

  int selection() {
    open(kSelect);
    int a = sum();
    skipBlanks();
    const std::size_t start = place_;
    const bool greater = !accept("<") && accept(">");
    if (place_ == start) {
      fail(start,
           "select takes a comparison first, as in select(a < b, a, b); expected \"<\", "
           "\"<=\", \">\" or \">=\", found " +
               found() + ".");
    }
    const bool orEqual = place_ < text_.size() && text_[place_] == '=';
    place_ += orEqual ? 1 : 0;
    int b = sum();
    int chosen[2] = {};
    for (int& node : chosen) {
      if (!accept(",")) {
        fail(place_,
             "select takes a comparison and two numbers; expected \",\", found " + found() + ".");
      }
      node = sum();
    }
    close();
    if (greater) {
      std::swap(a, b);
    }
    return graph_.apply(orEqual ? Operation::SelectLessEqual : Operation::SelectLess,
                        {a, b, chosen[0], chosen[1]});
  }

  double number() {
    double value = 0.0;
    const char* const first = text_.data() + place_;
    const auto [end, error] = readDecimal(text_.substr(place_), value);
    if (error == std::errc::result_out_of_range) {
      fail(place_, "the number is too large for double precision.");
    }
    if (error != std::errc()) {
      fail(place_, "expected a number, found " + found() + ".");
    }
    place_ += static_cast<std::size_t>(end - first);
    return value;
  }

  // --- characters ------------------------------------------------------------------------------

  void skipBlanks() { place_ = std::min(text_.find_first_not_of(" \t\r\n", place_), text_.size()); }
  bool accept(std::string_view word) {
    skipBlanks();
    if (!text_.substr(place_).starts_with(word)) {
      return false;
    }
    place_ += word.size();
    return true;
  }
  std::string_view readName() {
    const std::size_t start = place_;
    if (place_ < text_.size() && isNameStart(text_[place_])) {
      while (place_ < text_.size() && (isNameStart(text_[place_]) || isDigit(text_[place_]))) {
        ++place_;
      }
    }
    return text_.substr(start, place_ - start);
  }
  void open(std::string_view name) {
    if (!accept("(")) {
      fail(place_, "expected \"(\" after " + std::string(name) + ", found " + found() + ".");
    }
  }
  void close() {
    if (!accept(")")) {
      fail(place_, "expected \")\", found " + found() + ".");
    }
  }

  // --- errors ----------------------------------------------------------------------------------

  [[nodiscard]] std::string found() const {
    constexpr std::size_t kShown = 20;
    return place_ >= text_.size() ? "the end" : kempe::quoted(asUtf8(text_.substr(place_, kShown)));
  }
  [[nodiscard]] std::string knownNames() const {
    constexpr std::size_t kShown = 20;
    std::vector<std::string> names;
    for (const auto& [name, node] : named_) {
      names.emplace_back(name);
    }
    std::ranges::sort(names);
    const bool more = names.size() > kShown;
    names.resize(std::min(names.size(), kShown));
    return (names.empty() ? "" : " " + joined(names) + (more ? ", …," : "") + " and") +
           " the functions sqrt, sin, …";
  }
  static bool isReserved(std::string_view name) {
    return name == kPi || name == kSelect || functionOf(name).has_value();
  }
  [[noreturn]] void fail(std::size_t place, const std::string& reason) const {
    throw std::invalid_argument("column " + std::to_string(place + 1) +
                                " of the formula: " + reason);
  }

  /// One more level of nesting, for as long as it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepestFormula) {
        parser_.fail(parser_.place_, "the formula is nested more than " +
                                         std::to_string(kDeepestFormula) +
                                         " levels deep. Define parts of it first.");
      }
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  std::string_view text_;
  std::size_t place_ = 0;
  int depth_ = 0;
  Graph graph_;
  std::unordered_map<std::string_view, int> named_{};
};

}  // namespace
}  // namespace detail

Expression Expression::parse(std::string_view formula, std::span<const std::string> names) {
  detail::checkNames(names);
  return detail::Parser(formula, names).program();
}

}  // namespace kempe
