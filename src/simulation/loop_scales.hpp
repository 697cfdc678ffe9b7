#pragma once

#include <cmath>
#include <vector>

#include "kempe/model.hpp"
#include "model/model_impl.hpp"

namespace kempe::detail {

/// Data shared by all choices of coordinates of one mechanism.
struct LoopScales {
  explicit LoopScales(const Model& model);

  /// Of a row i and a column j of a cluster's G, brought to one scale.
  [[nodiscard]] double scaled(const ClusterEntry& cluster, const double* G, int i, int j,
                              int columnVelocity) const {
    return G[i * cluster.nv + j] * length[cluster.firstVelocity + columnVelocity] /
           length[cluster.firstVelocity + i];
  }

  /// Distance of the kept rows of K from losing rank: the smallest pivot, scaled, with complete
  /// pivoting. K has the rows of all clusters, as LoopWork::K. `room` has space for roomOf(cluster) numbers;
  /// `pivotColumns`, unless null, receives the columns of all pivots.
  double regularityOf(const ClusterEntry& cluster, const double* K, double* room,
                      int* pivotColumns = nullptr) const;
  static int roomOf(const ClusterEntry& cluster) { return cluster.kept * (cluster.velocities + 1); }

  /// Makes a configuration another sample, if it is much more regular than all samples were:
  /// random ones stay near the neutral one where that is a change point of many loops.
  void learn(const Model& model, const std::vector<double>& positions);

  std::vector<double> length;      ///< per spanning velocity: 1, or the cluster's size if it slides
  std::vector<double> row;         ///< per kept row, from a cluster's first: 1 / its usual length
  std::vector<double> regularity;  ///< per cluster: smallest pivot of K at the best of some samples
  std::vector<double> ratio;       ///< per spanning velocity: its ratios at the best of them, or 1
  int learned = 0;                 ///< how often learn() has changed these numbers

 private:
  void sampleRows(const ModelImpl& model, const ClusterEntry& cluster, LoopScratch<double>& scratch,
                  const std::vector<double>& positions);
  void sampleRatios(const ModelImpl& model, std::size_t cluster, LoopScratch<double>& scratch,
                    const std::vector<double>& positions);
  /// The scaled norm of a kept row of K.
  [[nodiscard]] double rowLength(const ClusterEntry& cluster, const LoopScratch<double>& scratch,
                                 int r) const;
};

}  // namespace kempe::detail
