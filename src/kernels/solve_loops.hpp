#pragma once

#include "kernels/outward.hpp"
#include "loops/substitution.hpp"

/// The loops of a position, solved before the recursions that need them: for simulations, which need
/// G and the rank of K before they know the forces of the stage.
namespace kempe::detail {

/// G, and the rows of K that are not substituted.
template <typename T, typename Tables>
KEMPE_HD void writeLoops(const Tables& tables, const ClusterEntry& cluster, const WorkView<T>& work,
                         const SolvedLoops<T>& result) {
  for (int i = 0; i < cluster.velocities * cluster.nv; ++i) {
    result.G[cluster.firstRatio + i] = work.G[cluster.firstRatio + i];
  }
  const int* slots = Substitution(tables, cluster).slots;
  for (int r = cluster.couplings; r < cluster.kept; ++r) {
    const int row = cluster.firstK + (cluster.couplings > 0 ? slots[r] : r) * cluster.velocities;
    for (int i = row; i < row + cluster.velocities; ++i) {
      result.K[i] = work.loops.K[i];
    }
  }
}

/// The solved loops of a position, for recursions at it with WorkView::loopsSolved: positions with
/// sines and cosines, G, K and the factors of K_d, and placements and directions of bodies between
/// which there are loops. Rotors are folded.
template <typename T, typename Tables, typename Loops>
KEMPE_HD void solveLoopsKernel(const Tables& tables, const WorkView<T>& work, Loops& loops,
                               const T* q, const SolvedLoops<T>& result) {
  placeWorld(tables, work, q);
  expandMechanism(tables, work, q);
  int last = -1;  // cluster in the order of recursions for which others must be placed
  for (int k = 0; k < tables.clusterCount; ++k) {
    last = tables.clusters[tables.order[k]].bodyLoops ? k : last;
  }
  for (int k = 0; k < tables.clusterCount; ++k) {
    const int c = tables.order[k];
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.kind != ClusterKind::Implicit) {
      if (k < last) {
        placeInTree<false>(tables, c, work, loops);
      }
      continue;
    }
    bool solved = false;
    if constexpr (!std::is_same_v<T, TwinOf<T>>) {
      if (cluster.twin > c) {
        work.solved[c] = work.solved[cluster.twin] =
            loops.solveTwins(c, work, static_cast<const T*>(nullptr));
      }
      solved = cluster.twin >= 0 && work.solved[c];
    }
    if (k <= last) {
      placeBodies(tables, cluster, work);
    }
    result.regular[c] = static_cast<char>(solved || loops.solve(c, work));
    writeLoops(tables, cluster, work, result);
  }
}

}  // namespace kempe::detail
