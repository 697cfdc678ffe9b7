#pragma once

#include <vector>

#include "tables/kernel_arguments.hpp"

/// Functions that are called back, because they are no expressions: for one state at a time, with
/// plain numbers and jets. Compiled once, not for each instruction set.
namespace kempe::detail {

/// Results of a function φ(x): rows numbers each, or rows × arguments.
enum class FunctionResult : std::uint8_t {
  Values,       ///< φ
  Slopes,       ///< ∂φ/∂x
  SecondRates,  ///< φ̈ where ẍ = 0
  SlopeRates    ///< d/dt ∂φ/∂x
};

/// Whether a result depends on ẋ.
KEMPE_HD constexpr bool needsRates(FunctionResult result) {
  return result == FunctionResult::SecondRates || result == FunctionResult::SlopeRates;
}
/// Whether a result has a number for each argument of a row, not one for each row.
KEMPE_HD constexpr bool isMatrix(FunctionResult result) {
  return result == FunctionResult::Slopes || result == FunctionResult::SlopeRates;
}

/// Writes a result into scratch.phi, from x and ẋ in scratch.q.
void callBack(const Function& function, FunctionResult result, int arguments, int rows,
              const FunctionScratch& scratch);

/// Memory for callbacks.
struct CallMemory {
  std::vector<double> q, phi;
  std::vector<Jet> jetQ, jetPhi;

  void makeRoomFor(int arguments, int rows);
  FunctionScratch view() { return {q.data(), phi.data(), jetQ.data(), jetPhi.data()}; }
};

}  // namespace kempe::detail
