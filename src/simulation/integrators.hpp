#pragma once

#include <array>

#include "kempe/recording.hpp"
#include "simulation/implicit_midpoint.hpp"
#include "simulation/radau.hpp"
#include "simulation/runge_kutta.hpp"
#include "simulation/semi_implicit_euler.hpp"

namespace kempe::detail {

/// One stepper for each Integrator but Auto, which is one of the others at any time.
class Integrators {
 public:
  void resize(int nq, int nv);
  [[nodiscard]] Stepper& of(Integrator integrator) {
    return *all_[static_cast<std::size_t>(integrator)];
  }
  [[nodiscard]] const Stepper& of(Integrator integrator) const {
    return *all_[static_cast<std::size_t>(integrator)];
  }

  SemiImplicitEuler euler;
  RungeKutta classic{kClassicTableau};
  ImplicitMidpoint midpoint;
  RungeKutta pair{kDormandPrinceTableau};
  Radau radau;

 private:
  // In the order of Integrator.
  std::array<Stepper*, static_cast<std::size_t>(Integrator::Auto)> all_{&euler, &classic, &midpoint,
                                                                        &pair, &radau};
};

}  // namespace kempe::detail
