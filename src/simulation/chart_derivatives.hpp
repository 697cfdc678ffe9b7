#pragma once

#include <vector>

#include "simulation/ratio_derivatives.hpp"
#include "simulation/step_derivatives.hpp"

/// Derivatives of the charts of coordinates.hpp.
///
/// A joint that turns moves by the step s from its position at q0 to that at q = q0 ⊞ y. Where q0
/// varies by η0 and y by δy, its velocities w0 = G0 η0 and w = G η of the variations obey
///
///   w = Ad(exp(−s)) w0 + J(s) δs                                  (1)
///
/// with J the right Jacobian of the exponential. Its independent entries of s are those of y, so that
/// for the tangent η at q, one row for each of them,
///
///   J⁻¹ (G η − Ad(exp(−s)) G0 η0) = δy                            (2)
///
/// For joints with scalar positions this is η = η0 + δy.
namespace kempe::detail {

class ChartDerivatives {
 public:
  /// Of q = q0 ⊞ y, with G at q.
  void ofPosition(const Coordinates& coordinates, const Stage& stage, const double* G,
                  StageDerivatives& result);
  /// Of ẏ at q, after ofPosition() with the same stage. `velocities` are those of all tree joints,
  /// and `ratios` have been differentiated at q.
  void ofRates(const Coordinates& coordinates, const Stage& stage, const double* G,
               VectorIn velocities, const RatioDerivatives& ratios, StageDerivatives& result);
  /// How the tangent changes along a motion where δv = 0: η̇ = C η + δv, with G and `velocities`
  /// there.
  static void tangentRates(const Coordinates& coordinates, const double* G, VectorIn velocities,
                           MatrixOut C);

 private:
  using Joint = Coordinates::TurningJoint;
  /// Matrices of one joint, row-major.
  struct JointChart {
    int size = 0;
    double step[6]{};
    double J[36]{}, inverse[36]{}, Ad[36]{};
  };
  static JointChart chartOf(const Coordinates& coordinates, const Joint& joint, const Stage& stage);
  /// (2) of one cluster with loops, solved for η; `first` is the first of its joints.
  std::size_t solveCluster(const Coordinates& coordinates, std::size_t first, const Stage& stage,
                           const double* G, StageDerivatives& result);

  std::vector<double> matrix_, sides_;  // of one cluster
  std::vector<int> pivots_;
};

}  // namespace kempe::detail
