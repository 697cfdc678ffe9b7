#pragma once

#include "expressions/program.hpp"
#include "spatial/scalar_lanes.hpp"

namespace kempe::detail {

/// Runs a group of sines and cosines from `step` on, into `results`.
template <typename T, typename R>
KEMPE_HD void runSinesAndCosines(const ProgramStep<R>* step, const T* registers, T* results) {
  T angles[kMostTogether], both[2 * kMostTogether];  // sines, then cosines
  const int count = step->together, different = step->angles;
  // The first steps of a group have its angles, one each.
  for (int j = 0; j < different; ++j) {
    angles[j] = registers[step[j].operands[2]];
  }
  if constexpr (Lanes<T>::kAnglesTogether > 1) {
    for (int j = different; j % Lanes<T>::kAnglesTogether != 0; ++j) {
      angles[j] = T(0);  // up to a full vector register
    }
  }
  Lanes<T>::sinCos(angles, different, both, both + kMostTogether);
  for (int j = 0; j < count; ++j) {
    results[j] = both[step[j].operands[1]];
  }
}

/// One of the operations that are rare in programs, by the function of Lanes<T> if that has one. Not
/// inlined: it contains every function of <cmath>.
template <typename T, typename R>
KEMPE_HD __attribute__((noinline)) void runOperation(const ProgramStep<R>& step, const T* registers,
                                                     T& result) {
  result = T(step.constant);
  const auto x = [&](int operand) -> const T& { return registers[step.operands[operand]]; };
  if constexpr (requires { Lanes<T>::function(step.operation, x, result); }) {
    if (Lanes<T>::function(step.operation, x, result)) {
      return;
    }
  }
  result = applied<T>(step.operation, x);
}

/// Runs a program on registers whose first ones hold the arguments. Returns its results.
template <typename T, typename R>
KEMPE_HD __attribute__((noinline)) const T* runProgram(const ProgramStep<R>* table,
                                                       const ProgramEntry& program, T* registers) {
  const ProgramStep<R>* step = table + program.first;
  const ProgramStep<R>* const end = step + program.steps;
  T* own = registers + program.arguments;
  while (step != end) {
    const auto x = [&](int operand) -> const T& { return registers[step->operands[operand]]; };
    const auto c = [&] { return T(step->constant); };
    switch (step->instruction) {
      case Instruction::Copy:
        *own = x(0);
        break;
      case Instruction::Constant:
        *own = c();
        break;
      case Instruction::Add:
        *own = x(0) + x(1);
        break;
      case Instruction::Subtract:
        *own = x(0) - x(1);
        break;
      case Instruction::Multiply:
        *own = x(0) * x(1);
        break;
      case Instruction::Negate:
        *own = -x(0);
        break;
      case Instruction::AddConstant:
        *own = x(0) + c();
        break;
      case Instruction::SubtractFrom:
        *own = c() - x(0);
        break;
      case Instruction::Scale:
        *own = c() * x(0);
        break;
      case Instruction::MultiplyAdd:
        *own = x(0) * x(1) + x(2);
        break;
      case Instruction::MultiplySubtract:
        *own = x(0) * x(1) - x(2);
        break;
      case Instruction::SubtractProduct:
        *own = x(2) - x(0) * x(1);
        break;
      case Instruction::ScaleAdd:
        *own = c() * x(0) + x(2);
        break;
      case Instruction::ScaleSubtract:
        *own = c() * x(0) - x(2);
        break;
      case Instruction::SineOrCosine: {
        runSinesAndCosines(step, registers, own);
        const int others = step->together - 1;
        step += others;
        own += others;
        break;
      }
      case Instruction::Operation:
        runOperation(*step, registers, *own);
        break;
    }
    ++step;
    ++own;
  }
  return own - program.results;
}

}  // namespace kempe::detail
