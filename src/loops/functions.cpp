#include "loops/cluster_rows.hpp"

namespace kempe::detail {

void functionSlopes(const Functions& functions, int function, int terms, int rows,
                    const FunctionScratch& scratch) {
  for (int t = 0; t < terms; ++t) {
    scratch.jetQ[t] = Jet(scratch.q[t]);
  }
  for (int t = 0; t < terms; ++t) {
    scratch.jetQ[t].first = 1.0;
    functions[function].jet(std::span<const Jet>(scratch.jetQ, terms),
                            std::span<Jet>(scratch.jetPhi, rows));
    scratch.jetQ[t].first = 0.0;
    for (int r = 0; r < rows; ++r) {
      scratch.slopes[r * terms + t] = scratch.jetPhi[r].first;
    }
  }
}

void functionSecondRates(const Functions& functions, int function, int terms, int rows,
                         const FunctionScratch& scratch) {
  for (int t = 0; t < terms; ++t) {
    scratch.jetQ[t] = {scratch.q[t], scratch.rates[t], 0.0};
  }
  functions[function].jet(std::span<const Jet>(scratch.jetQ, terms),
                          std::span<Jet>(scratch.jetPhi, rows));
  for (int r = 0; r < rows; ++r) {
    scratch.phi[r] = scratch.jetPhi[r].second;
  }
}

}  // namespace kempe::detail
