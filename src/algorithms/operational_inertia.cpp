#include "kempe/operational_inertia.hpp"

#include "algorithms/baselines/baselines.hpp"
#include "algorithms/kernels/operational_inertia.hpp"

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
  for (const int frame : frames) {
    const FrameEntry& entry = e.frame(frame);
    e.work.wholeRotors |= entry.body != kWorld && e.tables.bodies[entry.body].folded;
  }
  e.place(q);
  e.condense();
  const auto nv = static_cast<Eigen::Index>(e.tables.nv);
  T* W = roomForForces(e, frames, e.tables.nv);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const FrameEntry& entry = e.frame(frames[f]);
    Force<T> forces[6];
    unitForces(e, entry, reference, forces);
    propagateForces(e.tables, e.work, entry.body, forces, W + 6 * nv * static_cast<long>(f));
  }
  writeProducts<T>(W, e.tables.nv, Omega);
}

template void inverseOperationalInertia<double>(const Model&, BasicData<double>&,
                                                VectorInOf<double>, std::span<const int>,
                                                MatrixOutOf<double>, Reference, Method);
template void inverseOperationalInertia<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                               std::span<const int>, MatrixOutOf<float>, Reference,
                                               Method);

}  // namespace kempe
