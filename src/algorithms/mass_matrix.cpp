#include "kempe/mass_matrix.hpp"

#include <algorithm>

#include "algorithms/term_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void massMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q, MatrixOutOf<T> H) {
  TermEvaluation<T> e(model, data);
  e.requireMatrix("H", H, e.tables->nv, e.tables->nv);
  e.request.H = H.data();
  e.request.stride = static_cast<int>(H.outerStride());
  e.run(q);
}

template <typename T>
void applyInverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                            VectorInOf<T> x, VectorOutOf<T> result) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireInput("x", x);
  e.requireOutput("result", result);
  // The result may be q.
  std::copy_n(x.data(), e.tables->nv, e.data.vector.data());
  e.require(e.kernels().applyInverseMassMatrix(e.context(WorkStage::Articulated), q.data(),
                                               e.data.vector.data(), 1),
            q);
  std::copy_n(e.data.vector.data(), e.tables->nv, result.data());
}

template <typename T>
void inverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                       MatrixOutOf<T> inverse) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireMatrix("inverse", inverse, e.tables->nv, e.tables->nv);
  const int nv = e.tables->nv;
  T* columns = roomForForces(e, (static_cast<std::size_t>(nv) + 5) / 6, nv);
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> dense(columns, nv, nv);
  dense.setIdentity();
  e.require(
      e.kernels().applyInverseMassMatrix(e.context(WorkStage::Articulated), q.data(), columns, nv),
      q);
  inverse = dense;
}

#define KEMPE_INSTANTIATE(T)                                                               \
  template void massMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>, MatrixOutOf<T>); \
  template void applyInverseMassMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>,      \
                                          VectorInOf<T>, VectorOutOf<T>);                  \
  template void inverseMassMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
