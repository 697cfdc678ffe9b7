#include "algorithms/baselines/spanning.hpp"

#include "algorithms/kernels/inverse_dynamics.hpp"
#include "algorithms/kernels/mass_matrix.hpp"
#include "algorithms/positions.hpp"

namespace kempe::detail {

template <typename T>
SpanningEvaluation<T>::SpanningEvaluation(Evaluation<T>& evaluation)
    : e(evaluation),
      scratch(evaluation.data.compared),
      tree(evaluation.impl.spanning),
      tables(tablesOf<T>(evaluation.impl)),
      model(tables) {
  e.tables = TablesView<T>(tablesOf<T>(tree));
  const WorkView<T> clusterWork = e.work;
  e.work = scratch.spanning.view();
  // The directions of a body that is a cluster are its S.
  loopWork = e.work;
  loopWork.s = e.work.S;
  loopWork.G = clusterWork.G;
}

template <typename T>
void SpanningEvaluation<T>::place(VectorInOf<T> q, bool rows) {
  *e.work.origin = originOf(model, q.data());
  for (int c = 0; c < model.clusterCount; ++c) {
    const ClusterEntry& entry = cluster(c);
    expandCluster(model, entry, q.data(), e.work.positions);
    for (int b = entry.firstBody; b < entry.firstBody + entry.bodies; ++b) {
      placeBodies(e.tables, e.tables.clusters[b], e.work);
    }
    if (entry.kind != ClusterKind::Implicit) {
      continue;
    }
    if (!e.loops.solve(c, loopWork)) {
      e.throwSingular(c, e.work.positions);
    }
    if (rows) {
      std::copy_n(e.data.loops.K.data(), entry.kept * entry.velocities,
                  scratch.K.data() + tree.clusters[c].firstK);
    }
  }
}

template <typename T>
void SpanningEvaluation<T>::solveRows() {
  for (int c = 0; c < model.clusterCount; ++c) {
    const ClusterEntry& entry = cluster(c);
    if (entry.kind != ClusterKind::Implicit) {
      continue;
    }
    const int n = entry.velocities, m = entry.nv;
    T* K = scratch.K.data() + tree.clusters[c].firstK;
    std::fill_n(K, entry.kept * n, T(0));
    for (int r = 0; r < entry.kept; ++r) {
      const int dependent = tables.dependent[entry.firstDependent + r];
      K[r * n + dependent] = T(1);
      for (int j = 0; j < m; ++j) {
        K[r * n + tables.independent[entry.firstIndependent + j]] =
            -ratios(entry)[dependent * m + j];
      }
    }
  }
}

template <typename T>
void SpanningEvaluation<T>::move(const T* v, const T* a) {
  for (int c = 0; c < model.clusterCount; ++c) {
    const ClusterEntry& entry = cluster(c);
    const int m = entry.nv;
    T* rates = e.work.rates + entry.firstVelocity;
    T* accelerations = e.work.accelerations + entry.firstVelocity;
    if (entry.kind == ClusterKind::Tree) {
      for (int i = 0; i < m; ++i) {
        rates[i] = v[entry.firstV + i];
        accelerations[i] = a == nullptr ? T(0) : a[entry.firstV + i];
      }
      continue;
    }
    timesG(entry, loopWork, v + entry.firstV, rates);
    if (entry.kind == ClusterKind::Implicit) {
      // g is a matter of the cluster alone: its output body may be taken to be at rest.
      ClusterState<T> state{e.work.positions + entry.firstPosition,
                            rates,
                            e.work.X + entry.firstBody,
                            e.work.S + entry.firstVelocity,
                            e.work.v + entry.firstBody,
                            e.work.a + entry.firstBody,
                            placementOf(e.work, entry.output),
                            {},
                            {}};
      moveCluster(tables, entry, state);
      clusterBias(tables, e.impl.mechanism.functions, entry, state, e.data.loops, accelerations);
    } else {
      std::fill_n(accelerations, entry.velocities, T(0));
    }
    for (int i = 0; a != nullptr && i < entry.velocities; ++i) {
      for (int j = 0; j < m; ++j) {
        accelerations[i] += ratios(entry)[i * m + j] * a[entry.firstV + j];
      }
    }
  }
}

template <typename T>
const T* SpanningEvaluation<T>::inverseDynamics(std::span<const FrameForce> external) {
  e.applyExternal(external);
  // In a tree of single bodies, velocities and forces have their places in the work already.
  NoLoops noLoops;
  inverseDynamicsKernel<T>(e.tables, e.work, noLoops, e.work.rates, e.work.accelerations,
                           e.work.tau);
  return e.work.tau;
}

template <typename T>
T* SpanningEvaluation<T>::massMatrix() {
  massMatrixKernel(e.tables, e.work, scratch.H.data(), e.tables.velocities);
  return scratch.H.data();
}

template class SpanningEvaluation<double>;
template class SpanningEvaluation<float>;

}  // namespace kempe::detail
