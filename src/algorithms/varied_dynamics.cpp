#include "algorithms/varied_dynamics.hpp"

#include "algorithms/varied_mechanism.hpp"
#include "kernels/inverse_dynamics.hpp"

namespace kempe::detail {
namespace {

using Number = VariedMechanism::Number;

/// Memory of one evaluation, in that of a Data.
struct VariedMemory {
  VariedMemory(const TablesView<double>& t, int forces, Carver& carver) {
    carveStage(t, WorkStage::Motion, carver, view);
    q = carver.take<Number>(t.nq);
    v = carver.take<Number>(t.nv);
    a = carver.take<Number>(t.nv);
    tau = carver.take<Number>(t.nv);
    wrenches = carver.take<Number>(6 * forces);
    frames = carver.take<BodyFrame<double>>(forces);
    rates = carver.take<double>(t.velocities);
    along = carver.take<double>(t.nv);
    at = carver.take<double>(t.nq);
  }

  WorkView<Number> view;
  Number *q, *v, *a, *tau, *wrenches;
  BodyFrame<double>* frames;
  double *rates, *along, *at;
};

}  // namespace

template <typename T>
void variedInverseDynamics(Evaluation<T>& e, VectorInOf<T> q, const T* v, const T* a,
                           const ExternalForces<T, T>& external, MatrixOutOf<T>* byQ,
                           MatrixOutOf<T>* byV) {
  const TablesView<double>& t = viewOf<double>(e.impl);
  Carver counter(nullptr);
  static_cast<void>(VariedMemory(t, external.count, counter));
  Carver carver(e.data.secondDerivatives.of(counter.used()));
  VariedMemory m(t, external.count, carver);
  writeConstants(t, m.view);
  m.view.wholeRotors = e.work->wholeRotors;
  for (int i = 0; i < external.count; ++i) {
    const BodyFrame<T>& frame = external.frames[i];
    m.frames[i] = {frame.body, frame.inBody.template cast<double>(), frame.reference};
  }
  for (int i = 0; i < 6 * external.count; ++i) {
    m.wrenches[i] = Number(static_cast<double>(external.wrenches[i]));
  }
  const auto number = [](const T* x, int i) {
    return x == nullptr ? 0.0 : static_cast<double>(x[i]);
  };
  for (int i = 0; i < t.nq; ++i) {
    m.at[i] = static_cast<double>(q[i]);
  }
  e.place(q);  // G, for the directions of all joints
  ImplicitLoops<Number> loops(t, e.impl.mechanism.functions, e.data.loops.forFunctions());
  const ExternalForces<Number, double> forces{m.frames, m.wrenches, external.count};
  for (int k = 0; k < (byV == nullptr ? 1 : 2) * t.nv; ++k) {
    const bool ofQ = k < t.nv;
    const int column = ofQ ? k : k - t.nv;
    for (int i = 0; i < t.nv; ++i) {
      m.along[i] = ofQ && i == column ? 1.0 : 0.0;
      m.v[i] = {number(v, i), !ofQ && i == column ? 1.0 : 0.0};
      m.a[i] = Number(number(a, i));
    }
    for (int c = 0; c < t.clusterCount; ++c) {
      const ClusterEntry& cluster = t.clusters[c];
      for (int i = 0; i < cluster.velocities; ++i) {
        double& rate = m.rates[cluster.firstVelocity + i] = 0.0;
        for (int j = 0; j < cluster.nv; ++j) {
          const double ratio =
              cluster.kind == ClusterKind::Tree
                  ? (i == j ? 1.0 : 0.0)
                  : static_cast<double>(e.work->G[cluster.firstRatio + i * cluster.nv + j]);
          rate += ratio * m.along[cluster.firstV + j];
        }
      }
    }
    varyPositions(t, m.at, m.along, m.rates, m.q);
    const int singular = inverseDynamicsKernel(t, m.view, loops, m.q, m.v, m.a, forces, m.tau);
    if (singular >= 0) {
      e.throwSingular(singular, e.work->positions);
    }
    MatrixOutOf<T>& result = ofQ ? *byQ : *byV;
    for (int i = 0; i < t.nv; ++i) {
      result(i, column) = static_cast<T>(m.tau[i].slope);
    }
  }
}

#define KEMPE_INSTANTIATE(T)                                                                \
  template void variedInverseDynamics<T>(Evaluation<T>&, VectorInOf<T>, const T*, const T*, \
                                         const ExternalForces<T, T>&, MatrixOutOf<T>*,      \
                                         MatrixOutOf<T>*);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe::detail
