#pragma once

#include <Eigen/Core>

#include "simulation/stepper.hpp"

/// Derivatives of steps, by the chain rule through their stages.
///
/// A configuration varies in its tangent: η, nv numbers, are the velocities with which it would move
/// along integrate(q, η, ε). Quantities that vary are matrices, one column for each variation of the
/// start: nv of its tangent, nv of its velocity, nv of the forces tau, which are constant over the
/// step.
namespace kempe::detail {

using Columns = Eigen::MatrixXd;  ///< nv × 3 nv

/// A stage of a step, at the position q = q0 ⊞ y.
struct Stage {
  double time = 0.0;
  VectorIn q0;
  const double* G0 = nullptr;  ///< G at q0
  VectorIn y;
  VectorIn q;
  VectorIn v;
};

/// Derivatives at a stage, nv × nv each.
struct StageDerivatives {
  void resize(int nv);

  /// η = ofStart η0 + ofChart δy.
  void tangent(const Columns& start, const Columns& y, Columns& result) const;
  /// δẏ = slopeOfStart η0 + slopeOfChart δy + slopeOfV δv.
  void slope(const Columns& start, const Columns& y, const Columns& v, Columns& result) const;
  /// δv̇ = aOfQ η + aOfV δv + aOfTau δtau.
  void acceleration(const Columns& tangent, const Columns& v, Columns& result) const;

  bool flat = true;  ///< all independent coordinates are plain numbers: η = η0 + δy, δẏ = δv
  Eigen::MatrixXd ofStart, ofChart;
  Eigen::MatrixXd slopeOfStart, slopeOfChart, slopeOfV;
  Eigen::MatrixXd aOfQ, aOfV, aOfTau;
};

/// The derivatives of equations of motion and of the charts in which they are integrated.
class EquationDerivatives {
 public:
  EquationDerivatives() = default;
  EquationDerivatives(const EquationDerivatives&) = delete;
  EquationDerivatives& operator=(const EquationDerivatives&) = delete;
  virtual ~EquationDerivatives() = default;

  /// Differentiates q = q0 ⊞ y only.
  virtual void ofPosition(const Stage& stage, StageDerivatives& result) = 0;
  /// Differentiates ẏ and v̇ as well. `rates` are output: those of the stage.
  virtual void ofRates(const Stage& stage, Rates& rates, StageDerivatives& result) = 0;
};

/// The derivative of a step with respect to the variations of its start, and scratch memory.
struct StepDerivatives {
  void resize(int nv);
  /// The start: η and δv vary as themselves.
  void start();

  Columns tangent, v;  ///< output: of the end, in its tangent
  Columns startTangent, startV;
  StageDerivatives stage;
};

}  // namespace kempe::detail
