#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "algorithms/varied_mechanism.hpp"
#include "simulation/coordinates.hpp"

namespace kempe::detail {

/// How G and the velocities of bodies change along the tangent, by dual numbers.
class RatioDerivatives {
 public:
  /// Prepares for a choice of coordinates. Allocates if it is not the one before.
  void use(Coordinates& coordinates);

  /// ∂G/∂y of all clusters with loops, at q with G there.
  void differentiate(VectorIn q, const double* G);
  /// ∂G_ij/∂y_k of a cluster, after differentiate().
  [[nodiscard]] double slope(const ClusterEntry& cluster, int i, int j, int k) const {
    return cluster.kind == ClusterKind::Implicit
               ? slopes_[static_cast<std::size_t>(k) * ratios_ +
                         static_cast<std::size_t>(cluster.firstRatio + i * cluster.nv + j)]
               : 0.0;
  }
  /// W_ik = ∂(G v)_i/∂y_k of a cluster, after differentiate().
  [[nodiscard]] double rateSlope(const ClusterEntry& cluster, int i, int k, VectorIn v) const {
    double sum = 0.0;
    for (int j = 0; cluster.kind == ClusterKind::Implicit && j < cluster.nv; ++j) {
      sum += slope(cluster, i, j, k) * v[cluster.firstV + j];
    }
    return sum;
  }

  /// The motion of all bodies at (q, v), varied along e_k of the tangent at q.
  const WorkView<Dual<double>>& motionAlong(VectorIn q, const double* G, VectorIn v, int k);

 private:
  std::vector<Model> model_;  // that mechanism_ refers to; none at first
  Coordinates* coordinates_ = nullptr;
  std::unique_ptr<VariedMechanism> mechanism_;
  int directions_ = 0;          // the largest nv of a cluster with loops
  std::size_t ratios_ = 0;      // numbers of G
  std::vector<double> slopes_;  // directions × ratios
  Eigen::VectorXd along_;
};

}  // namespace kempe::detail
