#pragma once

#include "simulation/stepper.hpp"

namespace kempe::detail {

/// v first, then q with the new v: of order one, symplectic for separable energies.
class SemiImplicitEuler : public Stepper {
 public:
  void resize(int /*nq*/, int nv) override { y_.setZero(nv); }
  double step(EquationsOfMotion& motion, const Step& step) override;
  void linearize(EquationsOfMotion& motion, const Step& step, EquationDerivatives& derivatives,
                 StepDerivatives& result) override;

 private:
  Eigen::VectorXd y_;
  Eigen::MatrixXd slopes_;  // of linearize()
};

}  // namespace kempe::detail
