#pragma once

#include "loops/saddle_point.hpp"
#include "model/open_tree.hpp"
#include "tables/kernel_set.hpp"

namespace kempe::detail {

struct ModelImpl;

/// Scratch of the methods that Cluster is compared with. n: spanning velocities.
template <typename T>
struct ComparedScratch {
  explicit ComparedScratch(const ModelImpl& model);

  TreePattern freedoms;                   ///< of H, per spanning velocity
  TreePattern coordinates;                ///< of Gᵀ H G, per independent velocity
  Workspace<T> spanning;                  ///< the spanning tree
  KernelMemory<T> spanningKernels;        ///< recursions on it
  std::vector<T> H;                       ///< n×n, its mass matrix and factor
  std::vector<T> projected;               ///< nv×nv, Gᵀ H G and its factor
  std::vector<T> columns;                 ///< m×n of one cluster, Gᵀ H
  std::vector<T> x, accelerations, next;  ///< n
  std::vector<T> diagonal;                ///< n
  std::vector<T> state;                   ///< spanning positions and velocities
  std::vector<T> K;  ///< kept × n of each cluster; that of couplings is there from the start
  std::vector<T> W;  ///< n × kept, L⁻ᵀ Kᵀ
  std::vector<T> A;  ///< kept², K H⁻¹ Kᵀ and its factor
  std::vector<T> multipliers;    ///< kept
  SaddlePoint saddlePoint;       ///< [H Kᵀ; K 0], where H is nearly singular
  std::vector<double> unknowns;  ///< n + kept

  KernelMemory<T> independentKernels;  ///< recursions on the independent tree
  std::vector<T> q;                    ///< positions of the tree
  std::vector<T> v, a, tau, g;         ///< of the tree, nv
  std::vector<T> ratios;               ///< m×m of each cluster: G_r
  std::vector<T> factors;              ///< and its factor
  std::vector<int> pivots;             ///< nv
};

}  // namespace kempe::detail
