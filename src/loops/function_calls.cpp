#include "loops/function_calls.hpp"

#include <algorithm>

namespace kempe::detail {

void callBack(const Function& function, FunctionResult result, int arguments, int rows,
              const FunctionScratch& scratch) {
  const std::span<const double> x(scratch.q, static_cast<std::size_t>(arguments));
  const std::span<Jet> jets(scratch.jetQ, static_cast<std::size_t>(arguments));
  const std::span<Jet> phi(scratch.jetPhi, static_cast<std::size_t>(rows));
  const double* rates = scratch.q + arguments;
  switch (result) {
    case FunctionResult::Values:
      if (function.value) {
        function.value(x, std::span<double>(scratch.phi, static_cast<std::size_t>(rows)));
        break;
      }
      std::ranges::transform(x, jets.begin(), [](double number) { return Jet(number); });
      function.jet(jets, phi);
      std::ranges::transform(phi, scratch.phi, &Jet::value);
      break;
    case FunctionResult::Slopes:
      std::ranges::transform(x, jets.begin(), [](double number) { return Jet(number); });
      for (int t = 0; t < arguments; ++t) {
        jets[t].first = 1.0;
        function.jet(jets, phi);
        jets[t].first = 0.0;
        for (int r = 0; r < rows; ++r) {
          scratch.phi[r * arguments + t] = phi[r].first;
        }
      }
      break;
    case FunctionResult::SecondRates:
      for (int t = 0; t < arguments; ++t) {
        jets[t] = {x[t], rates[t], 0.0};
      }
      function.jet(jets, phi);
      std::ranges::transform(phi, scratch.phi, &Jet::second);
      break;
    case FunctionResult::SlopeRates: {
      const auto secondAlong = [&](int moved, double by) {
        for (int t = 0; t < arguments; ++t) {
          jets[t] = {x[t], rates[t] + (t == moved ? by : 0.0), 0.0};
        }
        function.jet(jets, phi);
      };
      // ∂²φ[e_t, ẋ] = (φ″[ẋ + e_t] − φ″[ẋ − e_t]) / 4
      for (int t = 0; t < arguments; ++t) {
        secondAlong(t, 1.0);
        for (int r = 0; r < rows; ++r) {
          scratch.phi[r * arguments + t] = phi[r].second;
        }
        secondAlong(t, -1.0);
        for (int r = 0; r < rows; ++r) {
          double& number = scratch.phi[r * arguments + t];
          number = 0.25 * (number - phi[r].second);
        }
      }
      break;
    }
  }
}

void CallMemory::makeRoomFor(int arguments, int rows) {
  const auto widen = [](auto& vector, int size) {
    vector.resize(std::max(vector.size(), static_cast<std::size_t>(size)));
  };
  widen(q, 2 * arguments);
  widen(phi, rows * std::max(arguments, 1));
  widen(jetQ, arguments);
  widen(jetPhi, rows);
}

}  // namespace kempe::detail
