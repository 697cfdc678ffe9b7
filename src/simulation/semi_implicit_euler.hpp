#pragma once

#include "simulation/stepper.hpp"

namespace kempe::detail {

/// v first, then q with the new v: of order one, symplectic for separable energies.
class SemiImplicitEuler : public Stepper {
 public:
  void resize(int /*nq*/, int nv) override { y_.setZero(nv); }
  double step(EquationsOfMotion& motion, const Step& step) override;

 private:
  Eigen::VectorXd y_;
};

}  // namespace kempe::detail
