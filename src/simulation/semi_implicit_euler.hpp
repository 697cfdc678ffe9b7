#pragma once

#include "simulation/stepper.hpp"

namespace kempe::detail {

/// v first, then q with the new v: of order one, symplectic for separable energies.
class SemiImplicitEuler : public Stepper {
 public:
  void resize(const Model& model) override { y_.setZero(model.nv()); }
  double step(EquationsOfMotion& motion, const Step& step) override;

 private:
  Eigen::VectorXd y_;
};

}  // namespace kempe::detail
