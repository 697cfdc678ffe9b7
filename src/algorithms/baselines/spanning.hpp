#pragma once

#include "algorithms/baselines/baselines.hpp"

namespace kempe::detail {

/// One evaluation on the spanning tree: RNEA and CRBA with loops cut, and G, g and K of the loops.
///
/// Points the tables and the work of the evaluation to the spanning tree, in which every body is a
/// cluster of its own: bodies and spanning velocities have the numbers that they have in the model.
template <typename T>
class SpanningEvaluation {
 public:
  explicit SpanningEvaluation(Evaluation<T>& e);

  /// Spanning positions, and G of loops at q; with v, g too; with `rows`, K of implicit clusters as
  /// the loops write it. Throws SingularityError.
  void place(VectorInOf<T> q, const T* v, bool rows = false);
  /// Placements and directions of all bodies, after place.
  void placeBodies();
  /// K of implicit clusters solved for the dependent velocities, K_d⁻¹ K: rows q̇_d − G_d ẏ = 0.
  void solveRows();
  /// q̇ = G v and q̈ = G a + g (a null: g), after place.
  void move(const T* v, const T* a);
  /// Spanning forces for the motion of move(), less the external forces.
  const T* inverseDynamics(const ExternalForces<T, T>& external);
  /// H into the scratch, both triangles; after inverseDynamics at the placements it left.
  T* massMatrix();

  const ClusterEntry& cluster(int c) const { return model.clusters[c]; }
  /// Calls visit(spanning velocity, v) for every independent velocity.
  template <typename Visit>
  void forIndependent(const Visit& visit) const {
    for (int c = 0; c < model.clusterCount; ++c) {
      const ClusterEntry& entry = cluster(c);
      for (int j = 0; j < entry.nv; ++j) {
        visit(entry.firstVelocity + model.independent[entry.firstIndependent + j],
              entry.firstV + j);
      }
    }
  }
  /// G of a cluster, n×m row-major; tree clusters have none.
  const T* ratios(const ClusterEntry& cluster) const { return clusterWork.G + cluster.firstRatio; }

  Evaluation<T>& e;
  ComparedScratch<T>& scratch;
  const SpanningTree& tree;
  const TablesView<T>& model;      ///< the tables of the model
  const WorkView<T>& clusterWork;  ///< the model's own; its G is that of the loops

 private:
  bool placed_ = false;  ///< by inverseDynamics
};

/// Omega += sign · Wᵀ W, with W of each frame `size` × 6, row-major.
template <typename T>
void addProducts(const T* W, int size, std::size_t frames, const T& sign, MatrixOutOf<T> Omega) {
  using Columns = Eigen::Map<const Eigen::Matrix<T, 6, Eigen::Dynamic>>;
  const auto stride = 6 * static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < frames; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const Eigen::Matrix<T, 6, 6> block =
          sign * Columns(W + i * stride, 6, size)
                     .lazyProduct(Columns(W + j * stride, 6, size).transpose());
      const auto row = static_cast<Eigen::Index>(6 * i), column = static_cast<Eigen::Index>(6 * j);
      Omega.template block<6, 6>(row, column) += block;
      if (i != j) {
        Omega.template block<6, 6>(column, row) += block.transpose();
      }
    }
  }
}

}  // namespace kempe::detail
