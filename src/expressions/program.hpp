#pragma once

#include <vector>

#include "kempe/expression.hpp"
#include "kempe/spatial/host_device.hpp"

/// Expressions as the recursions evaluate them (see loops/run_program.hpp): plain arrays.
///
/// A program computes with registers. Those of its arguments come first, then one for each step; its
/// results are the last ones. An operand that is a constant has no register of its own: the step
/// writes it into its result's register first, and reads it from there. Sines and cosines that do
/// not depend on one another are side by side, because types that hold several numbers in a vector
/// register compute them together.
namespace kempe::detail {

template <typename R>
struct ProgramStep {
  /// Argument stands for a copy of operand 0, Constant for the constant.
  Operation operation = Operation::Constant;
  int operands[4] = {0, 0, 0, 0};
  /// Sine or cosine: how many of them follow one another from here on.
  int together = 1;
  R constant{};

  static constexpr int kMembers = 4;  ///< for tables/members.hpp
};

/// A program among the steps of a table.
struct ProgramEntry {
  int first = 0, steps = 0;
  int arguments = 0, results = 0;

  [[nodiscard]] KEMPE_HD int registers() const { return arguments + steps; }
};

/// Most sines and cosines that are computed together: two vector registers of AVX-512.
inline constexpr int kMostTogether = 16;

/// Appends the program of an expression to `steps`.
ProgramEntry appendProgram(const Expression& expression, std::vector<ProgramStep<double>>& steps);

}  // namespace kempe::detail
