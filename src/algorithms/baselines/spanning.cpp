#include "algorithms/baselines/spanning.hpp"

#include <algorithm>

#include "model/positions.hpp"

namespace kempe::detail {

template <typename T>
SpanningEvaluation<T>::SpanningEvaluation(Evaluation<T>& evaluation)
    : e(evaluation),
      scratch(evaluation.data.compared(evaluation.impl)),
      tree(evaluation.impl.spanning()),
      model(viewOf<T>(evaluation.impl)),
      clusterWork(*evaluation.work) {
  e.use(viewOf<T>(tree), scratch.spanning);
}

template <typename T>
void SpanningEvaluation<T>::place(VectorInOf<T> q, const T* v, bool rows) {
  for (int c = 0; c < model.clusterCount; ++c) {
    const ClusterEntry& entry = cluster(c);
    expandCluster(model, entry, q.data(), e.work->positions);
    if (entry.kind != ClusterKind::Implicit) {
      continue;
    }
    // G and g are matters of the cluster alone, as seen from its output body.
    LoopScratch<T>& loops = e.data.loops;
    const Functions& functions = e.impl.mechanism.functions;
    ClusterState<T> state = loops.state(e.work->positions + entry.firstPosition);
    placeCluster(model, entry, state);
    T* G = clusterWork.G + entry.firstRatio;
    if (isSingular(clusterJacobian(model, functions, entry, state, loops, G))) {
      e.throwSingular(c, e.work->positions);
    }
    if (rows) {
      std::copy_n(loops.K.data() + entry.firstK, entry.kept * entry.velocities,
                  scratch.K.data() + tree.clusters[c].firstK);
    }
    if (v != nullptr) {
      T* rates = e.work->rates + entry.firstVelocity;
      timesG(entry, clusterWork, v + entry.firstV, rates);
      state.rates = rates;
      moveCluster(model, entry, state);
      clusterBias(model, functions, entry, state, loops,
                  e.work->accelerations + entry.firstVelocity);
    }
  }
}

template <typename T>
void SpanningEvaluation<T>::placeBodies() {
  NoLoops noLoops;
  placeMechanism(*e.tables, *e.work, noLoops, e.work->positions);
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
      const int dependent = model.dependent[entry.firstDependent + r];
      K[r * n + dependent] = T(1);
      for (int j = 0; j < m; ++j) {
        K[r * n + model.independent[entry.firstIndependent + j]] =
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
    T* rates = e.work->rates + entry.firstVelocity;
    T* accelerations = e.work->accelerations + entry.firstVelocity;
    if (entry.kind == ClusterKind::Tree) {
      for (int i = 0; i < m; ++i) {
        rates[i] = v[entry.firstV + i];
        accelerations[i] = a == nullptr ? T(0) : a[entry.firstV + i];
      }
      continue;
    }
    if (entry.kind == ClusterKind::Explicit) {
      timesG(entry, clusterWork, v + entry.firstV, rates);
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
const T* SpanningEvaluation<T>::inverseDynamics(const ExternalForces<T, T>& external) {
  // In a tree of single bodies, velocities and forces have their places in the work already.
  e.kernels().inverseDynamics(e.context(scratch.spanningKernels, WorkStage::Motion),
                              e.work->positions, e.work->rates, e.work->accelerations, external,
                              e.work->tau);
  placed_ = true;
  return e.work->tau;
}

template <typename T>
T* SpanningEvaluation<T>::massMatrix() {
  e.kernels().massMatrix(e.context(scratch.spanningKernels, WorkStage::Articulated),
                         placed_ ? nullptr : e.work->positions, scratch.H.data(),
                         e.tables->velocities);
  return scratch.H.data();
}

template class SpanningEvaluation<double>;
template class SpanningEvaluation<float>;

}  // namespace kempe::detail
