#pragma once

#include <cstdint>
#include <vector>

#include "kempe/expression.hpp"
#include "kempe/spatial/host_device.hpp"

/// Expressions as the recursions evaluate them (see loops/run_program.hpp): plain arrays.
///
/// A program computes with registers. Those of its arguments come first, then one for each step; its
/// results are the last ones. Sines and cosines that do not depend on one another are side by side,
/// because types that hold several numbers in a vector register compute them together.
namespace kempe::detail {

/// The form of a step: the operations that most steps are have one of their own, with a constant
/// among their operands and with a product among those of a sum.
enum class Instruction : std::uint8_t {
  Copy,              ///< x₀
  Constant,          ///< c
  Add,               ///< x₀ + x₁
  Subtract,          ///< x₀ − x₁
  Multiply,          ///< x₀ x₁
  Negate,            ///< −x₀
  AddConstant,       ///< x₀ + c
  SubtractFrom,      ///< c − x₀
  Scale,             ///< c x₀
  MultiplyAdd,       ///< x₀ x₁ + x₂
  MultiplySubtract,  ///< x₀ x₁ − x₂
  SubtractProduct,   ///< x₂ − x₀ x₁
  ScaleAdd,          ///< c x₀ + x₂
  ScaleSubtract,     ///< c x₀ − x₂
  SineOrCosine,
  /// The operation of an expression. An operand that is a constant has no register of its own: the
  /// step writes it into its result's register first, and reads it from there.
  Operation
};

template <typename R>
struct ProgramStep {
  Instruction instruction = Instruction::Constant;
  Operation operation = Operation::Constant;
  /// Registers. Of a sine or cosine the second is the place of its angle among those of its group,
  /// beyond kMostTogether for a cosine, and the third an angle of the group: that whose place is the
  /// step's own.
  int operands[4] = {0, 0, 0, 0};
  /// The first sine or cosine of a group: how many steps it has, and how many angles.
  int together = 1, angles = 1;
  R constant{};

  static constexpr int kMembers = 6;  ///< for tables/members.hpp
};

/// A program among the steps of a table.
struct ProgramEntry {
  int first = 0, steps = 0;
  int arguments = 0, results = 0;

  [[nodiscard]] KEMPE_HD int registers() const { return arguments + steps; }
};

/// Most sines and cosines that are computed together: those of two vector registers of AVX-512.
inline constexpr int kMostTogether = 16;

/// Appends the program of an expression to `steps`.
ProgramEntry appendProgram(const Expression& expression, std::vector<ProgramStep<double>>& steps);

/// A program in two parts that run one after the other, on the same registers.
struct ProgramParts {
  ProgramEntry early{}, late{};
};

/// Appends the program of an expression in two parts. The early one needs the first
/// `earlyArguments` only and computes all that depends on no others; its results are the first
/// `earlyResults`, which must be among that. The registers of all arguments come first in both.
ProgramParts appendProgramParts(const Expression& expression, int earlyArguments, int earlyResults,
                                std::vector<ProgramStep<double>>& steps);

}  // namespace kempe::detail
