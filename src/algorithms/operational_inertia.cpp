#include "kempe/operational_inertia.hpp"

#include "algorithms/baselines/baselines.hpp"
#include "algorithms/constraint_solver.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void inverseOperationalInertia(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                               std::span<const int> frames, MatrixOutOf<T> Omega,
                               Reference reference, Method method) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  const auto columns = static_cast<Eigen::Index>(6 * frames.size());
  e.requireMatrix("Omega", Omega, columns, columns);
  if (method != Method::Cluster) {
    comparedOperationalInertia<T>(e, method, q, frames, reference, Omega);
    return;
  }
  if (!e.impl.cuts.entries.empty()) {
    e.work->wholeRotors = true;
    e.place(q);
    std::fill(e.data.vector.begin(), e.data.vector.end(), T(0));
    e.move(e.data.vector.data(), nullptr);
    ConstraintSolver<T> solver(e);
    solver.add(e.impl.cuts);
    constrainedOperationalInertia<T>(solver, frames, reference, {}, Omega);
    return;
  }
  const BodyFrame<T>* bodyFrames = e.prepareFrames(frames, reference);
  T* W = roomForForces(e, frames.size(), e.tables->nv);
  e.require(
      e.kernels().inverseOperationalInertia(e.context(WorkStage::Articulated), q.data(), bodyFrames,
                                            static_cast<int>(frames.size()), W, Omega.data(),
                                            static_cast<int>(Omega.outerStride())),
      q);
}

template void inverseOperationalInertia<double>(const Model&, BasicData<double>&,
                                                VectorInOf<double>, std::span<const int>,
                                                MatrixOutOf<double>, Reference, Method);
template void inverseOperationalInertia<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                               std::span<const int>, MatrixOutOf<float>, Reference,
                                               Method);

}  // namespace kempe
