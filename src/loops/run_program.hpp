#pragma once

#include "expressions/program.hpp"
#include "spatial/scalar_lanes.hpp"

namespace kempe::detail {

/// Runs a program on registers whose first ones hold the arguments. Returns its results.
///
/// Not inlined: it contains every function of <cmath>.
template <typename T, typename R>
KEMPE_HD __attribute__((noinline)) const T* runProgram(const ProgramStep<R>* table,
                                                       const ProgramEntry& program, T* registers) {
  const ProgramStep<R>* const steps = table + program.first;
  T* const own = registers + program.arguments;
  for (int i = 0; i < program.steps; ++i) {
    const ProgramStep<R>& step = steps[i];
    switch (step.operation) {
      case Operation::Argument:
        own[i] = registers[step.operands[0]];
        break;
      case Operation::Constant:
        own[i] = T(step.constant);
        break;
      case Operation::Sin:
      case Operation::Cos:
        if constexpr (Lanes<T>::kAnglesTogether > 0) {
          T angles[kMostTogether], sines[kMostTogether], cosines[kMostTogether];
          const int count = step.together;
          for (int j = 0; j < count; ++j) {
            angles[j] = registers[steps[i + j].operands[0]];
          }
          for (int j = count; j % Lanes<T>::kAnglesTogether != 0; ++j) {
            angles[j] = T(0);  // up to a full vector register
          }
          Lanes<T>::sinCos(angles, count, sines, cosines);
          for (int j = 0; j < count; ++j) {
            own[i + j] = steps[i + j].operation == Operation::Sin ? sines[j] : cosines[j];
          }
          i += count - 1;
          break;
        }
        [[fallthrough]];
      default:
        own[i] = T(step.constant);
        own[i] = applied<T>(step.operation, [&](int operand) -> const T& {
          return registers[step.operands[operand]];
        });
    }
  }
  return own + program.steps - program.results;
}

}  // namespace kempe::detail
